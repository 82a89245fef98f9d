#include "lower/lower_stage.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>

#include "analysis/interior.h"
#include "ir/visit.h"
#include "lower/expressions.h"
#include "lower/lower_grid.h"
#include "lower/lower_tiles.h"
#include "lower/phase_loop.h"
#include "lower/phases.h"
#include "lower/placed_lanes.h"
#include "lower/rows.h"
#include "lower/strip_pixels.h"
#include "machine/cpu.h"
#include "plan/core_costs.h"
#include "rewrite/between_pixels.h"

namespace weft::lower {

namespace {

class StageLowering {
 public:
  explicit StageLowering(const KernelContext& context)
      : context_(context),
        plan_(context.plan),
        stage_(context.stage()),
        cases_(std::get<ir::Pure>(stage_.definition).cases),
        names_(context.names),
        layout_(context.layout),
        module_(context.module),
        array_(layout_.arrays.at(&stage_)),
        rows_(stage_.box, layout_),
        interior_(analysis::interior_of(stage_)),
        lanes_(stage_, layout_),
        inner_(lanes_.stage()),
        inner_rows_(inner_.box, layout_),
        phases_(phases_of_rows()) {}

  kernel::Launch run() {
    find_border();
    kernel::Function rows = rows_function();
    kernel::Launch launch{rows.name, row_count(), {}, picoseconds_of_iteration()};
    module_.functions.push_back(std::move(rows));
    return launch;
  }

  Block row(const Expr& from, const Expr& to) {
    find_border();
    Block block;
    fill_row(block, from, to);
    return block;
  }

 private:
  /// Whether pixels depend on a number of the step that no function knows but the one that counts.
  bool needs_step() const {
    bool found = false;
    ir::visit(ir::expressions(stage_),
              [&](const ir::Expr& e) { found |= std::holds_alternative<ir::StepNumber>(e->op); });
    return found && layout_.step_variable;
  }

  /// Pixels whose reads may leave a source are computed by a function, one by one.
  void find_border() {
    if (interior_.is_everything() && !phases_) return;
    pixel_function_ = layout_.names.claim(array_.name.spelling() + "_pixel");
    module_.functions.push_back(pixel_function());
  }

  /// By the model of a core's arithmetic: what is small enough to matter lies in caches.
  Expr picoseconds_of_iteration() const {
    plan::CoreWork work;
    for (const plan::Computed& c : plan_.computed) plan::add_pixels(work, c, 1);
    const machine::CpuSpeeds& cpu = machine::cpu_speeds();
    const double of_pixel = plan::cost_of(work, cpu).compute * cpu.cores * 1e12;
    const Expr pixel = kernel::literal(std::max<std::int64_t>(std::llround(of_pixel), 1));
    return rank() > 1 ? kernel::mul(pixel, rows_.width()) : pixel;
  }

  int rank() const { return rows_.rank(); }
  Expr lower(const ir::Affine& a) const { return rows_.lower(a); }
  std::vector<Expr> coords() const { return rows_.coords(); }
  Expr begin(int d) const { return rows_.begin(d); }
  Expr end(int d) const { return rows_.end(d); }

  /// What a launch divides among threads: rows, or the pixels of a 1-D stage.
  Expr row_count() const { return rank() == 1 ? rows_.extent(0) : rows_.count(); }

  /// In the array that the interior is stored to: of scalars if lanes are flat.
  const ArrayLayout& inner_array() const { return layout_.arrays.at(&inner_); }
  const std::vector<ir::Case>& inner_cases() const { return std::get<ir::Pure>(inner_.definition).cases; }
  Expr x_offset(const Expr& x) const { return inner_rows_.x_offset(x, inner_array()); }
  /// A coordinate of pixels along x as one of the interior.
  Expr inner_x(const Expr& x) const { return kernel::mul(x, kernel::literal(lanes_.per_pixel())); }

  kernel::Function pixel_function() const {
    kernel::Function function{pixel_function_, "One pixel of " + stage_.name + ", borders resolved.", {}, {}};
    for (int d = 0; d < rank(); ++d) function.parameters.push_back(rows_.coordinate(d));
    if (needs_step()) function.parameters.push_back(layout_.step_variable);
    ExpressionLowering expressions(context_, stage_, Place::Anywhere, coords());
    const Expr offset = rank() == 0
                            ? kernel::literal(0)
                            : kernel::add(rows_.row_offset(array_), rows_.x_offset(coords()[0], array_));
    store_pixel(expressions, function.body, cases_, array_.name, offset);
    return function;
  }

  kernel::Function rows_function() {
    kernel::Function function{layout_.names.claim(array_.name.spelling() + "_rows"),
                              comment_on(stage_, "Rows [first, last) of '" + stage_.name + "'"),
                              {first_, last_},
                              {}};
    if (rank() <= 1) {
      const Expr first = rank() == 0 ? kernel::literal(0) : kernel::add(kernel::name(first_), begin(0));
      const Expr last = rank() == 0 ? kernel::literal(1) : kernel::add(kernel::name(last_), begin(0));
      fill_row(function.body, first, last);
      return function;
    }
    const bool is_y = rank() == 2 && kernel::is_literal(begin(1), 0);
    const kernel::Symbol variable = is_y ? rows_.coordinate(1) : layout_.names.local("row");
    kernel::For loop{kernel::LoopKind::Serial, variable, kernel::name(first_), kernel::name(last_), {}};
    if (!is_y) loop.body = rows_.coordinates_of(kernel::name(variable));
    fill_row(loop.body, begin(0), end(0));
    function.body.push_back({std::move(loop)});
    return function;
  }

  Block pixel_loop(const Expr& from, const Expr& to) const {
    kernel::For loop{kernel::LoopKind::Serial, rows_.coordinate(0), from, to, {}};
    std::vector<Expr> arguments = coords();
    if (needs_step()) arguments.push_back(kernel::name(layout_.step_variable));
    loop.body.push_back({kernel::CallFunction{pixel_function_, std::move(arguments)}});
    return {{std::move(loop)}};
  }

  void fill_row(Block& block, const Expr& row_begin, const Expr& row_end) {
    if (Expr outside = rows_outside(interior_, rows_)) {
      kernel::If border_row{
          outside,
          has_even_border_rows() ? border_row_loop(row_begin, row_end) : pixel_loop(row_begin, row_end),
          {}};
      border_row.then.push_back({kernel::Continue{}});
      block.push_back({std::move(border_row)});
    }
    Expr left = row_begin, right = row_end;
    if (pixel_function_) {
      // Between them all phases are complete.
      const std::int64_t phases = phases_ ? phases_->count() : 1;
      const Expr mask = kernel::literal(-phases);
      for (const ir::Affine& bound : interior_.x.lower) left = kernel::max(left, lower(bound));
      if (phases_)
        left = kernel::binary(ir::BinaryOp::And, kernel::add(left, kernel::literal(phases - 1)), mask);
      left = kernel::min(left, row_end);
      const kernel::Symbol from = layout_.names.local("left"), until = layout_.names.local("right");
      block.push_back({kernel::Let{from, left}});
      for (const ir::Affine& bound : interior_.x.upper) right = kernel::min(right, lower(bound));
      if (phases_) right = kernel::binary(ir::BinaryOp::And, right, mask);
      block.push_back({kernel::Let{until, kernel::max(kernel::name(from), right)}});
      left = kernel::name(from);
      right = kernel::name(until);
    }
    Block rows;  // what is found once per row
    Block interior = interior_loop(rows, inner_x(left), inner_x(right));
    kernel::append(block, std::move(rows));
    if (pixel_function_) note_ends(interior);
    if (pixel_function_) kernel::append(block, pixel_loop(row_begin, left));
    kernel::append(block, std::move(interior));
    if (pixel_function_) kernel::append(block, pixel_loop(right, row_end));
  }

  /// Tells the loop over the pixels of rows what reads find beyond their ends.
  void note_ends(Block& interior) const {
    auto* loop = interior.size() == 1 ? std::get_if<kernel::For>(&interior.front().op) : nullptr;
    const ir::Border* border = loop && rank() > 1 && !phases_ ? analysis::border_of_rows(stage_) : nullptr;
    if (!border || stage_.domain() != stage_.box || !kernel::is_literal(begin(0), 0)) return;
    const Expr scalars = kernel::mul(kernel::name(array_.strides.back()), rows_.extent(rank() - 1));
    const Expr bytes = kernel::mul(scalars, kernel::literal(size_of(stage_.type.scalar)));
    kernel::RowEnds ends{rows_.extent(0), lanes_.per_pixel(), {}, {}, bytes};
    if (border->mode != ir::BorderMode::Constant) {
      ends.border = index_op(border->mode);
    } else {
      const auto* constant = std::get_if<ir::Const>(&border->constant->op);
      if (!constant || constant->value.type.lanes > 1) return;
      ends.constant = kernel::constant(constant->value.type.scalar, constant->value.lane[0]);
    }
    loop->ends = std::move(ends);
  }

  /// Whether all pixels of a row leave sources at the same reads, and such rows are a share worth a loop of their own:
  /// of a volume of few planes.
  bool has_even_border_rows() {
    const auto has_few = [&](std::size_t d) {
      const ir::Affine& extent = stage_.box[d].extent;
      return !interior_.outer[d - 1].lower.empty() && extent.is_constant() &&
             extent.constant() <= plan_.code.planes;
    };
    return rank() == 3 && has_few(2) && interior_.x.lower.empty() && !phases_ && inner_cases().size() == 1 &&
           has_straight_rows();
  }
  Block border_row_loop(const Expr& from, const Expr& to) {
    ExpressionLowering in_row(context_, inner_, Place::Row, coords());
    Block loop, block;
    const kernel::Symbol target = output_row(in_row, block);
    in_row.open(loop, &block);
    store_pixels(in_row, {&inner_, target, x_offset(coords()[0])},
                 {rows_.coordinate(0), inner_x(from), inner_x(to), kernel::literal(0)}, loop);
    in_row.close();
    kernel::append(block, std::move(loop));
    return block;
  }

  std::optional<Phases> phases_of_rows() {
    const int count = has_straight_rows() ? phase_count(inner_, plan_.code.phases) : 1;
    return count > 1 ? std::optional(phases_of(inner_, count, names_, module_.strict)) : std::nullopt;
  }

  /// Whether a loop over pixels is all that it takes; folds too large for one are computed strip by strip.
  bool has_straight_rows() {
    if (inner_cases().size() > 1) return true;
    ExpressionLowering in_row(context_, inner_, Place::Interior, coords());
    return rank() == 0 || is_one_loop(in_row, inner_);
  }

  Block interior_loop(Block& rows, const Expr& left, const Expr& right) {
    if (phases_) return loop_over_phases(rows, left, right);
    std::vector<Expr> at = coords();
    ExpressionLowering in_row(context_, inner_, Place::Interior, at);
    if (!has_straight_rows()) {
      const kernel::Symbol x0 = layout_.names.local("x0");
      at[0] = kernel::add(kernel::name(x0), kernel::name(layout_.variables.i));
      ExpressionLowering in_strip(context_, inner_, Place::Interior, at);
      return strips(in_strip, output_row(in_strip, rows), x0, left, right);
    }
    const kernel::Symbol target = output_row(in_row, rows);
    Block result;
    in_row.open(result, &rows);
    if (rank() == 0) {
      store_pixel(in_row, result, inner_cases(), target, kernel::literal(0));
    } else {
      store_pixels(in_row, {&inner_, target, x_offset(at[0])},
                   {rows_.coordinate(0), left, right, kernel::literal(0)}, result);
    }
    in_row.close();
    return result;
  }

  Block loop_over_phases(Block& rows, const Expr& left, const Expr& right) {
    // Too many lanes side by side for vectors.
    if (!std::has_single_bit(static_cast<unsigned>(inner_.type.lanes))) {
      if (const auto parts = rewrite::between_pixels(inner_, names_))
        return strips_of_parts(*parts, rows, left, right);
    }
    PhaseLoop phases(context_, Place::Interior, {*phases_}, coords());
    const kernel::Symbol target = output_row(phases.expressions(), rows);
    Block result;
    phases.expressions().open(result, &rows);
    result.push_back({phases.pixels(left, right, [&](std::size_t, const Expr& x) {
      return StripTarget{&inner_, target, x_offset(x)};
    })});
    phases.expressions().close();
    return result;
  }

  /// What is read between pixels by phases, its lanes apart, and then the rest.
  Block strips_of_parts(const rewrite::BetweenPixels& parts, Block& rows, const Expr& left,
                        const Expr& right) {
    constexpr int most = analysis::strip_pixels;  // a multiple of the phases
    const kernel::Symbol begin = layout_.names.local("x0"), end = layout_.names.local("x1");
    const Expr x0 = kernel::name(begin), x1 = kernel::name(end), i = kernel::name(layout_.variables.i);
    std::vector<Expr> at = coords();
    at[0] = kernel::add(x0, i);
    std::vector<Phases> of_parts;
    for (const ir::StagePtr& part : parts.between)
      of_parts.push_back(phases_of(*part, phases_->count(), names_, module_.strict));
    PhaseLoop phases(context_, Place::Interior, std::move(of_parts), coords());
    ExpressionLowering rest(context_, parts.rest, Place::Interior, at, &parts.names);

    kernel::For strip{kernel::LoopKind::Serial, begin, left, right, {}, kernel::literal(most)};
    strip.body.push_back({kernel::Let{end, kernel::min(kernel::add(x0, kernel::literal(most)), right)}});
    std::vector<StripTarget> targets;
    std::unordered_map<const ir::Stage*, ExpressionLowering::KeptRows> kept;
    for (const ir::StagePtr& part : parts.between) {
      const kernel::Symbol array = phases.expressions().claim(part->name);
      strip.body.push_back({kernel::LocalArray{array, part->type.scalar, most * part->type.lanes}});
      targets.push_back({part.get(), array, nullptr, most});
      kept[part.get()] = {array, [](const std::vector<Expr>&) { return kernel::literal(0); },
                          [x0](const Expr& x) { return kernel::sub(x, x0); }, false, most};
      layout_.arrays[part.get()] = {array, part->type, {}, part->box};
    }
    Block work;
    phases.expressions().open(work, &rows);
    work.push_back({phases.pixels(x0, x1, [&](std::size_t part, const Expr& x) {
      StripTarget target = targets[part];
      target.offset = kernel::sub(x, x0);
      return target;
    })});
    phases.expressions().close();
    kernel::append(strip.body, std::move(work));

    rest.avoid_names_of(phases.expressions());
    rest.keep_rows(std::move(kept), x0);
    const kernel::Symbol target = output_row(rest, rows);
    Block pointers;
    work.clear();
    store_strip(rest, {{&parts.rest, target, x_offset(at[0])}}, {x0, kernel::sub(x1, x0), most}, pointers,
                work);
    kernel::append(strip.body, std::move(pointers));
    kernel::append(strip.body, std::move(work));
    for (const ir::StagePtr& part : parts.between) layout_.arrays.erase(part.get());
    return {{std::move(strip)}};
  }

  /// The array that the row loop stores to: a pointer to the current row.
  kernel::Symbol output_row(ExpressionLowering& expressions, Block& rows) const {
    if (rank() <= 1) return inner_array().name;
    const kernel::Symbol row = expressions.claim(array_.name.spelling() + "_row");
    rows.push_back({kernel::Pointer{row, array_.name, inner_.type.scalar,
                                    inner_rows_.row_offset(inner_array()), false}});
    return row;
  }

  /// Strip by strip along the row; `begin` is the variable with which one begins.
  Block strips(ExpressionLowering& expressions, const kernel::Symbol& target, const kernel::Symbol& begin,
               const Expr& left, const Expr& right) const {
    const kernel::Symbol length = layout_.names.local("count");
    const Expr x0 = kernel::name(begin), count = kernel::name(length);
    const Expr x = kernel::add(x0, kernel::name(layout_.variables.i));
    kernel::For strip{
        kernel::LoopKind::Serial, begin, left, right, {}, kernel::literal(analysis::strip_pixels)};
    strip.body.push_back(
        {kernel::Let{length, kernel::min(kernel::literal(analysis::strip_pixels), kernel::sub(right, x0))}});
    Block pointers, work;
    store_strip(expressions, {{&inner_, target, x_offset(x)}}, {x0, count, analysis::strip_pixels}, pointers,
                work);
    kernel::append(strip.body, std::move(pointers));
    kernel::append(strip.body, std::move(work));
    return {{std::move(strip)}};
  }

  const KernelContext& context_;
  const plan::KernelPlan& plan_;
  const ir::Stage& stage_;
  const std::vector<ir::Case>& cases_;
  const std::unordered_map<const ir::Node*, std::string>& names_;
  Layout& layout_;
  kernel::Module& module_;
  const ArrayLayout& array_;
  const Rows rows_;
  const analysis::Interior interior_;
  const PlacedLanes lanes_;
  const ir::Stage& inner_;  ///< What the interior computes: the stage, or its flat lanes.
  const Rows inner_rows_;
  const std::optional<Phases> phases_;
  kernel::Symbol pixel_function_;
  const kernel::Symbol first_ = layout_.variables.first, last_ = layout_.variables.last;
};

void store_first_that_holds(ExpressionLowering& expressions, Block& block, const std::vector<ir::Case>& cases,
                            const kernel::Symbol& array, const Expr& offset, std::int64_t lane_pitch,
                            std::size_t from_case) {
  const ir::Case& c = cases[from_case];
  const bool is_last = from_case + 1 == cases.size();  // the cases cover the box, so the last needs no test
  Block* into = &block;
  if (!is_last && c.when) {
    expressions.open(block);
    const Expr condition = expressions.lower(c.when)[0];
    expressions.close();
    block.push_back({kernel::If{condition, {}, {}}});
    into = &std::get<kernel::If>(block.back().op).then;
  }
  expressions.open(*into);
  const Lanes value = expressions.lower(c.value);
  for (std::size_t l = 0; l < value.size(); ++l) {
    into->push_back({kernel::Store{
        array, kernel::add(offset, kernel::literal(static_cast<std::int64_t>(l) * lane_pitch)), value[l]}});
  }
  expressions.close();
  if (into != &block) {
    store_first_that_holds(expressions, std::get<kernel::If>(block.back().op).otherwise, cases, array, offset,
                           lane_pitch, from_case + 1);
  }
}

}  // namespace

void store_pixel(ExpressionLowering& expressions, Block& block, const std::vector<ir::Case>& cases,
                 const kernel::Symbol& array, const Expr& offset, std::int64_t lane_pitch) {
  store_first_that_holds(expressions, block, cases, array, offset, lane_pitch, 0);
}

std::string comment_on(const ir::Stage& stage, const std::string& what) {
  std::string reads;
  for (const ir::Expr& e : ir::reads(stage)) {
    const std::string& name = std::get<ir::Read>(e->op).source->name;
    if (reads.find("'" + name + "'") == std::string::npos)
      reads += (reads.empty() ? "'" : ", '") + name + "'";
  }
  return what + (reads.empty() ? "." : " from " + reads + ".");
}

Block row_of_stage(const KernelContext& context, const Expr& from, const Expr& to) {
  return StageLowering(context).row(from, to);
}

kernel::Launch lower_stage(const KernelContext& context) {
  if (context.plan.is_tiled()) return lower_tiles(context);
  return context.plan.is_of_blocks() ? lower_grid(context) : StageLowering(context).run();
}

}  // namespace weft::lower
