#include "lower/lower_evolve.h"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/evolutions.h"
#include "ir/visit.h"
#include "lower/lower_grid.h"
#include "lower/lower_split.h"
#include "lower/rows.h"
#include "plan/thread_pixels.h"
#include "rewrite/unroll_steps.h"

namespace weft::lower {

namespace {

class EvolveLowering {
 public:
  EvolveLowering(const KernelContext& context, const ir::Pipeline& pipeline)
      : context_(context),
        evolution_(*std::get<ir::Evolve>(context.stage().definition).evolution),
        layout_(context.layout),
        module_(context.module),
        pipeline_(pipeline) {}

  void run() {
    const std::size_t fields = evolution_.fields.size();
    for (std::size_t f = 0; f < fields; ++f) place(f);
    layout_.counter = layout_.names.claim("step");
    module_.counters.push_back({layout_.counter, Scalar::I32});
    kernel::Repeat repeat{layout_.counter, {}, {}};
    std::vector<kernel::Launch> starts;
    for (std::size_t f = 0; f < fields; ++f) starts.push_back(start(f));
    if (context_.plan.reads_initial) {
      // No step at all is a copy.
      const Expr is_none = kernel::binary(ir::BinaryOp::Le, steps(), literal(0));
      repeat.parts.push_back(
          {literal(0), kernel::select(is_none, literal(1), literal(0)), 1, std::move(starts)});
      for (std::size_t f = 0; f < fields; ++f)
        repeat.first.push_back(
            {arrays_[f].at(1).name, layout_.arrays.at(evolution_.fields[f].initial.get()).name});
    } else {
      for (kernel::Launch& launch : starts) module_.steps.push_back(std::move(launch));
    }
    Expr begin = literal(0);
    for (const plan::KernelPlan& several : context_.plan.several) {
      const Expr taken = literal(several.split ? several.split->turn : several.steps);
      Expr end = kernel::mul(kernel::div(steps(), taken), taken);
      if (const Expr pays = is_large_enough(several)) end = kernel::select(pays, end, begin);
      if (several.split) {
        const auto before = layout_.arrays;
        for (kernel::Turns& turns : lower_split({several, evolution_, context_.names, layout_, module_,
                                                 arrays_, end, context_.architecture}))
          repeat.parts.push_back(std::move(turns));
        layout_.arrays = before;
        begin = end;
        continue;
      }
      repeat.parts.push_back({begin, end, several.steps, {lower_steps(several)}, places()});
      begin = end;
    }
    if (context_.plan.has_single_updates()) repeat.parts.push_back({begin, steps(), 1, single_steps()});
    for (const auto& arrays : arrays_) {
      if (arrays.size() == 1) continue;
      kernel::Rotation& rotation = repeat.rotations.emplace_back();
      for (const ArrayLayout& array : arrays) rotation.push_back(array.name);
    }
    module_.steps.push_back(std::move(repeat));
  }

 private:
  /// Whether steps are taken by this kernel; null: they always are.
  Expr is_large_enough(const plan::KernelPlan& several) const {
    Expr pays;
    if (several.steps_from > 0) pays = kernel::binary(ir::BinaryOp::Le, literal(several.steps_from), bytes());
    if (!several.split) return pays;
    const Rows rows(evolution_.fields[0].initial->box, layout_);
    for (const plan::SplitDimension& d : several.split->dims) {  // a circle of one tile at least
      if (d.wraps)
        pays = kernel::both(pays, kernel::binary(ir::BinaryOp::Le, literal(d.pitch), rows.extent(d.dim)));
    }
    return pays;
  }

  /// Of the first field, at a time.
  Expr bytes() const {
    const ir::Stage& initial = *evolution_.fields[0].initial;
    const Rows rows(initial.box, layout_);
    Expr pixels = literal(size_of(initial.type));
    for (int d = 0; d < rows.rank(); ++d) pixels = kernel::mul(rows.extent(d), pixels);
    return pixels;
  }

  /// The most arrays of a field that a kernel of several steps stores: by that number of places its arrays rotate.
  int places() const { return *std::max_element(oldest_.begin(), oldest_.end()); }

  /// A kernel of several steps.
  kernel::Launch lower_steps(const plan::KernelPlan& plan) {
    const rewrite::UnrolledSteps chain = rewrite::unroll_steps(evolution_, plan.steps);
    std::vector<const ir::Stage*> members;
    auto before = layout_.arrays;
    place(chain, plan.steps);
    for (const rewrite::Version& version : chain.versions) members.push_back(version.stage.get());
    kernel::Launch launch =
        lower_stage({plan, members, context_.names, layout_, module_, context_.architecture});
    layout_.arrays = std::move(before);
    return launch;
  }

  /// A kernel for each field, one after the other.
  std::vector<kernel::Launch> single_steps() {
    std::vector<kernel::Launch> launches;
    const auto add = [&](std::size_t f, const ir::Stage& stage) {
      launches.push_back(lower_stage(
          {context_.plan.updates[f], {&stage}, context_.names, layout_, module_, context_.architecture}));
    };
    if (!context_.plan.reads_initial) {
      for (std::size_t f = 0; f < evolution_.fields.size(); ++f) add(f, *evolution_.fields[f].update);
      return launches;
    }
    const rewrite::UnrolledSteps step = rewrite::single_step(evolution_);
    auto before = layout_.arrays;
    place(step, 1);
    for (const rewrite::Version& version : step.versions) add(version.field, *version.stage);
    layout_.arrays = std::move(before);
    return launches;
  }

  /// The stages of a chain of `steps` steps: where the arrays of fields have rotated to, or with names alone.
  void place(const rewrite::UnrolledSteps& chain, int steps) {
    const auto add = [&](const rewrite::Version& version, const ArrayLayout& array) {
      ArrayLayout& placed = layout_.arrays[version.stage.get()] = array;
      placed.box = version.stage->box;
      // Of a line as an image of one row, which has the number 0.
      if (placed.strides.size() + 1 < placed.box.size()) placed.strides.push_back(module_.sizes.at(0).name);
    };
    for (const rewrite::Version& past : chain.pasts)
      add(past, arrays_[past.field].at(static_cast<std::size_t>(past.age - 1 + places())));
    for (const rewrite::Version& version : chain.versions) {
      const auto& arrays = arrays_[version.field];
      const bool is_stored = chain.is_stored(version);
      add(version, arrays.at(is_stored ? static_cast<std::size_t>(version.age) : 0));
      if (!is_stored)
        layout_.arrays[version.stage.get()].name =
            layout_.names.claim(fmt::format("{}_step{}", arrays[0].name.spelling(), steps - version.age));
    }
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
    std::size_t count = analysis::arrays_of(evolution_, f);
    // Tiles read around themselves what was there before the first of several steps, so nothing is overwritten.
    if (!context_.plan.several.empty() && !context_.plan.several[0].split)
      count = std::max(count, static_cast<std::size_t>(places() + oldest_[f]));
    for (std::size_t age = 1; age < count; ++age) add(arrays[0].name.spelling() + "_" + std::to_string(age));
    layout_.arrays[field.update.get()] = arrays[0];
    for (std::size_t age = 0; age < field.past.size(); ++age) {
      // What is as old as there are arrays is in the one that is about to be written.
      if (field.past[age]) layout_.arrays[field.past[age].get()] = arrays.at(age % count);
    }
  }

  /// Copies the initial value into the arrays of a field: all that are read, or the one that is its stage's.
  kernel::Launch start(std::size_t f) {
    const ir::Stage& initial = *evolution_.fields[f].initial;
    const Rows rows(initial.box, layout_);
    const std::string result = evolution_.fields[f].update->name;
    kernel::Function function{layout_.names.claim(arrays_[f][0].name.spelling() + "_start"),
                              "'" + result + "' before the first step: '" + initial.name + "'.",
                              {},
                              {}};
    kernel::Launch launch =
        context_.plan.is_of_blocks() ? start_in_packs(f, rows, function) : start_by_rows(f, rows, function);
    module_.functions.push_back(std::move(function));
    return launch;
  }

  std::vector<ArrayLayout> started(std::size_t f) const {
    return context_.plan.reads_initial ? std::vector{arrays_[f][0]} : arrays_[f];
  }

  /// Threads copy neighbouring pixels, as much as one access moves.
  kernel::Launch start_in_packs(std::size_t f, const Rows& rows, kernel::Function& function) {
    const ArrayLayout& source = layout_.arrays.at(evolution_.fields[f].initial.get());
    const int lanes = source.type.lanes, pixels = plan::pixels_of_access(source.type);
    const kernel::Symbol first = layout_.names.local("x0");
    const Expr x0 = kernel::name(first);
    const Expr left = kernel::mul(kernel::sub(rows.end(0), x0), literal(lanes));
    const auto offset_in = [&](const ArrayLayout& array) {
      return kernel::add(rows.row_offset(array), rows.x_offset(x0, array));
    };
    kernel::For along_x{kernel::LoopKind::GridX, first, rows.begin(0), rows.end(0), {}, literal(pixels)};
    const kernel::Symbol pack = layout_.names.claim(source.name.spelling() + "_pack");
    along_x.body.push_back(
        {kernel::LoadPack{pack, source.name, source.type.scalar, pixels * lanes, offset_in(source), left}});
    for (const ArrayLayout& array : started(f))
      along_x.body.push_back({kernel::StorePack{pack, array.name, offset_in(array), left}});
    function.body = grid_loops_around(rows, {{std::move(along_x)}});
    return {function.name, literal(1), grid_over(rows, pixels)};
  }

  kernel::Launch start_by_rows(std::size_t f, const Rows& rows, kernel::Function& function) {
    const ir::Stage& initial = *evolution_.fields[f].initial;
    const bool along_x = rows.rank() == 1;
    const auto& [coords, first, last, number] = layout_.variables;
    function.parameters = {first, last};
    const kernel::Symbol row = layout_.names.local("row");
    kernel::For loop{kernel::LoopKind::Serial, row, kernel::name(first), kernel::name(last), {}};
    kernel::Names locals = layout_.names;
    kernel::Block& body = along_x ? function.body : loop.body;
    const Expr i = kernel::name(number), lanes = literal(initial.type.lanes);
    const Expr from = along_x ? kernel::mul(kernel::name(first), lanes) : literal(0);
    const Expr to = kernel::mul(along_x ? kernel::name(last) : rows.width(), lanes);
    const auto row_of = [&](const ArrayLayout& array, bool is_const) {
      const kernel::Symbol name = locals.claim(array.name.spelling() + "_row");
      body.push_back({kernel::Pointer{name, array.name, array.type.scalar,
                                      rows.offset_of(kernel::name(row), array), is_const}});
      return name;
    };
    const kernel::Symbol source_row = row_of(layout_.arrays.at(&initial), true);
    kernel::Block copy;
    for (const ArrayLayout& array : started(f)) {
      copy.push_back(
          {kernel::Store{row_of(array, false), i, kernel::load(source_row, array.type.scalar, i)}});
    }
    body.push_back({kernel::For{kernel::LoopKind::Vector, number, from, to, std::move(copy)}});
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
  const std::vector<int> oldest_ = analysis::oldest_ages(evolution_);
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
