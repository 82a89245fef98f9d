// A core's tiles: rows by loops of vectors.
#include <algorithm>
#include <bit>
#include <map>
#include <set>

#include "base/round_up.h"
#include "lower/lower_stage.h"
#include "lower/phases.h"
#include "lower/prefetched.h"
#include "lower/strip_pixels.h"
#include "lower/tile_owner.h"

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

constexpr int edge_multiple = 16;  // columns: vectors of what lies in memory are whole

using Source = Tile::Source;
using KeptRows = ExpressionLowering::KeptRows;

class CoreTiles : public TileOwner {
 public:
  explicit CoreTiles(const Tile& tile)
      : tile_(tile), result_(tile.result()), array_(tile.array()), rows_(tile.rows()), steps_(tile.steps()) {
    const auto claim = [&](const std::string& wanted) { return tile.layout().names.claim(wanted); };
    for (const Source& source : tile.sources()) {
      const std::string& name = array_of(source.stage).name;
      row_[&source] = claim(name + "_row");
      if (source.kept.is_stored) stored_[&source] = {claim(name + "_own"), claim(name + "_stored")};
      if (!finds(source)) continue;
      finding_[&source] = {claim(name + "_copied"), claim(name + "_from"), claim(name + "_step"),
                           claim(name + "_line_step"), claim(name + "_mask")};
    }
    if (tile.plan().edges > 0) edges_ = {claim("copied"), claim("inner_left"), claim("inner_right")};
    if (tile.plan().parts) return;
    line_ = {claim(array_.name + "_line"), result_.type.scalar, tile.width() * result_.type.lanes};
    past_caches_ = claim("past_caches");
  }

  std::string comment() const override {
    std::string members, images;
    for (const Source& source : tile_.sources()) {
      std::string& names = source.kept.is_member ? members : images;
      const bool is_named = source.kept.is_member || finds(source);
      if (is_named) names += (names.empty() ? "'" : ", '") + source.stage.name + "'";
    }
    const std::string width = std::to_string(tile_.width()),
                      parts = "[first, last) of '" + result_.name + "', each ";
    const std::string where =
        images.empty()
            ? ""
            : "\nRows of " + images + " are read where they lie, but for strips at the ends of the image.";
    const std::string tiles =
        tile_.is_static()
            ? "Tiles " + parts + width + "x" + std::to_string(tile_.plan().height().fixed()) + "."
        : tile_.is_of_volume() ? "Tiles " + parts + width + "x" + std::to_string(tile_.plan().lines()) +
                                     " that are computed plane by plane."
                               : "Strips " + parts + width + " columns that are computed row by row.";
    if (members.empty()) return tiles + where;
    return tiles +
           (tile_.is_static() ? "\nThe rows of " + members + " that a tile needs are computed before it."
                              : "\nRows of " + members + " are kept while they are read.") +
           where;
  }

  void declare(kernel::LocalArray rows, Block& block) override {
    rows.is_zeroed = tile_.plan().whole > 1;  // what is computed too many reads what nobody has stored
    block.push_back({std::move(rows)});
  }

  kernel::Function begin() override {
    return {tile_.layout().names.claim(array_.name + "_strips"), "", {"first", "last"}, {}};
  }

  void go_through(kernel::Function& function, const Expr& rows_per_part, Block work) override {
    Block& block = function.body;
    if (!line_.name.empty()) {
      const Expr scalars = kernel::mul(name(array_.strides.back()), rows_.extent(tile_.down()));
      const Expr bytes = kernel::mul(scalars, literal(size_of(result_.type.scalar)));
      block.push_back({line_});
      block.push_back({kernel::ExceedsCaches{past_caches_, bytes}});
    }
    const Expr columns = name("columns"), strip = name("strip");
    block.push_back({Let{"columns", tile_.columns_of_tiles()}});
    const bool has_layers = tile_.is_of_volume();
    const std::string height = has_layers ? "planes" : "rows";
    Expr side_by_side = columns;
    if (has_layers) {
      block.push_back({Let{"layers", tile_.layers_of_tiles()}});
      side_by_side = kernel::mul(columns, name("layers"));
    }
    block.push_back({Let{height, tile_.height(side_by_side, rows_per_part)}});
    For strips{LoopKind::Serial, "strip", name("first"), name("last"), {}};
    Block& body = strips.body;
    tile_.append_ends(body, 0, kernel::binary(BinaryOp::Rem, strip, columns), literal(tile_.width()));
    if (has_layers)
      tile_.append_ends(body, 1, kernel::binary(BinaryOp::Rem, kernel::div(strip, columns), name("layers")),
                        literal(tile_.plan().lines()));
    tile_.append_ends(body, tile_.down(), kernel::div(strip, side_by_side), name(height));
    if (edges_) {
      find_edges(body);
    } else {
      for (const Source& source : tile_.sources()) {
        if (!finds(source)) continue;
        const Beyond beyond = beyond_of(source);
        const Finding& found = finding_.at(&source);
        body.push_back({Let{found.copied, either(either(beyond.left, beyond.right), beyond.rows)}});
        find_rows(body, source, name(found.copied, Scalar::Bool));
      }
    }
    kernel::append(body, std::move(work));
    block.push_back({std::move(strips)});
  }

  kernel::Launch launch_of(const kernel::Function& function, const Expr& rows_per_part) override {
    const Expr side_by_side = kernel::mul(tile_.columns_of_tiles(), tile_.layers_of_tiles());
    const Expr height = tile_.height(side_by_side, rows_per_part);
    return {function.name, kernel::mul(parts(steps_.extent(tile_.down()), height), side_by_side)};
  }

 private:
  /// Whether tiles read rows of an image where they lie, but for those at its ends.
  static bool finds(const Source& source) { return source.kept.in_memory && source.kept.is_copied(); }

  /// Of an image that tiles may read where it lies: whether a tile has to copy rows, where it finds them, how
  /// many scalars they lie apart, in volumes planes and lines, and the bits of a row's number that say which it is.
  struct Finding {
    std::string copied, from, step, line_step, mask;
  };

  const ArrayLayout& array_of(const ir::Stage& stage) const { return tile_.layout().arrays.at(&stage); }
  Expr begin_of(const Source& source) const { return tile_.begin(source.kept.rate[0]); }
  Expr end_of(const Source& source) const { return steps_.at_rate(name("x1"), 0, source.kept.rate[0]); }
  static int columns_of(const Source& source) { return source.kept.pitch / source.lanes(); }
  /// In its kept rows, left of the tile's own.
  static int columns_before(const Source& source) {
    return source.kept.first / (source.kept.lane_pitch == 1 ? source.lanes() : 1);
  }
  Rows all_of(const Source& source) const { return {source.stage.box, tile_.layout()}; }

  /// Either condition; null is none.
  static Expr either(const Expr& a, const Expr& b) {
    return !a ? b : !b ? a : kernel::binary(BinaryOp::Or, a, b);
  }

  /// Whether a tile needs pixels beyond the ends of an image: left, right, or in rows that it does not find
  /// otherwise.
  struct Beyond {
    Expr left, right, rows;
  };
  Beyond beyond_of(const Source& source) const {
    const Rows rows = all_of(source);
    const plan::Kept& kept = source.kept;
    const auto is_less = [](const Expr& a, const Expr& b) { return kernel::binary(BinaryOp::Lt, a, b); };
    const int before = columns_before(source);
    const Expr left = kernel::sub(begin_of(source), literal(before));
    const Expr right = kernel::add(end_of(source), literal(columns_of(source) - source.width - before));
    Beyond beyond{is_less(left, rows.begin(0)), is_less(rows.end(0), right), nullptr};
    if (tile_.plan().exchanges_rows(kept)) return beyond;
    const int down = tile_.down();
    beyond.rows = either(is_less(tile_.first_row(kept), rows.begin(down)),
                         is_less(rows.end(down), tile_.end_row(kept)));
    if (tile_.is_of_volume()) {
      const Expr lines =
          either(is_less(tile_.first_line(kept), rows.begin(1)), is_less(rows.end(1), tile_.end_line(kept)));
      beyond.rows = either(beyond.rows, lines);
    }
    return beyond;
  }

  /// The columns between which a tile reads images where they lie; none if rows are missing.
  void find_edges(Block& body) const {
    Beyond all;
    for (const Source& source : tile_.sources()) {
      if (!finds(source)) continue;
      const Beyond beyond = beyond_of(source);
      all = {either(all.left, beyond.left), either(all.right, beyond.right), either(all.rows, beyond.rows)};
    }
    const Expr copied = either(either(all.left, all.right), all.rows);
    body.push_back({Let{edges_->copied, copied}});
    std::int64_t reach = 0;
    for (const plan::Kept& kept : tile_.plan().kept) reach = std::max({reach, -kept.x().min, kept.x().max});
    const Expr x0 = name("x0"), end = name("x1"), edge = literal(tile_.plan().edges);
    const Expr far_left = kernel::sub(x0, literal(reach)), far_right = kernel::add(end, literal(reach));
    Expr left = kernel::select(all.left, kernel::add(x0, edge), far_left);
    if (all.rows) left = kernel::select(all.rows, far_right, left);
    body.push_back({Let{edges_->left, left}});
    const Expr last = kernel::sub(end, edge);
    const Expr right =
        kernel::max(name(edges_->left), kernel::binary(BinaryOp::And, last, literal(-edge_multiple)));
    body.push_back({Let{edges_->right, kernel::select(all.right, right, far_right)}});
  }

  /// `work` for the columns of a row, in three parts: the first and the last read copies.
  Block in_parts(const Expr& row_left, const Expr& row_right, Block work) const {
    const Expr part = name("part");
    const auto by_part = [&](const Expr& first, const Expr& second, const Expr& third) {
      const auto is = [&](int number) { return kernel::binary(BinaryOp::Eq, part, literal(number)); };
      return kernel::select(is(0), first, kernel::select(is(1), second, third));
    };
    const auto within = [&](const std::string& x) {
      return kernel::max(row_left, kernel::min(name(x), row_right));
    };
    Block block = {{Let{"first_end", within(edges_->left)}}, {Let{"last_begin", within(edges_->right)}}};
    const Expr first_end = name("first_end"), last_begin = name("last_begin");
    For parts{LoopKind::Serial, "part", literal(0), literal(3), {}};
    Block& body = parts.body;
    body.push_back({Let{"left", by_part(row_left, first_end, last_begin)}});
    body.push_back({Let{"right", by_part(first_end, last_begin, row_right)}});
    body.push_back({Let{"at_edge", kernel::binary(BinaryOp::Ne, part, literal(1))}});
    Block some;
    for (const Source& source : tile_.sources()) {
      if (finds(source)) find_rows(some, source, name("at_edge", Scalar::Bool));
    }
    kernel::append(some, std::move(work));
    body.push_back({If{kernel::binary(BinaryOp::Lt, name("left"), name("right")), std::move(some), {}}});
    block.push_back({std::move(parts)});
    return block;
  }

  /// Where the rows of an image are found: in memory, unless they are copied.
  void find_rows(Block& body, const Source& source, const Expr& copied) const {
    const Rows rows = all_of(source);
    const ArrayLayout& array = array_of(source.stage);
    const plan::Kept& kept = source.kept;
    const Finding& found = finding_.at(&source);
    const Expr stride = name(array.strides.back());
    const Expr left = kernel::sub(begin_of(source), literal(columns_before(source)));
    // The row with which it begins.
    std::vector<Expr> number{tile_.is_static() ? tile_.first_row(kept) : literal(0)};
    if (tile_.is_of_volume()) number.insert(number.begin(), tile_.first_line(kept));
    const Expr column = kernel::mul(kernel::sub(left, rows.lower(array.box[0].min)), literal(source.lanes()));
    body.push_back(
        {kernel::Pointer{found.from, array.name, source.stage.type.scalar,
                         kernel::add(rows.row_offset(array, number), column), true, copied, source.array}});
    body.push_back({Let{found.step, kernel::select(copied, literal(kept.lines * kept.pitch), stride)}});
    if (tile_.is_of_volume())
      body.push_back(
          {Let{found.line_step, kernel::select(copied, literal(kept.pitch), name(array.strides[0]))}});
    if (!tile_.is_static())
      body.push_back({Let{found.mask, kernel::select(copied, literal(kept.rows - 1), literal(-1))}});
  }
  /// From where it finds its rows, the scalar with which one begins.
  Expr found_row(const Source& source, const Finding& found, const std::vector<Expr>& row) const {
    const Expr number = tile_.is_static() ? kernel::sub(row.back(), tile_.first_row(source.kept))
                                          : kernel::binary(BinaryOp::And, row.back(), name(found.mask));
    const Expr start = kernel::mul(number, name(found.step));
    if (!tile_.is_of_volume()) return start;
    const Expr line = kernel::sub(row.front(), tile_.first_line(source.kept));
    return kernel::add(start, kernel::mul(line, name(found.line_step)));
  }

  /// The names of the columns with which a row begins and ends.
  struct Ends {
    std::string left, right;
  };
  Ends ends_of_row() const { return edges_ ? Ends{"row_left", "row_right"} : Ends{"left", "right"}; }

  /// The columns that are computed of a source, of those that the tile needs.
  void clip_columns(Block& block, const Source& source, const Ends& ends = {"left", "right"}) const {
    const Rows rows = all_of(source);
    plan::Reach x = source.kept.x();
    const std::int64_t whole = source.kept.is_member ? tile_.plan().whole : 1;
    x = {-round_up(-x.min, whole), round_up(x.max, whole)};
    const Expr from = kernel::add(begin_of(source), literal(x.min));
    const Expr until = kernel::add(end_of(source), literal(x.max));
    const plan::Reach beyond = source.kept.continued(0);
    const Expr begin = kernel::sub(rows.begin(0), literal(beyond.min));
    const Expr end = kernel::add(rows.end(0), literal(beyond.max));
    const bool begins_inside = source.stage.box[0] == result_.domain()[0] && x.min <= 0;
    Expr left = kernel::max(from, begin), right = kernel::min(until, end);
    // All of the source may lie to one side: none are, where the tile begins or ends.
    if (!begins_inside) left = kernel::min(left, until), right = kernel::max(right, from);
    block.push_back({Let{ends.left, left}});
    block.push_back({Let{ends.right, right}});
  }
  /// A row of a source with a constant border: the statements if it is inside, else constants.
  If inside_or_constant(const Source& source, Block inside, Block outside) const {
    const Rows rows = all_of(source);
    Expr is_inside;
    int d = 1;
    for (const Expr& at : tile_.row_coords(&source.kept)) {
      is_inside = kernel::both(is_inside, kernel::both(kernel::binary(BinaryOp::Le, rows.begin(d), at),
                                                       kernel::binary(BinaryOp::Lt, at, rows.end(d))));
      ++d;
    }
    return {is_inside, std::move(inside), std::move(outside)};
  }
  kernel::Stmt current_row(const Source& source) const { return tile_.current_row(source, row_.at(&source)); }
  /// The scalar of a kept row that holds a lane at a column.
  Expr at(const Source& source, const Expr& x, int lane = 0) const {
    return Tile::at(source.kept, kernel::sub(x, begin_of(source)), lane);
  }
  KeptRows kept_rows_of(const Source& source) const {
    const auto found = finding_.find(&source);
    const Finding* finding = found == finding_.end() ? nullptr : &found->second;
    const bool exchanges = tile_.plan().exchanges_rows(source.kept);
    return {finding ? finding->from : source.array,
            [this, &source, finding](const std::vector<Expr>& row) {
              return finding ? found_row(source, *finding, row) : tile_.row_start(source.kept, row);
            },
            [this, &source](const Expr& x) { return at(source, x); },
            exchanges || (source.kept.is_member && !source.kept.continues),
            source.kept.lane_pitch,
            exchanges ? name(edges_ ? "at_edge" : finding->copied, Scalar::Bool) : nullptr};
  }
  static std::vector<Expr> coords_of(const Expr& x, std::vector<Expr> row) {
    row.insert(row.begin(), x);
    return row;
  }
  static Expr count() { return kernel::sub(name("right"), name("left")); }

  // ---- rows of images

 public:
  Block go_down(const std::function<Block()>& rows) override { return tile_.march(rows()); }
  Block rows_of_image(const Source& source) override {
    Block body;
    clip_columns(body, source);
    if (finds(source)) {
      const std::string& copied = edges_ ? edges_->copied : finding_.at(&source).copied;
      body.push_back({If{name(copied, Scalar::Bool), copied_row(source), {}}});
    } else if (source.kept.is_copied())
      kernel::append(body, copied_row(source));
    const bool is_prefetched = has_short_rows(source) && !comes_with_pass(source);
    if (is_prefetched) {
      std::vector<Expr> next = tile_.row_coords(&source.kept);
      next.front() = kernel::add(next.front(), literal(rows_ahead(tile_, &source.kept)));
      body.push_back({prefetched(source, std::move(next))});
    }
    if (!is_prefetched && !source.kept.is_copied()) return {};
    return tile_.for_rows(&source.kept, source.kept.border.has_value(), std::move(body));
  }

 private:
  /// The coordinates of a row, those outside of a source moved inside.
  static std::vector<Expr> moved_inside(std::vector<Expr> row, const Rows& rows, kernel::IndexOp op) {
    int d = 0;
    for (Expr& at : row) {
      ++d;
      at = kernel::add(kernel::index_call(op, kernel::sub(at, rows.begin(d)), rows.extent(d)), rows.begin(d));
    }
    return row;
  }
  /// Of a row in memory, the scalar of the pixel at a column.
  static Expr in_memory_at(const Source& source, const Rows& rows, const Expr& x) {
    return kernel::mul(kernel::sub(x, rows.begin(0)), literal(source.lanes()));
  }

  /// Processors foresee what is next in a row, not that the tile goes on in the next one. To say so pays for itself in
  /// short rows.
  static bool has_short_rows(const Source& source) {
    return source.width * size_of(source.stage.type) <= most_prefetched;
  }
  /// Whether a plane that is needed next is fetched row by row, while rows of another are computed: all of it at once
  /// would be more than a core can wait for.
  bool comes_with_pass(const Source& source) const {
    return tile_.is_of_volume() && !source.kept.is_copied();
  }
  /// A row of a pass goes with one of each plane that is needed next, if no pass comes before it.
  void fetch_next_planes(Block& block, const Tile::Stages& pass, const Expr& row) const {
    if (pass.back()->name != tile_.plan().passes.front().back()) return;
    for (const Source& source : tile_.sources()) {
      if (source.kept.is_member || !comes_with_pass(source) || !has_short_rows(source)) continue;
      const Expr plane = tile_.row_at(tile_.batch_row(), source.kept.rate[1]);
      block.push_back({prefetched(source, {row, kernel::add(plane, literal(source.kept.ahead + 1))})});
    }
  }

  kernel::Prefetch prefetched(const Source& source, std::vector<Expr> coords) const {
    const Rows rows = all_of(source);
    const Expr row = rows.row_offset(array_of(source.stage),
                                     moved_inside(std::move(coords), rows, kernel::IndexOp::Clamp));
    return {array_of(source.stage).name, source.stage.type.scalar,
            kernel::add(row, in_memory_at(source, rows, name("left"))),
            kernel::mul(count(), literal(source.lanes()))};
  }

  /// The current row of an image, copied to its kept rows with what its border finds.
  Block copied_row(const Source& source) {
    const std::optional<plan::BorderRule>& border = source.kept.border;
    const Scalar type = source.stage.type.scalar;
    const ArrayLayout& array = array_of(source.stage);
    const int lanes = source.lanes();
    const bool is_constant = source.is_constant_outside();
    const Rows rows = all_of(source);
    const bool is_found = border && !is_constant;  // by the border, in whatever row
    std::vector<Expr> row = tile_.row_coords(&source.kept);
    if (is_found) row = moved_inside(std::move(row), rows, index_op(border->mode));
    Block copies;
    const std::string from = tile_.layout().names.claim(array.name + "_row");
    copies.push_back({kernel::Pointer{from, array.name, type, rows.row_offset(array, row)}});
    const bool apart = source.kept.lane_pitch != 1;
    const auto copy_from = [&](const Expr& left, const Expr& right) {
      Block copy;
      for (int l = 0; l < (apart ? lanes : 1); ++l) {
        const Expr scalar = kernel::add(kernel::mul(name("i"), literal(apart ? lanes : 1)), literal(l));
        copy.push_back(
            {kernel::Store{row_.at(&source), kernel::add(name("i"), at(source, left, l)),
                           kernel::load(from, type, kernel::add(scalar, in_memory_at(source, rows, left)))}});
      }
      const Expr count = kernel::mul(kernel::sub(right, left), literal(apart ? 1 : lanes));
      copies.push_back({For{LoopKind::Vector, "i", literal(0), count, std::move(copy)}});
    };
    if (edges_ && finds(source)) {  // what is read at both ends
      const plan::Reach& x = source.kept.x();
      const Expr until = kernel::add(name(edges_->left), literal(x.max));
      const Expr again = kernel::add(name(edges_->right), literal(x.min));
      copies.push_back({Let{"left_end", kernel::min(name("right"), kernel::max(name("left"), until))}});
      copies.push_back(
          {Let{"right_begin", kernel::min(name("right"), kernel::max(name("left_end"), again))}});
      copy_from(name("left"), name("left_end"));
      copy_from(name("right_begin"), name("right"));
    } else {
      copy_from(name("left"), name("right"));
    }
    if (border) {
      beyond_columns(copies, source, {"left", "right"}, [&](const Expr& x, int lane) {
        return kernel::load(from, type, kernel::add(in_memory_at(source, rows, x), literal(lane)));
      });
    }
    if (is_constant) {
      Block constants = constant_row(source);
      const If either = inside_or_constant(source, std::move(copies), std::move(constants));
      copies = {{either}};
    }
    copies.insert(copies.begin(), current_row(source));
    return copies;
  }

  /// The pixels beyond the ends of a row that the tile needs. `pixel` gives one lane of a pixel of the
  /// source.
  void beyond_columns(Block& block, const Source& source, const Ends& ends,
                      const std::function<Expr(const Expr&, int)>& pixel) {
    const plan::BorderRule& border = *source.kept.border;
    const Rows rows = all_of(source);
    const auto fill = [&](const Expr& from, const Expr& until) {
      Block body;
      const Expr x = name("x");
      std::vector<Expr> values;
      if (border.mode == ir::BorderMode::Constant) {
        values = border_lanes(border, body);
      } else {
        const Expr inside =
            kernel::index_call(index_op(border.mode), kernel::sub(x, rows.begin(0)), rows.extent(0));
        const Expr found = kernel::add(inside, rows.begin(0));
        for (int l = 0; l < source.lanes(); ++l) values.push_back(pixel(found, l));
      }
      for (int l = 0; l < source.lanes(); ++l) {
        body.push_back({kernel::Store{row_.at(&source), at(source, x, l), values[l]}});
      }
      block.push_back({For{LoopKind::Serial, "x", from, until, std::move(body)}});
    };
    const plan::Reach &x = source.kept.x(), &outside = source.kept.outside[0];
    if (outside.min > 0) {
      const Expr from = kernel::add(begin_of(source), literal(x.min));
      fill(kernel::max(from, kernel::sub(rows.begin(0), literal(outside.min))), name(ends.left));
    }
    if (outside.max > 0) {
      const Expr until = kernel::add(end_of(source), literal(x.max));
      fill(name(ends.right), kernel::min(until, kernel::add(rows.end(0), literal(outside.max))));
    }
  }

  Block constant_row(const Source& source) {
    Block block, body;
    const std::vector<Expr> values = border_lanes(*source.kept.border, block);
    for (int l = 0; l < source.lanes(); ++l)
      body.push_back({kernel::Store{
          row_.at(&source),
          kernel::add(kernel::mul(name("i"), literal(pixel_pitch(source.lanes(), source.kept.lane_pitch))),
                      literal(l * source.kept.lane_pitch)),
          values[l]}});
    block.push_back({For{LoopKind::Vector, "i", literal(0), literal(columns_of(source)), std::move(body)}});
    return block;
  }

  std::vector<Expr> border_lanes(const plan::BorderRule& border, Block& block) {
    ExpressionLowering expressions = tile_.expressions(result_, Place::Interior, rows_.coords());
    expressions.open(block);
    Lanes lanes = expressions.lower(border.constant);
    expressions.close();
    return lanes;
  }

  // ---- rows of members

 public:
  Block rows_of_pass(const Tile::Stages& pass) override {
    if (pass.back() == &result_) return rows_of_result(pass);
    const Source& first = *tile_.source(*pass.front());
    Block body, constants;
    clip_columns(body, first, ends_of_row());
    compute(body, pass, tile_.row_coords(&first.kept), columns_of(first));
    for (const ir::Stage* stage : pass) {
      const Source& source = *tile_.source(*stage);
      if (!source.is_constant_outside()) continue;
      constants.push_back(current_row(source));
      kernel::append(constants, constant_row(source));
    }
    const bool has_constants = !constants.empty();
    if (has_constants) body = {{inside_or_constant(first, std::move(body), std::move(constants))}};
    return tile_.for_rows(&first.kept, has_constants, std::move(body));
  }

  /// Row by row, since parts may be of one.
  Block rows_of_reduction(const TileReduction& reduction, const PartOf& part_of) override {
    const Expr x = reduction.parts.column(), row = name("y");
    ExpressionLowering expressions = tile_.expressions(result_, Place::Row, {x, row});
    Tile::RowsOf rows;
    for (const Source& source : tile_.sources()) {
      if (source.kept.is_copied()) rows[&source.stage] = kept_rows_of(source);
    }
    expressions.keep_rows(std::move(rows), name("left"), kernel::sub(x, name("left")));
    Block elements = columns_of_result();
    reduction.parts.row(expressions, reduction.accumulators, name("left"), name("right"), elements);
    return tile_.for_rows(nullptr, false, part_of(row, 1, std::move(elements)));
  }

 private:
  Block columns_of_result() const {
    const Ends ends = ends_of_row();
    const bool in_steps = steps_[0] > 1;  // which may begin and end beyond the result
    return {{Let{ends.left, in_steps ? kernel::max(name("x0"), rows_.begin(0)) : name("x0")}},
            {Let{ends.right, in_steps ? kernel::min(name("x1"), rows_.end(0)) : name("x1")}}};
  }

  Block rows_of_result(const Tile::Stages& pass) {
    Block body = columns_of_result();
    compute(body, pass, tile_.row_coords(nullptr), tile_.width());
    return tile_.for_rows(nullptr, false, std::move(body));
  }

  /// One row of the members of a pass, at most so many columns: to their kept rows, or to memory.
  void compute(Block& block, const Tile::Stages& pass, const std::vector<Expr>& row, int columns) {
    const Ends ends = ends_of_row();
    if (tile_.is_of_volume()) {
      if (!edges_) fetch_next_planes(block, pass, row.front());
    } else {
      const Source* of_pass = tile_.source(*pass.front());
      const int ahead = rows_ahead(tile_, of_pass ? &of_pass->kept : nullptr);
      kernel::append(block, prefetch_images(tile_, pass, name(ends.left), name(ends.right), row.front(),
                                            ahead, fetched_));
    }
    Block work;
    compute_part(work, pass, row, columns);
    if (edges_)
      kernel::append(block, in_parts(name(ends.left), name(ends.right), std::move(work)));
    else
      kernel::append(block, std::move(work));
    for (const ir::Stage* stage : pass) {
      const Source* source = tile_.source(*stage);
      if (!source) continue;
      if (edges_ && (source->kept.is_stored || source->kept.border_mode()))
        block.push_back(current_row(*source));
      if (source->kept.is_stored) block.push_back({stored_row(*source, row)});
      if (!source->kept.border_mode()) continue;
      beyond_columns(block, *source, ends, [&](const Expr& x, int lane) {
        return kernel::load(row_.at(source), stage->type.scalar, at(*source, x, lane));
      });
    }
  }

  /// if the tile has the row:  its columns, from the kept row to memory
  If stored_row(const Source& source, const std::vector<Expr>& row) const {
    const ArrayLayout& array = array_of(source.stage);
    Expr is_own;
    for (int d = 1; d <= tile_.down(); ++d) {
      const Expr &at = row[d - 1], first = name(ir::dim_name(d) + "0"), end = name(ir::dim_name(d) + "1");
      is_own = kernel::both(is_own, kernel::both(kernel::binary(BinaryOp::Le, first, at),
                                                 kernel::binary(BinaryOp::Lt, at, end)));
    }
    const int lanes = source.lanes();
    const Expr i = name("i"), columns = kernel::sub(name("x1"), name("x0"));
    const Expr to = kernel::add(rows_.row_offset(array, row), rows_.x_offset(name("x0"), array));
    const auto& [from, target] = stored_.at(&source);
    Block body{{kernel::Pointer{from, row_.at(&source), source.kept.type.scalar, at(source, name("x0"))}}};
    const bool is_apart = source.kept.lane_pitch != 1;
    Block plain{{kernel::Pointer{target, array.name, source.kept.type.scalar, to, false}}}, copy;
    for (int l = 0; l < (is_apart ? lanes : 1); ++l) {
      const Expr scalar = kernel::add(kernel::mul(i, literal(is_apart ? lanes : 1)), literal(l));
      const Expr kept = is_apart ? kernel::add(i, literal(l * source.kept.lane_pitch)) : i;
      copy.push_back({kernel::Store{target, scalar, kernel::load(from, source.kept.type.scalar, kept)}});
    }
    const Expr scalars = kernel::mul(columns, literal(lanes));
    plain.push_back({For{LoopKind::Vector, "i", literal(0), is_apart ? columns : scalars, std::move(copy)}});
    if (is_apart) {
      kernel::append(body, std::move(plain));
    } else {
      const kernel::StorePastCaches past{array.name, source.kept.type.scalar, to, from, scalars};
      body.push_back({If{name(past_caches_, Scalar::Bool), {{past}}, std::move(plain)}});
    }
    return {is_own, std::move(body), {}};
  }

  /// From left to right.
  void compute_part(Block& block, const Tile::Stages& pass, const std::vector<Expr>& row, int columns) {
    const Tile::PassLanes lanes = tile_.lanes_of(pass);
    const Expr per_pixel = literal(lanes.front()->per_pixel()), i = name("i");
    const Expr begin = kernel::mul(name("left"), per_pixel), length = kernel::mul(count(), per_pixel);
    ExpressionLowering expressions =
        tile_.expressions(lanes.front()->stage(), Place::Row, coords_of(kernel::add(begin, i), row));
    if (pass.size() > 1) expressions.share_with({pass.begin() + 1, pass.end()});
    Tile::RowsOf rows = tile_.rows_of(lanes, [&](const Source& source) { return kept_rows_of(source); });

    const int phases = phases_of_pass(expressions, pass);
    const bool to_lanes =
        tile_.plan().lanes_apart && phases > 1 && pass.back() == &result_ && result_.type.lanes > 1;
    std::vector<StripTarget> targets;
    for (std::size_t m = 0; m < pass.size(); ++m)
      targets.push_back(target_of(*pass[m], lanes[m]->stage(), expressions, row, block));
    const StripTarget memory = targets.back();
    if (to_lanes) {
      targets.back() = {memory.stage, expressions.claim(array_.name + "_lanes"), i, tile_.width()};
      block.push_back({kernel::LocalArray{targets.back().array, result_.type.scalar,
                                          tile_.width() * result_.type.lanes}});
    }
    const int capacity = columns * lanes.front()->per_pixel();
    Block pointers, work;
    if (phases > 1) {
      store_by_phases(expressions, std::move(rows), pass, targets, row, phases, pointers, work);
    } else {
      expressions.keep_rows(std::move(rows), name("left"));
      store_strip(expressions, targets, {begin, length, capacity}, pointers, work);
    }
    kernel::append(block, std::move(pointers));
    kernel::append(block, std::move(work));
    if (to_lanes) block.push_back({interleaved(targets.back(), memory)});
    if (pass.back() == &result_) {
      kernel::StorePastCaches store{array_.name, result_.type.scalar, memory_of(row), line_.name,
                                    kernel::mul(count(), literal(result_.type.lanes))};
      block.push_back({If{name(past_caches_, Scalar::Bool), {{std::move(store)}}, {}}});
    }
  }

  /// for the pixels of a row:  each lane from its own row to memory
  static For interleaved(const StripTarget& lanes, const StripTarget& pixels) {
    Block body;
    for (int l = 0; l < lanes.stage->type.lanes; ++l) {
      const Expr from = kernel::add(lanes.offset, literal(l * lanes.lane_pitch));
      body.push_back({kernel::Store{pixels.array, kernel::add(pixels.offset, literal(l)),
                                    kernel::load(lanes.array, lanes.stage->type.scalar, from)}});
    }
    return {LoopKind::Vector, "i", literal(0), count(), std::move(body)};
  }

  /// From the start of the array that the pixels of a strip go to.
  Expr first_scalar(const ir::Stage& stage) const {
    return &stage == &result_ ? literal(0) : at(*tile_.source(stage), name("left"));
  }

  /// Of the loop of a pass: 1 unless one loop over pixels is all that it takes.
  static int phases_of_pass(ExpressionLowering& expressions, const Tile::Stages& pass) {
    int phases = 1;
    for (const ir::Stage* stage : pass) {
      if (!is_one_loop(expressions, *stage)) return 1;
      phases = std::max(phases, phase_count(*stage));
    }
    return phases;
  }

  /// The strip's complete groups of phases by one loop, and single pixels on both sides of them.
  void store_by_phases(ExpressionLowering& single, Tile::RowsOf kept_rows, const Tile::Stages& pass,
                       const std::vector<StripTarget>& targets, const std::vector<Expr>& row, int count,
                       Block& pointers, Block& work) {
    const Expr i = name("i"), mask = literal(-count);
    const Expr shift = literal(std::countr_zero(static_cast<unsigned>(count)));
    const auto whole = [&](const Expr& x) { return kernel::binary(BinaryOp::Shr, x, shift); };
    const Expr up = kernel::binary(BinaryOp::And, kernel::add(name("left"), literal(count - 1)), mask);
    pointers.push_back({Let{"whole_left", kernel::min(up, name("right"))}});
    const Expr down = kernel::binary(BinaryOp::And, name("right"), mask);
    pointers.push_back({Let{"whole_right", kernel::max(name("whole_left"), down)}});
    const Expr left = kernel::sub(name("whole_left"), name("left"));
    const Expr right = kernel::sub(name("whole_right"), name("left"));

    std::vector<Phases> phases;
    std::unordered_map<const ir::Node*, std::string> names;
    std::vector<const ir::Stage*> stages;
    for (const StripTarget& target : targets) {
      phases.push_back(phases_of(*target.stage, count, tile_.names()));
      names.insert(phases.back().names.begin(), phases.back().names.end());
    }
    for (const Phases& of_stage : phases) {
      for (const ir::Stage& phase : of_stage.stages) stages.push_back(&phase);
    }
    pointers.push_back({Let{"whole", whole(name("whole_left"))}});
    ExpressionLowering together =
        tile_.expressions(*stages.front(), Place::Row, coords_of(kernel::add(name("whole"), i), row), &names);
    together.share_with({stages.begin() + 1, stages.end()});
    together.keep_rows(kept_rows, name("whole"));
    together.avoid_names_of(single);
    For pixels{
        LoopKind::Vector, "i", literal(0), whole(kernel::sub(name("whole_right"), name("whole_left"))), {}};
    together.open(work, &pointers);
    together.open(pixels.body);
    for (std::size_t m = 0; m < targets.size(); ++m) {
      const StripTarget& target = targets[m];
      const int lanes = target.stage->type.lanes;
      for (int p = 0; p < count; ++p) {
        const Lanes value = together.lower(cases_of(phases[m].stages[p])[0].value);
        const Expr pixel = kernel::add(kernel::add(kernel::mul(i, literal(count)), literal(p)), left);
        for (int l = 0; l < lanes; ++l) {
          const Expr scalar = kernel::mul(pixel, literal(pixel_pitch(lanes, target.lane_pitch)));
          pixels.body.push_back({kernel::Store{
              target.array,
              kernel::add(scalar, kernel::add(first_scalar(*pass[m]), literal(l * target.lane_pitch))),
              value[l]}});
        }
      }
    }
    together.close();
    together.close();
    work.push_back({std::move(pixels)});

    single.avoid_names_of(together);
    single.keep_rows(std::move(kept_rows), name("left"));
    const auto edge = [&](const Expr& from, const Expr& until) {
      For pixel{LoopKind::Scalar, "i", from, until, {}};
      single.open(pixel.body, &pixel.body);
      for (const StripTarget& target : targets)
        store_pixel(single, pixel.body, cases_of(*target.stage), target.array, target.offset,
                    target.lane_pitch);
      single.close();
      work.push_back({std::move(pixel)});
    };
    edge(literal(0), left);
    edge(right, kernel::sub(name("right"), name("left")));
  }

  /// Where the pixels of a stage go; appends a pointer to the row.
  StripTarget target_of(const ir::Stage& stage, const ir::Stage& inner, ExpressionLowering& expressions,
                        const std::vector<Expr>& row, Block& block) const {
    const auto scalar = [&](std::int64_t lane_pitch) {
      return kernel::mul(name("i"), literal(pixel_pitch(inner.type.lanes, lane_pitch)));
    };
    if (&stage != &result_) {
      const Source& source = *tile_.source(stage);
      const std::int64_t lane_pitch = source.kept.lane_pitch;
      block.push_back(current_row(source));
      return {&inner, row_.at(&source), kernel::add(scalar(lane_pitch), first_scalar(stage)), lane_pitch};
    }
    const std::string target = expressions.claim(array_.name + "_row");
    block.push_back({kernel::Pointer{target, array_.name, stage.type.scalar, memory_of(row), false,
                                     name(past_caches_, Scalar::Bool), line_.name}});
    return {&inner, target, scalar(1)};
  }

  /// The scalar of the result with which its part of a row begins.
  Expr memory_of(const std::vector<Expr>& row) const {
    return kernel::add(rows_.row_offset(array_, row), rows_.x_offset(name("left"), array_));
  }

  const Tile& tile_;
  const ir::Stage& result_;
  const ArrayLayout& array_;
  const Rows& rows_;
  const Steps& steps_;
  std::map<const Source*, std::string> row_;  // points to the current one
  std::map<const Source*, Finding> finding_;
  std::map<const Source*, std::pair<std::string, std::string>>
      stored_;  // the tile's part of a row: kept, stored
  /// Of a tile whose images are read where they lie but for the ends of their rows: whether columns are copied,
  /// and between which none are.
  struct Edges {
    std::string copied, left, right;
  };
  std::optional<Edges> edges_;
  std::set<const ir::Stage*> fetched_;  // images, by what reads them first
  // What caches cannot keep goes past them by whole cache lines, so a row of the tile is gathered first.
  kernel::LocalArray line_;
  std::string past_caches_;
};

}  // namespace

std::unique_ptr<TileOwner> core_of(const Tile& tile) { return std::make_unique<CoreTiles>(tile); }

}  // namespace weft::lower
