// How the points of a scatter are divided where each may change any pixel of the result: private copies of it, each
// changed by some of the points, are combined in the end.
#pragma once

#include <cstdint>
#include <string>

#include "ir/stage_ir.h"
#include "plan/choices.h"

namespace weft::plan {

struct Copies {
  /// Of cores: as many copies as have `pixels` in all, but within these bounds. Of blocks 0.
  std::int64_t least = 0, most = 0, pixels = 0;
  /// Of a core: 8 places are points 0, 1/8, 2/8 … of a row, then the points after these, and so on. Neighbours often change
  /// the same pixel, and an update of a pixel waits for the one before it.
  int places = 1;
  bool are_of_places = false;  ///< Whether each place has a copy.
  /// Of a block: the scalars of its copy in shared memory, and its points. 0: threads change the result itself.
  std::int64_t shared_scalars = 0, points = 0;

  bool operator==(const Copies&) const = default;
};

Copies copies_of(const ir::Stage& scatter, const Memory& memory);

/// "2 to 16, 1048576 pixels in all; 8 places of a row in turn, with a copy each"
std::string to_string(const Copies& copies);

}  // namespace weft::plan
