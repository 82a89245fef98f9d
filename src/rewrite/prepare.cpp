#include "rewrite/prepare.h"

#include "ir/verify.h"
#include "rewrite/constant_divisors.h"
#include "rewrite/exact_means.h"
#include "rewrite/exact_sums.h"
#include "rewrite/few_steps.h"
#include "rewrite/join_reductions.h"
#include "rewrite/never_empty.h"
#include "rewrite/picked_planes.h"
#include "rewrite/recompute_points.h"
#include "rewrite/share_taps.h"
#include "rewrite/turned_volumes.h"
#include "rewrite/uneven_masks.h"

namespace weft::rewrite {

namespace {

ir::Pipeline prepared(const ir::Pipeline& pipeline, Preparation preparation, int most_rank_of_steps,
                      std::vector<SeparatedWindow>* separated) {
  const bool is_for_search = preparation == Preparation::ForSearch;
  // A few steps of an evolution become stages, with which all else can be fused.
  ir::Pipeline result = is_for_search ? few_steps(pipeline, most_rank_of_steps) : pipeline;
  ir::verify(result, "few_steps");
  // Pixels are read once for all their reductions.
  result = join_reductions(result);
  ir::verify(result, "join_reductions");
  // What a window computes from each source pixel alone becomes a stage. First, as it may leave plain sums.
  result = share_taps(result);
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
  result = separate_windows(result, is_for_search ? Separate::SmallSums : Separate::Large, separated);
  ir::verify(result, "separate_windows");
  // Constants that are divided by become factors.
  result = constant_divisors(result);
  ir::verify(result, "constant_divisors");
  // Points that take little are computed where they are read.
  result = recompute_points(result);
  ir::verify(result, "recompute_points");
  // Stages as large as those that may not be empty may not be empty either.
  result = never_empty(result);
  ir::verify(result, "never_empty");
  // Volumes whose planes do not meet go on along their rows. Last, as others speak of y and z.
  result = turned_volumes(result);
  ir::verify(result, "turned_volumes");
  return result;
}

}  // namespace

ir::Pipeline prepare(const ir::Pipeline& pipeline, Preparation preparation,
                     std::vector<SeparatedWindow>* separated) {
  return prepared(pipeline, preparation, 2, separated);
}

ir::Pipeline prepare_for_cores(const ir::Pipeline& pipeline, Preparation preparation) {
  ir::Pipeline result = prepared(pipeline, preparation, 3, nullptr);
  // Reads at one of few planes become choices.
  result = picked_planes(result);
  ir::verify(result, "picked_planes");
  return result;
}

}  // namespace weft::rewrite
