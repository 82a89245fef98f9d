// A core's tiles, one after the other, and where their rows are.
#include "lower/core_tiles.h"

#include <algorithm>

#include "base/round_up.h"
#include "machine/cpu.h"

namespace weft::lower {

CoreTiles::CoreTiles(const Tile& tile)
    : tile_(tile), result_(tile.result()), array_(tile.array()), rows_(tile.rows()), steps_(tile.steps()) {
  const auto claim = [&](const std::string& wanted) { return tile.layout().names.claim(wanted); };
  for (const Source& source : tile.sources()) {
    const std::string& name = array_of(source.stage).name.spelling();
    for (int below = 0; below < plan::most_rows_of_pass; ++below)
      row_[&source].push_back(claim(name + "_row" + suffix_of_row(below)));
    if (source.kept.is_stored) stored_[&source] = {claim(name + "_own"), claim(name + "_stored")};
    if (!finds(source)) continue;
    finding_[&source] = {claim(name + "_copied"), claim(name + "_from"), claim(name + "_step"),
                         claim(name + "_line_step"), claim(name + "_mask")};
  }
  if (tile.plan().edges > 0)
    edges_ = {claim("copied"), claim("inner_left"), claim("inner_right"),
              tile.layout().names.local("at_edge")};
  if (tile.plan().parts) return;
  for (int below = 0; below < tile.plan().rows_of_pass(); ++below)
    lines_.push_back({claim(array_.name.spelling() + "_line" + suffix_of_row(below)), result_.type.scalar,
                      tile.width() * result_.type.lanes});
  past_caches_ = claim("past_caches");
  shared_columns_ = find_shared_columns();
}

std::string CoreTiles::comment() const {
  std::string members, images;
  for (const Source& source : tile_.sources()) {
    std::string& names = source.kept.is_member ? members : images;
    const bool is_named = source.kept.is_member || finds(source);
    if (is_named) names += (names.empty() ? "'" : ", '") + source.stage.name + "'";
  }
  const int rows = tile_.plan().rows_of_pass();
  const std::string width = std::to_string(tile_.width()),
                    parts = "[first, last) of '" + result_.name + "', each ";
  const std::string where =
      images.empty()
          ? ""
          : "\nRows of " + images + " are read where they lie, but for strips at the ends of the image.";
  const auto at_a_time = [&](const std::string& one) {
    return rows == 1 ? one + " by " + one + "." : std::to_string(rows) + " " + one + "s at a time.";
  };
  const std::string tiles =
      tile_.is_static() ? "Tiles " + parts + width + "x" + std::to_string(tile_.plan().height().fixed()) + "."
      : tile_.is_of_volume() ? "Tiles " + parts + width + "x" + std::to_string(tile_.plan().lines()) +
                                   " that are computed " + at_a_time("plane")
                             : "Strips " + parts + width + " columns that are computed " + at_a_time("row");
  if (members.empty()) return tiles + where;
  return tiles +
         (tile_.is_static() ? "\nThe rows of " + members + " that a tile needs are computed before it."
                            : "\nRows of " + members + " are kept while they are read.") +
         where;
}

void CoreTiles::declare(kernel::LocalArray rows, Block& block) {
  rows.is_zeroed = tile_.plan().whole > 1;  // what is computed too many reads what nobody has stored
  block.push_back({std::move(rows)});
}

kernel::Function CoreTiles::begin() {
  return {tile_.layout().names.claim(array_.name.spelling() + "_strips"),
          "",
          {variables().first, variables().last},
          {}};
}

void CoreTiles::go_through(kernel::Function& function, const Expr& rows_per_part, Block work) {
  Block& block = function.body;
  if (!lines_.empty()) {
    const Expr scalars = kernel::mul(name(array_.strides.back()), rows_.extent(tile_.down()));
    const Expr bytes = kernel::mul(scalars, literal(size_of(result_.type.scalar)));
    for (const kernel::LocalArray& line : lines_) block.push_back({line});
    block.push_back({kernel::ExceedsCaches{past_caches_, bytes}});
  }
  const kernel::Names& names = tile_.layout().names;
  const kernel::Symbol across = names.local("columns"), number = names.local("strip"),
                       layers = names.local("layers");
  const Expr columns = name(across), strip = name(number);
  block.push_back({Let{across, tile_.columns_of_tiles()}});
  const bool has_layers = tile_.is_of_volume();
  const kernel::Symbol height = names.local(has_layers ? "planes" : "rows");
  Expr side_by_side = columns;
  if (has_layers) {
    block.push_back({Let{layers, tile_.layers_of_tiles()}});
    side_by_side = kernel::mul(columns, name(layers));
  }
  block.push_back({Let{height, tile_.height(side_by_side, rows_per_part)}});
  For strips{LoopKind::Serial, number, name(function.parameters[0]), name(function.parameters[1]), {}};
  Block& body = strips.body;
  tile_.append_ends(body, 0, kernel::binary(BinaryOp::Rem, strip, columns), literal(tile_.width()));
  if (has_layers)
    tile_.append_ends(body, 1, kernel::binary(BinaryOp::Rem, kernel::div(strip, columns), name(layers)),
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

kernel::Launch CoreTiles::launch_of(const kernel::Function& function, const Expr& rows_per_part) {
  const Expr side_by_side = kernel::mul(tile_.columns_of_tiles(), tile_.layers_of_tiles());
  const Expr height = tile_.height(side_by_side, rows_per_part);
  return {function.name, kernel::mul(parts(steps_.extent(tile_.down()), height), side_by_side)};
}

CoreTiles::Beyond CoreTiles::beyond_of(const Source& source) const {
  const Rows rows = all_of(source);
  const plan::Kept& kept = source.kept;
  const auto is_less = [](const Expr& a, const Expr& b) { return kernel::binary(BinaryOp::Lt, a, b); };
  const int before = columns_before(source);
  const Expr left = kernel::sub(begin_of(source), literal(before));
  const Expr right = kernel::add(end_of(source), literal(columns_of(source) - source.width - before));
  Beyond beyond{is_less(left, rows.begin(0)), is_less(rows.end(0), right), nullptr};
  if (tile_.plan().exchanges_rows(kept)) return beyond;
  const int down = tile_.down();
  beyond.rows =
      either(is_less(tile_.first_row(kept), rows.begin(down)), is_less(rows.end(down), tile_.end_row(kept)));
  if (tile_.is_of_volume()) {
    const Expr lines =
        either(is_less(tile_.first_line(kept), rows.begin(1)), is_less(rows.end(1), tile_.end_line(kept)));
    beyond.rows = either(beyond.rows, lines);
  }
  return beyond;
}

void CoreTiles::find_edges(Block& body) const {
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
  const Expr x0 = name(tile_.from(0)), end = name(tile_.until(0)), edge = literal(tile_.plan().edges);
  const Expr far_left = kernel::sub(x0, literal(reach)), far_right = kernel::add(end, literal(reach));
  Expr left = kernel::select(all.left, kernel::add(x0, edge), far_left);
  if (all.rows) left = kernel::select(all.rows, far_right, left);
  body.push_back({Let{edges_->left, left}});
  const Expr last = kernel::sub(end, edge);
  const Expr right =
      kernel::max(name(edges_->left), kernel::binary(BinaryOp::And, last, literal(-machine::vector_values)));
  body.push_back({Let{edges_->right, kernel::select(all.right, right, far_right)}});
}

Block CoreTiles::in_parts(const Expr& row_left, const Expr& row_right, Block work) const {
  const kernel::Names& names = tile_.layout().names;
  const kernel::Symbol number = names.local("part"), end_of_first = names.local("first_end"),
                       begin_of_last = names.local("last_begin");
  const Expr part = name(number);
  const auto by_part = [&](const Expr& first, const Expr& second, const Expr& third) {
    const auto is = [&](int which) { return kernel::binary(BinaryOp::Eq, part, literal(which)); };
    return kernel::select(is(0), first, kernel::select(is(1), second, third));
  };
  const auto within = [&](const kernel::Symbol& x) {
    return kernel::max(row_left, kernel::min(name(x), row_right));
  };
  Block block = {{Let{end_of_first, within(edges_->left)}}, {Let{begin_of_last, within(edges_->right)}}};
  const Expr first_end = name(end_of_first), last_begin = name(begin_of_last);
  For parts{LoopKind::Serial, number, literal(0), literal(3), {}};
  Block& body = parts.body;
  body.push_back({Let{part_.left, by_part(row_left, first_end, last_begin)}});
  body.push_back({Let{part_.right, by_part(first_end, last_begin, row_right)}});
  body.push_back({Let{edges_->at_edge, kernel::binary(BinaryOp::Ne, part, literal(1))}});
  Block some;
  for (const Source& source : tile_.sources()) {
    if (finds(source)) find_rows(some, source, name(edges_->at_edge, Scalar::Bool));
  }
  kernel::append(some, std::move(work));
  body.push_back({If{kernel::binary(BinaryOp::Lt, left(), right()), std::move(some), {}}});
  block.push_back({std::move(parts)});
  return block;
}

void CoreTiles::find_rows(Block& body, const Source& source, const Expr& copied) const {
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

Expr CoreTiles::found_row(const Source& source, const Finding& found, const std::vector<Expr>& row) const {
  const Expr number = tile_.is_static() ? kernel::sub(row.back(), tile_.first_row(source.kept))
                                        : kernel::binary(BinaryOp::And, row.back(), name(found.mask));
  const Expr start = kernel::mul(number, name(found.step));
  if (!tile_.is_of_volume()) return start;
  const Expr line = kernel::sub(row.front(), tile_.first_line(source.kept));
  return kernel::add(start, kernel::mul(line, name(found.line_step)));
}

void CoreTiles::clip_columns(Block& block, const Source& source, const Ends& ends) const {
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

If CoreTiles::inside_or_constant(const Source& source, Block inside, Block outside) const {
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

CoreTiles::KeptRows CoreTiles::kept_rows_of(const Source& source) const {
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
          exchanges ? name(edges_ ? edges_->at_edge : finding->copied, Scalar::Bool) : nullptr};
}

Tile::RowsOf CoreTiles::all_kept_rows() const {
  Tile::RowsOf rows;
  for (const Source& source : tile_.sources()) {
    if (source.kept.is_copied()) rows[&source.stage] = kept_rows_of(source);
  }
  return rows;
}

std::unique_ptr<TileOwner> core_of(const Tile& tile) { return std::make_unique<CoreTiles>(tile); }

}  // namespace weft::lower
