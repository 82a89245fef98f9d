// Columns that the last loop of a tile shares among the pixels of a row: a pass of their own, whose rows are kept, or, in vectors,
// registers of that loop (kernel/row_columns.h).
//
//     Sxx_columns = sum of a column of Ixx                  a row of sums, which harris reads at 3 columns
//     harris = f(sum of a row of Sxx_columns, …)         →  in vectors: the sums of a column, where harris gets to it
#include <algorithm>

#include "analysis/interior.h"
#include "ir/visit.h"
#include "kernel/share_loads.h"
#include "kernel/vector_body.h"
#include "lower/core_tiles.h"

namespace weft::lower {

namespace {

ir::Affine coordinate(int dimension) { return ir::Affine(ir::Atom(ir::Coord{dimension})); }

bool is_in_column(const ir::Read& read) {
  const auto* x = std::get_if<ir::Affine>(&read.indices[0]);
  return x && *x == coordinate(0);
}

/// How far to the left and to the right a stage reads another one, if it does so in its own row alone.
std::optional<plan::Reach> reach_in_row(const ir::Stage& stage, const ir::Stage& source) {
  plan::Reach reach{0, 0};
  for (const ir::Expr& e : ir::reads(stage)) {
    const auto& read = std::get<ir::Read>(e->op);
    if (read.source.get() != &source) continue;
    const auto* x = std::get_if<ir::Affine>(&read.indices[0]);
    const auto* y = std::get_if<ir::Affine>(&read.indices[1]);
    if (!x || !y || !(*y == coordinate(1))) return {};
    for (const bool is_last : {false, true}) {
      const ir::Affine distance = analysis::at_extreme_tap(*x, is_last) - coordinate(0);
      if (!distance.is_constant()) return {};
      reach = {std::min(reach.min, distance.constant()), std::max(reach.max, distance.constant())};
    }
  }
  return reach;
}

}  // namespace

std::optional<CoreTiles::SharedColumns> CoreTiles::find_shared_columns() const {
  const std::vector<plan::Pass>& passes = tile_.plan().passes;
  if (passes.size() < 2 || tile_.is_of_volume() || tile_.is_static() || edges_ || tile_.plan().parts)
    return {};
  const Tile::Stages last = tile_.members_of(passes.back());
  SharedColumns shared{tile_.members_of(passes[passes.size() - 2]), {}, 0, 0};
  if (last != Tile::Stages{&result_} || result_.type.lanes > 1 || !is_float(result_.type.scalar)) return {};
  for (const ir::Stage* stage : shared.pass) {
    const Source* source = tile_.source(*stage);
    const bool is_simple = source && !source->kept.is_stored && stage->type == result_.type &&
                           cases_of(*stage).size() == 1 && source->kept.ahead == 0 &&
                           stage->box[1] == result_.domain()[1];
    const std::vector<ir::Expr> reads = ir::reads(*stage);
    const bool is_column = std::all_of(reads.begin(), reads.end(), [](const ir::Expr& e) {
      return is_in_column(std::get<ir::Read>(e->op));
    });
    const auto reach = reach_in_row(result_, *stage);
    if (!is_simple || !is_column || !reach) return {};
    shared.before = std::max(shared.before, static_cast<int>(-reach->min));
    shared.after = std::max(shared.after, static_cast<int>(reach->max));
  }
  for (const plan::Pass& pass : passes) {
    for (const ir::Stage* reader : tile_.members_of(pass)) {
      if (reader == &result_) continue;
      for (const ir::Expr& e : ir::reads(*reader)) {
        const ir::Stage* read = std::get<ir::Read>(e->op).source.get();
        if (std::count(shared.pass.begin(), shared.pass.end(), read) > 0) return {};
      }
    }
  }
  const RowsTogether of_columns = rows_together(shared.pass, tile_.source(*shared.pass.front()));
  const RowsTogether of_result = rows_together(last, nullptr);
  const bool are_alike = of_result.count > 1 && of_columns.count == of_result.count &&
                         of_columns.first.rate == 1 && of_result.first.rate == 1;
  if (!are_alike) return {};
  shared.in_vectors = tile_.layout().names.claim("in_vectors");
  for (const ir::Stage* stage : shared.pass) {
    for (int below = 0; below < of_result.count; ++below)
      shared.arrays[{stage, below}] =
          tile_.layout().names.claim(array_of(*stage).name.spelling() + "_shared" + suffix_of_row(below));
  }
  return shared;
}

Expr CoreTiles::where_in_vectors() const {
  const int rows = rows_together({&result_}, nullptr).count;
  const Expr are_together = tile_.are_together(nullptr, where_together({&result_}, nullptr, rows));
  std::vector<Expr> first{name(tile_.from(0))}, end{name(tile_.until(0))};
  if (const auto box = box_of_first_case(result_)) {
    for (const ir::Affine& bound : (*box)[0].lower) first.push_back(rows_.lower(bound));
    for (const ir::Affine& bound : (*box)[0].upper) end.push_back(rows_.lower(bound));
  }
  const Expr from = kernel::max(first), until = kernel::min(end);
  const auto is_at_most = [](const Expr& a, const Expr& b) { return kernel::binary(BinaryOp::Le, a, b); };
  const int least = kernel::least_vectors_of_columns * kernel::vector_bytes / size_of(result_.type.scalar);
  std::vector<Expr> inside;  // for each stage of columns, most often the same
  for (const ir::Stage* stage : shared_columns_->pass) {
    const Rows columns = all_of(*tile_.source(*stage));
    const Expr left = is_at_most(columns.begin(0), kernel::sub(from, literal(shared_columns_->before)));
    const Expr right = is_at_most(kernel::add(until, literal(shared_columns_->after)), columns.end(0));
    const Expr both = kernel::both(left, right);
    const bool is_known = std::any_of(inside.begin(), inside.end(),
                                      [&](const Expr& known) { return kernel::same(known, both); });
    if (!is_known) inside.push_back(both);
  }
  Expr where = kernel::both(are_together, is_at_most(kernel::add(from, literal(least)), until));
  for (const Expr& condition : inside) where = kernel::both(where, condition);
  return where;
}

CoreTiles::KeptRows CoreTiles::shared_rows_of(const Source& source, const Expr& row) const {
  KeptRows rows = kept_rows_of(source);
  if (!in_vectors_ || shared_columns_->arrays.count({&source.stage, 0}) == 0) return rows;
  rows.shift = shared_columns_->before;
  rows.array_of = [this, &source, row](const std::vector<Expr>& coords) {
    const auto below = kernel::literal_value(kernel::sub(coords.back(), row));
    return shared_columns_->arrays.at({&source.stage, static_cast<int>(below.value())});
  };
  return rows;
}

void CoreTiles::share_columns(ExpressionLowering& reader, const std::vector<Expr>& row,
                              const RowsTogether& together, const PixelRange& pixels, int capacity,
                              Block& pointers, Block& work) {
  const auto& [pass, in_vectors, before, after, arrays] = *shared_columns_;
  const Tile::PassLanes lanes = tile_.lanes_of(pass);
  std::vector<const ir::Stage*> stages, others;
  for (const auto& stage : lanes) stages.push_back(&stage->stage());
  Tile::Names names = tile_.names();
  const std::vector<std::vector<ir::Stage>> rows = rows_below(stages, together, names, tile_.strict());
  for (const auto& of_row : rows) {
    for (const ir::Stage& stage : of_row) others.push_back(&stage);
  }
  const Expr i = name(variables().i);
  ExpressionLowering expressions =
      tile_.expressions(*others.front(), Place::Row, coords_of(kernel::add(pixels.origin, i), row), &names);
  expressions.share_with({others.begin() + 1, others.end()});
  expressions.keep_rows(tile_.rows_of(lanes, [&](const Source& source) { return kept_rows_of(source); }),
                        left());
  expressions.avoid_names_of(reader);
  For columns{LoopKind::Vector,
              variables().i,
              kernel::sub(pixels.from, literal(before)),
              kernel::add(pixels.until, literal(after)),
              {}};
  Block loops;
  expressions.open(loops, &pointers);
  expressions.open(columns.body);
  for (std::size_t r = 0; r < rows.size(); ++r) {
    for (std::size_t m = 0; m < pass.size(); ++m) {
      const kernel::Symbol& array = arrays.at({pass[m], static_cast<int>(r)});
      work.push_back({kernel::LocalArray{array, pass[m]->type.scalar, capacity + before + after}});
      const Lanes column = expressions.lower(cases_of(rows[r][m])[0].value);
      columns.body.push_back({kernel::Store{array, kernel::add(i, literal(before)), column[0]}});
    }
  }
  expressions.close();
  kernel::share_loads(columns.body, [&](const std::string& wanted) { return expressions.claim(wanted); });
  loops.push_back({std::move(columns)});
  expressions.close();
  kernel::append(work, std::move(loops));
  reader.avoid_names_of(expressions);
}

}  // namespace weft::lower
