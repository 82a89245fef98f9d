// Split tiling: the time steps of an evolution in tiles of space and time that compute nothing twice (Grosser et al.,
// Split Tiling for GPUs, GPGPU-6, 2013). Upright trapezoids shrink as time goes on and need nothing from one another;
// then inverted ones fill the gaps.
//
//       time |   A   \   B   /   A   \   B   /        D levels below the top of a band, slopes L and R:
//            |  A A   \ B B /   A A   \ B B /         A  [k P - L D, k P + w + R D)
//            | A A A A \ B / A A A A A \ B /          B  [k P + w + R D, (k + 1) P - L D)
//            +----------------------------------> x
//
// In several dimensions a tile is A or B in each: tiles with fewer Bs come first, and tiles with the same number of Bs do not
// depend on one another. Time is cut into bands of a few steps, which run one after the other.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/time_dependences.h"
#include "plan/choices.h"

namespace weft::plan {

/// One dimension that is split.
struct SplitDimension {
  int dim = 0;
  int pitch = 0;  ///< P: pixels from tile to tile.
  int top = 0;    ///< w: those of an upright tile in the last level of a band.
  /// By which a tile's ends move in each level, in parts of a pixel (SplitTiles::unit).
  int left = 0, right = 0;
  /// By field, in parts of a pixel: where its pixels count as lying further right. Fields that take turns on a grid of
  /// half pixels lean less.
  std::vector<int> shift = {};
  bool wraps = false;  ///< Reads go round: the last tile is as wide as it takes to close the circle.

  bool operator==(const SplitDimension&) const = default;
};

struct SplitTiles {
  SplitScheme scheme = SplitScheme::Merged;
  int steps = 1;           ///< Of a band, at most.
  int levels = 1;          ///< Of a step (analysis/time_dependences.h).
  int unit = 1;            ///< Parts of a pixel that slopes and shifts count in.
  std::vector<int> level;  ///< By field.
  int turn = 1;            ///< Steps after which all arrays have had their turn: bands are multiples.
  std::vector<SplitDimension> dims;

  bool operator==(const SplitTiles&) const = default;

  int levels_of_band() const { return levels * steps; }
  /// Pixels by which the origin of tiles moves from band to band: those of scheme Fused, so that upright tiles stand on
  /// inverted ones.
  int origin_step(const SplitDimension& d) const;
};

/// An end of a tile: ceil((of_tile * k + of_level * D + constant) / unit), where D is the number of levels to the top of
/// the band.
struct SplitBound {
  std::int64_t of_tile, of_level, constant;
  int unit;

  std::int64_t at(std::int64_t k, std::int64_t d) const;
};
/// [first, second) of the tile k, for pixels of a field; of a circle, tiles but for the last.
std::pair<SplitBound, SplitBound> ends_of(const SplitTiles& tiles, const SplitDimension& d, bool is_inverted,
                                          std::size_t field);

/// Tiles along a dimension are numbered from there on; an origin that moves leaves pixels before the tile 0.
int first_tile(const SplitTiles& tiles);
/// Pixels to add to the extent so that (extent + these) / pitch is the number of tiles, some without pixels. 0 on a circle.
int pixels_beyond(const SplitTiles& tiles, const SplitDimension& d);
/// Of a circle: where its first tile begins at the top of a band, so that none begins before the first pixel.
int first_on_circle(const SplitTiles& tiles, const SplitDimension& d);

struct SplitOrWhy {
  std::optional<SplitTiles> tiles;
  std::string why;  ///< A clause.
};
/// With what is asked for; what nobody says is chosen so that upright tiles are about that long at the bottom of a band,
/// by dimension: 0, if it is not to be split.
SplitOrWhy split_tiles(const analysis::TimeDependences& needs, int steps, const SplitChoices& asked,
                       const std::vector<int>& lengths);

/// Why tiles cannot be so: a clause, or nothing.
std::optional<std::string> why_not(const SplitTiles& tiles);

/// Launches of a band, each after the one before: one for each number of inverted dimensions, or for each colour.
int launches_of(const SplitTiles& tiles);
/// The colours that a launch computes: in each a bit for each split dimension, set where its tiles are inverted.
std::vector<unsigned> colours_of(const SplitTiles& tiles, int launch);

std::string name_of(SplitScheme scheme);
/// "bands of 16 steps in 3 launches: x 128 wide, 96 at the top, slopes 1 and 1; y …"
std::string to_string(const SplitTiles& tiles);

}  // namespace weft::plan
