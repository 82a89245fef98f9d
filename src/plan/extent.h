// How many pixels of one dimension a tile has: a number, all of them, or the most that leave enough tiles. The kernel's own
// code resolves it once the size of the image is known; models do the same sum.
//
//     the first of 64, 32 and 8 rows that makes 128 tiles:    64 of 2048 rows, if 4 tiles stand side by side
//     8 rows, or 3, 6, 9 … more, for 128 tiles at most:       65 of 2048 rows, if 4 tiles stand side by side
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "kernel/build.h"

namespace weft::plan {

struct Extent {
  /// Largest first. None: all pixels of the dimension. Several: the first that leaves enough tiles, or else the last.
  std::vector<int> sizes = {};
  int enough = 0;  ///< Tiles of all dimensions; with a step, those that run at a time.
  /// If not 0, there is one size, and a tile has that, or this many pixels more, or twice this many, and so on.
  int step = 0;

  bool is_all() const { return sizes.empty(); }
  bool is_fixed() const { return sizes.size() == 1 && step == 0; }
  int fixed() const { return sizes.at(0); }
  bool operator==(const Extent&) const = default;
};

inline Extent all_pixels() { return {}; }
inline Extent fixed(int pixels) { return {{pixels}}; }
/// least, least + step …: the first that makes no more tiles than there is room for, or one tile.
Extent in_room(int least, int step, int room);
/// most, most - step … least.
Extent multiples(int step, int least, int most, int enough);

/// What `given` makes of the size of tiles along `pixels`, where `side_by_side` tiles stand next to each other. `room` is for
/// how many tiles there is, if the extent has a step; null: as many as it says.
kernel::Expr with_size(const Extent& extent, const kernel::Expr& pixels, const kernel::Expr& side_by_side,
                       const std::function<kernel::Expr(const kernel::Expr& size)>& given,
                       const kernel::Expr& room = nullptr);
/// The size as a number. Throws InternalError if it is that of all pixels.
std::int64_t size_over(const Extent& extent, std::int64_t pixels, std::int64_t side_by_side);

/// Half of a size of an extent with a step, rounded up to a size: of 8, 11, 14 … rows 65 for 128.
kernel::Expr half_of(const Extent& extent, const kernel::Expr& size);

/// Tiles of that size along that number of pixels: 2 of 64 along 100.
inline std::int64_t tiles_along(std::int64_t pixels, std::int64_t size) { return (pixels + size - 1) / size; }

/// "all", "248", "64|32|8 for 128", "256..16 for 64", "8 + 3n for 128 at most"
std::string to_string(const Extent& extent);

}  // namespace weft::plan
