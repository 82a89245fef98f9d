// Rows that the lanes of a warp keep in their registers, of some neighbouring pixels each: how lanes load them, how they
// get the columns beside their own, and what they find beyond the ends of an image.
//
//     lane, left    a lane, and the first of its columns; first: the strip's
//     in_rows       rows of `in`: its own columns, and those beside them that windows read
//     in_next       rows that have been loaded, and are not needed yet
//
// In a volume a lane has some rows of each plane: `line` is the number of one in its unrolled loop, among those that a
// source has. What is said of rows below is said of planes there: they take each other's place, and are loaded and
// computed row by row.
//
// Where sources have several rates (plan/march.h), left and first are steps, and so are the numbers of rows; a lane has
// the pixels of some steps of each source, and a step some rows.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lower/shared_images.h"
#include "lower/tile.h"
#include "plan/warp_strip.h"

namespace weft::lower {

class LaneRows {
 protected:
  using Source = Tile::Source;
  using Expr = kernel::Expr;
  using Block = kernel::Block;

  explicit LaneRows(const Tile& tile);

  /// Which ends the code looks for: those of rows; of a volume's planes the first and last rows; and the first and last
  /// rows of an image or planes of a volume, which it does with all others.
  struct Tests {
    bool columns = false, lines = false, rows = false;
  };

  // ---- sizes

  /// Pixels of each step, and rows: of a source, or of the result, if null.
  int rate(const plan::Kept* kept, int d) const { return kept ? kept->rate[d] : tile_.plan().step[d]; }
  /// Of a lane.
  int pixels_of(const plan::Kept* kept) const { return steps_ * rate(kept, 0); }
  /// The first column of a lane; of the first lane; and after the last one.
  Expr left_of(const plan::Kept* kept) const { return column_of_step(kept, kernel::name(variables_.left)); }
  Expr first_of_strip(const plan::Kept* kept) const {
    return column_of_step(kept, kernel::name(variables_.first));
  }
  Expr end_of_strip(const plan::Kept* kept) const {
    return kernel::add(first_of_strip(kept), kernel::literal(plan::lanes_of_warp * pixels_of(kept)));
  }
  /// Rows of the result are steps if each has one; else these have names of their own.
  bool has_single_rows() const { return tile_.plan().step[1] == 1; }
  const kernel::Symbol& step() const { return has_single_rows() ? marching() : variables_.step; }
  Expr begin_of_tile() const {
    return kernel::name(has_single_rows() ? tile_.from(down()) : variables_.step0);
  }
  Expr end_of_tile() const {
    return kernel::name(has_single_rows() ? tile_.until(down()) : variables_.step1);
  }
  /// The dimension of the march, and its coordinate: y, in a volume z.
  int down() const { return tile_.down(); }
  const kernel::Symbol& marching() const { return rows_.coordinate(down()); }
  /// The row of a source that a step computes, or loads.
  Expr row_of_step(const plan::Kept* kept, const Expr& step, int number) const {
    const int ahead = kept ? kept->ahead : 0;
    return kernel::add(kernel::mul(step, kernel::literal(rate(kept, 1))), kernel::literal(ahead + number));
  }

  /// Steps in a turn of the loop.
  int batch() const { return tile_.batch() / tile_.plan().step[1]; }
  int loaded() const { return tile_.plan().prefetch; }
  /// Rows of each plane of a volume; 1 of an image.
  int lines_of(const plan::Kept* kept) const { return kept ? kept->lines : tile_.plan().lines(); }
  /// Of a volume: the first row that a lane has of a plane, and the one that `line` stands for.
  Expr first_line_of(const plan::Kept* kept) const {
    return kept ? tile_.first_line(*kept) : kernel::name(tile_.from(1));
  }
  Expr line_of(const plan::Kept* kept) const {
    return kernel::add(first_line_of(kept), kernel::name(variables_.line));
  }
  /// `work` for each of these rows, each as code of its own; of an image for the only one.
  Block each_line(const plan::Kept* kept, Block work) const;
  /// From the beginning of a plane in registers, that of the row.
  Expr in_plane(const plan::Kept& kept) const {
    return tile_.is_of_volume() ? kernel::mul(kernel::name(variables_.line), kernel::literal(kept.pitch))
                                : kernel::literal(0);
  }
  int scalars_of_result() const { return pixels_of(nullptr) * result_.type.lanes; }
  int scalars_of(const Source& source) const { return pixels_of(&source.kept) * source.lanes(); }
  const ArrayLayout& memory_of(const Source& source) const { return tile_.layout().arrays.at(&source.stage); }

  template <class F>
  void for_images(const F& f) const {
    for (const Source& source : tile_.sources()) {
      if (!source.kept.is_member) f(source);
    }
  }
  /// The array of the rows of an image that are loaded.
  const kernel::Symbol& next_of(const Source& image) const { return variables_of(&image).next; }

  /// Small scalars wait together in words: taken apart when they come, a row would be waited for at once.
  static int scalars_in_word(const Source& image);
  bool has_words(const Source& image) const;
  Scalar type_of_next(const Source& image) const;
  int next_in_row(const Source& image) const;
  int next_in_plane(const Source& image) const { return next_in_row(image) * image.kept.lines; }
  Expr loaded_scalar(const Source& image, const kernel::Symbol& next, const Expr& from, const Expr& j) const;

  /// Of the function.
  struct LaneVariables {
    kernel::Symbol lane, k, j, in_lanes, across, found, is_there, b;
    kernel::Symbol next, part, from, until, inner, inner_end, is_inside, has_result;
    kernel::Symbol step = {}, step0 = {}, step1 = {};  ///< Unless rows are steps.
    kernel::Symbol line = {};                          ///< Of a volume.
    kernel::Symbol first = {}, left = {}, batch = {};
  };
  /// Of a source, or of the result; of a volume z and place_y, too.
  struct ArrayVariables {
    kernel::Symbol y, place, z, place_y, pack;
    kernel::Symbol next, next_row, above, column, own, rest;
  };
  const ArrayVariables& variables_of(const Source* source) const { return of_arrays_.at(source); }
  const kernel::Symbol& i() const { return tile_.layout().variables.i; }

  // ---- rows in registers

  /// Rows that take each other's place in registers.
  static int rows_in_turn(const plan::Kept& kept) { return kept.resident ? kept.least_rows : kept.rows; }
  static int scalars_of_plane(const plan::Kept& kept) { return kept.lines * kept.pitch; }
  /// Where a row begins in registers: the one that lies `below` rows below the current one, which is the first of a step's.
  /// In a batch of several steps rows stay where they are, and loops are unrolled, so that this is a number. Else, which is
  /// less code, all rows move up with each new row, which is always the last.
  Expr row_start(const plan::Kept& kept, int below) const;
  /// And as many further below as a loop over the taps of a window says.
  Expr row_start(const plan::Kept& kept, int below, const Expr& further) const;
  /// Likewise of what is loaded: of the row that is due, of a step's the `number`th.
  Expr due(const Source& image, int number) const;
  Expr turn(int rows, int below, int rows_of_step = 1) const;
  /// One scalar of a pixel of the latest row, by its number in the lane; those before and after are other lanes'.
  Expr own_at(const Source& source, const Expr& pixel, int l) const;
  Expr own(const Source& source, const Expr& pixel, int l) const;
  /// Rows that are there make room for those of a step.
  Block moved_up() const;
  /// count scalars: array[to + j] = array[from + j].
  kernel::Stmt moved(const kernel::Symbol& array, Scalar type, const Expr& to, const Expr& from,
                     int count) const;

  // ---- images

  /// Where a lane loads a row, by whole lanes: as the border says, or at the end that it is beyond.
  Expr column_of_lane(const Source& image) const;

  /// A lane's columns of a row of an image as they lie there, from a place in the image on.
  kernel::LoadPack pack_of_lane(const Source& image, const Expr& place) const;
  /// A lane's columns of a row of an image, to its array of what is loaded, from a place on.
  Block load(const Source& image, const Expr& row, const Expr& at) const;

  // ---- between lanes

  /// The columns beside those of a lane, which others have.
  Block columns_beside(const Source& source) const;

  /// A column beside those of the lanes at an end of a row, or near it, that is beyond: which lanes, by how many there
  /// are between them and the end, and which of their columns the border finds; none if they do not have it.
  struct Beyond {
    int column = 0, lane = 0;
    std::optional<int> found;
    int from_end = 0;  ///< How many pixels from the end what is found is.
  };
  std::vector<Beyond> beyond_ends(const Source& source) const;
  /// How many pixels a row needs so that lanes have all that the border finds; nothing if no number is enough.
  std::optional<int> pixels_for_border(const Source& source) const;
  Block columns_beyond_ends(const Source& source) const;

  /// Whether some of what a source has there is another pixel's or a constant.
  bool has_border(const plan::Kept& kept, int d) const;

  /// Columns of a lane beyond the ends of a row: those that the border finds, which other lanes have, or a constant,
  /// in rows beyond the ends, too.
  Block what_borders_find_in_row(const Source& source, const std::vector<Expr>& row,
                                 ExpressionLowering& expressions) const;
  Expr is_left_missing(const Source& source, const Rows& rows) const;
  Expr is_right_missing(const Source& source, const Rows& rows) const;

  Expr column_of_pixel(const plan::Kept* kept) const { return kernel::add(left_of(kept), kernel::name(i())); }
  /// How far a column is from the strip's first; if it is not in the strip, nobody needs it.
  Expr within_strip(const Source& source, const Expr& column) const;

  Block constants(const Source& source, const std::vector<Expr>& row, const Rows& rows,
                  ExpressionLowering& expressions) const;

  /// With Clamp all find one of two columns, and most tiles miss what is before one of them at most.
  Block from_ends(const Source& source, const Rows& rows) const;

  Block from_anywhere(const Source& source, const Rows& rows) const;

  /// A row beyond the ends of a stage is a copy of the row that the border finds. It is made when the later one of the
  /// two has been computed.
  Block what_borders_find_in_rows(const Source& source, const Expr& row) const;
  /// Likewise for the rows of a volume's plane, once the lane has computed all of its own.
  Block what_borders_find_in_lines(const Source& source) const;

  const Tile& tile_;
  const ir::Stage& result_;
  const Rows& rows_;
  const int steps_;  // of a lane
  LaneVariables variables_;
  Tests tests_;         // of the code that is written now
  bool moves_ = false;  // it is of a turn of one step, before which rows move up
  int number_ = 0;      // which of a step's rows it makes
  Expr latest_;         // where the latest row of a source begins, if rows are not in the order of a march

 private:
  Expr column_of_step(const plan::Kept* kept, const Expr& step) const;

  std::map<const Source*, ArrayVariables> of_arrays_;
};

}  // namespace weft::lower
