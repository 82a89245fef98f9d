// How the points of a scatter are divided, and what of the result each division may change.
#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "analysis/bands.h"
#include "ir/stage_ir.h"
#include "plan/choices.h"

namespace weft::plan {

/// Cores have bands of the result, each with the points that change it.
struct ScatterBands {
  analysis::Bands bands;
  std::int64_t most = 0;  ///< Fewer if the result has fewer rows.
  /// Bands of columns: a core takes all of its own as one, since the points of each lie in all rows.
  bool are_joined = false;
  int points =
      0;  ///< Of a row at a time: places and values are found in vectors, then changed one after the other.

  bool operator==(const ScatterBands&) const = default;
};

/// Threads have columns of the result, each with the points that change it.
struct ScatterColumns {
  analysis::Columns columns;
  int of_block = 0;  ///< Side by side.

  bool operator==(const ScatterColumns&) const = default;
};

/// Cores have private copies of the result, each changed by some of the points; the copies are combined in the end.
struct ScatterCopies {
  std::int64_t least = 0, most = 0, pixels = 0;  ///< As many as have `pixels` in all, but within the bounds.
  /// 8 places are points 0, 1/8, 2/8 … of a row, then the points after these, and so on. Neighbours often change
  /// the same pixel, and an update of a pixel waits for the one before it.
  int places = 1;
  bool are_of_places = false;  ///< Whether each place has a copy.
  std::string why;             ///< There are no bands: a clause.

  bool operator==(const ScatterCopies&) const = default;
};

/// Threads have points, and change the result by atomic updates; or a block's copy of it, which is then added.
struct ScatterAtomics {
  std::int64_t shared_scalars = 0, points = 0;  ///< Of a block's copy, and its points. 0: it has none.
  int points_of_thread = 1;                     ///< Neighbours, whose rows it loads at once.
  std::string why;                              ///< There are no columns: a clause.

  bool operator==(const ScatterAtomics&) const = default;
};

using Scatter = std::variant<ScatterBands, ScatterColumns, ScatterCopies, ScatterAtomics>;

Scatter scatter_of(const ir::Stage& stage, const Memory& memory);

/// What the division is called, and all of it: "copies", "2 to 16, 1048576 pixels in all, since …".
std::pair<std::string, std::string> to_text(const Scatter& scatter);

}  // namespace weft::plan
