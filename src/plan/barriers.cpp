#include "plan/barriers.h"

#include <algorithm>

namespace weft::plan {
namespace {

/// What a stage reads of kept rows, itself or by way of values.
void add_reads(const KernelPlan& plan, const std::string& stage, std::set<std::string>& reads) {
  for (const std::string& source : plan.computed_of(stage)->reads) {
    if (plan.kept_of(source))
      reads.insert(source);
    else if (std::count(plan.values.begin(), plan.values.end(), source) > 0)
      add_reads(plan, source, reads);
  }
}

bool meet(const std::set<std::string>& a, const std::set<std::string>& b) {
  return std::any_of(a.begin(), a.end(), [&](const std::string& source) { return b.count(source) > 0; });
}

}  // namespace

std::vector<Turn> turns_of(const KernelPlan& plan) {
  std::vector<Turn> turns;
  Turn loads;
  for (const Kept& kept : plan.kept) {
    if (!kept.is_member) loads.writes.insert(kept.stage);
  }
  if (!loads.writes.empty()) turns.push_back(std::move(loads));
  for (const Pass& pass : plan.passes) {
    Turn& turn = turns.emplace_back(Turn{pass});
    for (const std::string& stage : pass) {
      add_reads(plan, stage, turn.reads);
      if (plan.kept_of(stage)) turn.writes.insert(stage);
    }
  }
  return turns;
}

std::vector<bool> barriers_before(const std::vector<Turn>& turns) {
  std::vector<bool> before(turns.size(), false);
  std::set<std::string> read, written;
  for (int round = 0; round < 2; ++round) {
    for (std::size_t p = 0; p < turns.size(); ++p) {
      const Turn& turn = turns[p];
      if (meet(turn.reads, written) || meet(turn.writes, written) || meet(turn.writes, read))
        before[p] = true;
      if (before[p]) read.clear(), written.clear();
      read.insert(turn.reads.begin(), turn.reads.end());
      written.insert(turn.writes.begin(), turn.writes.end());
    }
  }
  return before;
}

}  // namespace weft::plan
