#include "plan/phases.h"

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

std::vector<Phase> phases_of(const KernelPlan& plan) {
  std::vector<Phase> phases;
  Phase loads;
  for (const Kept& kept : plan.kept) {
    if (!kept.is_member) loads.writes.insert(kept.stage);
  }
  if (!loads.writes.empty()) phases.push_back(std::move(loads));
  for (const Pass& pass : plan.passes) {
    Phase& phase = phases.emplace_back(Phase{pass});
    for (const std::string& stage : pass) {
      add_reads(plan, stage, phase.reads);
      if (plan.kept_of(stage)) phase.writes.insert(stage);
    }
  }
  return phases;
}

std::vector<bool> barriers_before(const std::vector<Phase>& phases) {
  std::vector<bool> before(phases.size(), false);
  std::set<std::string> read, written;
  for (int round = 0; round < 2; ++round) {
    for (std::size_t p = 0; p < phases.size(); ++p) {
      const Phase& phase = phases[p];
      if (meet(phase.reads, written) || meet(phase.writes, written) || meet(phase.writes, read))
        before[p] = true;
      if (before[p]) read.clear(), written.clear();
      read.insert(phase.reads.begin(), phase.reads.end());
      written.insert(phase.writes.begin(), phase.writes.end());
    }
  }
  return before;
}

}  // namespace weft::plan
