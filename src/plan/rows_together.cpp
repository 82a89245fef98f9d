#include "plan/rows_together.h"

#include <algorithm>
#include <climits>
#include <map>
#include <set>

#include "analysis/case_box.h"
#include "analysis/separable.h"
#include "ir/visit.h"
#include "plan/core_strip.h"
#include "plan/window_code.h"

namespace weft::plan {
namespace {

// Values that rows have in common stay in registers from the first row to the last; processors have 16 or 32,
// and sums and products need some of them. Medians sort them at once, and save more than their ways to memory take
// (bench/results/2026-11-28-medians.md).
constexpr std::size_t most_shared = 20;
// Each row is code of its own.
constexpr std::int64_t most_operations_of_row = 200;
constexpr std::size_t most_taps = 100;
// What is saved has to be more than what rows at the ends of tiles cost, and than the estimate may be wrong.
constexpr double enough_saved = 0.1;
// Operations that take as long as an access, and go on beside it (machine/cpu.h).
constexpr double operations_of_access = 7;
constexpr std::int64_t operations_of_quotient = 16;

using Position = std::vector<std::int64_t>;  // of what is read, from the reader's own pixel
using Positions = std::map<const ir::Stage*, std::set<Position>>;

/// Adds where a read finds its pixels; or it is not known.
bool add(Positions& positions, const ir::Read& read) {
  std::set<const ir::Loop*> loops;
  std::vector<ir::Affine> distances;
  for (std::size_t d = 0; d < read.indices.size(); ++d) {
    const auto* index = std::get_if<ir::Affine>(&read.indices[d]);
    if (!index) return false;
    distances.push_back(*index - ir::Affine(ir::Atom(ir::Coord{static_cast<int>(d)})));
    index->mentions([&](const ir::Atom& atom) {
      if (const auto* tap = std::get_if<ir::TapCoord>(&atom)) loops.insert(tap->loop.get());
      return false;
    });
  }
  if (loops.size() > 1) return false;
  const auto add_at = [&](const std::vector<int>* point) {
    Position position;
    for (const ir::Affine& distance : distances) {
      const ir::Affine at = distance.substitute([&](const ir::Atom& atom) {
        const auto* tap = std::get_if<ir::TapCoord>(&atom);
        return tap && point ? ir::Affine((*point)[tap->dim]) : ir::Affine(atom);
      });
      if (!at.is_constant()) return false;
      position.push_back(at.constant());
    }
    positions[read.source.get()].insert(std::move(position));
    return true;
  };
  if (loops.empty()) return add_at(nullptr);
  const auto& points = (*loops.begin())->domain.points;
  return points.size() <= most_taps &&
         std::all_of(points.begin(), points.end(), [&](const auto& point) { return add_at(&point); });
}

/// Whether straight-line code is all that a stage takes, with those in its place: those that are not among what is read.
bool is_straight(const ir::Stage& stage, const std::set<const ir::Stage*>& read, const CodeLimits& limits) {
  bool is_so = std::holds_alternative<ir::Pure>(stage.definition) && has_networks(stage, limits);
  if (!is_so) return false;
  ir::visit(ir::expressions(stage), [&](const ir::Expr& e) {
    if (const auto* result = std::get_if<ir::FoldResult>(&e->op))
      is_so &= analysis::loads_little(*result->fold) || !analysis::as_separable(*result->fold, false);
    const auto* r = std::get_if<ir::Read>(&e->op);
    if (r && !r->source->box.empty() && !read.count(r->source.get()))
      is_so &= is_straight(*r->source, read, limits);
  });
  return is_so;
}

bool has_simple_cases(const ir::Stage& stage, const StagePass& pass) {
  const auto& cases = std::get<ir::Pure>(stage.definition).cases;
  return cases.size() == 1 ||
         (cases.size() == 2 && pass.size() == 1 && analysis::box_where(cases[0].when, stage.domain().size()));
}

/// Of each stage by itself.
double loads_one_by_one(const Group& group, const StagePass& pass) {
  double loads = 0;
  for (const Loop& loop : group.loops) {
    const bool is_in_pass = std::count(pass.begin(), pass.end(), &loop.stage()) > 0;
    if (is_in_pass) loads += static_cast<double>(loop.operations.loads) * loop.stage().type.lanes;
  }
  return loads;
}

/// Of what a loop reads of one image, what is in a register already: left neighbours of other values of the same row, if
/// emitted code names vectors (kernel/neighbours.h).
std::size_t left_neighbours(const std::set<Position>& read) {
  std::map<Position, std::vector<std::int64_t>> columns;  // by row
  for (const Position& position : read)
    columns[{position.begin() + 1, position.end()}].push_back(position.front());
  std::size_t count = 0;
  for (const auto& [row, x] : columns)
    if (x.size() > 1) count += std::count_if(x.begin(), x.end(), [](std::int64_t at) { return at < 0; });
  return count;
}

bool has_medians(const Group& group, const StagePass& pass) {
  return std::any_of(group.loops.begin(), group.loops.end(), [&](const Loop& loop) {
    return !loop.of_medians.empty() && std::count(pass.begin(), pass.end(), &loop.stage()) > 0;
  });
}

enum class Neighbours { Loaded, InRegisters };

/// Values that a loop loads for a pixel of a pass, lanes counted, if it computes `rows` rows; nothing if one loop may not be
/// enough.
std::optional<double> loads_together(const Group& group, const StagePass& pass, const CodeLimits& limits,
                                     int rows, Neighbours neighbours = Neighbours::InRegisters) {
  Positions positions;
  for (const StageReads& member : group.members) {
    if (std::count(pass.begin(), pass.end(), member.stage) == 0) continue;
    std::set<const ir::Stage*> read;
    for (const ir::Read* r : member.reads) read.insert(r->source.get());
    if (!is_straight(*member.stage, read, limits) || !has_simple_cases(*member.stage, pass))
      return std::nullopt;
    for (const ir::Read* r : member.reads) {
      if (!r->source->box.empty() && !add(positions, *r)) return std::nullopt;
    }
  }
  const Scalar type = pass.front()->type.scalar;
  const bool are_floats = is_float(type) && type != Scalar::F16 &&
                          std::all_of(positions.begin(), positions.end(),
                                      [&](const auto& entry) { return entry.first->type.scalar == type; });
  const bool has_neighbours = neighbours == Neighbours::InRegisters && are_floats;
  std::size_t loads = 0, shared = 0;
  for (const auto& [source, of_one] : positions) {
    std::set<Position> of_all;
    for (int row = 0; row < rows; ++row) {
      for (Position position : of_one) {
        if (position.size() > 1) position.back() += row;
        of_all.insert(std::move(position));
      }
    }
    const auto lanes = static_cast<std::size_t>(source->type.lanes);
    loads += (of_all.size() - (has_neighbours ? left_neighbours(of_all) : 0)) * lanes;
    shared += of_one.size() * rows - of_all.size();  // lanes are neighbours in one vector
  }
  if (shared > most_shared && !has_medians(group, pass)) return std::nullopt;
  return static_cast<double>(loads) / rows;
}

/// Twice as many, as long as that saves enough.
int rows_that_pay(const Group& group, const std::vector<StagePass>& passes, const CodeLimits& limits,
                  int most) {
  const March& march = group.march;
  if (march.in_parts || march.has_lanes_apart() || !march.has_one_rate()) return 1;
  const int down = static_cast<int>(group.result().domain().size()) - 1;
  double accesses = 0;
  for (const Loop& loop : group.loops) {
    const int lanes = loop.stage().type.lanes;
    const bool shares = loop.shared != analysis::Operations{};  // with the neighbours in its row
    const bool is_long = loop.operations.alu > most_operations_of_row && loop.of_medians.empty();
    if (is_long || shares) return 1;
    if (!group.values.count(&loop.stage())) accesses += lanes;
  }
  const auto time_of = [&](int rows) {
    double loads = 0;
    for (const StagePass& pass : passes) {
      const auto one = loads_together(group, pass, limits, 1),
                 together = loads_together(group, pass, limits, rows);
      loads += one && together ? *together : one ? *one : loads_one_by_one(group, pass);
    }
    double operations = 0;
    for (const Loop& loop : group.loops) {
      const analysis::Operations of_rows = operations_together(loop, {down, rows}, limits);
      operations += static_cast<double>(of_rows.alu + operations_of_quotient * of_rows.sfu);
    }
    return std::max(accesses + loads, operations / operations_of_access);
  };
  int rows = 1;
  for (double time = time_of(rows); 2 * rows <= most; rows *= 2) {
    const double of_twice = time_of(2 * rows);
    if (of_twice > (1 - enough_saved) * time) break;
    time = of_twice;
  }
  return rows;
}

}  // namespace

Choices with_rows_of_pass(Choices asked, const Group& group, int most) {
  const March& march = group.march;
  if (asked.rows || asked.traversal == Traversal::Static) return asked;
  for (int rows = rows_that_pay(group, passes_of(group.members, march), limits_with(false, asked.code), most);
       rows > 0; rows /= 2) {
    const auto has_room = [&](const RollingRows& r) {
      const auto kept = asked.kept.find(r.source().name);
      return kept == asked.kept.end() || kept->second.rows.value_or(INT_MAX) >= rows_needed(r, rows);
    };
    asked.rows = rows * march.step[1];
    const bool has_rooms = std::all_of(march.rolling.begin(), march.rolling.end(), has_room);
    if (has_rooms && !why_not_in_cores(asked, march)) return asked;
  }
  asked.rows.reset();
  return asked;
}

void count_together(KernelPlan& plan, const Group& group, const std::vector<StagePass>& passes, int rows) {
  for (const StagePass& pass : passes) {
    const auto one = loads_together(group, pass, plan.code, 1, Neighbours::Loaded),
               several = loads_together(group, pass, plan.code, rows);
    const auto last = std::find_if(plan.computed.begin(), plan.computed.end(),
                                   [&](const Computed& c) { return c.stage == pass.back()->name; });
    if (one && several) last->accesses -= *one - *several;
  }
}

}  // namespace weft::plan
