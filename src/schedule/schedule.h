// A schedule: the decisions about how a pipeline runs, as a plain value that prints, with a reason for each.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ir/stage_ir.h"

namespace weft::schedule {

/// The order within a tile.
enum class Traversal {
  March,   ///< Row by row, each stage some rows ahead of its readers: what is read no more is not kept.
  Static,  ///< All rows of a stage, then those of the next.
};

/// Part of the result of stages that are one kernel: what one thread, or one block of them, computes by
/// itself.
struct Tile {
  int width = 0, height = 0;  ///< Pixels.
  Traversal traversal = Traversal::March;

  bool operator==(const Tile&) const = default;
};
using Tiles = std::map<std::string, Tile>;  ///< By the stage that is stored.

/// Where a stage's pixels live.
struct StagePlan {
  std::string stage;
  bool stored = true;
  bool in_rows =
      false;         ///< If not stored: its rows are kept while `into` is computed, else it has no pixels.
  std::string into;  ///< The stage whose kernel computes it, when it is not stored.
  std::string why;   ///< A sentence.
  std::optional<Tile> tile{};  ///< If stored with rows of others: the one asked for, if any was.

  bool in_place() const { return !stored && !in_rows; }
  std::string where() const;  ///< "stored", "stored in strips of 256x64", "in rows of hc", "computed in hc"
};

/// The kernels that a target has for stages that are not computed in place.
enum class Tiling {
  None,   ///< Of one stage each.
  Block,  ///< Stages march down strips of the image together.
};

/// What runs the kernels: a CPU, whose caches hold some of any number of rows, or blocks of a GPU's threads.
struct Memory {
  std::optional<std::int64_t> shared_bytes = {};  ///< Of a block, if kernels are of blocks.
};

struct Schedule {
  std::vector<StagePlan> stages;  ///< One per stage of the pipeline, in its order.

  const StagePlan& of(const std::string& stage) const;
};

/// That of the largest groups that pay (groups.h): a stage is computed in place where one kernel has all that
/// read it, at the current pixel alone. Of the others, those march with their consumers that can, and are
/// needed by no others.
Schedule choose(const ir::Pipeline& pipeline, Tiling tiling = Tiling::None, const Memory& memory = {});

std::string to_text(const Schedule& schedule);
std::string to_json(const Schedule& schedule);

}  // namespace weft::schedule
