// A tile of a kernel's result, which a core or a block of threads goes through, some rows at a time: its
// coordinates, and the rows that it keeps of images and of the kernel's other stages (plan/march.h).
//
//     x0, y0     the tile's first column and row of the result; y1: the row after its last
//     batch      the first of the rows that are computed at a time; y, if that is one row
//     row        of a source
//
// A volume is gone through plane by plane, and of each a tile has some rows:
//
//     y0, y1     the tile's rows; z0, z1: its planes
//     z          the plane that is computed
//     plane      of a source; row: in that plane
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/interior.h"
#include "lower/expressions.h"
#include "lower/kernel_context.h"
#include "lower/placed_lanes.h"
#include "lower/rows.h"
#include "lower/steps.h"

namespace weft::lower {

class Tile {
 public:
  using Stages = std::vector<const ir::Stage*>;

  /// An image, or another stage of the kernel, whose rows are kept.
  struct Source {
    const plan::Kept& kept;
    const ir::Stage& stage;
    int width;             ///< Its pixels across a tile, without those around it.
    kernel::Symbol array;  ///< Of all rows.

    int lanes() const { return kept.type.lanes; }
    bool is_constant_outside() const { return kept.border_mode() == ir::BorderMode::Constant; }
  };

  explicit Tile(const KernelContext& context);

  const KernelContext& context() const { return context_; }
  const plan::KernelPlan& plan() const { return context_.plan; }
  Layout& layout() const { return context_.layout; }
  const ir::Stage& result() const { return context_.stage(); }
  const ArrayLayout& array() const { return layout().arrays.at(&result()); }  ///< Of the result.
  const Rows& rows() const { return rows_; }                                  ///< Of the result.
  const Steps& steps() const { return steps_; }
  int width() const { return plan().width(); }  ///< In pixels of the result.
  int batch() const { return batch_; }          ///< In rows of the result.
  bool is_static() const { return plan().is_static(); }

  const std::vector<Source>& sources() const { return sources_; }
  const Source* source(const ir::Stage& stage) const;  ///< Null if none of its rows are kept.
  /// "'in', 'dx'": all of them, or those that are computed here.
  std::string named_sources(bool members_alone) const;
  /// The arrays that the rows lie in. Rows that take turns lie in one.
  const std::vector<kernel::LocalArray>& places() const { return places_; }
  /// The members of a pass, as the plan names them.
  Stages members_of(const plan::Pass& pass) const;

  /// The dimension that is gone through: 1, of a volume 2.
  int down() const { return static_cast<int>(rows_.rank()) - 1; }
  /// Whether it is gone through plane by plane.
  bool is_of_volume() const { return down() > 1; }
  bool strict() const { return context_.module.strict; }
  /// Tiles side by side.
  kernel::Expr columns_of_tiles() const;
  /// Rows of tiles that share a volume's planes; 1 of an image.
  kernel::Expr layers_of_tiles() const;
  /// A tile's rows, if `side_by_side` tiles share each row of the image; whole parts, of a reduction. Returns what
  /// `given` makes of that number. `room` is as for plan::with_size().
  using OfRows = std::function<kernel::Expr(const kernel::Expr& rows)>;
  kernel::Expr height(
      const kernel::Expr& side_by_side, const kernel::Expr& rows_per_part,
      const OfRows& given = [](const kernel::Expr& rows) { return rows; },
      const kernel::Expr& room = nullptr) const;
  /// Defines where the tile of that number begins and ends along a dimension: x0 and x1.
  void append_ends(kernel::Block& block, int d, const kernel::Expr& number, const kernel::Expr& extent) const;

  // ---- coordinates

  /// Where the tile begins and ends along a dimension: x0 and x1, …
  const kernel::Symbol& from(int d) const { return from_.at(d); }
  const kernel::Symbol& until(int d) const { return until_.at(d); }
  kernel::Expr batch_row() const;      ///< The first row of a batch.
  kernel::Expr begin(int rate) const;  ///< The tile's first column, at a rate.
  kernel::Expr row_at(const kernel::Expr& row, int rate) const;
  /// Rows that the tile needs of a source, of a volume planes, and the one after the last.
  kernel::Expr first_row(const plan::Kept& kept) const;
  kernel::Expr end_row(const plan::Kept& kept) const;
  /// Rows of a volume's planes that the tile needs of a source, and the one after the last.
  kernel::Expr first_line(const plan::Kept& kept) const;
  kernel::Expr end_line(const plan::Kept& kept) const;
  /// Where the current row of a source is: its row, and in a volume its plane; of the result, if null.
  std::vector<kernel::Expr> row_coords(const plan::Kept* kept) const;

  /// `work` for the rows of a source, or null: of the result, that are computed or loaded at a time: of a
  /// static tile all. Its `row`, or the result's `y`. Only for those that are inside or, with Repeat, computed
  /// outside; or for all that the tile needs.
  /// What computes all rows of a batch in one go, where the tile has all of them and they are inside, and where this
  /// holds, if it is not null.
  struct Together {
    kernel::Block work;
    kernel::Expr where;
  };
  kernel::Block for_rows(const plan::Kept* kept, bool all, kernel::Block work, Together together = {}) const;
  /// The condition for that.
  kernel::Expr are_together(const plan::Kept* kept, const kernel::Expr& where) const;
  /// The first of a source's rows, or the result's, in a batch, and how many there are.
  kernel::Expr first_of_batch(const plan::Kept* kept) const { return rows_at_a_time(kept, true).first; }
  int rows_of_batch(const plan::Kept* kept) const { return rows_at_a_time(kept, true).count; }

  /// Rows, or planes, that a static tile needs of a source, and has of the result, if null.
  int rows_needed(const plan::Kept* kept) const;
  /// Likewise for all rows of a static tile that lies inside all images: the same number in each such tile.
  kernel::Block for_rows_inside(const plan::Kept* kept, kernel::Block work) const;
  /// The number of the current row in that loop, of planes in volumes, if each is code of its own; else 0.
  kernel::Expr number_of_row_inside(const plan::Kept* kept) const;
  /// Whether a static tile and all that is kept of images and members for it lies inside of these, and in the first of
  /// two cases: along this dimension and those after it.
  kernel::Expr is_inside(int least_dimension = 0) const;
  /// Of a stage with a value inside a box and another outside: where it has the first.
  std::optional<std::vector<analysis::Bounds>> box_of_first_case(const ir::Stage& stage) const;

  /// Around work for the rows of a batch: all batches of a tile.
  kernel::Block march(kernel::Block work) const;

  // ---- kept rows

  /// The scalar with which the row at those coordinates begins: y, in a volume z, too.
  kernel::Expr row_start(const plan::Kept& kept, const std::vector<kernel::Expr>& row) const;
  /// From there, the scalar of a lane of the pixel that lies `column` columns right of the tile's first.
  static kernel::Expr at(const plan::Kept& kept, const kernel::Expr& column, int lane = 0);
  /// Defines `row`, a pointer to the row that lies `below` rows below the current one.
  kernel::Stmt current_row(const Source& source, const kernel::Symbol& row, int below = 0) const;

  // ---- expressions

  using Names = std::unordered_map<const ir::Node*, std::string>;  ///< Of stages computed in place.
  const Names& names() const { return context_.names; }
  /// `names` if not those of the kernel.
  ExpressionLowering expressions(const ir::Stage& stage, Place place, std::vector<kernel::Expr> coords,
                                 const Names* names = nullptr) const;
  /// The stages of a pass as its loop computes them.
  using PassLanes = std::vector<std::unique_ptr<PlacedLanes>>;
  PassLanes lanes_of(const Stages& pass) const;
  /// Of a source whose lanes have rows of their own.
  bool reads_lanes_apart(const ir::Stage& stage) const;
  /// Reads of kept sources by a pass, where `rows_of` says that their rows are.
  using RowsOf = std::unordered_map<const ir::Stage*, ExpressionLowering::KeptRows>;
  RowsOf rows_of(const PassLanes& lanes,
                 const std::function<ExpressionLowering::KeptRows(const Source&)>& rows_of) const;

 private:
  kernel::Expr first_row_of(const plan::Kept* kept) const;  ///< Of the result, if null.
  bool is_unrolled_inside(const plan::Kept* kept) const;
  /// Of a batch: `count` rows from `first`, those that are not before `from`, and before `until`. All of a static tile: 0.
  struct RowsAtATime {
    kernel::Expr first;
    int count;
    std::vector<kernel::Expr> from, until;
  };
  RowsAtATime rows_at_a_time(const plan::Kept* kept, bool all) const;
  void place_rows();
  /// The coordinate of the row, or plane of a volume, that is computed; of a source's.
  const kernel::Symbol& marching() const { return rows_.coordinate(down()); }
  const kernel::Symbol& marching(const plan::Kept* kept) const {
    return !kept ? marching() : is_of_volume() ? plane_ : row_;
  }
  /// Of the row in a plane, or in an image.
  const kernel::Symbol& line(const plan::Kept* kept) const { return kept ? row_ : rows_.coordinate(1); }
  kernel::Block for_lines(const plan::Kept* kept, bool all, kernel::Block work) const;
  /// Whether it is computed from what lies in memory.
  bool reads_no_kept(const plan::Kept& kept) const;

  const KernelContext& context_;
  const Rows rows_;
  const Steps steps_;
  const int batch_;
  std::vector<kernel::Symbol> from_, until_;
  const kernel::Symbol first_of_batch_, row_, plane_;
  std::vector<Source> sources_;
  std::vector<kernel::LocalArray> places_;
};

}  // namespace weft::lower
