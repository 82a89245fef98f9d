// What one pixel of a stage costs in arithmetic and loads.
#pragma once

#include <string>

#include "ir/stage_ir.h"

namespace weft::analysis {

/// Per pixel, every lane counted. An operation inside loops counts once per point of the loops that it
/// depends on; equal expressions count once; what depends on constants alone counts nothing. Addresses of
/// affine reads, their borders, clamped indices and conversions of types are no operations.
struct Operations {
  std::int64_t alu = 0;    ///< Additions, products, comparisons, selections, minima, bits, integer divisions.
  std::int64_t sfu = 0;    ///< Divisions of floats, square roots, exponentials, logarithms, trigonometry.
  std::int64_t loads = 0;  ///< Pixels read (once per distinct index).
  /// Computed indices that a border mirrors or repeats, by remainders, which also count as `of_remainder` of alu each. There are
  /// no vector instructions for these.
  std::int64_t remainders = 0;
  bool operator==(const Operations&) const = default;
  Operations& operator+=(const Operations& more) {
    alu += more.alu, sfu += more.sfu, loads += more.loads, remainders += more.remainders;
    return *this;
  }
  Operations operator*(std::int64_t times) const {
    return {alu * times, sfu * times, loads * times, remainders * times};
  }
};
/// Most indices are inside, which takes two comparisons and a branch around the division.
constexpr std::int64_t of_remainder = 8;

/// Pixels that straight-line code computes together, along a dimension: their medians have work in common.
struct Neighbours {
  int along = 0;
  int count = 1;
};
/// All cases together: an upper bound of what a pixel needs.
Operations operations(const ir::Stage& stage, const Neighbours& neighbours = {});
/// Those of them that are the same for all pixels along a dimension, as they do not depend on its coordinate: of
/// in(x, y) * 2 + z two thirds, along z.
Operations operations_alike(const ir::Stage& stage, int dim);

}  // namespace weft::analysis
