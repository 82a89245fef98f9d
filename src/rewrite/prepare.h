// What happens to every pipeline before it is scheduled: the list of rewrites is in prepare.cpp.
#pragma once

#include "ir/stage_ir.h"
#include "rewrite/separate_windows.h"

namespace weft::rewrite {

/// What a pipeline is prepared for.
enum class Preparation {
  Usual,  ///< For every schedule: what pays even where each stage is stored.
  ForSearch  ///< For groups that are chosen by their times: small sums are separated, and a few steps are stages.
};

/// Rewrites that pay on every target. Results stay the same to the bit, but for floats that are not strict. Schedules speak of the
/// stages of a prepared pipeline. Windows that become stages are added to `separated`, if that is given.
ir::Pipeline prepare(const ir::Pipeline& pipeline, Preparation preparation = Preparation::Usual,
                     std::vector<SeparatedWindow>* separated = nullptr);

/// Likewise, and what pays on cores alone.
ir::Pipeline prepare_for_cores(const ir::Pipeline& pipeline, Preparation preparation = Preparation::Usual);

}  // namespace weft::rewrite
