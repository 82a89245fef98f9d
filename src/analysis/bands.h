// Which pixels of a scatter's result the points of a row can change, where that moves with the row.
//
//     add({x / 8, y / 8, bin}, v)      row c of the cells takes the rows 8*c to 8*c + 7 of the points, no others
//
// So bands of rows of the result can be computed at the same time, each from the points that change it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/stage_ir.h"

namespace weft::analysis {

struct Bands {
  int dim;    ///< Of the result: that dimension of its box is divided.
  int along;  ///< The coordinate of the points that alone says where in it they are.
  /// An update's index there is one of these functions of that coordinate, which grow or fall with it, or outside of
  /// the box.
  std::vector<ir::Affine> indices;

  bool operator==(const Bands&) const = default;
};
struct BandsOrWhy {
  std::optional<Bands> bands;
  std::string why;  ///< There are none: a clause.
};

/// Of the ways to divide a scatter, that along the outermost coordinate of its points; none for a result that is small
/// beside them.
BandsOrWhy bands_of(const ir::Stage& stage);

}  // namespace weft::analysis
