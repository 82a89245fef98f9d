#include "rewrite/prepare.h"

#include "ir/verify.h"
#include "rewrite/constant_divisors.h"
#include "rewrite/exact_means.h"
#include "rewrite/exact_sums.h"
#include "rewrite/picked_planes.h"
#include "rewrite/recompute_points.h"
#include "rewrite/share_taps.h"
#include "rewrite/uneven_masks.h"

namespace weft::rewrite {

ir::Pipeline prepare(const ir::Pipeline& pipeline, Separate which, std::vector<SeparatedWindow>* separated) {
  // What a window computes from each source pixel alone becomes a stage. First, as it may leave plain sums.
  ir::Pipeline result = share_taps(pipeline);
  ir::verify(result, "share_taps");
  // Sums of small integers leave floating point.
  result = exact_sums(result);
  ir::verify(result, "exact_sums");
  // So do divisions of such sums by odd numbers.
  result = exact_means(result);
  ir::verify(result, "exact_means");
  // Windows of one coefficient but for a few become boxes.
  result = uneven_masks(result);
  ir::verify(result, "uneven_masks");
  // Large windows become columns and rows.
  result = separate_windows(result, which, separated);
  ir::verify(result, "separate_windows");
  // Constants that are divided by become factors.
  result = constant_divisors(result);
  ir::verify(result, "constant_divisors");
  // Points that take little are computed where they are read.
  result = recompute_points(result);
  ir::verify(result, "recompute_points");
  return result;
}

ir::Pipeline prepare_for_cores(const ir::Pipeline& prepared) {
  // Reads at one of few planes become choices.
  ir::Pipeline result = picked_planes(prepared);
  ir::verify(result, "picked_planes");
  return result;
}

}  // namespace weft::rewrite
