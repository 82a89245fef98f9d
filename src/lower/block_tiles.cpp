// A block's tiles: a thread computes columns, and goes down their rows of a batch.
#include <algorithm>
#include <array>

#include "lower/lower_grid.h"
#include "lower/lower_stage.h"
#include "lower/shared_images.h"
#include "lower/tile_owner.h"
#include "plan/march.h"

namespace weft::lower {

namespace {

using Source = Tile::Source;

class BlockTiles : public TileOwner {
 public:
  explicit BlockTiles(const Tile& tile)
      : tile_(tile), result_(tile.result()), rows_(tile.rows()), steps_(tile.steps()) {}

  std::string comment() const override {
    const std::string members = tile_.named_sources(true);
    const std::string width = std::to_string(tile_.width()), batch = std::to_string(tile_.batch());
    const std::string begin = (tile_.plan().parts ? "Parts of '" : "'") + result_.name + "'" +
                              (members.empty() ? "" : " with " + members);
    if (tile_.is_static()) {
      const std::string lines = tile_.is_of_volume() ? std::to_string(tile_.plan().lines()) + "x" : "";
      return begin + ". Each " + (tile_.plan().is_of_warps() ? "warp" : "block of threads") +
             " computes a tile of " + width + "x" + lines + batch +
             " pixels, all of a\nstage before the next, and keeps what it needs of " +
             tile_.named_sources(false) + " in shared memory.";
    }
    const std::string strip =
        tile_.is_of_volume() ? "through planes of " + width + "x" + std::to_string(tile_.plan().lines()) +
                                   " pixels, " + batch + " at\na time"
                             : "down a strip of " + width + " pixels, " + batch + " rows at\na time";
    return begin + ". Each block of threads goes " + strip + ", and keeps the rows of " +
           tile_.named_sources(false) + " in shared memory while they are read.";
  }

  void declare(kernel::LocalArray rows, Block& block) override {
    rows.storage = kernel::Storage::Shared;
    if (tile_.plan().is_of_warps()) {
      const kernel::Symbol own = rows.name;
      rows.name = tile_.layout().names.claim(own.spelling() + "_of_warps");
      const Expr of_warp = kernel::mul(name(warp_), literal(rows.count));
      own_rows_.push_back({kernel::Pointer{own, rows.name, rows.type, of_warp, false}});
      rows.count *= tile_.plan().warps();
    }
    block.push_back({std::move(rows)});
  }

  kernel::Function begin() override {
    return {tile_.layout().names.claim(tile_.array().name.spelling() + "_kernel"), "", {}, {}};
  }

  void go_through(kernel::Function& function, const Expr& rows_per_part, Block work) override {
    const Expr x0 = name(tile_.from(0)), width = literal(tile_.width());
    // Whole steps, as are the columns: what there is no pixel of is not stored.
    const Expr right = steps_.whole(rows_.end(0), 0);
    For down = tile_.is_of_volume() ? go_through_planes(function, std::move(work))
                                    : go_down_rows(function, rows_per_part, std::move(work));
    if (tile_.plan().is_of_warps()) down = divided_among_warps(std::move(down));
    For across{LoopKind::BlocksX, tile_.from(0), steps_.origin(0), rows_.end(0), {}, width};
    across.body.push_back({Let{columns_, kernel::min(width, kernel::sub(right, x0))}});
    across.body.push_back({std::move(down)});
    function.body.push_back({std::move(across)});
  }

  kernel::Launch launch_of(const kernel::Function& function, const Expr& rows_per_part) override {
    const Expr columns = tile_.columns_of_tiles(), layers = tile_.layers_of_tiles();
    kernel::Grid grid =
        grid_of_blocks(columns, tile_.plan().level(plan::LevelKind::Block)->extent[0].fixed());
    const Expr below = tile_.height(kernel::mul(columns, layers), rows_per_part, [&](const Expr& rows) {
      return parts(steps_.extent(tile_.down()), rows);
    });
    grid.threads[1] = kernel::mul(below, layers);
    if (tile_.plan().is_of_warps()) grid.sharing = kernel::Sharing::Lanes, grid.warps = tile_.plan().warps();
    return {function.name, literal(1), grid};
  }

  Block go_down(const std::function<Block()>& rows) override {
    if (!tile_.is_static()) return tile_.march(rows());
    is_inside_ = true;
    Block inside = rows();
    is_inside_ = false;
    return {{If{tile_.is_inside(), std::move(inside), rows()}}};
  }
  Block rows_of_image(const Source& image) override { return {{load_rows(tile_, image, is_inside_)}}; }

  Block rows_of_pass(const Tile::Stages& pass) override {
    // One loop for those whose columns beyond the ends of a row are found in the same way.
    std::vector<Tile::Stages> alike;
    for (const ir::Stage* stage : pass) {
      const auto known = std::find_if(alike.begin(), alike.end(), [&](const Tile::Stages& p) {
        const Source *a = tile_.source(*p.front()), *b = tile_.source(*stage);
        return a && b && a->kept.border_mode() == b->kept.border_mode();
      });
      if (known == alike.end())
        alike.push_back({stage});
      else
        known->push_back(stage);
    }
    Block work;
    for (const Tile::Stages& members : alike) work.push_back({columns_of(members, nullptr)});
    return work;
  }

  Block rows_of_reduction(const TileReduction& reduction, const PartOf& part_of) override {
    const Expr batch = tile_.batch_row();
    Block work = part_of(batch, tile_.batch(), {{columns_of({&result_}, &reduction)}});
    return {{If{kernel::binary(BinaryOp::Le, name(tile_.from(1)), batch), std::move(work), {}}}};
  }

 private:
  /// The warps of a block compute tiles that lie below each other, each with its own part of the kept rows.
  For divided_among_warps(For tiles) const {
    const kernel::Symbol first_tile = tile_.layout().names.local("first_tile");
    const Expr first = name(first_tile), tile = name(tiles.variable), to = tiles.to;
    const std::int64_t warps = tile_.plan().warps();
    Block own;
    for (const kernel::Pointer& rows : own_rows_) own.push_back({rows});
    kernel::append(own, std::move(tiles.body));
    For of_block{LoopKind::BlocksY, first_tile, tiles.from, to, {}, kernel::mul(tiles.step, literal(warps))};
    For of_warp{LoopKind::Warps, warp_, literal(0), literal(warps), {}};
    of_warp.body.push_back({Let{tiles.variable, kernel::add(first, kernel::mul(name(warp_), tiles.step))}});
    of_warp.body.push_back({If{kernel::binary(BinaryOp::Lt, tile, to), std::move(own), {}}});
    of_block.body.push_back({std::move(of_warp)});
    return of_block;
  }
  For go_down_rows(kernel::Function& function, const Expr& rows_per_part, Block work) const {
    const kernel::Symbol height = tile_.layout().names.local("rows");
    const Expr rows = name(height), bottom = steps_.whole(rows_.end(1), 1);
    function.body.push_back({Let{height, tile_.height(tile_.columns_of_tiles(), rows_per_part)}});
    For down{LoopKind::BlocksY, tile_.from(1), steps_.origin(1), rows_.end(1), {}, rows};
    down.body.push_back({Let{tile_.until(1), kernel::min(kernel::add(name(tile_.from(1)), rows), bottom)}});
    kernel::append(down.body, std::move(work));
    return down;
  }
  /// Blocks along y of the grid are those of one layer after the other.
  For go_through_planes(kernel::Function& function, Block work) const {
    const kernel::Names& names = tile_.layout().names;
    const kernel::Symbol of_tile = names.local("planes"), of_plane = names.local("layers"),
                         number = names.local("tile");
    const Expr planes = name(of_tile), layers = name(of_plane), lines = literal(tile_.plan().lines());
    function.body.push_back({Let{of_plane, tile_.layers_of_tiles()}});
    const Expr side_by_side = kernel::mul(tile_.columns_of_tiles(), layers);
    function.body.push_back({Let{of_tile, tile_.height(side_by_side, nullptr)}});
    const Expr tile = name(number), below = parts(steps_.extent(2), planes);
    For through{LoopKind::BlocksY, number, literal(0), kernel::mul(below, layers), {}, literal(1)};
    tile_.append_ends(through.body, 1, kernel::binary(BinaryOp::Rem, tile, layers), lines);
    tile_.append_ends(through.body, 2, kernel::div(tile, layers), planes);
    kernel::append(through.body, std::move(work));
    return through;
  }

  /// Members that one loop computes, and the rows and columns that a strip needs of them.
  struct Loop {
    std::vector<std::unique_ptr<PlacedLanes>> members;
    std::vector<const Source*> kept;  ///< Of each; null: the result.
    Rows rows;                        ///< Of each; of scalars, if their lanes are flat.
    int per_pixel;                    ///< Scalars, if their lanes are flat; else 1.
    std::array<int, 2> rate;
    plan::Reach x = {};
    plan::Reach outside = {};  ///< Columns beyond its ends that are read.
    std::optional<ir::BorderMode> border = {};
    bool is_like_result = true;  ///< Has its columns, at its coordinates.
    bool is_strip_high = true;   ///< Of its rows none are needed beyond those of the tile.

    const ir::Stage& stage() const { return members.front()->stage(); }
    bool is_constant_outside() const { return border == ir::BorderMode::Constant; }
    bool is_strip_wide() const { return x == plan::Reach{} && is_like_result; }
    const plan::Kept* kept_rows() const { return kept.front() ? &kept.front()->kept : nullptr; }
  };
  Loop loop_of(const Tile::Stages& pass) const {
    Tile::PassLanes members = tile_.lanes_of(pass);
    std::vector<const Source*> kept;
    for (const ir::Stage* stage : pass) kept.push_back(tile_.source(*stage));
    const PlacedLanes& first = *members.front();
    const Rows rows(first.stage().domain(), tile_.layout());
    const int per_pixel = first.per_pixel();
    Loop loop{std::move(members), std::move(kept), rows, per_pixel, tile_.plan().step};
    bool reaches_no_other_rows = true;
    if (const Source* source = loop.kept.front()) {
      loop.rate = source->kept.rate;
      loop.x = source->kept.x();
      const plan::Window& window = source->kept.window;
      reaches_no_other_rows = std::all_of(window.begin() + 1, window.end(),
                                          [](const plan::Reach& reach) { return reach == plan::Reach{}; });
      loop.border = source->kept.border_mode();
      for (const Source* member : loop.kept) {
        const plan::Reach& reach = member->kept.outside[0];
        loop.outside = {std::max(loop.outside.min, reach.min), std::max(loop.outside.max, reach.max)};
      }
    }
    const auto is_like_result = [&](int d) {
      const int s = d == 0 ? 0 : 1;
      return pass.front()->domain()[d] == result_.domain()[d] && steps_[d] == 1 && loop.rate[s] == 1;
    };
    loop.is_like_result = is_like_result(0);
    loop.is_strip_high = reaches_no_other_rows;
    for (int d = 1; d <= tile_.down(); ++d) loop.is_strip_high &= is_like_result(d);
    return loop;
  }

  /// for each column of a strip and its halo, by a thread:  for its rows of the batch:  the members' pixels
  For columns_of(const Tile::Stages& members, const TileReduction* reduction) {
    const Loop loop = loop_of(members);
    std::vector<Expr> coords = tile_.row_coords(loop.kept_rows());
    coords.insert(coords.begin(), name(x()));
    ExpressionLowering expressions = tile_.expressions(loop.stage(), Place::Thread, std::move(coords));
    if (members.size() > 1) expressions.share_with({members.begin() + 1, members.end()});
    const auto kept_rows = [this](const Source& source) -> ExpressionLowering::KeptRows {
      return {source.array,
              [this, &source](const std::vector<Expr>& row) { return tile_.row_start(source.kept, row); },
              [&source](const Expr& x) { return Tile::at(source.kept, x); },
              source.kept.is_member && !source.kept.continues && !is_inside_};
    };
    expressions.keep_rows(tile_.rows_of(loop.members, kept_rows), literal(0));
    Column column = column_of(loop, expressions);
    kernel::append(column.work.body, rows_of(loop, column, reduction, expressions));
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
    const Expr lanes = literal(loop.per_pixel), begin = tile_.begin(loop.rate[0]);
    const Expr x0 = kernel::mul(begin, lanes);
    const Expr columns =
        steps_.at_rate(is_inside_ ? literal(tile_.width()) : name(columns_), 0, loop.rate[0]);
    const Expr halo = literal((loop.x.extent() - 1) * loop.per_pixel);
    const kernel::Symbol variable = loop.is_strip_wide() ? expressions.i() : expressions.claim("t");
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
      body.push_back({Let{x(), kernel::add(x0, name(expressions.i()))}});
    } else if (is_inside_) {
      body.push_back({Let{expressions.i(), kernel::add(t, from_x0)}});
      body.push_back({Let{x(), kernel::add(x0, name(expressions.i()))}});
    } else if (loop.border && !loop.is_constant_outside()) {
      const Rows pixels(loop.kept.front()->stage.box, tile_.layout());
      const Expr number = loop.per_pixel == 1 ? t : kernel::div(t, lanes);
      const Expr pixel = kernel::add(kernel::add(begin, number), literal(loop.x.min));
      const Expr found =
          kernel::index_call(index_op(*loop.border), kernel::sub(pixel, pixels.begin(0)), pixels.extent(0));
      body.push_back(
          {Let{x(), kernel::add(kernel::mul(kernel::add(found, pixels.begin(0)), lanes), column.lane)}});
      body.push_back({Let{expressions.i(), kernel::sub(name(x()), x0)}});
      if (!loop.is_like_result) leave_out();
    } else {
      body.push_back({Let{expressions.i(), kernel::add(t, from_x0)}});
      body.push_back({Let{x(), kernel::add(x0, name(expressions.i()))}});
      if (loop.is_constant_outside()) {
        const Expr inside = kernel::both(kernel::binary(BinaryOp::Le, rows.begin(0), name(x())),
                                         kernel::binary(BinaryOp::Lt, name(x()), rows.end(0)));
        const kernel::Symbol local = expressions.claim("inside");
        body.push_back({Let{local, inside}});
        column.inside = name(local, Scalar::Bool);
      } else {
        leave_out();
      }
    }
    return column;
  }

  /// for the rows of the batch that the tile needs:  the members' pixels in a column, or the elements
  Block rows_of(const Loop& loop, const Column& column, const TileReduction* reduction,
                ExpressionLowering& expressions) const {
    const bool is_constant_above = loop.is_constant_outside() && !loop.is_strip_high && !is_inside_;
    Expr inside = column.inside;
    int d = 0;
    for (const Expr& at : tile_.row_coords(loop.kept_rows())) {
      ++d;
      if (is_constant_above)
        inside = kernel::both(inside, kernel::both(kernel::binary(BinaryOp::Le, loop.rows.begin(d), at),
                                                   kernel::binary(BinaryOp::Lt, at, loop.rows.end(d))));
    }
    if (is_inside_) expressions.number_neighbours(tile_.down(), tile_.number_of_row_inside(loop.kept_rows()));
    Block body, work;
    std::vector<Target> targets;
    if (!reduction) targets = targets_of(loop, column, expressions, body);
    expressions.open(work, &body);
    for (const Target& target : targets) store_value(target, expressions, work);
    for (const Target& target : targets) {
      if (target.source && target.source->kept.is_stored) work.push_back({stored(target, loop, column)});
    }
    if (reduction) reduction->parts.element(expressions, reduction->accumulators, column.slot, work);
    expressions.close();
    if (inside) {
      Block constants;
      expressions.open(constants, &body);
      for (const Target& target : targets) store_border(target, column, expressions, constants);
      expressions.close();
      work = Block{{If{inside, std::move(work), std::move(constants)}}};
    }
    kernel::append(body, std::move(work));
    if (is_inside_) return tile_.for_rows_inside(loop.kept_rows(), std::move(body));
    return tile_.for_rows(loop.kept_rows(), is_constant_above, std::move(body));
  }

  /// Where the pixel of a thread goes, and the cases of its value that there can be.
  struct Target {
    const ir::Stage& stage;
    std::vector<ir::Case> cases;
    const Source* source;
    kernel::Symbol array;
    Expr offset;
  };
  /// Appends pointers to the rows.
  std::vector<Target> targets_of(const Loop& loop, const Column& column, ExpressionLowering& expressions,
                                 Block& pointers) const {
    std::vector<Target> targets;
    for (std::size_t m = 0; m < loop.members.size(); ++m) {
      const ir::Stage& stage = loop.members[m]->stage();
      const Source* source = loop.kept[m];
      std::vector<ir::Case> cases = std::get<ir::Pure>(stage.definition).cases;
      if (is_inside_ && tile_.box_of_first_case(source ? source->stage : result_))
        cases = {{nullptr, cases[0].value}};
      if (!source) {
        const ArrayLayout& array = tile_.layout().arrays.at(&stage);
        const Expr offset = kernel::add(loop.rows.row_offset(array), loop.rows.x_offset(name(x()), array));
        targets.push_back({stage, std::move(cases), source, array.name, offset});
        continue;
      }
      const kernel::Symbol row =
          expressions.claim(tile_.layout().arrays.at(&source->stage).name.spelling() + "_row");
      pointers.push_back(tile_.current_row(*source, row));
      targets.push_back(
          {stage, std::move(cases), source, row, kernel::mul(column.slot, literal(stage.type.lanes))});
    }
    return targets;
  }

  static void store_value(const Target& target, ExpressionLowering& expressions, Block& work) {
    if (target.cases.size() > 1)
      return store_pixel(expressions, work, target.cases, target.array, target.offset);
    store(target, expressions.lower(target.cases[0].value), work);
  }

  static void store_border(const Target& target, const Column& column, ExpressionLowering& expressions,
                           Block& block) {
    const ir::Expr& constant = target.source->kept.border->constant;
    const bool is_flat = target.stage.type.lanes < target.source->kept.type.lanes;
    store(target,
          is_flat ? Lanes{border_lane(constant, column.lane, expressions)} : expressions.lower(constant),
          block);
  }

  /// if the pixel is the tile's own:  from where it is kept to memory
  If stored(const Target& target, const Loop& loop, const Column& column) const {
    const ArrayLayout& array = tile_.layout().arrays.at(&target.stage);
    const std::vector<Expr> row = tile_.row_coords(&target.source->kept);
    const auto within = [](const Expr& from, const Expr& at, const Expr& until) {
      return kernel::both(kernel::binary(BinaryOp::Le, from, at), kernel::binary(BinaryOp::Lt, at, until));
    };
    Expr is_own;
    if (!loop.is_strip_wide()) {
      const Expr halo = literal(-loop.x.min * loop.per_pixel), lanes = literal(loop.per_pixel);
      const Expr x0 = name(tile_.from(0));
      Expr first = literal(0), end = name(columns_);
      // Whole steps reach beyond the ends of a row, where a border finds pixels that have columns of their own.
      const bool begins_before = !kernel::same(steps_.origin(0), rows_.begin(0));
      if (begins_before && loop.outside.min > 0) first = kernel::max(first, kernel::sub(rows_.begin(0), x0));
      if (steps_[0] > 1 && loop.outside.max > 0) end = kernel::min(end, kernel::sub(rows_.end(0), x0));
      is_own = within(kernel::add(halo, kernel::mul(first, lanes)), name(column.work.variable),
                      kernel::add(halo, kernel::mul(end, lanes)));
    }
    for (int d = 1; d <= tile_.down(); ++d)
      is_own = kernel::both(is_own, within(name(tile_.from(d)), row[d - 1], name(tile_.until(d))));
    const Expr to = kernel::add(loop.rows.row_offset(array, row), loop.rows.x_offset(name(x()), array));
    Block stores;
    for (int l = 0; l < target.stage.type.lanes; ++l)
      stores.push_back({kernel::Store{
          array.name, kernel::add(to, literal(l)),
          kernel::load(target.array, target.stage.type.scalar, kernel::add(target.offset, literal(l)))}});
    return {is_own, std::move(stores), {}};
  }

  static void store(const Target& target, const Lanes& value, Block& block) {
    for (std::size_t l = 0; l < value.size(); ++l) {
      const Expr at = kernel::add(target.offset, literal(static_cast<std::int64_t>(l)));
      block.push_back({kernel::Store{target.array, at, value[l]}});
    }
  }

  const kernel::Symbol& x() const { return rows_.coordinate(0); }

  const Tile& tile_;
  const ir::Stage& result_;
  const Rows& rows_;
  const Steps& steps_;
  const kernel::Symbol columns_ = tile_.layout().names.local("columns");  // of the tile
  const kernel::Symbol warp_ = tile_.layout().names.local("warp");
  std::vector<kernel::Pointer> own_rows_;  // of each warp
  bool is_inside_ = false;                 // the tile that code is written for now
};

}  // namespace

std::unique_ptr<TileOwner> block_of(const Tile& tile) { return std::make_unique<BlockTiles>(tile); }

}  // namespace weft::lower
