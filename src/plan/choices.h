// What a user or a search may ask of a plan, and what the plan is made for. What is left out is chosen.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "plan/code_limits.h"
#include "plan/extent.h"

namespace weft::plan {

/// The order within a tile.
enum class Traversal {
  March,  ///< Row by row; each stage is some rows ahead of its readers, and rows are dropped after the last read.
  Static,  ///< All rows of a stage, then those of the next.
};

/// Part of the result of stages that are one kernel: what one core, or one block of threads, computes by itself.
struct Tile {
  int width = 0, height = 0;  ///< Pixels.
  Traversal traversal = Traversal::March;

  bool operator==(const Tile&) const = default;
};
using Tiles = std::map<std::string, Tile>;  ///< By the stage that is stored.

/// How a tile keeps the rows of one source.
struct KeptChoices {
  std::optional<int> rows = {};        ///< There is room for this many.
  std::optional<bool> in_memory = {};  ///< Whether tiles inside the image read them where they lie.

  bool operator==(const KeptChoices&) const = default;
};

/// In which order split tiles of a band are computed (plan/split_tiles.h).
enum class SplitScheme {
  Colours,  ///< A launch for each way to be upright or inverted along the split dimensions: 2, 4 or 8.
  Merged,   ///< A launch for each number of inverted dimensions: one more than dimensions are split.
  Fused     ///< Likewise, and tiles that are inverted in all of them go on as upright ones of the next band.
};
struct SplitChoices {
  std::optional<SplitScheme> scheme = {};
  struct Extents {
    int pitch, top;
    bool operator==(const Extents&) const = default;
  };
  std::map<int, Extents> tiles = {};  ///< By dimension; the others are not split. None: chosen.

  bool operator==(const SplitChoices&) const = default;
};

/// How one kernel is to be made. Names and meanings are those of KernelPlan (plan.h).
struct Choices {
  /// Whether this is asked of blocks of a GPU's threads or of cores: it says nothing about the other.
  std::optional<bool> of_blocks = {};
  std::optional<bool> of_warps = {};  ///< Whether a tile is a warp's, and not a block's.
  std::optional<int> warps = {};      ///< Of a block, each with a static tile of its own.
  /// Rows of each source that stay in registers in a warp's static tile, in percent. None: all lie in shared memory, where
  /// lanes read the pixels of one another.
  std::optional<int> share = {};
  std::optional<int> width = {};      ///< Of a tile.
  std::optional<int> edges = {};      ///< Columns that a core copies at both ends of a row; 0: all.
  std::optional<int> whole = {};      ///< Passes begin and end at multiples of this many pixels.
  std::optional<int> lines = {};      ///< Rows of each plane of a tile, in volumes.
  std::optional<Extent> height = {};  ///< Rows, or planes, that a tile marches through.
  std::optional<Traversal> traversal = {};
  std::optional<int> rows = {};  ///< Of the result, that a pass of a core, or a GPU's thread, has at a time.
  /// Whether each lane of a core's vector goes along its own part of a line.
  std::optional<bool> in_lanes = {};
  std::optional<int> columns = {};      ///< Shared by the threads of a block.
  std::optional<int> batch = {};        ///< Rows that a block takes at a time.
  std::optional<bool> unrolled = {};    ///< Whether each row of a block's static tile is code of its own.
  std::optional<int> pixels = {};       ///< Neighbours that a thread computes.
  std::optional<bool> keeps_rows = {};  ///< Of a single stage: whether it keeps rows of what it reads.
  /// Whether one block of a GPU's threads computes its stages one after the other, each as a whole.
  std::optional<bool> in_turn = {};
  std::map<std::string, KeptChoices> kept = {};
  LimitChoices code = {};
  /// Time steps of an evolution in one kernel. The other choices are asked of that kernel.
  std::optional<int> steps = {};
  /// The least bytes of a field for which several steps are taken.
  std::optional<std::int64_t> steps_from = {};
  std::optional<SplitChoices> split = {};  ///< Those steps in split tiles.

  bool operator==(const Choices&) const = default;
};

/// What kernels have for the rows that they keep: the caches of a CPU, or the shared memory of a GPU's blocks.
struct Memory {
  std::optional<std::int64_t> shared_bytes = {};  ///< Of a block; none on a CPU.
  bool has_warps = false;                         ///< Tiles may be divided among the 32 lanes of a warp.
  int multiprocessors = 1;                        ///< The GPU's number of them.

  bool is_of_blocks() const { return shared_bytes.has_value(); }
};

}  // namespace weft::plan
