// A schedule: the decisions about how a pipeline runs, as a plain value that prints, with a reason for each.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/stage_ir.h"
#include "plan/choices.h"
#include "plan/plan.h"
#include "rewrite/prepare.h"

namespace weft::schedule {

using plan::Memory;
using plan::Tile;
using plan::Tiles;
using plan::Traversal;

/// Where a stage's pixels live.
struct StagePlan {
  std::string stage;
  bool stored = true;          ///< In memory.
  bool in_rows = false;        ///< Its rows are kept while `into` is computed.
  std::string into;            ///< The other stage whose kernel computes it, if one does.
  std::string why;             ///< A sentence.
  std::optional<Tile> tile{};  ///< If stored with rows of others: the one asked for, if any was.
  bool in_columns = false;     ///< A thread has whole columns of it, and computes `into` from them.

  bool has_kernel() const { return into.empty(); }  ///< Of its own.
  bool in_place() const { return !stored && !in_rows && !in_columns; }
  /// "stored", "stored in strips of 256x64", "stored with hc", "in rows of hc", "in columns of hc", "computed in hc"
  std::string where() const;
};

/// The kernels that a target has for stages that are not computed in place.
enum class Tiling {
  None,   ///< Of one stage each.
  March,  ///< Stages march down strips of the image together.
  Any,    ///< They march, or are in static tiles of blocks or warps: what should take least time.
  // All of a stage before the next, in a tile
  Block,  ///< of a block of a GPU's threads, or of a core;
  Warp,   ///< of a warp alone;
  Hybrid  ///< of a warp, with some of its rows in registers.
};

struct Schedule {
  std::vector<StagePlan> stages;          ///< One per stage of the pipeline, in its order.
  std::vector<plan::KernelPlan> kernels;  ///< Each after those whose pixels it reads.
  /// The windows of the definition that became stages of the pipeline.
  rewrite::Preparation preparation = rewrite::Preparation::Usual;

  const StagePlan& of(const std::string& stage) const;
  /// Of the kernel that stores the stage.
  const plan::KernelPlan& kernel_of(const std::string& stage) const;
};

/// That of the largest groups that pay (groups.h): a stage is computed in place where one kernel has all that
/// read it, at the current pixel alone. Of the others, those march with their consumers that can, and are
/// needed by no others.
Schedule choose(const ir::Pipeline& pipeline, Tiling tiling = Tiling::None, const Memory& memory = {});

std::string to_text(const Schedule& schedule);

}  // namespace weft::schedule
