#include "lower/lower_scatter_columns.h"

#include <algorithm>

#include "lower/expressions.h"
#include "lower/lower_grid.h"
#include "lower/lower_stage.h"
#include "lower/rows.h"
#include "lower/updates.h"

namespace weft::lower {

namespace {

class ColumnLowering {
 public:
  ColumnLowering(const KernelContext& context, const plan::ScatterColumns& asked)
      : stage_(context.stage()),
        scatter_(std::get<ir::Scatter>(stage_.definition)),
        context_(context),
        module_(context.module),
        array_(context.layout.arrays.at(&stage_)),
        result_(stage_.box, context.layout),
        points_(scatter_.over, context.layout),
        columns_(asked.columns),
        of_block_(asked.of_block),
        expressions_(context, stage_, Place::Thread, points_.coords()),
        column_(expressions_.claim(array_.name.spelling() + "_column")) {
    for (const analysis::Bands& bands : columns_.across)
      cells_.push_back(expressions_.claim("cell_" + ir::dim_name(bands.dim)));
  }

  void run() {
    kernel::Function function{
        context_.layout.names.claim(array_.name.spelling() + "_fill"),
        comment_on(stage_, "'" + stage_.name + "', each thread's pixels from the points that change them"),
        {},
        {}};
    const auto scalars = static_cast<int>(columns_.pixels * stage_.type.lanes * of_block_);
    function.body.push_back(
        {kernel::LocalArray{column_, stage_.type.scalar, scalars, kernel::Storage::Shared}});
    function.body.push_back(divided(column()));
    kernel::Grid grid = grid_of_columns();
    module_.steps.push_back(kernel::Launch{function.name, literal(1), std::move(grid)});
    module_.functions.push_back(std::move(function));
  }

 private:
  int lanes() const { return stage_.type.lanes; }
  int dim_of(std::size_t c) const { return columns_.across[c].dim; }
  bool is_across(int d) const {
    return std::any_of(columns_.across.begin(), columns_.across.end(),
                       [d](const analysis::Bands& bands) { return bands.dim == d; });
  }

  // ---- columns among threads: neighbours along the first dimension, one row of them after the other

  Expr extent(std::size_t c) const { return kernel::max(result_.extent(dim_of(c)), literal(0)); }
  Expr rows() const {
    Expr count = literal(1);
    for (std::size_t c = 1; c < cells_.size(); ++c) count = kernel::mul(count, extent(c));
    return count;
  }
  kernel::Grid grid_of_columns() const {
    kernel::Grid grid = grid_of_blocks(parts(extent(0), literal(of_block_)), of_block_);
    grid.threads[1] = rows();
    return grid;
  }

  kernel::Stmt divided(Block column) const {
    const Expr end = result_.end(dim_of(0));
    For threads{LoopKind::Threads, cells_[0], kernel::name(x0_),
                kernel::min(kernel::add(kernel::name(x0_), literal(of_block_)), end), std::move(column)};
    Block row;
    const kernel::Symbol number = context_.layout.names.local("row");
    Expr rest = kernel::name(number);
    for (std::size_t c = 1; c < cells_.size(); ++c) {
      const bool is_last = c + 1 == cells_.size();
      const Expr at = is_last ? rest : kernel::binary(BinaryOp::Rem, rest, extent(c));
      row.push_back({kernel::Let{cells_[c], kernel::add(at, result_.begin(dim_of(c)))}});
      rest = kernel::div(rest, extent(c));
    }
    row.push_back({std::move(threads)});
    For down{LoopKind::BlocksY, number, literal(0), rows(), std::move(row)};
    return {
        For{LoopKind::BlocksX, x0_, result_.begin(dim_of(0)), end, {{std::move(down)}}, literal(of_block_)}};
  }
  Expr cell(std::size_t c) const { return kernel::name(cells_[c]); }

  // ---- one column

  Block column() {
    Block block;
    each_pixel(block, [&](const Expr& pixel) {
      Block store;
      const Lanes initial = expressions_.lower(scatter_.initial);
      for (int l = 0; l < lanes(); ++l)
        store.push_back(
            {kernel::Store{column_, kernel::add(place_of(pixel), literal(l * of_block_)), initial[l]}});
      return store;
    });
    change(block);
    each_pixel(block, [&](const Expr& pixel) {
      Block store;
      const Expr to = offset_of(pixel);
      for (int l = 0; l < lanes(); ++l) {
        const Expr from = kernel::add(place_of(pixel), literal(l * of_block_));
        store.push_back({kernel::Store{array_.name, kernel::add(to, literal(l)),
                                       kernel::load(column_, stage_.type.scalar, from)}});
      }
      return store;
    });
    return block;
  }

  void each_pixel(Block& block, const std::function<Block(const Expr& pixel)>& body) {
    Block inner;
    expressions_.open(inner);
    Block made = body(columns_.pixels == 1 ? literal(0) : kernel::name(expressions_.i()));
    expressions_.close();
    kernel::append(inner, std::move(made));
    if (columns_.pixels == 1)
      block.push_back({kernel::Scope{std::move(inner)}});
    else
      block.push_back(
          {For{LoopKind::Serial, expressions_.i(), literal(0), literal(columns_.pixels), std::move(inner)}});
  }

  /// Of a pixel's first lane, in shared memory: columns lie side by side, so that no thread of a warp waits for another.
  Expr place_of(const Expr& pixel) const {
    const Expr lane = kernel::sub(cell(0), kernel::name(x0_));
    return kernel::add(kernel::mul(pixel, literal(lanes() * of_block_)), lane);
  }
  Expr stride(int d) const {
    return d == 0 ? literal(lanes()) : kernel::name(array_.strides[static_cast<std::size_t>(d - 1)]);
  }
  /// In memory, from the start of the array.
  Expr offset_of(const Expr& pixel) const {
    Expr offset = literal(0), rest = pixel;
    for (std::size_t c = 0; c < cells_.size(); ++c) {
      const Expr at = kernel::sub(cell(c), result_.begin(dim_of(c)));
      offset = kernel::add(offset, kernel::mul(at, stride(dim_of(c))));
    }
    std::int64_t left = columns_.pixels;
    for (int d = 0; d < result_.rank(); ++d) {
      if (is_across(d)) continue;
      const std::int64_t extent = stage_.box[d].extent.constant();
      const bool is_last = extent >= left;
      const Expr at = is_last ? rest : kernel::binary(BinaryOp::Rem, rest, literal(extent));
      offset = kernel::add(offset, kernel::mul(at, stride(d)));
      if (!is_last) rest = kernel::div(rest, literal(extent)), left /= extent;
    }
    return offset;
  }

  /// The points, in their order, and what they change.
  void change(Block& block) {
    std::vector<PartOfBox> own;
    std::vector<std::pair<Expr, Expr>> bounds;
    for (int d = 0; d < points_.rank(); ++d) bounds.emplace_back(points_.begin(d), points_.end(d));
    for (std::size_t c = 0; c < cells_.size(); ++c) {
      const analysis::Bands& bands = columns_.across[c];
      const Expr after = kernel::add(cell(c), literal(1));
      const auto [first, end] = points_that_lead_to(points_, bands, bands.indices.front(), cell(c), after);
      auto& bound = bounds[static_cast<std::size_t>(bands.along)];
      bound = {kernel::max(bound.first, first), kernel::min(bound.second, end)};
      own.push_back({bands.dim, cell(c), after, bands.indices.front()});
    }
    Block* inner = &block;
    for (int d = points_.rank(); d-- > 0;) {
      const auto& [from, to] = bounds[static_cast<std::size_t>(d)];
      inner->push_back({For{LoopKind::Serial, points_.coordinate(d), from, to, {}}});
      inner = &std::get<For>(inner->back().op).body;
    }
    expressions_.open(*inner);
    place_updates(expressions_, stage_, result_, own, *inner, [&](const PlacedUpdate& update) {
      Expr pixel = literal(0);
      for (int d = result_.rank(); d-- > 0;) {
        if (is_across(d)) continue;
        pixel = kernel::add(kernel::mul(pixel, result_.extent(d)), update.at[static_cast<std::size_t>(d)]);
      }
      Block changed =
          changed_pixel(stage_, column_, place_of(pixel), update.value, of_block_, module_.strict);
      if (update.inside)
        inner->push_back({kernel::If{update.inside, std::move(changed), {}}});
      else
        kernel::append(*inner, std::move(changed));
    });
    expressions_.close();
  }

  const ir::Stage& stage_;
  const ir::Scatter& scatter_;
  const KernelContext& context_;
  kernel::Module& module_;
  const ArrayLayout& array_;
  const Rows result_, points_;
  const analysis::Columns& columns_;
  const int of_block_;
  ExpressionLowering expressions_;
  const kernel::Symbol column_;        ///< In shared memory: those of a block's threads.
  std::vector<kernel::Symbol> cells_;  ///< Where a thread's column is, across.
  const kernel::Symbol x0_ = context_.layout.names.local("x0");  ///< The first column of a block.
};

}  // namespace

void lower_scatter_columns(const KernelContext& context, const plan::ScatterColumns& columns) {
  ColumnLowering(context, columns).run();
}

}  // namespace weft::lower
