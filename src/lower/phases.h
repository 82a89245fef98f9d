// Pixels of a row that read a coarser image, by their place between its pixels.
//
//     out(x) = in(x / 2) + in((x + 1) / 2)
//  →  out(2 * i) = in(i) + in(i),   out(2 * i + 1) = in(i) + in(i + 1)
//
// Neighbours of one phase read neighbours, so that vectors are loaded instead of gathered.
//
// Rows that are computed together, by their distance from the first, which may be known to be even:
//
//     out(y) = in(y - 1) + in(y + 1)
//  →  out(y) = in(y - 1) + in(y + 1),   out(y + 1) = in(y) + in(y + 2)
//
//     out(y) = in(y / 2) + in((y + 1) / 2)
//  →  out(2 * k) = in(k) + in(k),   out(2 * k + 1) = in(k) + in(k + 1)
#pragma once

#include <array>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "analysis/phases.h"
#include "ir/stage_ir.h"

namespace weft::lower {

struct Phases {
  /// The pixels stages.size() * i + p, as functions of i, in the box of the i with pixels of each: a power of two of them.
  std::vector<ir::Stage> stages;
  std::unordered_map<const ir::Node*, std::string> names;  ///< Of the same parts of them as of the stage's.

  int count() const { return static_cast<int>(stages.size()); }
};

/// How many phases it takes so that no index along a dimension is divided: 1 if none is, or if it were more than `most`.
int phase_count(const ir::Stage& stage, int most, int dim = 0);

/// `names` are of parts of the stage. Unless it is `strict`, a pixel that occurs in a sum more than once is added once.
Phases phases_of(const ir::Stage& stage, int count,
                 const std::unordered_map<const ir::Node*, std::string>& names, bool strict);

using analysis::InSteps;
/// Images as functions of the number of the step, in both dimensions, over boxes that have all steps with pixels of theirs.
/// `names` are of parts of the stages; those of the same parts of what is returned are added to `added`. `strict` as above.
std::vector<ir::Stage> stages_in_steps(const std::vector<const ir::Stage*>& stages,
                                       const std::array<InSteps, 2>& steps,
                                       const std::unordered_map<const ir::Node*, std::string>& names,
                                       std::unordered_map<const ir::Node*, std::string>& added, bool strict);

/// `count` rows, or planes of a volume, from first.rate * k + first.first on: from any row (rate 1), or from one that is known
/// to be even (rate 2).
struct RowsTogether {
  int count = 1;
  InSteps first = {1, 0};
};
/// The stages in each of these rows, from the first on, as functions of k; their boxes have the k whose rows are all
/// inside. To the names of parts of the stages it adds those of the same parts of the rows. `strict` as
/// above.
std::vector<std::vector<ir::Stage>> rows_below(const std::vector<const ir::Stage*>& stages,
                                               const RowsTogether& together,
                                               std::unordered_map<const ir::Node*, std::string>& names,
                                               bool strict);

}  // namespace weft::lower
