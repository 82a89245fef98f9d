#include "lower/strip_pixels.h"

#include <algorithm>

#include "analysis/case_box.h"
#include "ir/build.h"
#include "ir/visit.h"
#include "lower/lower_stage.h"

namespace weft::lower {

namespace {

/// How the loop over the pixels of a row may run.
kernel::LoopKind loop_over_pixels(const ir::Stage& stage, const std::vector<ir::Case>& cases) {
  // Read conditionally, in a case, GCC 12 makes masked loads of pixels of several lanes, and permutes pixels
  // and masks differently.
  const std::vector<ir::Expr> reads = ir::reads(stage);
  const bool reads_interleaved = std::any_of(reads.begin(), reads.end(), [](const ir::Expr& e) {
    return std::get<ir::Read>(e->op).source->type.lanes > 1;
  });
  return cases.size() > 1 && reads_interleaved ? kernel::LoopKind::Scalar : kernel::LoopKind::Vector;
}

/// Each lane into an array of its own first.
void store_lanes_apart(ExpressionLowering& expressions, const StripTarget& target, const Strip& strip,
                       Block& work) {
  const ir::Stage& stage = *target.stage;
  const Expr i = kernel::name(expressions.i());
  Block compute, interleave;
  expressions.open(compute);
  const Lanes value = expressions.lower(cases_of(stage)[0].value);
  for (std::size_t l = 0; l < value.size(); ++l) {
    const kernel::Symbol lane = expressions.claim("lane");
    work.push_back({kernel::LocalArray{lane, stage.type.scalar, strip.capacity}});
    compute.push_back({kernel::Store{lane, i, value[l]}});
    const Expr at =
        kernel::add(target.offset, kernel::literal(static_cast<std::int64_t>(l) * target.lane_pitch));
    interleave.push_back({kernel::Store{target.array, at, kernel::load(lane, stage.type.scalar, i)}});
  }
  expressions.close();
  for (Block* body : {&compute, &interleave})
    work.push_back({kernel::For{kernel::LoopKind::Vector, expressions.i(), kernel::literal(0), strip.count,
                                std::move(*body)}});
}

}  // namespace

const std::vector<ir::Case>& cases_of(const ir::Stage& stage) {
  return std::get<ir::Pure>(stage.definition).cases;
}

bool is_one_loop(ExpressionLowering& expressions, const ir::Stage& stage) {
  const std::vector<ir::Expr> roots = ir::expressions(stage);
  return !lanes_share_a_function(stage) && expressions.strip_folds(roots).empty() &&
         expressions.strip_tables(roots).empty() && expressions.strip_shared_values(roots).empty();
}

bool lanes_share_a_function(const ir::Stage& stage) {
  if (stage.type.lanes == 1) return false;
  bool found = false;
  ir::visit(ir::expressions(stage), [&](const ir::Expr& e) {
    const auto* unary = std::get_if<ir::Unary>(&e->op);
    found |= unary && e->type.lanes == 1 && ir::is_transcendental(unary->op);
  });
  return found;
}

std::optional<std::vector<analysis::Bounds>> box_of_first_case(const ir::Stage& stage) {
  const std::vector<ir::Case>& cases = cases_of(stage);
  return cases.size() == 2 ? analysis::box_where(cases[0].when, stage.domain().size()) : std::nullopt;
}

std::vector<ir::Case> as_one_case(const std::vector<ir::Case>& cases) {
  return {{nullptr, ir::select(cases[0].when, cases[0].value, cases[1].value)}};
}

Expr inside_along(std::size_t dimension, const ExpressionLowering& expressions,
                  const std::vector<analysis::Bounds>& box, int count) {
  const Expr& first = expressions.coordinate(dimension);
  const Expr last = kernel::add(first, kernel::literal(count - 1));
  Expr are_inside;
  for (const ir::Affine& bound : box[dimension].lower)
    are_inside = kernel::both(are_inside, kernel::binary(BinaryOp::Le, expressions.lower(bound), first));
  for (const ir::Affine& bound : box[dimension].upper)
    are_inside = kernel::both(are_inside, kernel::binary(BinaryOp::Lt, last, expressions.lower(bound)));
  return are_inside;
}

ColumnsInBox columns_in_box(ExpressionLowering& expressions, const std::vector<analysis::Bounds>& box,
                            const PixelRange& pixels, const Expr& in_rows, Block& work) {
  const auto number = [&](const ir::Affine& bound) {
    return kernel::sub(expressions.lower(bound), pixels.origin);
  };
  Expr first = pixels.from, end = pixels.until;
  for (const ir::Affine& bound : box[0].lower) first = kernel::max(first, number(bound));
  for (const ir::Affine& bound : box[0].upper) end = kernel::min(end, number(bound));
  first = kernel::min(first, pixels.until);
  if (in_rows) first = kernel::select(in_rows, first, pixels.until);
  const auto named = [&](const std::string& wanted, const Expr& value) {
    const kernel::Symbol name = expressions.claim(wanted);
    work.push_back({kernel::Let{name, value}});
    return kernel::name(name);
  };
  first = named("case_from", first);
  return {first, named("case_to", kernel::max(first, end))};
}

void store_pixels(ExpressionLowering& expressions, const StripTarget& target, const PixelRange& pixels,
                  Block& work) {
  const std::vector<ir::Case>& cases = cases_of(*target.stage);
  const auto loop = [&](const std::vector<ir::Case>& some, const Expr& from, const Expr& until) {
    kernel::For pixel{loop_over_pixels(*target.stage, some), pixels.variable, from, until, {}};
    store_pixel(expressions, pixel.body, some, target.array, target.offset, target.lane_pitch);
    work.push_back({std::move(pixel)});
  };
  const auto box = box_of_first_case(*target.stage);
  if (!box) return loop(cases, pixels.from, pixels.until);

  Expr is_row_inside;
  for (std::size_t d = 1; d < box->size(); ++d)
    is_row_inside = kernel::both(is_row_inside, inside_along(d, expressions, *box));
  const auto [first, end] = columns_in_box(expressions, *box, pixels, is_row_inside, work);
  const std::vector<ir::Case> inside{{nullptr, cases[0].value}}, outside{{nullptr, cases[1].value}};
  loop(outside, pixels.from, first);
  loop(inside, first, end);
  loop(outside, end, pixels.until);
}

void store_strip(ExpressionLowering& expressions, const std::vector<StripTarget>& targets, const Strip& strip,
                 Block& pointers, Block& work) {
  const ir::Stage& stage = *targets.front().stage;
  const bool is_piecewise = cases_of(stage).size() > 1;
  expressions.open(work, &pointers);
  if (!is_piecewise) {
    std::vector<ir::Expr> roots;
    for (const StripTarget& target : targets) roots.push_back(cases_of(*target.stage)[0].value);
    for (const ir::Fold* fold : expressions.strip_folds(roots))
      expressions.fold_over_strip(*fold, work, strip.x0, strip.count, strip.capacity);
    if (const auto tables = expressions.strip_tables(roots); !tables.empty())
      expressions.find_over_strip(tables, work, strip.count, strip.capacity);
    for (const analysis::SharedValue& value : expressions.strip_shared_values(roots))
      expressions.tabulate(value, work, strip.x0, strip.count, strip.capacity);
  }
  if (!is_piecewise && lanes_share_a_function(stage)) {
    store_lanes_apart(expressions, targets.front(), strip, work);
    expressions.close();
    return;
  }
  if (targets.size() == 1) {
    store_pixels(expressions, targets.front(), {expressions.i(), kernel::literal(0), strip.count, strip.x0},
                 work);
    expressions.close();
    return;
  }
  kernel::For pixel{kernel::LoopKind::Vector, expressions.i(), kernel::literal(0), strip.count, {}};
  expressions.open(pixel.body);
  for (const StripTarget& target : targets) {
    const Expr value = expressions.lower(cases_of(*target.stage)[0].value).at(0);
    pixel.body.push_back({kernel::Store{target.array, target.offset, value}});
  }
  expressions.close();
  expressions.close();
  work.push_back({std::move(pixel)});
}

}  // namespace weft::lower
