#include "lower/lower_scatter_columns.h"

#include <algorithm>

#include "lower/expressions.h"
#include "lower/lower_grid.h"
#include "lower/lower_stage.h"
#include "lower/rows.h"
#include "lower/updates.h"

namespace weft::lower {

namespace {

// Of what columns end in: code of its own for each, which knows what is beyond the ends of the column.
constexpr std::int64_t most_unrolled_pixels = 16;

class ColumnLowering {
 public:
  ColumnLowering(const KernelContext& context, const plan::ScatterColumns& asked)
      : stage_(*context.members.front()),
        stored_(context.stage()),
        scatter_(std::get<ir::Scatter>(stage_.definition)),
        context_(context),
        module_(context.module),
        array_(context.layout.arrays.at(&stored_)),
        result_(stage_.box, context.layout),
        pixels_(stored_.box, context.layout),
        points_(scatter_.over, context.layout),
        columns_(asked.columns),
        of_block_(asked.of_block),
        expressions_(context, stage_, Place::Thread, points_.coords()),
        column_(expressions_.claim(context.layout.arrays.at(&stage_).name.spelling() + "_column")) {
    for (const analysis::Bands& bands : columns_.across)
      cells_.push_back(expressions_.claim("cell_" + ir::dim_name(bands.dim)));
  }

  void run() {
    kernel::Function function{
        context_.layout.names.claim(array_.name.spelling() + "_fill"), comment(), {}, {}};
    const auto scalars = static_cast<int>(columns_.pixels * stage_.type.lanes * of_block_);
    function.body.push_back(
        {kernel::LocalArray{column_, stage_.type.scalar, scalars, kernel::Storage::Shared}});
    function.body.push_back(divided(column()));
    kernel::Grid grid = grid_of_columns();
    module_.steps.push_back(kernel::Launch{function.name, literal(1), std::move(grid)});
    module_.functions.push_back(std::move(function));
  }

 private:
  std::string comment() const {
    const std::string scattered =
        comment_on(stage_, "'" + stage_.name + "', each thread's pixels from the points that change them");
    return is_ended() ? comment_on(stored_, "'" + stored_.name + "'") + "\n" + scattered : scattered;
  }
  /// Whether what is stored are pixels of a stage that reads the columns.
  bool is_ended() const { return &stored_ != &stage_; }
  int lanes() const { return stage_.type.lanes; }
  int dim_of(std::size_t c) const { return columns_.across[c].dim; }
  bool is_across(int d) const { return columns_.is_across(d); }

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
    each_pixel(block, columns_.pixels, LoopKind::Serial, [&](const Expr& pixel) {
      Block inner;
      expressions_.open(inner);
      const Lanes initial = expressions_.lower(scatter_.initial);
      expressions_.close();
      for (int l = 0; l < lanes(); ++l)
        inner.push_back(
            {kernel::Store{column_, kernel::add(place_of(pixel), literal(l * of_block_)), initial[l]}});
      return inner;
    });
    change(block);
    is_ended() ? end(block) : store_column(block);
    return block;
  }

  void store_column(Block& block) {
    each_pixel(block, columns_.pixels, LoopKind::Serial, [&](const Expr& pixel) {
      Block inner;
      store(inner, pixel, [&](const kernel::Symbol& array, const Expr& offset) {
        for (int l = 0; l < lanes(); ++l) {
          const Expr from = kernel::add(place_of(pixel), literal(l * of_block_));
          inner.push_back({kernel::Store{array, kernel::add(offset, literal(l)),
                                         kernel::load(column_, stage_.type.scalar, from)}});
        }
      });
      return inner;
    });
  }

  /// The pixels that the stage after the scatter has in the column.
  void end(Block& block) {
    std::vector<Expr> coords = pixels_.coords();
    for (std::size_t c = 0; c < cells_.size(); ++c) coords[static_cast<std::size_t>(dim_of(c))] = cell(c);
    ExpressionLowering ending(context_, stored_, Place::Thread, coords);
    ending.avoid_names_of(expressions_);
    ending.keep_column(
        stage_, {column_, [&](const std::vector<Expr>& at) { return place_of(pixel_at(at)); }, of_block_});
    std::int64_t count = 1;
    for (int d = 0; d < pixels_.rank(); ++d) count *= is_across(d) ? 1 : stored_.box[d].extent.constant();
    const LoopKind kind = count <= most_unrolled_pixels ? LoopKind::Unrolled : LoopKind::Serial;
    each_pixel(block, count, kind, [&](const Expr& pixel) {
      Block inner;
      const std::vector<Expr> at = along_column(pixel);
      for (int d = 0; d < pixels_.rank(); ++d) {
        if (!is_across(d))
          inner.push_back({kernel::Let{pixels_.coordinate(d),
                                       kernel::add(at[static_cast<std::size_t>(d)], pixels_.begin(d))}});
      }
      store(inner, pixel, [&](const kernel::Symbol& array, const Expr& offset) {
        store_pixel(ending, inner, std::get<ir::Pure>(stored_.definition).cases, array, offset);
      });
      return inner;
    });
  }

  /// `make` stores the lanes of a pixel. They go to memory at once where they lie at a multiple of their width.
  void store(Block& block, const Expr& pixel,
             const std::function<void(const kernel::Symbol& array, const Expr& offset)>& make) {
    const Expr to = offset_of(pixel);
    const int count = array_.type.lanes;
    if (!array_.is_own || (count != 2 && count != 4)) return make(array_.name, to);
    const kernel::Symbol whole = context_.layout.names.local(array_.name.spelling() + "_pixel");
    block.push_back({kernel::LocalArray{whole, array_.type.scalar, count}});
    make(whole, literal(0));
    kernel::StorePack pack{whole, array_.name, to, literal(count)};
    pack.is_whole = true;
    block.push_back({std::move(pack)});
  }

  void each_pixel(Block& block, std::int64_t count, LoopKind kind,
                  const std::function<Block(const Expr& pixel)>& body) {
    Block inner = body(count == 1 ? literal(0) : kernel::name(expressions_.i()));
    if (count == 1)
      block.push_back({kernel::Scope{std::move(inner)}});
    else
      block.push_back({For{kind, expressions_.i(), literal(0), literal(count), std::move(inner)}});
  }

  /// Where a stored pixel is along its column, counted from where its box begins; nothing for dimensions across.
  std::vector<Expr> along_column(const Expr& pixel) const {
    std::vector<Expr> at(static_cast<std::size_t>(pixels_.rank()));
    int last = pixels_.rank();
    while (is_across(last - 1)) --last;
    Expr rest = pixel;
    for (int d = 0; d < last; ++d) {
      if (is_across(d)) continue;
      const bool is_last = d + 1 == last;
      at[static_cast<std::size_t>(d)] =
          is_last ? rest : kernel::binary(BinaryOp::Rem, rest, pixels_.extent(d));
      rest = kernel::div(rest, pixels_.extent(d));
    }
    return at;
  }
  /// The number of the scatter's pixel that is there.
  Expr pixel_at(const std::vector<Expr>& at) const {
    Expr pixel = literal(0);
    for (int d = result_.rank(); d-- > 0;) {
      if (!is_across(d))
        pixel = kernel::add(kernel::mul(pixel, result_.extent(d)), at[static_cast<std::size_t>(d)]);
    }
    return pixel;
  }

  /// Of a pixel's first lane, in shared memory: columns lie side by side, so that no thread of a warp waits for another.
  Expr place_of(const Expr& pixel) const {
    const Expr lane = kernel::sub(cell(0), kernel::name(x0_));
    return kernel::add(kernel::mul(pixel, literal(lanes() * of_block_)), lane);
  }
  Expr stride(int d) const {
    return d == 0 ? literal(array_.type.lanes)
                  : kernel::name(array_.strides[static_cast<std::size_t>(d - 1)]);
  }
  /// In memory, from the start of the array.
  Expr offset_of(const Expr& pixel) const {
    Expr offset = literal(0);
    for (std::size_t c = 0; c < cells_.size(); ++c) {
      const Expr at = kernel::sub(cell(c), pixels_.begin(dim_of(c)));
      offset = kernel::add(offset, kernel::mul(at, stride(dim_of(c))));
    }
    const std::vector<Expr> at = along_column(pixel);
    for (int d = 0; d < pixels_.rank(); ++d) {
      if (!is_across(d))
        offset = kernel::add(offset, kernel::mul(at[static_cast<std::size_t>(d)], stride(d)));
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
      Block changed = changed_pixel(stage_, column_, place_of(pixel_at(update.at)), update.value, of_block_,
                                    module_.strict);
      if (update.inside)
        inner->push_back({kernel::If{update.inside, std::move(changed), {}}});
      else
        kernel::append(*inner, std::move(changed));
    });
    expressions_.close();
  }

  const ir::Stage& stage_;   ///< That is scattered into,
  const ir::Stage& stored_;  ///< and that goes to memory: the same, or what ends its columns.
  const ir::Scatter& scatter_;
  const KernelContext& context_;
  kernel::Module& module_;
  const ArrayLayout& array_;
  const Rows result_, pixels_, points_;
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
