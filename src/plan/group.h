// Stages that are one kernel: which of them march, and which are values of the others' loops.
//
//     dx = in(x + 1, y) - in(x - 1, y), xx = dx * dx, gxx = blur(xx)      xx and gxx march; dx is a value of
//     xx
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "analysis/operations.h"
#include "plan/choices.h"
#include "plan/march.h"

namespace weft::plan {

/// A stage with those that are computed in its place.
struct Loop {
  StageReads reads;
  analysis::Operations operations;  ///< Of a pixel, without the loads of what is in place.
  analysis::Operations shared =
      {};  ///< Of those what a core computes once for neighbours (analysis/shared_values.h).
  analysis::Operations alike = {};  ///< Of those what is the same for all rows of a volume's planes.
  bool has_flat_lanes = false;      ///< Of pixels with several, which are computed scalar by scalar.
  bool can_be_value = false;        ///< Of a loop that has all its readers.
  std::vector<const ir::Stage*> of_windows = {};  ///< It or what is in place that has folds or medians.
  std::vector<const ir::Stage*> of_medians = {};  ///< Likewise with medians.
  bool is_stored = false;                         ///< As the last loop of a group always is.
  bool overwrites_what_it_reads = false;          ///< It is stored there: no pixel may be computed twice.
  std::vector<std::string> in_place = {};         ///< The stages in its place.

  const ir::Stage& stage() const { return *reads.stage; }
};

/// Of a stage that nothing is in place of.
Loop loop_of(const ir::Stage& stage);
/// Of a pixel that is computed together with neighbours: what their medians have in common is done once, if networks sort them.
analysis::Operations operations_together(const Loop& loop, const analysis::Neighbours& neighbours,
                                         const CodeLimits& limits);

/// How they are one kernel.
struct Group {
  std::vector<Loop> loops;            ///< Producers first; the last is stored.
  std::set<const ir::Stage*> values;  ///< Of those, the ones that are values.
  std::vector<StageReads> members;    ///< The others, each with all that is read for it by way of values.
  March march;                        ///< Of the members. One alone has none, unless it has windows.
  std::vector<Window> halos;          ///< Of each loop: what is computed of it around a tile.
  std::set<const ir::Stage*> stored;  ///< Members that go to memory, too, besides the last.
  std::vector<ir::Expr> outcomes;     ///< Reads of those (StageReads).
  bool is_in_turn =
      false;  ///< One block computes its stages one after the other, each as a whole, and stores them all.

  const ir::Stage& result() const { return *members.back().stage; }
  /// Whether its columns of a scatter end in pixels of the result (plan/ended_columns.h).
  bool ends_columns() const {
    return members.size() > 1 && std::holds_alternative<ir::Scatter>(members[0].stage->definition);
  }
};
/// Of a pixel of the result, with all that the group computes for it.
double operations_of(const Group& group);

struct GroupOrWhy {
  std::optional<Group> group;
  std::string why;  ///< A clause.
};
/// Whether a tile of the result can store pixels of the stage, too.
bool can_be_stored_with(const ir::Stage& result, const ir::Stage& stage);
/// Or why they cannot be one, in that memory. One loop always can.
GroupOrWhy group_of(const std::vector<Loop>& loops, const Memory& memory = {});
/// One that is computed in turn: stages of pixels, whatever they read of one another, on GPUs.
GroupOrWhy group_in_turn(std::vector<Loop> loops, const Memory& memory);

}  // namespace weft::plan
