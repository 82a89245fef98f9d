#include "lower/strip_pixels.h"

#include <algorithm>

#include "ir/visit.h"
#include "lower/lower_stage.h"

namespace weft::lower {

using kernel::Block;
using kernel::Expr;

namespace {

bool is_transcendental(ir::UnaryOp op) {
  switch (op) {
    case ir::UnaryOp::Exp:
    case ir::UnaryOp::Log:
    case ir::UnaryOp::Sin:
    case ir::UnaryOp::Cos:
    case ir::UnaryOp::Tan:
    case ir::UnaryOp::Atan:
    case ir::UnaryOp::Tanh: return true;
    default: return false;
  }
}

const std::vector<ir::Case>& cases_of(const ir::Stage& stage) {
  return std::get<ir::Pure>(stage.definition).cases;
}

/// Each lane into an array of its own first.
void store_lanes_apart(ExpressionLowering& expressions, const ir::Stage& stage, const Strip& strip,
                       Block& work) {
  const Expr i = kernel::name("i");
  Block compute, interleave;
  expressions.open(compute);
  const Lanes value = expressions.lower(cases_of(stage)[0].value);
  for (std::size_t l = 0; l < value.size(); ++l) {
    const std::string lane = expressions.claim("lane");
    work.push_back({kernel::LocalArray{lane, stage.type.scalar, strip.capacity}});
    compute.push_back({kernel::Store{lane, i, value[l]}});
    const Expr at = kernel::add(strip.offset, kernel::literal(static_cast<std::int64_t>(l)));
    interleave.push_back({kernel::Store{strip.target, at, kernel::load(lane, stage.type.scalar, i)}});
  }
  expressions.close();
  for (Block* body : {&compute, &interleave})
    work.push_back(
        {kernel::For{kernel::LoopKind::Vector, "i", kernel::literal(0), strip.count, std::move(*body)}});
}

}  // namespace

bool lanes_share_a_function(const ir::Stage& stage) {
  if (stage.type.lanes == 1) return false;
  bool found = false;
  ir::visit(ir::expressions(stage), [&](const ir::Expr& e) {
    const auto* unary = std::get_if<ir::Unary>(&e->op);
    found |= unary && e->type.lanes == 1 && is_transcendental(unary->op);
  });
  return found;
}

kernel::LoopKind loop_over_pixels(const ir::Stage& stage) {
  // Read conditionally, in a case, GCC 12 makes masked loads of pixels of several lanes, and permutes pixels
  // and masks differently.
  const std::vector<ir::Expr> reads = ir::reads(stage);
  const bool reads_interleaved = std::any_of(reads.begin(), reads.end(), [](const ir::Expr& e) {
    return std::get<ir::Read>(e->op).source->type.lanes > 1;
  });
  return cases_of(stage).size() > 1 && reads_interleaved ? kernel::LoopKind::Scalar
                                                         : kernel::LoopKind::Vector;
}

void store_strip(ExpressionLowering& expressions, const ir::Stage& stage, const Strip& strip, Block& pointers,
                 Block& work) {
  const bool is_piecewise = cases_of(stage).size() > 1;
  expressions.open(work, &pointers);
  if (!is_piecewise) {
    for (const ir::Fold* fold : expressions.strip_folds(ir::expressions(stage)))
      expressions.fold_over_strip(*fold, work, strip.x0, strip.count, strip.capacity);
  }
  if (!is_piecewise && lanes_share_a_function(stage)) {
    store_lanes_apart(expressions, stage, strip, work);
    expressions.close();
  } else {
    Block body;
    store_pixel(expressions, body, cases_of(stage), strip.target, strip.offset);
    expressions.close();
    work.push_back(
        {kernel::For{loop_over_pixels(stage), "i", kernel::literal(0), strip.count, std::move(body)}});
  }
}

}  // namespace weft::lower
