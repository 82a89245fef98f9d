#include "schedule/hipacc/partition.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "base/counted.h"

namespace weft::schedule::hipacc {
namespace {

using Json = nlohmann::ordered_json;

const char* name_of(Storage storage) {
  switch (storage) {
    case Storage::Result: return "result";
    case Storage::Registers: return "registers";
    case Storage::Recomputed: return "recomputed";
    case Storage::Tile: return "shared memory";
  }
  throw InternalError("a storage without a name");
}

std::string legality(const EdgeBenefit& edge) {
  return !edge.legal ? "illegal" : edge.is_loss ? "loss" : "legal";
}

// ---- text -------------------------------------------------------------------------------------------------

using Row = std::vector<std::string>;

/// Columns as wide as they need to be, two blanks between them.
std::string columns(const std::vector<Row>& rows) {
  std::vector<std::size_t> widths;
  for (const Row& row : rows) {
    widths.resize(std::max(widths.size(), row.size()), 0);
    for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], row[c].size());
  }
  std::string text;
  for (const Row& row : rows) {
    std::string line = "  ";
    for (std::size_t c = 0; c < row.size(); ++c) line += fmt::format("{:<{}}  ", row[c], widths[c]);
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

/// A weight of epsilons alone as such; else whole clocks, or tenths, which hides epsilons.
std::string clocks(double value) {
  if (value > 0 && value < 1 && value == epsilon * static_cast<int>(value / epsilon)) {
    const int count = static_cast<int>(value / epsilon);
    return count == 1 ? "eps" : fmt::format("{} eps", count);
  }
  std::string text = fmt::format("{:.1f}", value);
  if (text.ends_with(".0")) text.erase(text.size() - 2);
  return text;
}

std::string edges_text(const Partition& partition) {
  std::vector<Row> rows = {{"edge", "scenario", "is", "weight", "benefit", "delta", "phi", "gamma", "cost_op",
                            "nALU", "nSFU", "IS", "sz", "because"}};
  for (const EdgeBenefit& e : partition.edges) {
    const BenefitTerms& t = e.terms;
    Row row = {e.from + " -> " + e.to, name_of(e.scenario), legality(e), clocks(e.weight)};
    if (e.scenario == Scenario::None) {
      row.insert(row.end(), 9, "-");
    } else {
      for (double value : {t.benefit(), t.delta, t.phi, t.gamma, t.cost_op, t.n_alu, t.n_sfu})
        row.push_back(clocks(value));
      row.push_back(std::to_string(t.images));
      row.push_back(t.window == 0 ? "-" : std::to_string(t.window));
    }
    row.push_back(e.why);
    rows.push_back(std::move(row));
  }
  return columns(rows);
}

std::string cuts_text(const Partition& partition) {
  std::vector<Row> rows = {{"cut", "weight", "because together", "sides"}};
  for (std::size_t i = 0; i < partition.cuts.size(); ++i) {
    const Cut& cut = partition.cuts[i];
    rows.push_back({std::to_string(i + 1), clocks(cut.weight), cut.why,
                    fmt::format("{} | {}", fmt::join(cut.side, "+"), fmt::join(cut.rest, "+"))});
  }
  return columns(rows);
}

std::string groups_text(const Partition& partition) {
  std::vector<Row> rows = {{"group", "weight", "saved", "shared", "registers", "stages", "because"}};
  for (std::size_t i = 0; i < partition.groups.size(); ++i) {
    const Group& group = partition.groups[i];
    std::vector<std::string> names;
    for (const GroupMember& member : group.members) names.push_back(member.stage);
    rows.push_back({std::to_string(i + 1), clocks(group.weight), clocks(group.saved),
                    fmt::format("{} B", group.shared_bytes), std::to_string(group.registers),
                    fmt::format("{}", fmt::join(names, "+")), group.why});
  }
  return columns(rows);
}

// ---- JSON -------------------------------------------------------------------------------------------------

Json as_json(const machine::Fact& fact) {
  return {{"value", fact.value}, {"source", machine::describe(fact.source)}};
}

Json as_json(const EdgeBenefit& e) {
  const BenefitTerms& t = e.terms;
  return {{"from", e.from},          {"to", e.to},         {"scenario", name_of(e.scenario)},
          {"legality", legality(e)}, {"weight", e.weight}, {"benefit", t.benefit()},
          {"delta", t.delta},        {"phi", t.phi},       {"gamma", t.gamma},
          {"cost_op", t.cost_op},    {"n_alu", t.n_alu},   {"n_sfu", t.n_sfu},
          {"images", t.images},      {"window", t.window}, {"why", e.why}};
}

Json as_json(const Group& group) {
  Json stages = Json::array();
  for (const GroupMember& member : group.members)
    stages.push_back({{"stage", member.stage}, {"storage", name_of(member.storage)}});
  return {{"stages", std::move(stages)},        {"weight", group.weight},       {"saved", group.saved},
          {"shared_bytes", group.shared_bytes}, {"registers", group.registers}, {"why", group.why}};
}

Json as_json(const BenefitModel& model) {
  return {{"global", as_json(model.costs.global)},
          {"shared", as_json(model.costs.shared)},
          {"alu", as_json(model.costs.alu)},
          {"sfu", as_json(model.costs.sfu)},
          {"gamma", model.gamma},
          {"epsilon", epsilon}};
}

Json as_json(const FusionLimits& limits) {
  return {{"block", {limits.block.x, limits.block.y}},
          {"occupancy_kept", limits.architecture ? Json(limits.occupancy_kept) : Json(nullptr)},
          {"shared_growth", limits.shared_growth}};
}

template <class T>
double total(const std::vector<Group>& groups, T Group::*value) {
  return std::accumulate(groups.begin(), groups.end(), 0.0,
                         [&](double sum, const Group& group) { return sum + group.*value; });
}

}  // namespace

std::string name_of(Fusion fusion) {
  switch (fusion) {
    case Fusion::None: return "none";
    case Fusion::Basic: return "basic";
    case Fusion::MinCut: return "mincut";
  }
  throw InternalError("a fusion without a name");
}

std::optional<Fusion> fusion_named(const std::string& name) {
  for (Fusion fusion : {Fusion::None, Fusion::Basic, Fusion::MinCut}) {
    if (name_of(fusion) == name) return fusion;
  }
  return std::nullopt;
}

double Partition::benefit() const { return total(groups, &Group::weight); }
double Partition::saved() const { return total(groups, &Group::saved); }

std::string to_text(const Partition& partition) {
  std::int64_t stages = 0;
  for (const Group& group : partition.groups) stages += std::ssize(group.members);
  const machine::AccessCosts& costs = partition.model.costs;
  const ThreadBlock& block = partition.limits.block;
  const bool is_all = clocks(partition.saved()) == clocks(partition.benefit());
  const std::string with_others =
      is_all ? "" : fmt::format("; {} with edges that are illegal by themselves", clocks(partition.saved()));
  std::string text = fmt::format(
      "fusion {}: {} in {}, {} clocks per pixel saved (beta, Eq. 3.1){}\n"
      "  t_g {:g}, t_s {:g}, c_ALU {:g}, c_SFU {:g}, gamma {:g} clocks; blocks of {}x{} threads\n\n",
      name_of(partition.fusion), counted(stages, "stage"), counted(std::ssize(partition.groups), "group"),
      clocks(partition.benefit()), with_others, costs.global.value, costs.shared.value, costs.alu.value,
      costs.sfu.value, partition.model.gamma, block.x, block.y);
  if (!partition.edges.empty()) text += edges_text(partition) + "\n";
  if (!partition.cuts.empty()) text += cuts_text(partition) + "\n";
  return text + groups_text(partition);
}

std::string to_json(const Partition& partition) {
  Json json = {{"fusion", name_of(partition.fusion)},
               {"benefit", partition.benefit()},
               {"saved", partition.saved()},
               {"model", as_json(partition.model)},
               {"limits", as_json(partition.limits)},
               {"edges", Json::array()},
               {"cuts", Json::array()},
               {"groups", Json::array()}};
  for (const EdgeBenefit& edge : partition.edges) json["edges"].push_back(as_json(edge));
  for (const Cut& cut : partition.cuts)
    json["cuts"].push_back(
        {{"side", cut.side}, {"rest", cut.rest}, {"weight", cut.weight}, {"why", cut.why}});
  for (const Group& group : partition.groups) json["groups"].push_back(as_json(group));
  return json.dump(2);
}

}  // namespace weft::schedule::hipacc
