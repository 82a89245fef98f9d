#include "tools/graph.h"

#include <fmt/format.h>

#include <map>

#include "ir/print.h"

namespace weft::tools {
namespace {

using analysis::Pattern;

/// What is to be read as it is between double quotes.
std::string escaped(const std::string& text) {
  std::string out;
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

/// A name in double quotes.
std::string quoted(const std::string& text) { return "\"" + escaped(text) + "\""; }

const char* colour_of(Pattern pattern) {
  switch (pattern) {
    case Pattern::Point: return "#dcecd5";
    case Pattern::Local: return "#d6e4f5";
    case Pattern::Scaled: return "#fbe7cf";
    case Pattern::Gather: return "#f3d7e4";
    case Pattern::Global: return "#e4dcf3";
    case Pattern::Scatter: return "#f7d9d3";
    case Pattern::Time: return "#d3eeee";
  }
  return "white";
}

std::string footprint_text(const analysis::SourceSummary& source) {
  std::string text;
  if (source.pattern == Pattern::Local) text = analysis::window(source.footprint);
  if (source.pattern == Pattern::Scaled) text = analysis::offsets(source.footprint);
  if (source.pattern == Pattern::Gather) text = "anywhere";
  if (source.pattern == Pattern::Point) return text;
  for (ir::BorderMode mode : source.borders) text += " " + ir::name_of(mode);
  return text;
}

/// The stored stage whose kernel computes a stage.
std::string home_of(std::string stage, const schedule::Schedule& schedule) {
  while (!schedule.of(stage).has_kernel()) stage = schedule.of(stage).into;
  return stage;
}

/// For each stage, the one that names its frame.
using Homes = std::map<std::string, std::string>;

std::string node(const analysis::StageSummary& stage, bool stored) {
  return fmt::format("{} [label=\"{}\\n{}, {}\", fillcolor=\"{}\", style=\"filled{}\"];", quoted(stage.name),
                     escaped(stage.name), analysis::name_of(stage.pattern), weft::name_of(stage.type),
                     colour_of(stage.pattern), stored ? "" : ",dashed");
}

/// Stages that are at home with another are computed with it, and not stored.
std::string drawn(const ir::Pipeline& pipeline, const std::vector<analysis::StageSummary>& stages,
                  const Homes& homes) {
  std::string dot = fmt::format(
      "digraph {} {{\n  node [shape=box, fontname=\"sans-serif\", fontsize=11];\n"
      "  edge [fontname=\"sans-serif\", fontsize=9];\n",
      quoted(pipeline.name));
  for (const ir::StagePtr& input : pipeline.inputs)
    dot += fmt::format("  {} [label=\"{}\\n{}\", shape=ellipse];\n", quoted(input->name),
                       escaped(input->name), weft::name_of(input->type));
  std::map<std::string, std::vector<const analysis::StageSummary*>> kernels;
  for (const auto& stage : stages) kernels[homes.at(stage.name)].push_back(&stage);
  for (const auto& [home, members] : kernels) {
    const bool framed = members.size() > 1;
    if (framed) dot += fmt::format("  subgraph {} {{ style=dotted;\n", quoted("cluster_" + home));
    for (const auto* stage : members)
      dot += (framed ? "    " : "  ") + node(*stage, homes.at(stage->name) == stage->name) + "\n";
    if (framed) dot += "  }\n";
  }
  for (const auto& stage : stages) {
    for (const auto& source : stage.sources)
      dot += fmt::format("  {} -> {} [label=\"{}\"];\n", quoted(source.name), quoted(stage.name),
                         footprint_text(source));
  }
  return dot + "}\n";
}

}  // namespace

std::string read_text(const analysis::SourceSummary& source) {
  const std::string footprint = footprint_text(source);
  return footprint.empty() ? source.name : source.name + " " + footprint;
}

std::string to_dot(const ir::Pipeline& pipeline, const std::vector<analysis::StageSummary>& stages,
                   const schedule::Schedule& schedule) {
  Homes homes;
  for (const auto& stage : stages) homes[stage.name] = home_of(stage.name, schedule);
  return drawn(pipeline, stages, homes);
}

std::string to_dot(const ir::Pipeline& pipeline, const std::vector<analysis::StageSummary>& stages,
                   const schedule::hipacc::Partition& partition) {
  Homes homes;
  for (const schedule::hipacc::Group& group : partition.groups) {
    for (const schedule::hipacc::GroupMember& member : group.members)
      homes[member.stage] = group.members.back().stage;
  }
  return drawn(pipeline, stages, homes);
}

}  // namespace weft::tools
