#include "lower/lower_marching_grid.h"

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <optional>

#include "lower/expressions.h"
#include "lower/lower_grid.h"
#include "lower/lower_stage.h"
#include "lower/placed_lanes.h"
#include "lower/reduction_parts.h"
#include "lower/rows.h"
#include "lower/shared_rows.h"
#include "lower/steps.h"
#include "plan/march.h"
#include "plan/phases.h"

namespace weft::lower {

using ir::BinaryOp;
using kernel::Block;
using kernel::Expr;
using kernel::For;
using kernel::If;
using kernel::Let;
using kernel::literal;
using kernel::LoopKind;
using kernel::name;

namespace {

class MarchGridLowering {
 public:
  explicit MarchGridLowering(const GroupContext& context)
      : context_(context),
        plan_(context.plan),
        layout_(context.layout),
        result_(*context.members.back()),
        array_(layout_.arrays.at(&result_)),
        rows_(result_.domain(), layout_),
        steps_(plan_.step, result_.domain(), layout_),
        width_(plan_.width()),
        batch_(plan_.level(plan::LevelKind::Batch)->extent[1].fixed()) {
    for (const plan::Kept& kept : plan_.kept) {
      const ir::Stage& stage = stage_named(kept.stage, context.members);
      kept_.push_back({kept, &stage, layout_.names.claim(layout_.arrays.at(&stage).name + "_rows")});
    }
    if (plan_.parts) reduction_.emplace(StageContext{plan_, result_, context.names, layout_, context.module});
  }

  kernel::Launch run() {
    kernel::Function function{layout_.names.claim(array_.name + "_kernel"), comment(), {}, {}};
    for (const Kept& kept : kept_)
      function.body.push_back({kernel::LocalArray{kept.array, kept.plan.type.scalar, kept.plan.scalars(),
                                                  kernel::Storage::Shared}});
    if (reduction_) {
      const auto claim = [&](const std::string& wanted) { return layout_.names.claim(wanted); };
      accumulators_ = reduction_->accumulators(claim, function.body);
      function.body.push_back({Let{"part_rows", reduction_->rows_per_part()}});
    }
    function.body.push_back(
        {Let{"rows", of_strips([&](const Expr& rows) { return height(rows, name("part_rows")); })}});
    function.body.push_back({strips()});
    kernel::Launch launch{function.name, literal(1), grid()};
    context_.module.functions.push_back(std::move(function));
    return launch;
  }
  /// Of a reduction: appends what combines the parts.
  void launch_total() { reduction_->launch_total(); }

 private:
  struct Kept {
    const plan::Kept& plan;
    const ir::Stage* stage;
    std::string array;

    const ir::Stage& source() const { return *stage; }
    /// How columns and rows beyond the source are found; nothing if none are read, or they are computed.
    std::optional<ir::BorderMode> border() const { return plan.border_mode(); }
  };

  std::string comment() const {
    std::string members, kept_names;
    for (const Kept& kept : kept_) {
      const std::string name = "'" + kept.source().name + "'";
      kept_names += (kept_names.empty() ? "" : ", ") + name;
      if (kept.plan.is_member) members += (members.empty() ? "" : ", ") + name;
    }
    return (reduction_ ? "Parts of '" : "'") + result_.name + "'" +
           (members.empty() ? "" : " with " + members) + ". Each block of threads goes down a strip of " +
           std::to_string(width_) + " pixels, " + std::to_string(batch_) +
           " rows at\na time, and keeps the rows of " + kept_names + " in shared memory while they are read.";
  }

  const Kept* kept_of(const ir::Stage& source) const {
    const auto found =
        std::find_if(kept_.begin(), kept_.end(), [&](const Kept& k) { return &k.source() == &source; });
    return found == kept_.end() ? nullptr : &*found;
  }

  // ---- strips

  Expr strip_columns() const { return parts(steps_.extent(0), literal(width_)); }
  Expr of_strips(const std::function<Expr(const Expr&)>& given_rows) const {
    return plan::with_size(plan_.height(), rows_.extent(1), strip_columns(), given_rows);
  }

  /// At least so many rows; whole parts of a reduction, if there is one, of `part_rows` each.
  Expr height(const Expr& rows, const Expr& part_rows) const {
    return reduction_ ? kernel::mul(parts(rows, part_rows), part_rows) : rows;
  }

  kernel::Grid grid() const {
    const Expr part_rows = reduction_ ? reduction_->rows_per_part() : nullptr;
    kernel::Grid grid =
        grid_of_blocks(strip_columns(), plan_.level(plan::LevelKind::Block)->extent[0].fixed());
    grid.threads[1] =
        of_strips([&](const Expr& rows) { return parts(steps_.extent(1), height(rows, part_rows)); });
    return grid;
  }

  For strips() {
    const std::vector<plan::Phase> phases = plan::phases_of(plan_);
    const std::vector<bool> barrier_before = plan::barriers_before(phases);

    For batches{LoopKind::Serial, "batch", kernel::sub(name("y0"), literal(plan_.before)),
                name("y1"),       {},      literal(batch_)};
    for (std::size_t p = 0; p < phases.size(); ++p) {
      if (p > 0 && barrier_before[p]) batches.body.push_back({kernel::Barrier{}});
      kernel::append(batches.body, phases[p].pass.empty() ? load_images() : compute_pass(phases[p].pass));
    }
    if (barrier_before[0]) batches.body.push_back({kernel::Barrier{}});

    // Whole steps, as are the columns: what there is no pixel of is not stored.
    const Expr right = steps_.whole(rows_.end(0), 0), bottom = steps_.whole(rows_.end(1), 1);
    For down{LoopKind::BlocksY, "y0", steps_.origin(1), rows_.end(1), {}, name("rows")};
    down.body.push_back({Let{"y1", kernel::min(kernel::add(name("y0"), name("rows")), bottom)}});
    down.body.push_back({std::move(batches)});
    For across{LoopKind::BlocksX, "x0", steps_.origin(0), rows_.end(0), {}, literal(width_)};
    across.body.push_back({Let{"columns", kernel::min(literal(width_), kernel::sub(right, name("x0")))}});
    across.body.push_back({std::move(down)});
    return across;
  }

  // ---- coordinates of a strip, at the rates of the sources

  using Rate = std::array<int, 2>;

  Expr strip_begin(const Rate& rate) const { return steps_.at_rate(name("x0"), 0, rate[0]); }
  Expr row_at(const std::string& row_of_result, const Rate& rate) const {
    return steps_.at_rate(name(row_of_result), 1, rate[1]);
  }
  int rows_at(int rows_of_result, const Rate& rate) const {
    return plan::at_rate(rows_of_result, steps_[1], rate[1]);
  }

  Block load_images() {
    Block work;
    ExpressionLowering expressions(layout_, context_.module.tables, context_.names, result_, Place::Thread,
                                   rows_.coords(), context_.module.strict);
    for (const Kept& kept : kept_) {
      if (kept.plan.is_member) continue;
      const Rate& rate = kept.plan.rate;
      const Batch batch{strip_begin(rate), row_at("y0", rate), row_at("y1", rate), row_at("batch", rate),
                        rows_at(batch_, rate)};
      work.push_back({load_rows({kept.source(), kept.plan, kept.array}, batch, rows_, layout_, expressions)});
    }
    return work;
  }

  // ---- passes over the rows of a batch

  using StagePass = std::vector<const ir::Stage*>;

  Block compute_pass(const plan::Pass& names) {
    // One loop for those whose columns beyond the ends of a row are found in the same way.
    std::vector<StagePass> alike;
    for (const std::string& name : names) {
      const ir::Stage* stage = &stage_named(name, context_.members);
      const auto known = std::find_if(alike.begin(), alike.end(), [&](const StagePass& p) {
        const Kept *a = kept_of(*p.front()), *b = kept_of(*stage);
        return a && b && a->border() == b->border();
      });
      if (known == alike.end())
        alike.push_back({stage});
      else
        known->push_back(stage);
    }
    Block work;
    for (const StagePass& members : alike) work.push_back({columns_of(members)});
    if (is_reduced(*alike.back().back())) work = into_part(std::move(work));
    return work;
  }
  bool is_reduced(const ir::Stage& stage) const { return reduction_ && &stage == &result_; }

  /// What combines the accumulators with a batch of rows, if it is one of the strip's; before the first of a
  /// part they start, after its last their part is stored.
  Block into_part(Block combine) {
    ExpressionLowering expressions(layout_, context_.module.tables, context_.names, result_, Place::Thread,
                                   rows_.coords(), context_.module.strict);
    const Expr batch = name("batch"), part_rows = name("part_rows");
    Block body, start, finish;
    body.push_back(
        {Let{"row_of_part", kernel::binary(BinaryOp::Rem, kernel::sub(batch, name("y0")), part_rows)}});
    reduction_->start(expressions, accumulators_, start);
    const Expr is_first = kernel::binary(BinaryOp::Eq, name("row_of_part"), literal(0));
    body.push_back({If{is_first, std::move(start), {}}});
    kernel::append(body, std::move(combine));

    const Expr above = kernel::sub(batch, rows_.begin(1)), left = kernel::sub(name("x0"), rows_.begin(0));
    const Expr part = ReductionParts::number(above, part_rows, kernel::div(left, literal(width_)),
                                             reduction_->strips_per_row());
    reduction_->finish(expressions, accumulators_, part, finish);
    const Expr end = kernel::min(kernel::add(kernel::sub(batch, name("row_of_part")), part_rows), name("y1"));
    const Expr is_last = kernel::binary(BinaryOp::Le, end, kernel::add(batch, literal(batch_)));
    body.push_back({If{is_last, std::move(finish), {}}});
    return {{If{kernel::binary(BinaryOp::Le, name("y0"), batch), std::move(body), {}}}};
  }

  /// Members that one loop computes, and the rows and columns that a strip needs of them.
  struct Loop {
    std::vector<std::unique_ptr<PlacedLanes>> members;
    std::vector<const Kept*> kept;  ///< Of each; null: the result.
    Rows rows;                      ///< Of each; of scalars, if their lanes are flat.
    int per_pixel;                  ///< Scalars, if their lanes are flat; else 1.
    Rate rate;
    plan::Reach x = {}, y = {};
    plan::Reach outside = {};    ///< Columns beyond its ends that are read.
    plan::Reach continued = {};  ///< Rows beyond its ends that are computed.
    std::int64_t ahead = 0;
    std::optional<ir::BorderMode> border = {};
    std::array<bool, 2> is_like_result = {true, true};  ///< Has its pixels, at its coordinates.

    const ir::Stage& stage() const { return members.front()->stage(); }
    bool is_constant_outside() const { return border == ir::BorderMode::Constant; }
    bool is_strip_wide() const { return x == plan::Reach{} && is_like_result[0]; }
    bool is_strip_high() const { return y == plan::Reach{} && is_like_result[1]; }
    std::string row() const { return kept.front() ? "row" : "y"; }
  };
  Loop loop_of(const StagePass& pass) {
    std::vector<std::unique_ptr<PlacedLanes>> members;
    std::vector<const Kept*> kept;
    const auto is_kept = [&](const ir::Stage& source) { return kept_of(source) != nullptr; };
    for (const ir::Stage* stage : pass) {
      members.push_back(
          std::make_unique<PlacedLanes>(*stage, layout_, rewrite::borders_find_pixels(*stage, is_kept)));
      kept.push_back(kept_of(*stage));
    }
    const PlacedLanes& first = *members.front();
    const Rows rows(first.stage().domain(), layout_);
    const int per_pixel = first.per_pixel();
    Loop loop{std::move(members), std::move(kept), rows, per_pixel, {steps_[0], steps_[1]}};
    if (const Kept* k = loop.kept.front()) {
      loop.rate = k->plan.rate;
      loop.x = k->plan.x(), loop.y = k->plan.y();
      for (const Kept* member : loop.kept) {
        const plan::Reach& reach = member->plan.outside[0];
        loop.outside = {std::max(loop.outside.min, reach.min), std::max(loop.outside.max, reach.max)};
      }
      loop.continued = k->plan.continued(1);
      loop.ahead = k->plan.ahead, loop.border = k->border();
    }
    for (int d = 0; d < 2; ++d)
      loop.is_like_result[d] =
          pass.front()->domain()[d] == result_.domain()[d] && steps_[d] == 1 && loop.rate[d] == 1;
    return loop;
  }

  /// for each column of a strip and its halo, by a thread:  for its rows of the batch:  the members' pixels
  For columns_of(const StagePass& members) {
    const Loop loop = loop_of(members);
    ExpressionLowering expressions(layout_, context_.module.tables, context_.names, loop.stage(),
                                   Place::Thread, {name("x"), name(loop.row())}, context_.module.strict);
    if (members.size() > 1) expressions.share_with({members.begin() + 1, members.end()});
    std::unordered_map<const ir::Stage*, ExpressionLowering::KeptRows> rows;
    for (const Kept& k : kept_) {
      for (const auto& member : loop.members)
        rows[&member->view(k.source())] = {k.array, [&k](const Expr& y) { return row_in(k.plan, y); },
                                           [&k](const Expr& x) { return at_kept(k.plan, x); },
                                           k.plan.is_member && !k.plan.continues};
    }
    expressions.keep_rows(std::move(rows), literal(0));
    Column column = column_of(loop, expressions);
    kernel::append(column.work.body, rows_of(loop, column, expressions));
    return std::move(column.work);
  }

  /// The loop over the columns of a strip and its halo. Its body says which pixel a thread computes: `x`, the
  /// `i`th from the strip's first. For a column beyond the end of a row it is the pixel that the border finds
  /// there, so that what is stored for the column is what the border finds. All in scalars, if lanes are
  /// flat.
  struct Column {
    For work;
    Expr slot = {};    ///< Where the column is kept, from the first that is.
    Expr lane = {};    ///< Of flat lanes.
    Expr inside = {};  ///< With a constant border, whether the column is in the source; null: it is.
  };
  Column column_of(const Loop& loop, ExpressionLowering& expressions) const {
    const Rows& rows = loop.rows;
    const Expr lanes = literal(loop.per_pixel), begin = strip_begin(loop.rate);
    const Expr x0 = kernel::mul(begin, lanes), columns = steps_.at_rate(name("columns"), 0, loop.rate[0]);
    const Expr halo = literal((loop.x.extent() - 1) * loop.per_pixel);
    const std::string variable = loop.is_strip_wide() ? "i" : expressions.claim("t");
    const Expr t = name(variable), from_x0 = literal(loop.x.min * loop.per_pixel);
    Column column{
        {LoopKind::Threads, variable, literal(0), kernel::add(kernel::mul(columns, lanes), halo), {}}};
    Block& body = column.work.body;
    // What is further beyond the ends of a row is not read, and cannot be computed.
    const auto leave_out = [&] {
      const Expr first = kernel::add(x0, from_x0);
      const Expr left = kernel::sub(rows.begin(0), literal(loop.outside.min * loop.per_pixel));
      const Expr right = kernel::add(rows.end(0), literal(loop.outside.max * loop.per_pixel));
      column.work.from = kernel::max(literal(0), kernel::sub(left, first));
      column.work.to = kernel::min(column.work.to, kernel::sub(right, first));
    };
    column.slot = kernel::add(t, literal(std::max<std::int64_t>(loop.x.min, 0) * loop.per_pixel));
    column.lane = loop.per_pixel == 1 ? literal(0) : kernel::binary(BinaryOp::Rem, t, lanes);
    if (loop.is_strip_wide()) {
      body.push_back({Let{"x", kernel::add(x0, name("i"))}});
    } else if (loop.border && !loop.is_constant_outside()) {
      const Rows pixels(loop.kept.front()->source().box, layout_);
      const Expr number = loop.per_pixel == 1 ? t : kernel::div(t, lanes);
      const Expr pixel = kernel::add(kernel::add(begin, number), literal(loop.x.min));
      const Expr found =
          kernel::index_call(index_op(*loop.border), kernel::sub(pixel, pixels.begin(0)), pixels.extent(0));
      body.push_back(
          {Let{"x", kernel::add(kernel::mul(kernel::add(found, pixels.begin(0)), lanes), column.lane)}});
      body.push_back({Let{"i", kernel::sub(name("x"), x0)}});
      if (!loop.is_like_result[0]) leave_out();
    } else {
      body.push_back({Let{"i", kernel::add(t, from_x0)}});
      body.push_back({Let{"x", kernel::add(x0, name("i"))}});
      if (loop.is_constant_outside()) {
        const Expr inside = kernel::both(kernel::binary(BinaryOp::Le, rows.begin(0), name("x")),
                                         kernel::binary(BinaryOp::Lt, name("x"), rows.end(0)));
        const std::string local = expressions.claim("inside");
        body.push_back({Let{local, inside}});
        column.inside = name(local, Scalar::Bool);
      } else {
        leave_out();
      }
    }
    return column;
  }

  /// for the rows of the batch that the strip needs:  the members' pixels in a column
  Block rows_of(const Loop& loop, const Column& column, ExpressionLowering& expressions) {
    const Expr row = name(loop.row()), ahead = literal(loop.ahead);
    Expr from = kernel::add(row_at("batch", loop.rate), ahead);
    const bool is_first = loop.ahead - loop.y.min == rows_at(plan_.before, loop.rate);  // of a strip
    if (!is_first) from = kernel::max(from, kernel::add(row_at("y0", loop.rate), literal(loop.y.min)));
    const Expr end_of_batch = kernel::add(row_at("batch", loop.rate), literal(rows_at(batch_, loop.rate)));
    Expr to = kernel::add(kernel::min(end_of_batch, row_at("y1", loop.rate)), ahead);
    Expr inside = column.inside;
    Block block;
    if (!loop.is_strip_high() && loop.is_constant_outside()) {
      inside = kernel::both(inside, kernel::both(kernel::binary(BinaryOp::Le, loop.rows.begin(1), row),
                                                 kernel::binary(BinaryOp::Lt, row, loop.rows.end(1))));
    } else if (!loop.is_strip_high()) {
      const Expr begin = kernel::sub(loop.rows.begin(1), literal(loop.continued.min));
      const Expr end = kernel::add(loop.rows.end(1), literal(loop.continued.max));
      block.push_back({Let{"first", kernel::max(from, begin)}});
      block.push_back({Let{"last", kernel::min(to, end)}});
      from = name("first"), to = name("last");
    }
    Block pointers, work;
    std::vector<Target> targets;
    if (!is_reduced(loop.stage())) targets = targets_of(loop, column, expressions, pointers);
    expressions.open(work, &pointers);
    for (const Target& target : targets) store_value(target, expressions, work);
    if (is_reduced(loop.stage())) reduction_->element(expressions, accumulators_, column.slot, work);
    expressions.close();
    if (inside) {
      Block constants;
      expressions.open(constants, &pointers);
      for (const Target& target : targets) store_border(target, column, expressions, constants);
      expressions.close();
      work = Block{{If{inside, std::move(work), std::move(constants)}}};
    }
    For each_row{LoopKind::Serial, loop.row(), from, to, std::move(pointers)};
    kernel::append(each_row.body, std::move(work));
    block.push_back({std::move(each_row)});
    return block;
  }

  /// Where the pixel of a thread goes.
  struct Target {
    const ir::Stage& stage;
    const Kept* kept;
    std::string array;
    Expr offset;
  };
  /// Appends pointers to the rows.
  std::vector<Target> targets_of(const Loop& loop, const Column& column, ExpressionLowering& expressions,
                                 Block& pointers) const {
    std::vector<Target> targets;
    for (std::size_t m = 0; m < loop.members.size(); ++m) {
      const ir::Stage& stage = loop.members[m]->stage();
      const Kept* kept = loop.kept[m];
      if (!kept) {
        const ArrayLayout& array = layout_.arrays.at(&stage);
        const Expr offset = kernel::add(loop.rows.row_offset(array), loop.rows.x_offset(name("x"), array));
        targets.push_back({stage, kept, array.name, offset});
        continue;
      }
      const std::string row = expressions.claim(layout_.arrays.at(&kept->source()).name + "_row");
      pointers.push_back({kernel::Pointer{row, kept->array, kept->plan.type.scalar,
                                          row_in(kept->plan, name("row")), false}});
      targets.push_back({stage, kept, row, kernel::mul(column.slot, literal(stage.type.lanes))});
    }
    return targets;
  }

  static void store_value(const Target& target, ExpressionLowering& expressions, Block& work) {
    const auto& cases = std::get<ir::Pure>(target.stage.definition).cases;
    if (cases.size() > 1) return store_pixel(expressions, work, cases, target.array, target.offset);
    store(target, expressions.lower(cases[0].value), work);
  }

  static void store_border(const Target& target, const Column& column, ExpressionLowering& expressions,
                           Block& block) {
    const ir::Expr& constant = target.kept->plan.border->constant;
    const bool is_flat = target.stage.type.lanes < target.kept->plan.type.lanes;
    store(target,
          is_flat ? Lanes{border_lane(constant, column.lane, expressions)} : expressions.lower(constant),
          block);
  }

  static void store(const Target& target, const Lanes& value, Block& block) {
    for (std::size_t l = 0; l < value.size(); ++l) {
      const Expr at = kernel::add(target.offset, literal(static_cast<std::int64_t>(l)));
      block.push_back({kernel::Store{target.array, at, value[l]}});
    }
  }

  const GroupContext& context_;
  const plan::KernelPlan& plan_;
  Layout& layout_;
  const ir::Stage& result_;
  const ArrayLayout& array_;
  const Rows rows_;
  const Steps steps_;
  const int width_;  // of a strip, in pixels of the result
  const int batch_;  // rows of the result
  std::vector<Kept> kept_;
  std::optional<ReductionParts> reduction_;  // where the result is one
  ReductionParts::Arrays accumulators_;
};

}  // namespace

kernel::Launch launch_of_marching_grid(const GroupContext& context) {
  return MarchGridLowering(context).run();
}

void lower_marching_grid(const GroupContext& context) {
  MarchGridLowering lowering(context);
  context.module.steps.push_back(lowering.run());
  if (context.plan.parts) lowering.launch_total();
}

}  // namespace weft::lower
