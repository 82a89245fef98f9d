// Which pixels of a scatter's result the points of a row can change, where that moves with the row.
//
//     add({x / 8, y / 8, bin}, v)      row c of the cells takes the rows 8*c to 8*c + 7 of the points, no others
//
// So bands of rows of the result can be computed at the same time, each from the points that change it. If all
// coordinates of the points say where they go, as here, single columns can be, too: all bins of one x / 8 and y / 8, from
// 8 x 8 points.
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

/// The pixels of a result that have one index in each of some dimensions: `pixels` of them, along all others. Few points
/// change each, and no other points do.
struct Columns {
  std::vector<Bands> across;  ///< Those dimensions, x first. Each has one form, and a coordinate of its own.
  std::int64_t pixels, points;  ///< Of each; points at most.

  bool is_across(int dim) const;
  bool operator==(const Columns&) const = default;
};
struct ColumnsOrWhy {
  std::optional<Columns> columns;
  std::string why;  ///< There are none: a clause.
};

/// Small columns, for many threads, each with at most so many bytes of one.
ColumnsOrWhy columns_of(const ir::Stage& stage, std::int64_t most_bytes);

/// Of the ways to divide a scatter, that along the outermost coordinate of its points; none for a result that is small
/// beside them.
BandsOrWhy bands_of(const ir::Stage& stage);

}  // namespace weft::analysis
