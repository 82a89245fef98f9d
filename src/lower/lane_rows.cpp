#include "lower/lane_rows.h"

#include <algorithm>
#include <array>

#include "lower/lane_code.h"
#include "lower/lower_stage.h"
#include "plan/warp_strip.h"

namespace weft::lower {

using plan::lanes_of_warp;

namespace {

constexpr int furthest_turns = 64;  // of rows: what is needed is not further away

/// The coordinate of what a border finds at another.
Expr found_by_border(const plan::Kept& kept, int d, const Expr& at, const Rows& rows) {
  const Expr index =
      kernel::index_call(index_op(*kept.border_mode()), kernel::sub(at, rows.begin(d)), rows.extent(d));
  return kernel::add(index, rows.begin(d));
}

}  // namespace

LaneRows::LaneRows(const Tile& tile)
    : tile_(tile),
      result_(tile.result()),
      rows_(tile.rows()),
      steps_(tile.plan().level(plan::LevelKind::Lane)->extent[0].fixed() / tile.plan().step[0]) {
  kernel::Names& names = tile.layout().names;
  const auto claim = [&](const std::string& wanted) { return names.claim(wanted); };
  variables_ = {claim("lane"),   claim("k"),         claim("j"),         claim("in_lanes"),
                claim("across"), claim("found"),     claim("is_there"),  claim("b"),
                claim("next"),   claim("part"),      claim("from"),      claim("until"),
                claim("inner"),  claim("inner_end"), claim("is_inside"), claim("has_result")};
  variables_.first = names.local("first"), variables_.left = names.local("left");
  variables_.batch = names.local("batch");
  ArrayVariables& of_result = of_arrays_[nullptr];
  const std::string& result = tile.array().name.spelling();
  if (!has_single_rows()) {
    variables_.step = claim("step"), variables_.step0 = claim("step0"), variables_.step1 = claim("step1");
    of_result.y = claim(result + "_y");
  }
  of_result.place = claim(result + "_place");
  if (tile.is_of_volume()) {
    variables_.line = claim("line");
    of_result.place_y = claim(result + "_place_y"), of_result.pack = claim(result + "_pack");
    for (const Source& source : tile.sources()) {
      const std::string& name = memory_of(source).name.spelling();
      of_arrays_[&source].z = claim(name + "_z"), of_arrays_[&source].place_y = claim(name + "_place_y");
    }
  }
  for (const Source& source : tile.sources()) {
    const auto of = [&](const char* what) { return claim(memory_of(source).name.spelling() + what); };
    ArrayVariables& own = of_arrays_[&source];
    own.y = of("_y"), own.place = of("_place"), own.next = of("_next"), own.next_row = of("_next_row");
    own.above = of("_above"), own.column = of("_column"), own.own = of("_own"), own.rest = of("_rest");
  }
}

// ---- sizes

Expr LaneRows::column_of_step(const plan::Kept* kept, const Expr& step) const {
  const int first = kept ? kept->first_column : tile_.plan().first_column;
  return kernel::add(kernel::mul(step, literal(rate(kept, 0))), literal(first));
}

int LaneRows::scalars_in_word(const Source& image) {
  const Scalar type = image.kept.type.scalar;
  return is_float(type) || type == Scalar::Bool ? 1 : 4 / std::min(4, size_of(type));
}

bool LaneRows::has_words(const Source& image) const {
  return scalars_in_word(image) > 1 && scalars_of(image) % scalars_in_word(image) == 0;
}

Scalar LaneRows::type_of_next(const Source& image) const {
  return has_words(image) ? Scalar::U32 : image.kept.type.scalar;
}

int LaneRows::next_in_row(const Source& image) const {
  return scalars_of(image) / (has_words(image) ? scalars_in_word(image) : 1);
}

Expr LaneRows::loaded_scalar(const Source& image, const kernel::Symbol& next, const Expr& from,
                             const Expr& j) const {
  const Scalar type = image.kept.type.scalar;
  if (!has_words(image)) return kernel::load(next, type, kernel::add(from, j));
  const Expr in_word = literal(scalars_in_word(image));
  const Expr word = kernel::load(next, Scalar::U32, kernel::add(from, kernel::div(j, in_word)));
  const Expr bits = kernel::mul(kernel::binary(BinaryOp::Rem, j, in_word), literal(8 * size_of(type)));
  return kernel::cast(ir::CastMode::Convert, type,
                      kernel::binary(BinaryOp::Shr, word, converted(Scalar::U32, bits)));
}

Block LaneRows::each_line(const plan::Kept* kept, Block work) const {
  if (!tile_.is_of_volume() || work.empty()) return work;
  return {{unrolled(variables_.line, lines_of(kept), std::move(work))}};
}

// ---- rows in registers

Expr LaneRows::row_start(const plan::Kept& kept, int below) const {
  const int further = below - kept.ahead, rows_of_step = kept.rate[1];
  if (moves_) return literal((further + rows_in_turn(kept) - rows_of_step) * scalars_of_plane(kept));
  return kernel::mul(turn(kept.rows, further, rows_of_step), literal(scalars_of_plane(kept)));
}

Expr LaneRows::row_start(const plan::Kept& kept, int below, const Expr& further) const {
  const Expr pitch = literal(scalars_of_plane(kept));
  if (moves_) return kernel::add(row_start(kept, below), kernel::mul(further, pitch));
  const int bias = below - kept.ahead + kept.rows * furthest_turns;
  const Expr k = kernel::mul(name(variables_.k), literal(kept.rate[1]));
  const Expr row = kernel::add(k, kernel::add(further, literal(bias)));
  return kernel::mul(kernel::binary(BinaryOp::Rem, row, literal(kept.rows)), pitch);
}

Expr LaneRows::due(const Source& image, int number) const {
  const int rows_of_step = image.kept.rate[1];
  const Expr row = moves_ ? literal(number) : turn(loaded() * rows_of_step, number, rows_of_step);
  return kernel::mul(row, literal(next_in_plane(image)));
}

Expr LaneRows::turn(int rows, int below, int rows_of_step) const {
  if (rows == 1) return literal(0);
  const Expr k = kernel::mul(name(variables_.k), literal(rows_of_step));
  const Expr row = kernel::add(k, literal((below % rows + rows) % rows));
  return kernel::binary(BinaryOp::Rem, row, literal(rows));
}

Expr LaneRows::own_at(const Source& source, const Expr& pixel, int l) const {
  const Expr row = latest_ ? latest_ : row_start(source.kept, source.kept.ahead + number_);
  const Expr own = kernel::add(kernel::add(row, in_plane(source.kept)), literal(source.kept.first));
  return kernel::add(kernel::add(own, kernel::mul(pixel, literal(source.lanes()))), literal(l));
}

Expr LaneRows::own(const Source& source, const Expr& pixel, int l) const {
  return kernel::load(source.array, source.kept.type.scalar, own_at(source, pixel, l));
}

Block LaneRows::moved_up() const {
  Block block;
  for (const Source& source : tile_.sources()) {
    const plan::Kept& kept = source.kept;
    const int rows_of_step = kept.rate[1], scalars = scalars_of_plane(kept);
    if (const int moving = (rows_in_turn(kept) - rows_of_step) * scalars; moving > 0)
      block.push_back(
          moved(source.array, kept.type.scalar, literal(0), literal(rows_of_step * scalars), moving));
  }
  return block;
}

kernel::Stmt LaneRows::moved(const kernel::Symbol& array, Scalar type, const Expr& to, const Expr& from,
                             int count) const {
  const Expr j = name(variables_.j);
  return {unrolled(
      variables_.j, count,
      {{kernel::Store{array, kernel::add(to, j), kernel::load(array, type, kernel::add(from, j))}}})};
}

// ---- images

Expr LaneRows::column_of_lane(const Source& image) const {
  const Rows rows(image.stage.box, tile_.layout());
  const Expr column = kernel::sub(left_of(&image.kept), rows.begin(0)), extent = rows.extent(0);
  if (image.kept.border_mode() == ir::BorderMode::Repeat)
    return kernel::index_call(kernel::IndexOp::Repeat, column, extent);
  return limited(column, literal(0), kernel::sub(extent, literal(pixels_of(&image.kept))));
}

kernel::LoadPack LaneRows::pack_of_lane(const Source& image, const Expr& place) const {
  const int count = next_in_row(image);
  return {variables_of(&image).next_row,
          memory_of(image).name,
          type_of_next(image),
          count,
          place,
          literal(count),
          true,
          has_words(image)};
}

Block LaneRows::load(const Source& image, const Expr& row, const Expr& at) const {
  const ArrayLayout& memory = memory_of(image);
  const int lanes = image.lanes(), in_row = next_in_row(image);
  const Scalar type = type_of_next(image);
  const kernel::Symbol& next = next_of(image);
  const Expr stride = name(memory.strides[0]), j = name(variables_.j);
  const Rows rows(image.stage.box, tile_.layout());
  const auto whole_lane = [&](const Expr& above) -> Block {
    const Expr column =
        tests_.columns ? name(variables_of(&image).column) : kernel::sub(left_of(&image.kept), rows.begin(0));
    const Expr offset = kernel::add(above, kernel::mul(column, literal(lanes)));
    const kernel::LoadPack pack = pack_of_lane(image, offset);
    const kernel::Store store{next, kernel::add(at, j), kernel::load(pack.name, type, j)};
    return {{pack}, {unrolled(variables_.j, in_row, {{store}})}};
  };
  const Expr of_march = kernel::sub(row, rows.begin(down())), pitch = name(memory.strides.back());
  if (!tests_.rows && !tile_.is_of_volume()) return whole_lane(kernel::mul(of_march, pitch));
  const kernel::Symbol& above = variables_of(&image).above;
  if (!tests_.rows) {
    // From row to row the same distance, so that it is no multiplication for each.
    const Expr first = kernel::mul(kernel::sub(first_line_of(&image.kept), rows.begin(1)), stride);
    const Expr line = tests_.lines
                          ? kernel::mul(find_pixel(image, 1, line_of(&image.kept), rows).index, stride)
                          : kernel::add(first, kernel::mul(name(variables_.line), stride));
    return whole_lane(kernel::add(kernel::mul(of_march, pitch), line));
  }
  Block block;
  ExpressionLowering expressions = tile_.expressions(result_, Place::Thread, rows_.coords());
  FoundPixel y = find_pixel(image, down(), row, rows);
  y.index = kernel::mul(y.index, pitch);
  if (tile_.is_of_volume()) {
    const FoundPixel line = find_pixel(image, 1, line_of(&image.kept), rows);
    y = {kernel::add(y.index, kernel::mul(line.index, stride)), kernel::both(y.inside, line.inside)};
  }
  block.push_back({Let{above, y.index}});
  const auto pixel = [&](Block& each, const Expr& scalar) {
    const Expr lane = lanes > 1 ? kernel::binary(BinaryOp::Rem, scalar, literal(lanes)) : literal(0);
    const FoundPixel x =
        find_pixel(image, 0, kernel::add(left_of(&image.kept), kernel::div(scalar, literal(lanes))), rows);
    each.push_back({Let{variables_.across, kernel::add(kernel::mul(x.index, literal(lanes)), lane)}});
    const Expr found =
        kernel::load(memory.name, memory.type.scalar, kernel::add(name(above), name(variables_.across)));
    const Expr is_there = kernel::both(x.inside, y.inside);
    if (!is_there) return found;
    return kernel::select(is_there, found, border_lane(image.kept.border->constant, lane, expressions));
  };
  Block each, part;
  expressions.open(each);
  const Expr to = kernel::add(at, j);
  if (has_words(image)) {
    const int several = scalars_in_word(image), bits = 32 / several;
    const Expr number = name(variables_.b), so_far = kernel::load(next, type, to);
    each.push_back({kernel::Store{next, to, kernel::constant(type, {.i = 0})}});
    expressions.open(part);
    const Expr scalar = pixel(part, kernel::add(kernel::mul(j, literal(several)), number));
    const Expr as_bits = converted(type, converted(bits == 8 ? Scalar::U8 : Scalar::U16, scalar));
    const Expr shifted =
        kernel::binary(BinaryOp::Shl, as_bits, converted(type, kernel::mul(number, literal(bits))));
    part.push_back({kernel::Store{next, to, kernel::binary(BinaryOp::Or, so_far, shifted)}});
    expressions.close();
    each.push_back({unrolled(variables_.b, several, std::move(part))});
  } else {
    const Expr scalar = pixel(each, j);
    each.push_back({kernel::Store{next, to, scalar}});
  }
  expressions.close();
  block.push_back({If{kernel::both(name(variables_.in_lanes, Scalar::Bool), y.inside),
                      whole_lane(name(above)),
                      {{unrolled(variables_.j, in_row, std::move(each))}}}});
  return block;
}

// ---- between lanes

Block LaneRows::columns_beside(const Source& source) const {
  const plan::Kept& kept = source.kept;
  const int lanes = source.lanes(), left = kept.first / lanes, all = kept.pitch / lanes;
  const int pixels = pixels_of(&kept);
  const kernel::Names& names = tile_.layout().names;
  Block block;
  const auto take = [&](int column) {  // from the lane's first
    const int away = column < 0 ? -((-column + pixels - 1) / pixels) : column / pixels;
    const int there = column - away * pixels;
    for (int l = 0; l < lanes; ++l) {
      const kernel::Symbol taken =
          names.local(source.array.spelling() + "_beside_" + std::to_string(block.size() / 2));
      block.push_back({kernel::Shuffle{taken, own(source, literal(there), l), away}});
      block.push_back(
          {kernel::Store{source.array, own_at(source, literal(column), l), name(taken, kept.type.scalar)}});
    }
  };
  for (int column = -left; column < 0; ++column) take(column);
  for (int column = pixels; column < all - left; ++column) take(column);
  if (!tests_.columns) return block;
  Block beyond = columns_beyond_ends(source);
  if (!tests_.rows) {
    kernel::append(block, std::move(beyond));
  } else if (!source.kept.is_member &&
             !beyond.empty()) {  // the last rows of a batch have been loaded by whole lanes
    block.push_back({If{name(variables_.in_lanes, Scalar::Bool), std::move(beyond), {}}});
  }
  return block;
}

std::vector<LaneRows::Beyond> LaneRows::beyond_ends(const Source& source) const {
  const plan::Kept& kept = source.kept;
  const auto mode = kept.border_mode();
  const int pixels = pixels_of(&kept);
  const int left = kept.first / source.lanes(), right = kept.pitch / source.lanes() - left - pixels;
  std::vector<Beyond> all;
  // Of an image, lanes beyond its end have loaded what Repeat finds.
  if (!mode || (!kept.is_member && mode == ir::BorderMode::Repeat)) return all;
  const auto add = [&](int distance, bool is_left) {
    for (int lane = 0; lane * pixels < distance; ++lane) {
      const int beyond = distance - lane * pixels;
      const int from_end = mode == ir::BorderMode::Mirror      ? beyond - 1
                           : mode == ir::BorderMode::Mirror101 ? beyond
                                                               : 0;
      const int inwards = from_end - lane * pixels;
      const int found = is_left ? inwards : pixels - 1 - inwards;
      const bool is_there = mode != ir::BorderMode::Repeat && -left <= found && found < pixels + right;
      all.push_back({is_left ? -distance : pixels - 1 + distance, lane,
                     is_there ? std::optional(found) : std::nullopt, from_end});
    }
  };
  for (int distance = 1; distance <= left; ++distance) add(distance, true);
  for (int distance = 1; distance <= right; ++distance) add(distance, false);
  return all;
}

std::optional<int> LaneRows::pixels_for_border(const Source& source) const {
  int pixels = 0;
  const plan::Kept& kept = source.kept;
  const int left = kept.first / source.lanes(), right = kept.pitch / source.lanes() - left - pixels_of(&kept);
  // Lanes that lie beyond the end themselves have pixels there, too, that are needed.
  const bool is_beside = kept.outside[0].min <= left && kept.outside[0].max <= right;
  if (kept.border_mode() && kept.border_mode() != ir::BorderMode::Repeat && !is_beside) return std::nullopt;
  for (const Beyond& each : beyond_ends(source)) {
    if (!each.found) return std::nullopt;
    pixels = std::max(pixels, each.from_end + 1);
  }
  return pixels;
}

Block LaneRows::columns_beyond_ends(const Source& source) const {
  const Rows rows(source.kept.box, tile_.layout());
  Block block;
  ExpressionLowering expressions = tile_.expressions(result_, Place::Thread, rows_.coords());
  expressions.open(block);
  for (const Beyond& each : beyond_ends(source)) {
    if (!each.found) continue;
    const int pixels = pixels_of(&source.kept);
    const Expr left = kernel::sub(left_of(&source.kept), literal(each.lane * pixels));
    const Expr right = kernel::add(left_of(&source.kept), literal((each.lane + 1) * pixels));
    const Expr is_at_end = each.column < 0 ? equal(left, rows.begin(0)) : equal(right, rows.end(0));
    for (int l = 0; l < source.lanes(); ++l) {
      const Expr found = source.kept.border_mode() == ir::BorderMode::Constant
                             ? border_lane(source.kept.border->constant, literal(l), expressions)
                             : own(source, literal(*each.found), l);
      const Expr value = kernel::select(is_at_end, found, own(source, literal(each.column), l));
      block.push_back({kernel::Store{source.array, own_at(source, literal(each.column), l), value}});
    }
  }
  expressions.close();
  return block;
}

bool LaneRows::has_border(const plan::Kept& kept, int d) const {
  return tests_.rows && kept.border_mode() && (kept.outside[d].min > 0 || kept.outside[d].max > 0);
}

Block LaneRows::what_borders_find_in_row(const Source& source, const std::vector<Expr>& row,
                                         ExpressionLowering& expressions) const {
  const plan::Kept& kept = source.kept;
  const bool is_constant = kept.border_mode() == ir::BorderMode::Constant;
  bool has_rows = false;
  for (int d = 1; d <= down(); ++d) has_rows |= is_constant && has_border(kept, d);
  if (!has_border(kept, 0) && !has_rows) return {};
  const Rows rows(kept.box, tile_.layout());
  if (kept.border_mode() == ir::BorderMode::Clamp) return from_ends(source, rows);
  // Most tiles at the ends of an image are at its top and bottom, where no column is missing.
  Expr is_missing = either(is_left_missing(source, rows), is_right_missing(source, rows));
  for (int d = 1; has_rows && d <= down(); ++d)
    is_missing =
        either(is_missing, either(less(row[d - 1], rows.begin(d)), at_most(rows.end(d), row[d - 1])));
  return {{If{is_missing,
              is_constant ? constants(source, row, rows, expressions) : from_anywhere(source, rows),
              {}}}};
}

Expr LaneRows::is_left_missing(const Source& source, const Rows& rows) const {
  return less(first_of_strip(&source.kept), rows.begin(0));
}

Expr LaneRows::is_right_missing(const Source& source, const Rows& rows) const {
  return less(rows.end(0), end_of_strip(&source.kept));
}

Expr LaneRows::within_strip(const Source& source, const Expr& column) const {
  return limited(kernel::sub(column, first_of_strip(&source.kept)), literal(0),
                 literal(lanes_of_warp * pixels_of(&source.kept) - 1));
}

Block LaneRows::constants(const Source& source, const std::vector<Expr>& row, const Rows& rows,
                          ExpressionLowering& expressions) const {
  Block each;
  expressions.open(each);
  Expr is_there = between(rows.begin(0), column_of_pixel(&source.kept), rows.end(0));
  for (int d = 1; d <= down(); ++d)
    is_there = kernel::both(is_there, between(rows.begin(d), row[d - 1], rows.end(d)));
  each.push_back({Let{variables_.is_there, is_there}});
  for (int l = 0; l < source.lanes(); ++l) {
    const Expr constant = border_lane(source.kept.border->constant, literal(l), expressions);
    const Expr value =
        kernel::select(name(variables_.is_there, Scalar::Bool), own(source, name(i()), l), constant);
    each.push_back({kernel::Store{source.array, own_at(source, name(i()), l), value}});
  }
  expressions.close();
  return {{unrolled(i(), pixels_of(&source.kept), std::move(each))}};
}

Block LaneRows::from_ends(const Source& source, const Rows& rows) const {
  const int pixels = pixels_of(&source.kept);
  const auto from = [&](const char* which, const Expr& column, const auto& is_beyond) {
    const Expr at = within_strip(source, column),
               in_lane = kernel::binary(BinaryOp::Rem, at, literal(pixels));
    Block block, each;
    for (int l = 0; l < source.lanes(); ++l) {
      Expr found = own(source, literal(0), l);
      for (int p = 1; p < pixels; ++p)
        found = kernel::select(equal(in_lane, literal(p)), own(source, literal(p), l), found);
      const kernel::Symbol taken =
          tile_.layout().names.local(source.array.spelling() + which + std::to_string(l));
      block.push_back({kernel::Shuffle{taken, found, 0, kernel::div(at, literal(pixels))}});
      const Expr value = kernel::select(is_beyond(column_of_pixel(&source.kept)),
                                        name(taken, source.kept.type.scalar), own(source, name(i()), l));
      each.push_back({kernel::Store{source.array, own_at(source, name(i()), l), value}});
    }
    block.push_back({unrolled(i(), pixels, std::move(each))});
    return block;
  };
  const Expr begin = rows.begin(0), end = rows.end(0);
  Block left = from("_left_", begin, [&](const Expr& column) { return less(column, begin); });
  Block right =
      from("_right_", kernel::sub(end, literal(1)), [&](const Expr& column) { return at_most(end, column); });
  return {{If{is_left_missing(source, rows), std::move(left), {}}},
          {If{is_right_missing(source, rows), std::move(right), {}}}};
}

Block LaneRows::from_anywhere(const Source& source, const Rows& rows) const {
  const kernel::IndexOp op = index_op(*source.kept.border_mode());
  const Scalar type = source.kept.type.scalar;
  const int pixels = pixels_of(&source.kept);
  Block each;
  each.push_back({Let{variables_.across, column_of_pixel(&source.kept)}});
  const Expr index =
      kernel::index_call(op, kernel::sub(name(variables_.across), rows.begin(0)), rows.extent(0));
  each.push_back({Let{variables_.found, within_strip(source, kernel::add(index, rows.begin(0)))}});
  const Expr lane = kernel::div(name(variables_.found), literal(pixels));
  const Expr in_lane = kernel::binary(BinaryOp::Rem, name(variables_.found), literal(pixels));
  for (int l = 0; l < source.lanes(); ++l) {
    Expr found;
    for (int p = 0; p < pixels; ++p) {
      const kernel::Symbol taken =
          tile_.layout().names.local(source.array.spelling() + "_found_" + std::to_string(l * pixels + p));
      each.push_back({kernel::Shuffle{taken, own(source, literal(p), l), 0, lane}});
      const Expr value = name(taken, type);
      found = found ? kernel::select(equal(in_lane, literal(p)), value, found) : value;
    }
    const Expr is_there = between(rows.begin(0), name(variables_.across), rows.end(0));
    const Expr value = kernel::select(is_there, own(source, name(i()), l), found);
    each.push_back({kernel::Store{source.array, own_at(source, name(i()), l), value}});
  }
  return {{unrolled(i(), pixels, std::move(each))}};
}

Block LaneRows::what_borders_find_in_rows(const Source& source, const Expr& row) const {
  const plan::Kept& kept = source.kept;
  const int d = down();
  if (!has_border(kept, d) || kept.border_mode() == ir::BorderMode::Constant) return {};
  const Rows rows(kept.box, tile_.layout());
  const auto found = [&](const Expr& y) { return found_by_border(kept, d, y, rows); };
  const auto copy = [&](int to, int from) -> Block {
    return {moved(source.array, kept.type.scalar, row_start(kept, to), row_start(kept, from),
                  scalars_of_plane(kept))};
  };
  Block block;
  const int latest = kept.ahead + number_;
  // Of a step's rows those after the latest one have a place already.
  for (int above = 1; above <= kept.least_rows - kept.rate[1] + number_; ++above) {
    const Expr other = kernel::sub(row, literal(above));
    const Expr is_below = kernel::both(at_most(rows.end(d), row), equal(found(row), other));
    const Expr is_above = kernel::both(less(other, rows.begin(d)), equal(found(other), row));
    block.push_back({If{is_below, copy(latest, latest - above), {}}});
    block.push_back({If{is_above, copy(latest - above, latest), {}}});
  }
  if (block.empty()) return block;
  const Expr is_near_begin = less(kernel::sub(row, literal(kept.least_rows - 1)), rows.begin(d));
  return {{If{either(is_near_begin, at_most(rows.end(d), row)), std::move(block), {}}}};
}

Block LaneRows::what_borders_find_in_lines(const Source& source) const {
  const plan::Kept& kept = source.kept;
  if (!tile_.is_of_volume() || !has_border(kept, 1) || kept.border_mode() == ir::BorderMode::Constant)
    return {};
  const Rows rows(kept.box, tile_.layout());
  const auto line = [&](int number) { return kernel::add(first_line_of(&kept), literal(number)); };
  const auto start = [&](int number) {
    return kernel::add(row_start(kept, kept.ahead), literal(number * kept.pitch));
  };
  // Windows reach no further beyond an end, and what is found there is no further inside.
  const auto furthest = static_cast<int>(2 * std::max(kept.outside[1].min, kept.outside[1].max));
  Block block;
  for (int to = 0; to < kept.lines; ++to) {
    Block copies;
    const Expr found = found_by_border(kept, 1, line(to), rows);
    for (int from = std::max(to - furthest, 0); from < std::min(to + furthest + 1, kept.lines); ++from) {
      if (from == to) continue;
      copies.push_back({If{equal(found, line(from)),
                           {moved(source.array, kept.type.scalar, start(to), start(from), kept.pitch)},
                           {}}});
    }
    const Expr is_beyond = either(less(line(to), rows.begin(1)), at_most(rows.end(1), line(to)));
    block.push_back({If{is_beyond, std::move(copies), {}}});
  }
  const Expr is_near = either(less(line(0), rows.begin(1)), less(rows.end(1), line(kept.lines)));
  return {{If{is_near, std::move(block), {}}}};
}

}  // namespace weft::lower
