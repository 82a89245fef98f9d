// Lowers the expressions of one stage into statements over scalars: splits lanes, turns reads into loads,
// unrolls or loops over windows, and names what is used more than once.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "analysis/separable.h"
#include "analysis/shared_values.h"
#include "ir/stage_ir.h"
#include "kernel/build.h"
#include "lower/kernel_context.h"

namespace weft::lower {

using Lanes = std::vector<kernel::Expr>;  ///< One scalar per lane of a pixel.

/// Scalars from pixel to pixel in a row, by those from lane to lane: at 1 the lanes of a pixel lie side by
/// side, else pixels do, and each lane has a row of its own.
inline std::int64_t pixel_pitch(int lanes, std::int64_t lane_pitch) { return lane_pitch == 1 ? lanes : 1; }

/// Half is a storage type: what is computed with is float, and becomes a half where the type says so.
kernel::Expr computable(const kernel::Expr& e);
kernel::Expr stored_as(Scalar type, const kernel::Expr& e);

/// a op b, without what adds nothing: 0 + x, 1 * x. Strict floats keep what only seems to: 0 + x, max(-inf,
/// x).
kernel::Expr simplified_binary(ir::BinaryOp op, const kernel::Expr& a, const kernel::Expr& b, bool strict);
/// A rounding of what is whole already is left out.
kernel::Expr simplified_unary(ir::UnaryOp op, const kernel::Expr& a);

/// The arithmetic of a border that has pixels of its own: not Constant.
kernel::IndexOp index_op(ir::BorderMode mode);

/// Where an index finds its pixel, and whether it does; null: it always does.
struct FoundPixel {
  kernel::Expr index, inside;
};
/// Where the border finds the pixel `index` of a row whose pixels are 0 to `extent` - 1: with Clamp, the pixel -3 is the pixel 0.
FoundPixel find_pixel(ir::BorderMode border, const kernel::Expr& index, const kernel::Expr& extent);

/// Where the pixels are that the expressions are computed for.
enum class Place {
  Interior,  ///< In the vector loop along x: direct reads (analysis/interior.h) are inside; rows are found
             ///< once per row.
  Row,       ///< In a vector loop along x, over whatever pixels: as there, but for reads that may leave.
  Anywhere,  ///< At any single pixel, seldom: every read goes through its border, in little code.
  Thread,    ///< At the pixel of a GPU's thread: every read goes through its border.
};

class ExpressionLowering {
 public:
  using Names = std::unordered_map<const ir::Node*, std::string>;  ///< Of stages computed in place.
  /// Of a stage in that kernel, or of what stands for one. `coords` are the coordinates of the pixel; `names`, if not those
  /// of the kernel, have to outlive this. Tables that the code needs are added to the module's.
  ExpressionLowering(const KernelContext& kernel, const ir::Stage& stage, Place place,
                     std::vector<kernel::Expr> coords, const Names* names = nullptr);

  /// Other stages over the same box are lowered in the same scopes; what they have in common is computed
  /// once.
  void share_with(const std::vector<const ir::Stage*>& others);

  /// For a local of the same function.
  kernel::Symbol claim(const std::string& wanted) { return locals_.claim(wanted); }
  /// The number of a pixel in its strip.
  const kernel::Symbol& i() const { return layout_.variables.i; }
  /// Names that another lowering for the same function has claimed are taken.
  void avoid_names_of(const ExpressionLowering& other) { locals_ = other.locals_; }

  /// A scope of statements: values computed inside are not known outside. Row pointers of reads inside go to
  /// `rows` if given, which has to stand outside the vector loop.
  void open(kernel::Block& block, kernel::Block* rows = nullptr);
  void close();

  /// The value, as expressions over what the open block has computed.
  Lanes lower(const ir::Expr& e);
  kernel::Expr lower(const ir::Affine& a) const { return lower_affine(a, layout_, coords_, taps_); }
  const kernel::Expr& coordinate(std::size_t dim) const { return coords_.at(dim); }

  /// What the operands of an operator stand for until they are bound anew, by side and component. Values that
  /// depend on them have to be computed in a scope of their own.
  void bind_operands(std::vector<std::vector<Lanes>> operands) { operands_ = std::move(operands); }

  /// Rows of a source that are kept in an array, borders along x resolved.
  struct KeptRows {
    kernel::Symbol array;
    /// The scalar with which the row at those coordinates begins: y, in a volume z, too.
    std::function<kernel::Expr(const std::vector<kernel::Expr>& row)> row;
    std::function<kernel::Expr(const kernel::Expr& x)> at;  ///< From there, that with the pixel x.
    bool rows_of_source;  ///< Only those: others are found by the border. Else there are rows beyond it, too.
    std::int64_t lane_pitch = 1;        ///< See pixel_pitch().
    kernel::Expr are_copied = nullptr;  ///< Where this holds, rows beyond the source are there nevertheless.
    std::int64_t shift =
        0;  ///< Added to how far pixels are away: the source's columns begin elsewhere than the stage's.
    /// If there is one: the array that the row at those coordinates has to itself, from the stage's first column on.
    std::function<kernel::Symbol(const std::vector<kernel::Expr>& row)> array_of = nullptr;
  };
  /// All reads of these stages are affine, and take their pixels from there. The current pixel is left + i,
  /// or left and another number: its coordinate, or how far it is from a place that all rows have at once,
  /// where `at` counts the pixels of each from that place. A number that is null is i.
  void keep_rows(std::unordered_map<const ir::Stage*, KeptRows> kept, kernel::Expr left,
                 kernel::Expr number = nullptr) {
    kept_rows_ = std::move(kept), left_ = std::move(left);
    i_ = number ? std::move(number) : kernel::name(i());
  }

  /// All pixels of a source that reads of the current pixel find, in an array: the first lane of that at those indices, counted
  /// from the beginnings of its box, and its lanes so far from one another.
  struct KeptColumn {
    kernel::Symbol array;
    std::function<kernel::Expr(const std::vector<kernel::Expr>& at)> place;
    std::int64_t lane_pitch;
  };
  void keep_column(const ir::Stage& source, KeptColumn kept) {
    kept_columns_.emplace(&source, std::move(kept));
  }

  /// The current pixel has this number among neighbours along a dimension that straight-line code computes together: their
  /// medians share work, pairs of them most.
  void number_neighbours(int along, kernel::Expr number) { along_ = along, number_ = std::move(number); }

  /// A row of a source at the current coordinates: the scalars from the start of its array, and where it is one of the
  /// source's; null: everywhere. Beyond, reads find their border's constant.
  struct RowOfRead {
    kernel::Expr offset, inside;
  };
  RowOfRead row_of(const ir::Read& read);
  /// The lanes of a pixel where it is inside, elsewhere the constant of the read's border.
  Lanes or_constant(const kernel::Expr& inside, Lanes lanes, const ir::Read& read);
  /// Pixels of the row that a read says, in a local array: those of the current columns, and some before and after them.
  struct Pack {
    ir::Read read;
    kernel::Symbol array;
    kernel::Expr inside;  ///< See RowOfRead.
    int before = 0;
  };
  /// Reads of these rows are of the `number`th of the pixels.
  void keep_packs(std::vector<Pack> packs, kernel::Expr number) {
    packs_ = std::move(packs), number_in_pack_ = std::move(number);
  }

  /// The folds that are computed before the vector loop that uses them, in order of evaluation: those too
  /// large for straight-line code, and those whose columns neighbouring pixels share.
  std::vector<const ir::Fold*> strip_folds(const std::vector<ir::Expr>& roots);
  /// Prepares such a fold for `count` neighbouring pixels from `x0`, at most `capacity`, in local arrays.
  /// lower() then reads the arrays at `i`.
  void fold_over_strip(const ir::Fold& fold, kernel::Block& block, const kernel::Expr& x0,
                       const kernel::Expr& count, int capacity);

  /// The reads of small tables of narrow pixels at computed places, outside of loops.
  std::vector<const ir::Read*> strip_tables(const std::vector<ir::Expr>& roots);
  /// Appends a loop that finds their places for `count` pixels, at most `capacity`, in local arrays. lower()
  /// then looks up what is there at `i`.
  void find_over_strip(const std::vector<const ir::Read*>& tables, kernel::Block& block,
                       const kernel::Expr& count, int capacity);

  /// The values that neighbours in a strip share.
  std::vector<analysis::SharedValue> strip_shared_values(const std::vector<ir::Expr>& roots) const;
  /// Appends loops that compute those of `count` pixels from `x0`, at most `capacity`, in a local array. lower() then
  /// looks them up.
  void tabulate(const analysis::SharedValue& value, kernel::Block& block, const kernel::Expr& x0,
                const kernel::Expr& count, int capacity);

 private:
  /// What a scope has given a name to: a row of an array (a pointer at an offset), a whole pixel of one, or an index.
  enum class What { Row, Pixel, Index };
  struct Found {
    What what;
    kernel::Symbol array;  ///< None of an index.
    kernel::Symbol name;
    kernel::Expr value;
  };
  struct Scope {
    kernel::Block* block;
    kernel::Block* rows;  // where row pointers go, or null: the enclosing scope's
    const ir::Loop* tap;  // the loop whose tap this scope unrolls, or null: a block of its own
    std::unordered_map<const void*, std::vector<Lanes>> values = {};  // by Node or Fold
    std::vector<Found> found = {};
  };
  struct TapLoops {
    kernel::Block* body;            // innermost
    kernel::Expr point;             // the index of the current point in the domain
    std::function<void(int)> bind;  // binds the taps to the current point, or to one that many after it
  };

  const plan::CodeLimits& limits() const { return kernel_.plan.code; }
  bool is_in_vector_loop() const { return place_ == Place::Interior || place_ == Place::Row; }
  void count_uses(const std::vector<ir::Expr>& roots);
  Lanes compute(const ir::Expr& e);
  Lanes named(const ir::Expr& e, Lanes lanes);
  Lanes with_names(const ir::Expr& e, Lanes lanes);
  Lanes lower_branch(const ir::Expr& e);
  Lanes read(const ir::Read& read, Type type);
  std::optional<Lanes> read_pack(const ir::Read& read, Type type);
  std::optional<std::int64_t> number_of(const ir::TapCoord& tap) const;
  bool is_direct(const ir::Read& read) const;
  Lanes read_kept(const KeptRows& kept, const ir::Read& read, Type type);
  Lanes read_column(const KeptColumn& kept, const ir::Read& read, Type type);
  Lanes coefficient(const ir::Coefficient& n);
  /// What tables of the stage are called after. One of some steps of a row has no array of its own.
  std::string name_of_array() const;
  Lanes median(const ir::Median& n, Type type);
  int order(const kernel::Symbol& array, Scalar type, const ir::Domain& window);
  std::vector<Lanes> fold(const ir::Fold& fold);
  std::vector<Lanes> fold_unrolled(const ir::Fold& fold);
  /// Several taps at a time, in a vector loop over the pixels of the strip.
  void accumulate_over_strip(const ir::Fold& fold, kernel::Block& block, const kernel::Expr& x0,
                             const kernel::Expr& count, int capacity);
  /// The fold as columns that neighbours share, where those are faster.
  std::optional<analysis::Separable> columns_of(const ir::Fold& fold) const;
  /// The columns of a separable fold; the rows are summed where the fold is used.
  void columns_over_strip(const ir::Fold& fold, const analysis::Separable& separable, kernel::Block& block,
                          const kernel::Expr& x0, const kernel::Expr& count, int capacity);
  Lanes row_of_columns(const ir::Fold& fold) const;
  std::vector<Lanes> fold_in_loop(const ir::Fold& fold);
  void name_values(std::vector<Lanes>& values, const std::string& wanted,
                   const std::vector<Lanes>* variables);

  /// Appends loops over the domain to `block`. Their body stands for `taps_at_once` taps, which bind() binds
  /// until release_taps: neighbours in x, or the next points of a domain that is no box. Of the latter, the
  /// loop leaves out the first ones, which do not fill a pass.
  TapLoops loop_over(const ir::Loop& loop, kernel::Block& block, int taps_at_once = 1);
  void bind_tap(const ir::Loop& loop, std::size_t point);
  void release_taps(const ir::Loop& loop);

  kernel::Expr place_in_table(const ir::Read& read);
  struct RowTable {
    kernel::Symbol array;
    Scalar type;
    int lanes;
    std::int64_t pitch;         ///< Scalars from plane to plane.
    kernel::Symbol first, end;  ///< Columns.
    ir::Affine column, first_column;
    ir::Expr plane;
    std::optional<ir::Range> planes;
    std::vector<kernel::Symbol> picked =
        {};  ///< What is there for each pixel, by lane, if that was looked up before.
  };
  Lanes look_up(const RowTable& table);
  kernel::Expr plane_in(const RowTable& table);  ///< From the first.
  void pick_planes(const analysis::SharedValue& value, kernel::Block& block, const kernel::Expr& x0,
                   const kernel::Expr& count, int capacity);

  kernel::Symbol row_pointer(const ArrayLayout& source, const kernel::Symbol& array,
                             const kernel::Expr& offset, const ir::Read& read);
  kernel::Expr bordered_index(const ir::Read& read, std::size_t dim, const kernel::Expr& index);
  kernel::Expr index_in_array(const ir::Read& read, std::size_t dim, bool direct, kernel::Expr& inside);
  kernel::Symbol whole_pixel(const ArrayLayout& array, const kernel::Expr& offset);
  const kernel::Symbol* find(What what, const kernel::Symbol& array, const kernel::Expr& value) const;
  std::string distance_suffix(const ir::Index& index, int dim) const;
  const std::unordered_set<const ir::Loop*>& free_loops(const ir::Expr& e);
  std::unordered_set<const ir::Loop*> free_loops(const ir::Fold& fold);
  const std::vector<Lanes>* known(const void* key) const;
  void remember(const void* key, const std::unordered_set<const ir::Loop*>& depends_on,
                std::vector<Lanes> value);
  void emit(kernel::Stmt statement) { scopes_.back().block->push_back(std::move(statement)); }

  const KernelContext kernel_;
  Layout& layout_;
  kernel::Names locals_;
  std::vector<kernel::Table>& tables_;
  std::vector<kernel::Network>& networks_;
  const Names& names_;
  const ir::Stage& stage_;
  const Place place_;
  const bool strict_;
  std::vector<kernel::Expr> coords_;
  kernel::Expr i_ = kernel::name(i());  ///< The number of the pixel in its strip, from which distances count.

  std::vector<Scope> scopes_;
  Taps taps_;
  std::unordered_map<const ir::Loop*, kernel::Expr> point_;  // index of the current point in its domain
  std::unordered_map<const ir::Loop*, std::vector<Lanes>> accumulators_;
  std::vector<std::vector<Lanes>> operands_;
  std::unordered_map<const ir::Stage*, KeptRows> kept_rows_;
  std::unordered_map<const ir::Stage*, KeptColumn> kept_columns_;
  kernel::Expr left_;
  int along_ = 0;  ///< Along which neighbours have numbers.
  kernel::Expr number_ = kernel::literal(0);
  std::vector<Pack> packs_;
  kernel::Expr number_in_pack_;
  std::unordered_map<const ir::Fold*, std::vector<std::vector<kernel::Symbol>>>
      strips_;  // local arrays of large folds
  struct Places {
    kernel::Symbol array;
    Scalar type;
  };
  std::unordered_map<const ir::Read*, Places> places_;             // in tables
  std::unordered_map<const ir::Read*, kernel::Symbol> looked_up_;  // arrays of what is there
  std::unordered_map<const ir::Node*, RowTable> row_tables_;
  struct Columns {
    analysis::Separable separable;
    std::vector<kernel::Symbol> arrays;  // by lane
  };
  std::unordered_map<const ir::Fold*, Columns> columns_;
  std::unordered_map<const ir::Node*, int> uses_;
  std::unordered_map<const ir::Node*, std::unordered_set<const ir::Loop*>> free_loops_;
};

}  // namespace weft::lower
