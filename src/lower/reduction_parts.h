// What the functions of a reduction have in common: how its elements are divided into parts, and how states
// are combined. Whoever computes the elements, the parts and the order within them are the same, and with
// them the bits of a sum of floats.
//
//     part:    a strip of one row, or several whole rows of narrower boxes: a few thousand elements
//     (plan/parts.h) start:   acc[l] = identity                       64 accumulators side by side row:
//     acc[l] = combined(acc[l], element)      of every 64th column, row after row finish:  parts[part] =
//     acc[0], after all have been combined in pairs total:   the parts, combined in pairs
//
// On GPUs, where elements have rows and may be combined in any order, a part is as many columns as there are
// accumulators, and several rows of each:
//
//     columns: acc[l] = combined(acc[l], element)      of the l-th column, row after row
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "lower/expressions.h"
#include "lower/lower_stage.h"
#include "lower/rows.h"

namespace weft::lower {

class ReductionParts {
 public:
  /// Declares the arrays that the states of the parts are stored to.
  explicit ReductionParts(const KernelContext& context);

  // ---- how the elements are divided

  /// Whether each accumulator has a column of the part.
  bool has_columns() const { return division_.by_column; }
  int columns_per_part() const { return division_.columns; }  ///< Or all, if they are fewer.
  int least_rows() const { return division_.rows; }  ///< Of a part, as images that are wide enough have.
  kernel::Expr strips_per_row() const;
  kernel::Expr rows_per_part() const;
  kernel::Expr strips_below() const;  ///< Of elements with rows: strips of parts, each below the other.
  kernel::Expr count() const;
  /// Of the part with that row, from the first, in that one of the strips of a row.
  static kernel::Expr number(const kernel::Expr& row, const kernel::Expr& rows_per_part,
                             const kernel::Expr& strip, const kernel::Expr& strips_per_row);

  // ---- the function that computes parts

  /// Claims the name and sets what the processor gives.
  kernel::Function function(const std::string& name, const std::string& comment) const;
  /// Along x, of the element that row() is at; or of the `l`-th column, from x0.
  kernel::Expr column() const;
  const kernel::Symbol& x0() const { return x0_; }
  /// The number of an accumulator, and of its column.
  const kernel::Symbol& l() const { return l_; }

  /// A state in memory: an element of each array, which are by component and lane.
  using Arrays = std::vector<std::vector<kernel::Symbol>>;
  /// Appends arrays of the function's own; `claim` makes a symbol with the spelling that is wanted.
  Arrays accumulators(const std::function<kernel::Symbol(const std::string&)>& claim,
                      kernel::Block& block) const;
  void start(ExpressionLowering& expressions, const Arrays& accumulators, kernel::Block& block) const;
  /// Combines with the elements of one row: those of the columns [from, until).
  void row(ExpressionLowering& expressions, const Arrays& accumulators, const kernel::Expr& from,
           const kernel::Expr& until, kernel::Block& block) const;
  /// Combines an accumulator with the element at the current coordinates.
  void element(ExpressionLowering& expressions, const Arrays& accumulators, const kernel::Expr& into,
               kernel::Block& block) const;
  /// Of a thread that has the `l`-th column: combines its rows, which are what `rows` makes of the work for one, and stores its
  /// accumulator.
  void own_column(ExpressionLowering& expressions, const Arrays& accumulators,
                  const std::function<kernel::Block(const std::function<kernel::Block()>& element)>& rows,
                  kernel::Block& block) const;
  /// Combines with the only element there is.
  void single(ExpressionLowering& expressions, const Arrays& accumulators, kernel::Block& block) const;
  /// Stores what the accumulators hold as the part of that number.
  void finish(ExpressionLowering& expressions, const Arrays& accumulators, const kernel::Expr& part,
              kernel::Block& block) const;

  // ---- launches

  /// Appends the function, and a launch of it for `launches` parts or strips of them; of GPUs, `below` as many.
  void launch_parts(kernel::Function function, const kernel::Expr& launches,
                    const kernel::Expr& below = nullptr);
  /// Appends what combines the parts, and finds the result.
  void launch_total();

 private:
  void launch(kernel::Function function, const kernel::Expr& count, int items,
              const kernel::Expr& below = nullptr);
  kernel::For lanes_loop(const kernel::Symbol& variable, const kernel::Expr& count, kernel::Block body) const;
  void alone(kernel::Block& block, kernel::Block body) const;
  std::vector<Lanes> loaded(const Arrays& arrays, const kernel::Expr& index) const;
  void combine(ExpressionLowering& expressions, kernel::Block& block, const Arrays& arrays,
               const kernel::Expr& into, std::vector<Lanes> left, std::vector<Lanes> right) const;
  Arrays arrays_like(const kernel::LocalArray& each, const std::function<kernel::Symbol()>& claim,
                     kernel::Block& block) const;
  kernel::Block several(ExpressionLowering& expressions, const kernel::Expr& parts, const kernel::Expr& first,
                        const kernel::Expr& stride) const;
  void combine_pairs(ExpressionLowering& expressions, const Arrays& accumulators, kernel::Block& block) const;
  void store_result(ExpressionLowering& expressions, kernel::Block& block) const;
  std::size_t components() const { return reduce_.element.size(); }
  int lanes(std::size_t component) const { return reduce_.element[component]->type.lanes; }

  const KernelContext context_;
  const ir::Stage& stage_;
  const ir::Reduce& reduce_;
  const ArrayLayout& array_;
  const Rows rows_;
  const plan::Parts division_;
  const bool on_gpu_;
  const kernel::Symbol x_, x0_, l_;
  Arrays parts_;
};

}  // namespace weft::lower
