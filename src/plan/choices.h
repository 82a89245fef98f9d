// What may be asked for of a plan, and what it is made for. What is left out follows or is chosen.
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
  March,   ///< Row by row, each stage some rows ahead of its readers: what is read no more is not kept.
  Static,  ///< All rows of a stage, then those of the next.
};

/// Part of the result of stages that are one kernel: what one core, or one block of threads, computes by itself.
struct Tile {
  int width = 0, height = 0;  ///< Pixels.
  Traversal traversal = Traversal::March;

  bool operator==(const Tile&) const = default;
};
using Tiles = std::map<std::string, Tile>;  ///< By the stage that is stored.

/// Of the rows that a tile keeps of one source.
struct KeptChoices {
  std::optional<int> rows = {};        ///< That there is room for.
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

/// Of one kernel.
struct Choices {
  /// For blocks of a GPU's threads, or for cores: what was asked for of one says nothing about the other.
  std::optional<bool> of_blocks = {};
  std::optional<bool> of_warps = {};  ///< Whether a tile is a warp's, and not a block's.
  std::optional<int> warps = {};      ///< Of a block, each with a static tile of its own.
  /// Of a warp's static tile, in percent: rows that stay in registers, of each source. None: all lie in shared memory,
  /// where lanes read those of one another.
  std::optional<int> share = {};
  std::optional<int> width = {};      ///< Of a tile.
  std::optional<int> edges = {};      ///< Columns that a core copies at both ends of a row; 0: all.
  std::optional<int> whole = {};      ///< Pixels whose multiples passes begin and end at.
  std::optional<int> lines = {};      ///< Rows of each plane of a tile, in volumes.
  std::optional<Extent> height = {};  ///< Rows of a tile, or planes: what is gone through.
  std::optional<Traversal> traversal = {};
  std::optional<int> rows = {};         ///< That a pass of a core computes at a time.
  std::optional<int> columns = {};      ///< That the threads of a block share out.
  std::optional<int> batch = {};        ///< Rows that a block takes at a time.
  std::optional<bool> unrolled = {};    ///< Whether those of a block's static tile are code of their own.
  std::optional<int> pixels = {};       ///< Neighbouring ones of a thread.
  std::optional<bool> keeps_rows = {};  ///< Of a single stage: whether it keeps rows of what it reads.
  std::map<std::string, KeptChoices> kept = {};
  LimitChoices code = {};
  /// Of an evolution, in one kernel. What else is asked for is asked of that kernel.
  std::optional<int> steps = {};
  std::optional<std::int64_t> steps_from = {};  ///< Bytes of the field, for fewer of which steps are single.
  std::optional<SplitChoices> split = {};       ///< Those steps in tiles that are split.

  bool operator==(const Choices&) const = default;
};

/// What runs the kernels: a CPU, whose caches hold some of any number of rows, or blocks of a GPU's threads.
struct Memory {
  std::optional<std::int64_t> shared_bytes = {};  ///< Of a block, if kernels are of blocks.
  bool has_warps = false;                         ///< Of 32 lanes, which tiles may be divided among.
  int multiprocessors = 1;                        ///< That run at a time.

  bool is_of_blocks() const { return shared_bytes.has_value(); }
};

}  // namespace weft::plan
