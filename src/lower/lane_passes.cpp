#include "lower/lane_passes.h"

#include <algorithm>

#include "ir/visit.h"
#include "lower/lane_code.h"
#include "lower/lower_stage.h"
#include "lower/phases.h"
#include "lower/strip_pixels.h"

namespace weft::lower {

std::optional<int> distance_below(const Expr& row, const kernel::Symbol& from, int times) {
  const auto is_from = [&](const Expr& e) {
    return kernel::same(e, kernel::mul(name(from), literal(times)));
  };
  if (is_from(row)) return 0;
  const auto* sum = std::get_if<kernel::Binary>(&row->op);
  const auto more = sum && is_from(sum->a) ? kernel::literal_value(sum->b) : std::nullopt;
  if (more && sum->op == BinaryOp::Add) return static_cast<int>(*more);
  if (more && sum->op == BinaryOp::Sub) return static_cast<int>(-*more);
  return std::nullopt;
}

// ---- passes at several rates

Block LanePasses::rows_of_step(const Tile::Stages& pass) {
  Block rows;
  const Source* kept = tile_.source(*pass.front());
  for (number_ = 0; number_ < rate(kept ? &kept->kept : nullptr, 1); ++number_)
    rows.push_back({kernel::Scope{row_of_pass_in_step(pass, kept)}});
  number_ = 0;
  return rows;
}

Block LanePasses::row_of_pass_in_step(const Tile::Stages& pass, const Source* source) {
  const plan::Kept* kept = source ? &source->kept : nullptr;
  const Expr number = name(step());
  Block work;
  kernel::Symbol row = rows_.coordinate(1);
  if (source || !has_single_rows()) {
    row = variables_of(source).y;
    work.push_back({Let{row, row_of_step(kept, number, number_)}});
  }
  const int first_column = kept ? kept->first_column : tile_.plan().first_column;
  const int first_row = (kept ? kept->ahead : 0) + number_;
  std::vector<std::vector<ir::Stage>> phases;  // by the pixel of a step
  Tile::Names names;
  for (int p = 0; p < rate(kept, 0); ++p)
    phases.push_back(
        stages_in_steps(pass, {InSteps{rate(kept, 0), first_column + p}, InSteps{rate(kept, 1), first_row}},
                        tile_.names(), names, tile_.strict()));

  ExpressionLowering expressions = tile_.expressions(
      phases.front().front(), Place::Thread, {kernel::add(name(variables_.left), name(i())), number}, &names);
  Tile::Stages others;
  for (const auto& stages : phases) {
    for (const ir::Stage& stage : stages) others.push_back(&stage);
  }
  others.erase(others.begin());
  if (!others.empty()) expressions.share_with(others);
  Tile::RowsOf rows;
  for (const Source& other : tile_.sources()) rows[&other.stage] = rows_in_steps(other);
  expressions.keep_rows(std::move(rows), literal(0));

  std::vector<kernel::Symbol> arrays;
  for (const ir::Stage* stage : pass) {
    const Source* member = tile_.source(*stage);
    arrays.push_back(member ? member->array : expressions.claim(tile_.array().name.spelling() + "_pack"));
    if (!member)
      work.push_back({kernel::LocalArray{arrays.back(), result_.type.scalar, scalars_of_result()}});
  }
  Block loops;
  For each = unrolled(i(), steps_, {});
  expressions.open(loops, &work);
  expressions.open(each.body);
  for (int p = 0; p < rate(kept, 0); ++p) {
    const Expr pixel = kernel::add(kernel::mul(name(i()), literal(rate(kept, 0))), literal(p));
    Block of_pixel;
    expressions.open(of_pixel);
    expressions.number_neighbours(0, pixel);
    for (std::size_t m = 0; m < pass.size(); ++m) {
      const Source* member = tile_.source(*pass[m]);
      const Expr at = member ? own_at(*member, pixel, 0) : kernel::mul(pixel, literal(result_.type.lanes));
      store_pixel(expressions, of_pixel, cases_of(*pass[m], phases[p][m]), arrays[m], at);
    }
    expressions.close();
    const Expr is_there = is_where_images_are(pass, kept, pixel, name(row));
    if (is_there)
      each.body.push_back({If{is_there, std::move(of_pixel), {}}});
    else
      each.body.push_back({kernel::Scope{std::move(of_pixel)}});
  }
  expressions.close();
  expressions.close();
  loops.push_back({std::move(each)});
  kernel::append(work, std::move(loops));
  for (const ir::Stage* stage : pass) {
    if (const Source* member = tile_.source(*stage))
      kernel::append(work, after_row(*member, {name(row)}, expressions));
  }
  if (source) return work;
  return made_and_stored(pass, {name(row)}, std::move(work),
                         {store_of_lane(arrays.back(), tile_.array(), {name(row)})});
}

Expr LanePasses::is_where_images_are(const Tile::Stages& pass, const plan::Kept* kept, const Expr& pixel,
                                     const Expr& row) const {
  if (!tests_.columns && !tests_.rows) return nullptr;
  const bool is_needed = std::any_of(pass.begin(), pass.end(), [&](const ir::Stage* stage) {
    const std::vector<ir::Expr> reads = ir::reads(*stage);
    return std::any_of(reads.begin(), reads.end(), [&](const ir::Expr& e) {
      const ir::Stage& source = *std::get<ir::Read>(e->op).source;
      return !source.box.empty() && !tile_.source(source);
    });
  });
  if (!is_needed) return nullptr;
  const Rows rows(pass.front()->domain(), tile_.layout());
  const Expr in_row = between(rows.begin(0), kernel::add(left_of(kept), pixel), rows.end(0));
  return tests_.rows ? kernel::both(in_row, between(rows.begin(1), row, rows.end(1))) : in_row;
}

ExpressionLowering::KeptRows LanePasses::rows_in_steps(const Source& source) const {
  const int rows_of_step = source.kept.rate[1];
  return {source.array,
          [this, &source, rows_of_step](const std::vector<Expr>& coords) {
            const Expr& y = coords.front();
            if (const auto below = distance_below(y, step(), rows_of_step))
              return row_start(source.kept, *below);
            const Expr first = kernel::mul(name(step()), literal(rows_of_step));
            return row_start(source.kept, 0, kernel::sub(y, first));
          },
          [&source](const Expr& at) { return Tile::at(source.kept, at); },
          false,
          1,
          nullptr,
          -source.kept.first_column};
}

Block LanePasses::after_row(const Source& source, const std::vector<Expr>& row,
                            ExpressionLowering& expressions) const {
  Block block = what_borders_find_in_row(source, row, expressions);
  kernel::append(block, columns_beside(source));
  if (!tile_.is_of_volume()) kernel::append(block, what_borders_find_in_rows(source, row.front()));
  if (source.kept.is_stored) kernel::append(block, store_row(source, row));
  return block;
}

Block LanePasses::after_plane(const Source& source, const Expr& plane) const {
  Block block = what_borders_find_in_lines(source);
  kernel::append(block, what_borders_find_in_rows(source, plane));
  return block;
}

std::vector<ir::Case> LanePasses::cases_of(const ir::Stage& original, const ir::Stage& placed) const {
  std::vector<ir::Case> cases = std::get<ir::Pure>(placed.definition).cases;
  if (tests_.rows || !tile_.box_of_first_case(original)) return cases;
  if (!tests_.columns && !tests_.lines) return {{nullptr, cases[0].value}};
  return as_one_case(cases);
}

// ---- what is stored

Expr LanePasses::is_of_tile(const Expr& along, const plan::Kept* kept) const {
  Expr is_own =
      kernel::both(name(variables_.has_result, Scalar::Bool), at_most(name(tile_.from(down())), along));
  if (tests_.rows || (kept && kept->ahead > 0))
    is_own = kernel::both(is_own, less(along, name(tile_.until(down()))));
  // Of the first and the last step the result may have some rows only.
  if (tests_.rows && !has_single_rows())
    is_own = kernel::both(is_own, between(rows_.begin(1), along, rows_.end(1)));
  if (!tests_.rows && tests_.columns) is_own = kernel::both(is_own, less(left_of(nullptr), rows_.end(0)));
  return is_own;
}

Expr LanePasses::is_line_of_tile(const Expr& line, const plan::Kept* kept) const {
  if (!tile_.is_of_volume()) return nullptr;
  // Of a member there are rows around those of the tile; near an end these are fewer than a lane has.
  if (kept && kept->window[1] != plan::Reach{})
    return between(name(tile_.from(1)), line, name(tile_.until(1)));
  return tests_.lines || tests_.rows ? less(line, name(tile_.until(1))) : nullptr;
}

bool LanePasses::overwrites_what_it_reads(const Tile::Stages& pass) const {
  return std::any_of(pass.begin(), pass.end(), [&](const ir::Stage* stage) {
    const std::vector<ir::Expr> reads = ir::reads(*stage);
    return std::any_of(reads.begin(), reads.end(), [&](const ir::Expr& e) {
      const auto array = tile_.layout().arrays.find(std::get<ir::Read>(e->op).source.get());
      return array != tile_.layout().arrays.end() && array->second.name == tile_.array().name;
    });
  });
}

Block LanePasses::made_and_stored(const Tile::Stages& pass, const std::vector<Expr>& row, Block made,
                                  Block stores) const {
  Expr has_own = is_of_tile(row.back());
  if (!overwrites_what_it_reads(pass)) {
    made.push_back({If{has_own, std::move(stores), {}}});
    return made;
  }
  if (tests_.rows) has_own = kernel::both(has_own, less(left_of(nullptr), rows_.end(0)));
  kernel::append(made, std::move(stores));
  return {{If{has_own, std::move(made), {}}}};
}

If LanePasses::store_of_member(const kernel::Symbol& pack, const Source& member,
                               const std::vector<Expr>& row) const {
  const plan::Kept* kept = &member.kept;
  return {kernel::both(is_of_tile(row.back(), kept), is_line_of_tile(row.front(), kept)),
          {store_of_lane(pack, memory_of(member), row)},
          {}};
}

kernel::Stmt LanePasses::store_of_lane(const kernel::Symbol& pack, const ArrayLayout& array,
                                       const std::vector<Expr>& row) const {
  const Expr left = left_of(nullptr);
  const Expr offset = kernel::add(rows_.row_offset(array, row), rows_.x_offset(left, array));
  const Expr valid = tests_.rows ? kernel::mul(kernel::sub(rows_.end(0), left), literal(array.type.lanes))
                                 : literal(pixels_of(nullptr) * array.type.lanes);
  return {kernel::StorePack{pack, array.name, offset, valid, !tests_.rows}};
}

Block LanePasses::store_row(const Source& source, const std::vector<Expr>& row) const {
  const kernel::Symbol& pack = variables_of(&source).own;
  const Expr first = own_at(source, literal(0), 0), j = name(variables_.j);
  const Expr kept = kernel::load(source.array, source.kept.type.scalar, kernel::add(first, j));
  return {{kernel::LocalArray{pack, source.kept.type.scalar, scalars_of(source)}},
          {unrolled(variables_.j, scalars_of(source), {{kernel::Store{pack, j, kept}}})},
          {store_of_member(pack, source, row)}};
}

}  // namespace weft::lower
