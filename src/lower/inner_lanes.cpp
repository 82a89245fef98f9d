#include "lower/inner_lanes.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "lower/aligned.h"
#include "lower/lane_code.h"

namespace weft::lower {

namespace {

/// Rounded down.
Expr divided(const Expr& value, int by) {
  return by == 1 ? value
                 : kernel::binary(BinaryOp::Shr, value, literal(std::countr_zero(static_cast<unsigned>(by))));
}

}  // namespace

Expr InnerLanes::in_steps(const Expr& pixels, int d) const { return divided(pixels, rate(nullptr, d)); }

Expr InnerLanes::step_of_tile() const {
  return in_steps(kernel::sub(name(tile_.from(0)), literal(tile_.plan().first_column)), 0);
}

Expr InnerLanes::first_step_from(const Expr& row, const plan::Kept* kept, int before) const {
  const int ahead = kept ? kept->ahead : 0, rows_of_step = rate(kept, 1);
  const Expr step = divided(kernel::sub(row, literal(ahead - rows_of_step + 1)), rows_of_step);
  return kernel::sub(step, literal(before));
}

Expr InnerLanes::end_step_before(const Expr& row, const plan::Kept* kept, int before) const {
  const Expr step = divided(kernel::sub(row, literal(kept ? kept->ahead : 0)), rate(kept, 1));
  return kernel::sub(step, literal(before));
}

InnerLanes::Inside InnerLanes::where_inside(Block& block) const {
  // What is made of nothing and has no borders lies inside everywhere.
  Inside inside{nullptr, nullptr, {kernel::sub(begin_of_tile(), literal(steps_before()))}, {end_of_tile()}};
  std::vector<Expr> tests, whole;
  const auto add_to = [](std::vector<Expr>& list, const Expr& e) {
    const bool is_known =
        std::any_of(list.begin(), list.end(), [&](const Expr& o) { return kernel::same(o, e); });
    if (!is_known) list.push_back(e);
  };
  const auto columns_of = [&](const ir::Box& box, const plan::Kept* kept) {
    const Rows rows(box, tile_.layout());
    add_to(tests, at_most(rows.begin(0), first_of_strip(kept)));
    add_to(tests, at_most(end_of_strip(kept), rows.end(0)));
    return rows;
  };
  const auto rows_between = [&](const Expr& begin, const Expr& end, const plan::Kept* kept, int before = 0) {
    add_to(inside.first_steps, first_step_from(begin, kept, before));
    add_to(inside.end_steps, end_step_before(end, kept, before));
  };
  // Those of a volume's plane lie between these: a lane's code looks for them, or does not.
  const auto lines_between = [&](const Expr& begin, const Expr& end, const plan::Kept* kept,
                                 std::vector<Expr>& list) {
    if (!tile_.is_of_volume()) return;
    const Expr first = first_line_of(kept);
    add_to(list, at_most(begin, first));
    add_to(list, at_most(kernel::add(first, literal(lines_of(kept))), end));
  };
  const auto ends_between_lanes = [&](const Rows& rows, const plan::Kept* kept, bool is_round = false) {
    const auto is_between = [&](const Expr& end) {
      const Expr distance = kernel::sub(end, first_of_strip(kept));
      return equal(kernel::binary(BinaryOp::Rem, distance, literal(pixels_of(kept))), literal(0));
    };
    const Expr begins = at_most(rows.begin(0), first_of_strip(kept)),
               ends = at_most(end_of_strip(kept), rows.end(0));
    // A strip's first lane with a result begins where the result does, or some lanes further.
    const bool is_known = tile_.plan().has_one_rate() && (!kept || kept->first_column == 0) &&
                          kernel::same(rows.begin(0), rows_.begin(0));
    if (is_round) {
      add_to(whole, either(kernel::both(begins, ends),
                           kernel::both(is_between(rows.end(0)), is_between(rows.begin(0)))));
    } else {
      if (!is_known) add_to(whole, either(begins, is_between(rows.begin(0))));
      add_to(whole, either(ends, is_between(rows.end(0))));
    }
  };
  const auto border_in_lanes = [&](const Source& source, const Rows& rows) {
    const std::optional<int> needed = pixels_for_border(source);
    if (!needed) {
      add_to(whole, at_most(rows.begin(0), first_of_strip(&source.kept)));
      add_to(whole, at_most(end_of_strip(&source.kept), rows.end(0)));
    } else if (*needed > pixels_of(&source.kept)) {
      add_to(whole, at_most(literal(*needed), rows.extent(0)));
    }
  };
  const auto case_of = [&](const ir::Stage& stage, const plan::Kept* kept) {
    const auto box = tile_.box_of_first_case(stage);
    if (!box) return;
    const int columns = plan::at_rate(tile_.width(), tile_.plan().step[0], rate(kept, 0));
    const plan::Reach x = kept ? kept->x() : plan::Reach{};
    const Expr at = kept ? kernel::mul(step_of_tile(), literal(rate(kept, 0))) : name(tile_.from(0));
    const Expr begin = kernel::add(at, literal(x.min)), end = kernel::add(at, literal(columns + x.max));
    for (const ir::Affine& bound : (*box)[0].lower) add_to(tests, at_most(rows_.lower(bound), begin));
    for (const ir::Affine& bound : (*box)[0].upper) add_to(tests, at_most(end, rows_.lower(bound)));
    const analysis::Bounds& along = (*box)[down()];
    for (const ir::Affine& bound : along.lower)
      add_to(inside.first_steps, first_step_from(rows_.lower(bound), kept));
    for (const ir::Affine& bound : along.upper)
      add_to(inside.end_steps, end_step_before(rows_.lower(bound), kept));
    if (!tile_.is_of_volume()) return;
    const Expr first = first_line_of(kept), last = kernel::add(first, literal(lines_of(kept)));
    for (const ir::Affine& bound : (*box)[1].lower) add_to(tests, at_most(rows_.lower(bound), first));
    for (const ir::Affine& bound : (*box)[1].upper) add_to(tests, at_most(last, rows_.lower(bound)));
  };
  add_to(tests, at_most(kernel::add(name(tile_.from(0)), literal(tile_.width())), rows_.end(0)));
  for (const Source& source : tile_.sources()) {
    const plan::Kept& kept = source.kept;
    if (!kept.is_member) {
      const Rows rows = columns_of(kept.box, &kept);
      rows_between(rows.begin(down()), rows.end(down()), &kept, loaded());
      const bool is_constant = kept.border_mode() == ir::BorderMode::Constant;
      lines_between(rows.begin(1), rows.end(1), &kept, is_constant ? whole : tests);
      add_to(whole, is_aligned(source.stage, &kept, block));
      ends_between_lanes(rows, &kept, kept.border_mode() == ir::BorderMode::Repeat);
      border_in_lanes(source, rows);
      continue;
    }
    // What a member reads of images at its own pixel is there for its own pixels alone; and its first rows have to
    // be copied to those above.
    const Rows rows = columns_of(kept.box, &kept);
    const bool has_copies = kept.border_mode() && kept.outside != plan::Window(kept.outside.size());
    rows_between(kernel::add(rows.begin(down()), literal(has_copies ? kept.least_rows - 1 : 0)),
                 rows.end(down()), &kept);
    lines_between(rows.begin(1), rows.end(1), &kept, has_copies ? whole : tests);
    if (has_copies) {
      ends_between_lanes(rows, &kept);
      border_in_lanes(source, rows);
    }
    case_of(source.stage, &kept);
    if (kept.is_stored) add_to(whole, is_aligned(source.stage, &kept, block));
  }
  columns_of(result_.domain(), nullptr);
  rows_between(rows_.begin(down()), rows_.end(down()), nullptr);
  lines_between(rows_.begin(1), rows_.end(1), nullptr, tests);
  case_of(result_, nullptr);
  add_to(whole, is_aligned(result_, nullptr, block));
  ends_between_lanes(rows_, nullptr);
  inside.lanes = std::accumulate(whole.begin(), whole.end(), Expr(), kernel::both);
  inside.columns = std::accumulate(tests.begin(), tests.end(), Expr(), kernel::both);
  return inside;
}

Expr InnerLanes::is_aligned(const ir::Stage& stage, const plan::Kept* kept, Block& block) const {
  const ArrayLayout& array = tile_.layout().arrays.at(&stage);
  const Rows rows(stage.box, tile_.layout());
  const Expr column =
      kernel::mul(kernel::sub(first_of_strip(kept), rows.lower(array.box[0].min)), literal(array.type.lanes));
  return lower::is_aligned(array, column, pixels_of(kept) * array.type.lanes, tile_.layout(), block);
}

}  // namespace weft::lower
