#include "lower/lower_evolve.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/visit.h"
#include "lower/lower_grid.h"
#include "lower/rows.h"
#include "plan/thread_pixels.h"
#include "rewrite/unroll_steps.h"

namespace weft::lower {

using kernel::Expr;
using kernel::literal;

namespace {

/// The arrays that a field needs: its values of so many steps are alive when an update writes.
std::size_t arrays_of(const ir::Evolution& evolution, std::size_t field) {
  std::size_t count = 1;
  for (std::size_t u = 0; u < evolution.fields.size(); ++u) {
    const ir::Stage& update = *evolution.fields[u].update;
    for (const ir::Expr& e : ir::reads(update)) {
      const auto& read = std::get<ir::Read>(e->op);
      const auto* past = std::get_if<ir::Past>(&read.source->definition);
      if (!past || ir::field_of(read.source.get(), evolution) != static_cast<int>(field)) continue;
      // The oldest value may be overwritten by the field's own update once nobody else needs it.
      // Lanes are stored one after the other, so a pixel of several is not overwritten while it is read.
      const bool in_place =
          u == field && read.source->type.lanes == 1 && ir::reads_current_pixel(read, update.domain());
      const bool before = u < field || in_place;
      count = std::max(count, static_cast<std::size_t>(past->age) + (before ? 0 : 1));
    }
  }
  return count;
}

class EvolveLowering {
 public:
  EvolveLowering(const KernelContext& context, const ir::Pipeline& pipeline)
      : context_(context),
        evolution_(*std::get<ir::Evolve>(context.stage().definition).evolution),
        layout_(context.layout),
        module_(context.module),
        pipeline_(pipeline) {}

  void run() {
    for (std::size_t f = 0; f < evolution_.fields.size(); ++f) place(f);
    layout_.counter = layout_.names.claim("step");
    module_.counters.push_back({layout_.counter, Scalar::I32});
    for (std::size_t f = 0; f < evolution_.fields.size(); ++f) start(f);
    kernel::Repeat repeat{layout_.counter, {}, {}};
    Expr begin = literal(0);
    for (const plan::KernelPlan& several : context_.plan.several) {
      const Expr taken = literal(several.steps);
      Expr end = kernel::mul(kernel::div(steps(), taken), taken);
      if (several.steps_from > 0)
        end = kernel::select(kernel::binary(ir::BinaryOp::Le, literal(several.steps_from), bytes()), end,
                             begin);
      repeat.parts.push_back({begin, end, several.steps, {lower_steps(several)}, places()});
      begin = end;
    }
    kernel::Turns& single = repeat.parts.emplace_back(kernel::Turns{begin, steps(), 1, {}});
    for (std::size_t f = 0; f < evolution_.fields.size(); ++f)
      single.launches.push_back(lower_stage(
          {context_.plan.updates[f], {evolution_.fields[f].update.get()}, context_.names, layout_, module_}));
    for (const auto& arrays : arrays_) {
      if (arrays.size() == 1) continue;
      kernel::Rotation& rotation = repeat.rotations.emplace_back();
      for (const ArrayLayout& array : arrays) rotation.push_back(array.name);
    }
    module_.steps.push_back(std::move(repeat));
  }

 private:
  /// Of the first field, at a time.
  Expr bytes() const {
    const ir::Stage& initial = *evolution_.fields[0].initial;
    const Rows rows(initial.box, layout_);
    Expr pixels = literal(size_of(initial.type));
    for (int d = 0; d < rows.rank(); ++d) pixels = kernel::mul(rows.extent(d), pixels);
    return pixels;
  }

  /// What a kernel of several steps stores of a field, at most: by so many places its arrays rotate.
  int places() const { return *std::max_element(oldest_.begin(), oldest_.end()); }

  /// A kernel of several steps.
  kernel::Launch lower_steps(const plan::KernelPlan& plan) {
    const rewrite::UnrolledSteps chain = rewrite::unroll_steps(evolution_, plan.steps);
    std::vector<const ir::Stage*> members;
    auto before = layout_.arrays;
    const auto place = [&](const rewrite::Version& version, const ArrayLayout& array) {
      ArrayLayout& placed = layout_.arrays[version.stage.get()] = array;
      placed.box = version.stage->box;
      // Of a line as an image of one row, which has the number 0.
      if (placed.strides.size() + 1 < placed.box.size()) placed.strides.push_back(module_.sizes.at(0).name);
    };
    for (const rewrite::Version& past : chain.pasts)
      place(past, arrays_[past.field].at(static_cast<std::size_t>(past.age - 1 + places())));
    for (const rewrite::Version& version : chain.versions) {
      const auto& arrays = arrays_[version.field];
      const bool is_stored = chain.is_stored(version);
      place(version, arrays.at(is_stored ? static_cast<std::size_t>(version.age) : 0));
      if (!is_stored)
        layout_.arrays[version.stage.get()].name =
            layout_.names.claim(fmt::format("{}_step{}", arrays[0].name, plan.steps - version.age));
      members.push_back(version.stage.get());
    }
    kernel::Launch launch = lower_stage({plan, members, context_.names, layout_, module_});
    layout_.arrays = std::move(before);
    return launch;
  }

  /// The arrays of a field: that of its stage, and one per older step.
  void place(std::size_t f) {
    const ir::Evolving& field = evolution_.fields[f];
    const ir::Stage& initial = *field.initial;
    const auto stage = std::find_if(pipeline_.stages.begin(), pipeline_.stages.end(), [&](const auto& s) {
      const auto* evolve = std::get_if<ir::Evolve>(&s->definition);
      return evolve && evolve->evolution.get() == &evolution_ && evolve->field == static_cast<int>(f);
    });
    auto& arrays = arrays_.emplace_back();
    const auto add = [&](const std::string& name) {
      arrays.push_back(layout_.claim_array(name, initial.type, initial.box));
      declare_array(arrays.back(), kernel::Array::Role::Intermediate, layout_, module_);
    };
    if (stage == pipeline_.stages.end())
      add(field.update->name);
    else
      arrays.push_back(layout_.arrays.at(stage->get()));
    std::size_t count = arrays_of(evolution_, f);
    // Tiles read around themselves what was there before the first of several steps, so nothing is overwritten.
    if (!context_.plan.several.empty())
      count = std::max(count, static_cast<std::size_t>(places() + oldest_[f]));
    for (std::size_t age = 1; age < count; ++age) add(arrays[0].name + "_" + std::to_string(age));
    layout_.arrays[field.update.get()] = arrays[0];
    for (std::size_t age = 0; age < field.past.size(); ++age) {
      // What is as old as there are arrays is in the one that is about to be written.
      if (field.past[age]) layout_.arrays[field.past[age].get()] = arrays.at(age % count);
    }
  }

  /// Copies the initial value into all arrays of a field.
  void start(std::size_t f) {
    const ir::Stage& initial = *evolution_.fields[f].initial;
    const Rows rows(initial.box, layout_);
    const std::string result = evolution_.fields[f].update->name;
    kernel::Function function{layout_.names.claim(arrays_[f][0].name + "_start"),
                              "'" + result + "' before the first step: '" + initial.name + "'.",
                              {},
                              {}};
    module_.steps.push_back(context_.plan.is_of_blocks() ? start_in_packs(f, rows, function)
                                                         : start_by_rows(f, rows, function));
    module_.functions.push_back(std::move(function));
  }

  /// Threads copy neighbouring pixels, as much as one access moves.
  kernel::Launch start_in_packs(std::size_t f, const Rows& rows, kernel::Function& function) {
    const ArrayLayout& source = layout_.arrays.at(evolution_.fields[f].initial.get());
    const int lanes = source.type.lanes, pixels = plan::pixels_of_access(source.type);
    const Expr x0 = kernel::name("x0");
    const Expr left = kernel::mul(kernel::sub(rows.end(0), x0), literal(lanes));
    const auto offset_in = [&](const ArrayLayout& array) {
      return kernel::add(rows.row_offset(array), rows.x_offset(x0, array));
    };
    kernel::For along_x{kernel::LoopKind::GridX, "x0", rows.begin(0), rows.end(0), {}, literal(pixels)};
    const std::string pack = layout_.names.claim(source.name + "_pack");
    along_x.body.push_back(
        {kernel::LoadPack{pack, source.name, source.type.scalar, pixels * lanes, offset_in(source), left}});
    for (const ArrayLayout& array : arrays_[f])
      along_x.body.push_back({kernel::StorePack{pack, array.name, offset_in(array), left}});
    function.body = grid_loops_around(rows, {{std::move(along_x)}});
    return {function.name, literal(1), grid_over(rows, pixels)};
  }

  kernel::Launch start_by_rows(std::size_t f, const Rows& rows, kernel::Function& function) {
    const ir::Stage& initial = *evolution_.fields[f].initial;
    const bool along_x = rows.rank() == 1;
    function.parameters = {"first", "last"};
    kernel::For loop{kernel::LoopKind::Serial, "row", kernel::name("first"), kernel::name("last"), {}};
    kernel::Names locals = layout_.names;
    kernel::Block& body = along_x ? function.body : loop.body;
    const Expr i = kernel::name("i"), lanes = literal(initial.type.lanes);
    const Expr from = along_x ? kernel::mul(kernel::name("first"), lanes) : literal(0);
    const Expr to = kernel::mul(along_x ? kernel::name("last") : rows.width(), lanes);
    const auto row_of = [&](const ArrayLayout& array, bool is_const) {
      const std::string name = locals.claim(array.name + "_row");
      body.push_back({kernel::Pointer{name, array.name, array.type.scalar,
                                      rows.offset_of(kernel::name("row"), array), is_const}});
      return name;
    };
    const std::string source_row = row_of(layout_.arrays.at(&initial), true);
    kernel::Block copy;
    for (const ArrayLayout& array : arrays_[f]) {
      copy.push_back(
          {kernel::Store{row_of(array, false), i, kernel::load(source_row, array.type.scalar, i)}});
    }
    body.push_back({kernel::For{kernel::LoopKind::Vector, "i", from, to, std::move(copy)}});
    if (!along_x) function.body.push_back({std::move(loop)});
    return {function.name, along_x ? rows.extent(0) : rows.count()};
  }

  Expr steps() const {
    if (const auto* constant = std::get_if<ir::Const>(&evolution_.steps->op))
      return literal(constant->value.as_integer());
    const auto& param = *std::get<ir::ParamRef>(evolution_.steps->op).param;
    const Expr name = kernel::name(layout_.params.at(param.name), param.initial.type.scalar);
    return name->type == Scalar::I64 ? name : kernel::cast(ir::CastMode::Convert, Scalar::I64, name);
  }

  const KernelContext& context_;
  const ir::Evolution& evolution_;
  const std::vector<int> oldest_ = rewrite::oldest_ages(evolution_);
  Layout& layout_;
  kernel::Module& module_;
  const ir::Pipeline& pipeline_;
  std::vector<std::vector<ArrayLayout>> arrays_;  // by field
};

}  // namespace

void lower_evolve(const KernelContext& context, const ir::Pipeline& pipeline) {
  EvolveLowering(context, pipeline).run();
}

}  // namespace weft::lower
