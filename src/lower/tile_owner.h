// What differs between those that go through tiles: a core, a block of threads, or a warp.
//
//                  core                         block of threads                 warp
//     tiles        some, one after another      by its place in the grid         by its place in the grid
//     kept rows    local arrays                 shared memory                    registers of its lanes
//     a pass       rows, by loops of vectors    columns, each by a thread,       a row, some neighbouring pixels
//                                               down the rows of a batch         by each lane
//     borders      pixels copied beyond the     threads compute what the         tiles at the ends of an image:
//                  rows' ends                   border finds                     lanes take what it finds
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "lower/reduction_parts.h"
#include "lower/tile.h"

namespace weft::lower {

/// A reduction at the end of a kernel.
struct TileReduction {
  const ReductionParts& parts;
  ReductionParts::Arrays accumulators = {};
};

class TileOwner {
 public:
  virtual ~TileOwner() = default;

  /// Sentences on the function.
  virtual std::string comment() const = 0;
  /// Appends what makes an array of kept rows.
  virtual void declare(kernel::LocalArray rows, kernel::Block& block) = 0;
  /// Claims the function's name, gives it parameters, and what it needs besides the kept rows.
  virtual kernel::Function begin() = 0;
  /// Appends the loops over tiles, which find x0, y0 and y1, around the work in each; `rows_per_part` of a
  /// reduction.
  virtual void go_through(kernel::Function& function, const kernel::Expr& rows_per_part,
                          kernel::Block work) = 0;
  virtual kernel::Launch launch_of(const kernel::Function& function, const kernel::Expr& rows_per_part) = 0;

  /// All that is done in a tile, of what `rows` makes for the rows of a batch.
  virtual kernel::Block go_down(const std::function<kernel::Block()>& rows) = 0;
  /// Loads the rows of an image that a batch needs.
  virtual kernel::Block rows_of_image(const Tile::Source& image) = 0;
  /// Computes the rows of the members of a pass.
  virtual kernel::Block rows_of_pass(const Tile::Stages& pass) = 0;
  /// Combines accumulators with a batch of rows. `part_of` puts what starts and stores the parts around the
  /// work for `rows` rows.
  using PartOf = std::function<kernel::Block(const kernel::Expr& row, int rows, kernel::Block work)>;
  virtual kernel::Block rows_of_reduction(const TileReduction& reduction, const PartOf& part_of) = 0;
};

std::unique_ptr<TileOwner> core_of(const Tile& tile);
std::unique_ptr<TileOwner> block_of(const Tile& tile);
std::unique_ptr<TileOwner> warp_of(const Tile& tile);

}  // namespace weft::lower
