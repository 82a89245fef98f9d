// A core's tiles: rows by loops of vectors. Loops over tiles, and where their rows are, are in core_tiles.cpp;
// rows of images in core_images.cpp; rows that are computed in core_passes.cpp, and columns that those share in core_columns.cpp.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "lower/phases.h"
#include "lower/prefetched.h"
#include "lower/strip_pixels.h"
#include "lower/tile_owner.h"
#include "rewrite/between_pixels.h"

namespace weft::lower {

class CoreTiles : public TileOwner {
 public:
  explicit CoreTiles(const Tile& tile);

  std::string comment() const override;
  void declare(kernel::LocalArray rows, kernel::Block& block) override;
  kernel::Function begin() override;
  void go_through(kernel::Function& function, const kernel::Expr& rows_per_part, kernel::Block work) override;
  kernel::Launch launch_of(const kernel::Function& function, const kernel::Expr& rows_per_part) override;
  kernel::Block go_down(const std::function<kernel::Block()>& rows) override { return tile_.march(rows()); }
  kernel::Block rows_of_image(const Tile::Source& source) override;
  kernel::Block rows_of_pass(const Tile::Stages& pass) override;
  /// Row by row, since parts may be of one.
  kernel::Block rows_of_reduction(const TileReduction& reduction, const PartOf& part_of) override;

 private:
  using Block = kernel::Block;
  using Expr = kernel::Expr;
  using Source = Tile::Source;
  using KeptRows = ExpressionLowering::KeptRows;

  /// Whether tiles read rows of an image where they lie, but for those at its ends.
  static bool finds(const Source& source) { return source.kept.in_memory && source.kept.is_copied(); }

  /// Of an image that tiles may read where it lies: whether a tile has to copy rows, where it finds them, how
  /// many scalars they lie apart, in volumes planes and lines, and the bits of a row's number that say which it is.
  struct Finding {
    kernel::Symbol copied, from, step, line_step, mask;
  };

  const ArrayLayout& array_of(const ir::Stage& stage) const { return tile_.layout().arrays.at(&stage); }
  Expr begin_of(const Source& source) const { return tile_.begin(source.kept.rate[0]); }
  Expr end_of(const Source& source) const {
    return steps_.at_rate(kernel::name(tile_.until(0)), 0, source.kept.rate[0]);
  }
  static int columns_of(const Source& source) { return source.kept.pitch / source.lanes(); }
  /// In its kept rows, left of the tile's own.
  static int columns_before(const Source& source) {
    return source.kept.first / (source.kept.lane_pitch == 1 ? source.lanes() : 1);
  }
  Rows all_of(const Source& source) const { return {source.stage.box, tile_.layout()}; }
  /// Either condition; null is none.
  static Expr either(const Expr& a, const Expr& b) {
    return !a ? b : !b ? a : kernel::binary(ir::BinaryOp::Or, a, b);
  }

  /// Whether a tile needs pixels beyond the ends of an image: left, right, or in rows that it does not find
  /// otherwise.
  struct Beyond {
    Expr left, right, rows;
  };
  Beyond beyond_of(const Source& source) const;
  /// The columns between which a tile reads images where they lie; none if rows are missing.
  void find_edges(Block& body) const;
  /// `work` for the columns of a row, in three parts: the first and the last read copies.
  Block in_parts(const Expr& row_left, const Expr& row_right, Block work) const;
  /// Where the rows of an image are found: in memory, unless they are copied.
  void find_rows(Block& body, const Source& source, const Expr& copied) const;
  /// From where it finds its rows, the scalar with which one begins.
  Expr found_row(const Source& source, const Finding& found, const std::vector<Expr>& row) const;

  /// The columns with which a row begins and ends.
  struct Ends {
    kernel::Symbol left, right;
  };
  Ends named_ends(const std::string& before) const {
    return {tile_.layout().names.local(before + "left"), tile_.layout().names.local(before + "right")};
  }
  const Ends& ends_of_row() const { return edges_ ? whole_row_ : part_; }
  const Variables& variables() const { return tile_.layout().variables; }
  Expr left() const { return kernel::name(part_.left); }
  Expr right() const { return kernel::name(part_.right); }

  /// The columns that are computed of a source, of those that the tile needs.
  void clip_columns(Block& block, const Source& source, const Ends& ends) const;
  /// A row of a source with a constant border: the statements if it is inside, else constants.
  kernel::If inside_or_constant(const Source& source, Block inside, Block outside) const;
  /// Its pointer, and one to a row below the current one.
  const kernel::Symbol& row_name(const Source& source, int below = 0) const {
    return row_.at(&source).at(below);
  }
  kernel::Stmt current_row(const Source& source, int below = 0) const {
    return tile_.current_row(source, row_name(source, below), below);
  }
  /// The scalar of a kept row that holds a lane at a column.
  Expr at(const Source& source, const Expr& x, int lane = 0) const {
    return Tile::at(source.kept, kernel::sub(x, begin_of(source)), lane);
  }
  KeptRows kept_rows_of(const Source& source) const;
  /// By the sources themselves, which no flat lanes stand for.
  Tile::RowsOf all_kept_rows() const;
  static std::vector<Expr> coords_of(const Expr& x, std::vector<Expr> row) {
    row.insert(row.begin(), x);
    return row;
  }
  /// Of spellings that there are of each row: none for the current one.
  static std::string suffix_of_row(int below) { return below == 0 ? "" : "_p" + std::to_string(below); }
  Expr count() const { return kernel::sub(right(), left()); }

  // ---- rows of images (core_images.cpp)

  bool fetches_ahead(const Source& source) const;
  /// Whether the next rows are fetched by the pass that reads them first, as it goes along its rows; in a volume a row of each
  /// plane. Else they are as the image is copied.
  bool comes_with_pass(const Source& source) const;
  /// Null if no pass reads pixels of it.
  const plan::Pass* first_reader(const Source& source) const;
  /// The coordinates of the row that is needed when the current one has been.
  std::vector<Expr> next_row(const Source& source) const;
  /// Rows of images that the tile needs next, as far as this pass fetches them while it computes `rows` rows from `row` on.
  std::vector<RowAhead> rows_of_images_ahead(const Tile::Stages& pass, const Expr& row, int rows) const;
  /// Where the portion of a row begins that is computed before more of the next rows is fetched.
  kernel::Symbol portion_of_row() const { return tile_.layout().names.local("portion"); }
  /// A row of `planes` planes of a pass goes with one of each plane that is needed next, if no pass comes before it.
  void fetch_next_planes(Block& block, const Tile::Stages& pass, const Expr& row, int planes) const;
  kernel::Prefetch prefetched(const Source& source, std::vector<Expr> coords, const Expr& from,
                              const Expr& until) const;
  /// The current row of an image, copied to its kept rows with what its border finds.
  Block copied_row(const Source& source, const std::vector<RowAhead>& ahead);
  /// The pixels beyond the ends of the row `to` that the tile needs. `pixel` gives one lane of a pixel of the source.
  void beyond_columns(Block& block, const Source& source, const Ends& ends, const kernel::Symbol& to,
                      const std::function<Expr(const Expr&, int)>& pixel);
  Block constant_row(const Source& source);
  std::vector<Expr> border_lanes(const plan::BorderRule& border, Block& block);

  // ---- rows of members (core_passes.cpp)

  /// Of the result in a tile, along a dimension.
  Expr first_stored(int d) const;
  Expr end_of_stored(int d) const;
  Block columns_of_result() const;
  /// The rows of the pass that one loop computes: as many as the plan says, or all of a batch if they read a coarser image,
  /// each in its own way.
  RowsTogether rows_together(const Tile::Stages& pass, const Source* source) const;
  /// Where it can: null, if it can anywhere.
  Expr where_together(const Tile::Stages& pass, const Source* source, int rows) const;
  /// Computes rows of the members of a pass, and stores them in their kept rows or in memory.
  void compute(Block& block, const Tile::Stages& pass, const std::vector<Expr>& row, int columns,
               const RowsTogether& together);
  /// What the pass reads and fetches of the next rows.
  std::vector<RowAhead> rows_ahead_of(const Tile::Stages& pass, const std::vector<Expr>& row, int rows);
  /// if the tile has the row:  its columns, from the kept row to memory
  kernel::If stored_row(const Source& source, const std::vector<Expr>& row, const kernel::Symbol& kept) const;
  /// From left to right.
  void compute_part(Block& block, const Tile::Stages& pass, const std::vector<Expr>& row, int columns,
                    const RowsTogether& together);
  /// From the start of the array that the pixels of a strip go to.
  Expr first_scalar(const ir::Stage& stage) const;
  /// What the stage reads between pixels in rows of its own, each lane apart, and then the rest.
  void compute_between(Block& block, const ir::Stage& stage, const rewrite::BetweenPixels& parts,
                       const std::vector<Expr>& row, int columns, int phases);
  /// if large results go past the caches:  rows of it, from their lines to memory
  void store_lines(Block& block, const std::vector<Expr>& row, int rows) const;
  /// The strip's complete groups of phases by one loop, and single pixels on both sides of them. `first` are the scalars of
  /// the targets' arrays that the strip begins with.
  void store_by_phases(ExpressionLowering& single, Tile::RowsOf kept_rows,
                       const std::vector<StripTarget>& targets, const std::vector<Expr>& first,
                       const std::vector<Expr>& row, int count, Block& pointers, Block& work);
  /// All rows of the strip by one loop. The targets of the first row, `row`, come first, then those of the next.
  void store_rows(const ExpressionLowering& single, Tile::RowsOf kept_rows, const Tile::Stages& pass,
                  const std::vector<StripTarget>& targets, const std::vector<Expr>& row,
                  const RowsTogether& together, const Strip& strip, Block& pointers, Block& work);
  /// Where the pixels of a stage go in the current row, or one below it; appends a pointer to the row.
  StripTarget target_of(const ir::Stage& stage, const ir::Stage& inner, ExpressionLowering& expressions,
                        const std::vector<Expr>& row, int below, Block& block) const;
  /// The scalar of the result with which its part of a row begins.
  Expr memory_of(const std::vector<Expr>& row) const;

  // ---- columns that the loop over the result shares (core_columns.cpp)

  /// A pass of columns that the result alone reads, in its own row; how far away.
  struct SharedColumns {
    Tile::Stages pass;
    kernel::Symbol in_vectors;  ///< Whether its loop computes them itself.
    int before, after;
    std::map<std::pair<const ir::Stage*, int>, kernel::Symbol> arrays =
        {};  ///< Of each, and each row below the current one.
  };
  std::optional<SharedColumns> find_shared_columns() const;
  /// Where the loop over the result has two vectors at least, and all columns that it reads are those of pixels.
  Expr where_in_vectors() const;
  KeptRows shared_rows_of(const Source& source, const Expr& row) const;
  /// A loop over the columns that pixels of the result read.
  void share_columns(ExpressionLowering& reader, const std::vector<Expr>& row, const RowsTogether& together,
                     const PixelRange& pixels, int capacity, Block& pointers, Block& work);

  const Tile& tile_;
  const ir::Stage& result_;
  const ArrayLayout& array_;
  const Rows& rows_;
  const Steps& steps_;
  std::map<const Source*, std::vector<kernel::Symbol>> row_;  // point to the current one, and those below it
  std::map<const Source*, Finding> finding_;
  std::map<const Source*, std::pair<kernel::Symbol, kernel::Symbol>>
      stored_;  // the tile's part of a row: kept, stored
  /// Of a tile whose images are read where they lie but for the ends of their rows: whether columns are copied,
  /// and between which none are; and whether the part of a row that is computed is one of those at its ends.
  struct Edges {
    kernel::Symbol copied, left, right, at_edge;
  };
  std::optional<Edges> edges_;
  const Ends part_ = named_ends(""),
             whole_row_ = named_ends("row_");  ///< Of what is computed at a time, and of all.
  std::optional<SharedColumns> shared_columns_;
  bool in_vectors_ = false;             // of what is lowered: whether columns are shared
  std::set<const ir::Stage*> fetched_;  // images, by what reads them first
  // What caches cannot keep goes past them by whole cache lines, so rows of the tile are gathered first.
  std::vector<kernel::LocalArray> lines_;
  kernel::Symbol past_caches_;
};

}  // namespace weft::lower
