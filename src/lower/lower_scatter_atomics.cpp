#include "lower/lower_scatter_atomics.h"

#include <algorithm>

#include "lower/lane_code.h"
#include "lower/lower_grid.h"
#include "lower/lower_packs.h"
#include "lower/rows.h"
#include "lower/updates.h"

namespace weft::lower {

namespace {

class AtomicsLowering {
 public:
  AtomicsLowering(const KernelContext& context, const plan::ScatterAtomics& asked)
      : stage_(context.stage()),
        scatter_(std::get<ir::Scatter>(stage_.definition)),
        context_(context),
        layout_(context.layout),
        module_(context.module),
        array_(layout_.arrays.at(&stage_)),
        bins_(stage_.box, layout_),
        points_(scatter_.over, layout_),
        scalars_(asked.shared_scalars),
        points_per_block_(asked.points),
        points_of_thread_(asked.points_of_thread) {}

  void run() {
    kernel::Function start = start_function();
    kernel::Function fill = scalars_ > 0 ? shared_function() : direct_function();
    module_.steps.push_back(kernel::Launch{start.name, literal(1), grid_over(bins_)});
    const kernel::Grid grid = scalars_ > 0 ? grid_of_blocks(block_count()) : grid_over(points_);
    module_.steps.push_back(kernel::Launch{fill.name, literal(1), grid});
    module_.functions.push_back(std::move(start));
    module_.functions.push_back(std::move(fill));
  }

 private:
  int lanes() const { return stage_.type.lanes; }

  ExpressionLowering expressions_at(std::vector<Expr> coords) const {
    return {context_, stage_, Place::Thread, std::move(coords)};
  }

  kernel::Function start_function() const {
    ExpressionLowering expressions = expressions_at(bins_.coords());
    const Expr offset =
        bins_.rank() == 0 ? literal(0)
                          : kernel::add(bins_.row_offset(array_), bins_.x_offset(bins_.coords()[0], array_));
    kernel::Function function{layout_.names.claim(array_.name.spelling() + "_start"),
                              "'" + stage_.name + "' before its updates.",
                              {},
                              {}};
    function.body = grid_loops(bins_, [&](Block& block) {
      store_pixel(expressions, block, {{nullptr, scatter_.initial}}, array_.name, offset);
    });
    return function;
  }

  /// array[place + lane] = … op value, for all lanes.
  Block updates_of(const kernel::Symbol& array, const Expr& place, const Lanes& value) const {
    Block block;
    for (int l = 0; l < lanes(); ++l)
      block.push_back({kernel::Atomic{scatter_.op, array, kernel::add(place, literal(l)), value[l]}});
    return block;
  }

  /// Of many bins: each thread updates the stage itself.
  kernel::Function direct_function() const {
    kernel::Function function{layout_.names.claim(array_.name.spelling() + "_fill"),
                              comment_on(stage_, "The updates of '" + stage_.name + "'"),
                              {},
                              {}};
    ExpressionLowering expressions = expressions_at(points_.coords());
    function.body = grid_loops(points_, [&](Block& block) {
      lower_updates(expressions, stage_, bins_, block, [&](const Expr& bin, const Lanes& value) {
        return updates_of(array_.name, place_of(bin), value);
      });
    });
    return function;
  }

  /// The scalars from the start of the stage's array to a bin.
  Expr place_of(const Expr& bin) const {
    if (bins_.rank() <= 1) return kernel::mul(bin, literal(lanes()));
    const Expr width = bins_.width(), x = kernel::binary(BinaryOp::Rem, bin, width);
    return kernel::add(bins_.offset_of(kernel::div(bin, width), array_), kernel::mul(x, literal(lanes())));
  }

  // ---- by way of shared memory ----

  Expr rows_per_block() const {
    return kernel::max(kernel::div(literal(points_per_block_), kernel::max(points_.width(), literal(1))),
                       literal(1));
  }
  /// Of 1-D domains the blocks are parts of x, of others they are rows.
  Expr block_count() const {
    const bool along_x = points_.rank() == 1;
    const Expr per_block = along_x ? literal(points_per_block_) : rows_per_block();
    const Expr all = along_x ? points_.extent(0) : points_.count();
    return kernel::max(kernel::div(kernel::sub(kernel::add(all, per_block), literal(1)), per_block),
                       literal(1));
  }

  kernel::Function shared_function() const {
    kernel::Function function{
        layout_.names.claim(array_.name.spelling() + "_fill"),
        comment_on(stage_, "The updates of '" + stage_.name + "', each block's together,"),
        {},
        {}};
    ExpressionLowering expressions = expressions_at(points_.coords());
    const kernel::Symbol copy = expressions.claim(array_.name.spelling() + "_copy");
    const Scalar scalar = stage_.type.scalar;
    const Expr i = kernel::name(layout_.variables.i), count = literal(scalars_);
    Block& block = function.body;
    // Whole words: an atomic update of a small type exchanges the word around it.
    const std::int64_t per_word = std::max(1, 4 / size_of(scalar));
    const std::int64_t cleared = (scalars_ + per_word - 1) / per_word * per_word;
    block.push_back({kernel::LocalArray{copy, scalar, static_cast<int>(cleared), kernel::Storage::Shared}});
    const ir::Value identity = identity_of(scatter_.op, stage_.type.lane());
    Block clear = {{kernel::Store{copy, i, kernel::constant(scalar, identity.lane[0])}}};
    block.push_back(
        {For{LoopKind::Threads, layout_.variables.i, literal(0), literal(cleared), std::move(clear)}});
    const kernel::Symbol parts = layout_.names.local("parts"), number = layout_.names.local("part");
    block.push_back({kernel::Let{parts, block_count()}});
    block.push_back({For{LoopKind::BlocksX, number, literal(0), kernel::name(parts),
                         part(expressions, copy, kernel::name(number))}});
    const Expr bin = lanes() == 1 ? i : kernel::div(i, literal(lanes()));
    const Expr lane = lanes() == 1 ? literal(0) : kernel::binary(BinaryOp::Rem, i, literal(lanes()));
    Block add = {{kernel::Atomic{scatter_.op, array_.name, kernel::add(place_of(bin), lane),
                                 kernel::load(copy, scalar, i)}}};
    block.push_back({For{LoopKind::Threads, layout_.variables.i, literal(0), count, std::move(add)}});
    return function;
  }

  /// Threads take neighbours of a row, and load what they read at once.
  For several_points(ExpressionLowering& expressions, const Expr& from, const Expr& to,
                     const std::function<void(Block&)>& updates) const {
    const kernel::Symbol first = layout_.names.local("first"), number = expressions.claim("k");
    const Expr x0 = kernel::name(first), k = kernel::name(number), x = kernel::name(points_.coordinate(0));
    For loop{LoopKind::Threads, first, from, to, {}, literal(points_of_thread_)};
    expressions.open(loop.body);
    expressions.keep_packs(
        load_rows(plan::pixel_rows(stage_).rows, {points_of_thread_, x0, kernel::sub(to, x0)}, points_,
                  expressions, loop.body),
        k);
    Block point;
    updates(point);
    For each =
        unrolled(number, points_of_thread_, {{kernel::Let{points_.coordinate(0), kernel::add(x0, k)}}});
    each.body.push_back({kernel::If{less(x, to), std::move(point), {}}});
    expressions.close();
    loop.body.push_back({std::move(each)});
    return loop;
  }

  Block part(ExpressionLowering& expressions, const kernel::Symbol& copy, const Expr& part) const {
    const auto updates = [&](Block& block) {
      lower_updates(expressions, stage_, bins_, block, [&](const Expr& bin, const Lanes& value) {
        return updates_of(copy, kernel::mul(bin, literal(lanes())), value);
      });
    };
    const auto points = [&](const Expr& from, const Expr& to) {
      if (points_of_thread_ > 1) return several_points(expressions, from, to, updates);
      For loop{LoopKind::Threads, points_.coordinate(0), from, to, {}};
      updates(loop.body);
      return loop;
    };
    Block block;
    if (points_.rank() == 1) {
      const kernel::Symbol first = layout_.names.local("x0");
      const Expr x0 = kernel::name(first), per_block = literal(points_per_block_);
      block.push_back({kernel::Let{first, kernel::add(points_.begin(0), kernel::mul(part, per_block))}});
      block.push_back({points(x0, kernel::min(kernel::add(x0, per_block), points_.end(0)))});
      return block;
    }
    const kernel::Symbol of_block = layout_.names.local("rows"), first = layout_.names.local("row0"),
                         row = layout_.names.local("row");
    block.push_back({kernel::Let{of_block, rows_per_block()}});
    block.push_back({kernel::Let{first, kernel::mul(part, kernel::name(of_block))}});
    const Expr row0 = kernel::name(first);
    For rows{LoopKind::Serial, row, row0,
             kernel::min(kernel::add(row0, kernel::name(of_block)), points_.count()),
             points_.coordinates_of(kernel::name(row))};
    rows.body.push_back({points(points_.begin(0), points_.end(0))});
    block.push_back({std::move(rows)});
    return block;
  }

  const ir::Stage& stage_;
  const ir::Scatter& scatter_;
  const KernelContext& context_;
  Layout& layout_;
  kernel::Module& module_;
  const ArrayLayout& array_;
  const Rows bins_, points_;
  const std::int64_t scalars_, points_per_block_;  ///< Of a copy in shared memory; 0: there is none.
  const int points_of_thread_;
};

}  // namespace

void lower_scatter_atomics(const KernelContext& context, const plan::ScatterAtomics& atomics) {
  AtomicsLowering(context, atomics).run();
}

}  // namespace weft::lower
