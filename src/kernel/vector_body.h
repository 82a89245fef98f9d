// What the body of a loop for vectors does: arithmetic with scalars of rows that the loop goes along, if it is no more.
#pragma once

#include <optional>
#include <set>
#include <vector>

#include "kernel/ir.h"

namespace weft::kernel {

constexpr int vector_bytes = 64;  ///< A register of AVX-512: 16 floats, 8 doubles.
/// Vectors of a row that has columns (Columns), at least: 32 floats. The last vector may overlap the one before it.
constexpr int least_vectors_of_columns = 2;

/// What the loop's body declares, reads and computes.
class VectorBody {
 public:
  /// `loop` has to live as long.
  explicit VectorBody(const For& loop);

  /// A row, and where it is read: `places` scalars from array[base], which goes along with the loop's variable.
  struct Row {
    Symbol array;
    Scalar type;
    Expr base;
    std::set<int> places;

    int first() const { return *places.begin(); }
    int last() const { return *places.rbegin(); }
  };

  /// Whether it does nothing but arithmetic, and stores what it computes to rows. Of integers: what vectors do in as many bits.
  bool is_arithmetic() const { return is_arithmetic_ && !types_.empty(); }
  bool is_of_floats() const { return types_.size() == 1 && is_float(*types_.begin()); }
  /// Of a vector: the widest type fills it.
  int scalars() const;
  const std::vector<Row>& rows() const { return rows_; }

 private:
  bool look_at(const Stmt& statement);
  bool is_arithmetic(const Expr& e);
  bool is_arithmetic(const Expr& e, const Unary& n);
  bool is_arithmetic(const Expr& e, const Binary& n);
  bool is_arithmetic(const Expr& e, const Cast& n);
  bool note(const Load& load, Scalar type);
  bool varies(const Expr& e) const;
  bool goes_along(const Expr& index) const;

  const For& loop_;
  bool is_arithmetic_ = true;
  std::set<Symbol> varies_;
  std::set<Scalar> types_;
  std::vector<Row> rows_;
};

/// The loop of the update that steps in lanes take.
const For& loop_of(const StepsInLanes& steps);
/// Whether steps in lanes can take it: arithmetic with floats of one row, some beside the pixel.
bool is_update_of_line(const StepsInLanes& steps);
/// How many columns left and right of its own such an update reads.
struct Beside {
  int left, right;
};
Beside beside(const VectorBody::Row& row);

/// What a loop's body would load, where it loads at the loop's variable, `place` scalars from the one with which the pixel `from`
/// begins, beyond the ends of the row.
Expr beyond(const RowEnds& ends, const For& loop, const Load& at_variable, Scalar type, const Expr& from,
            int place);

/// What an index of the loop's body is where the loop's variable is `place`.
Expr index_at(const For& loop, const Expr& index, const Expr& place);

}  // namespace weft::kernel
