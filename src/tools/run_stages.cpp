#include "tools/run_stages.h"

#include <fmt/format.h>
#include <weft/error.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <string>

#include "tools/sizes.h"
#include "tools/terminal.h"

namespace weft::tools {
namespace {

/// The stage of that name. Throws weft::Error.
ir::StagePtr find_stage(const std::string& name, const Job& job) {
  const ir::Pipeline& pipeline = job.pipeline();
  for (const ir::StagePtr& stage : pipeline.stages) {
    if (stage->name == name) return stage;
  }
  const std::string& application = job.application.name;
  for (const ir::StagePtr& input : pipeline.inputs) {
    if (input->name == name)
      throw Error(fmt::format("'{}' is an image of '{}', not a stage", name, application));
  }
  constexpr std::size_t most_listed = 12;
  const std::vector<std::string> names = names_of(pipeline.stages);
  std::string message = fmt::format("'{}' has no stage '{}'", application, name);
  if (names.size() <= most_listed)
    message += "; it has " + joined(names);
  else
    message += fmt::format("; its outputs are {}, and weft explain {} lists its other stages",
                           joined(names_of(pipeline.outputs)), application);
  throw unknown(message, name, names);
}

}  // namespace

void store_named_stages(const RunOptions& options, Job& job) {
  ir::Pipeline pipeline = job.pipeline();
  for (const std::string& text : options.outputs) {
    const std::string name = parse_assignment(text).name;
    const std::vector<std::string> known = names_of(pipeline.outputs);
    if (name.empty() || std::find(known.begin(), known.end(), name) != known.end()) continue;
    try {
      pipeline.outputs.push_back(find_stage(name, job));
      job.stages.push_back(name);
    } catch (Error& error) {
      throw error.help("a file whose name has a '=' is given as ./" + text);
    }
  }
  if (pipeline.outputs.size() == job.pipeline().outputs.size()) return;
  job.prepared.built.pipeline = Pipeline(std::make_shared<const ir::Pipeline>(std::move(pipeline)));
}

ProbePoint parse_probe(const std::string& text, const Job& job) {
  const std::size_t colon = text.rfind(':');
  const std::string name = colon == std::string::npos ? "" : text.substr(0, colon);
  ProbePoint point{name.empty() ? job.pipeline().outputs.at(0) : find_stage(name, job), {}};
  const ir::Stage& stage = *point.stage;
  if (stage.rank() == 0) throw Error("'" + stage.name + "' is one value, which has no pixels to probe");
  const std::vector<std::string> parts =
      split(colon == std::string::npos ? text : text.substr(colon + 1), ',');
  if (static_cast<int>(parts.size()) != stage.rank()) {
    const std::string form = std::string("X,Y,Z,W").substr(0, static_cast<std::size_t>(2 * stage.rank() - 1));
    throw Error(fmt::format("--probe '{}' is not of the form {}: '{}' has {}", text, form, stage.name,
                            dimensions(stage.rank())));
  }
  for (const std::string& part : parts)
    point.at.push_back(parse_count("the coordinate", part, std::numeric_limits<std::int64_t>::min()));
  return point;
}

}  // namespace weft::tools
