#include "tools/targets.h"

#include <weft/error.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <memory>
#include <utility>

#include "runtime/executable.h"
#include "tools/arguments.h"
#include "tools/simt_program.h"

namespace weft::tools {
namespace {

constexpr std::array<std::pair<const char*, RunTarget>, 8> targets{{
    {"auto", RunTarget::Auto},
    {"cpu", RunTarget::Cpu},
    {"reference", RunTarget::Reference},
    {"cuda", RunTarget::Cuda},
    {"simt", RunTarget::SimtFast},
    {"simt-fast", RunTarget::SimtFast},
    {"simt-race", RunTarget::SimtRace},
    {"simt-address", RunTarget::SimtAddress},
}};

Target library_target(RunTarget target) {
  switch (target) {
    case RunTarget::Auto: return Target::Auto;
    case RunTarget::Reference: return Target::Reference;
    case RunTarget::Cuda: return Target::Cuda;
    default: return Target::Cpu;
  }
}

}  // namespace

RunTarget parse_target(const std::string& text) {
  const auto found =
      std::find_if(targets.begin(), targets.end(), [&](const auto& t) { return text == t.first; });
  if (found != targets.end()) return found->second;
  std::string names;
  for (const auto& [name, target] : targets) names += (names.empty() ? "" : ", ") + std::string(name);
  throw Error("there is no target '" + text + "'; there are " + names);
}

std::vector<RunTarget> parse_targets(const std::string& list) {
  std::vector<RunTarget> result;
  for (const std::string& name : split(list, ',')) {
    result.push_back(parse_target(name));
    if (name == "simt") result.insert(result.end(), {RunTarget::SimtRace, RunTarget::SimtAddress});
  }
  return result;
}

std::string name_of(RunTarget target) {
  // From the back: lists mean all builds of the checker by "simt".
  return std::find_if(targets.rbegin(), targets.rend(), [&](const auto& t) { return target == t.second; })
      ->first;
}

std::string name_of(RunTarget target, const Program& program) {
  if (target != RunTarget::Auto) return name_of(target);
  return name_of(program.target() == Target::Cuda ? RunTarget::Cuda : RunTarget::Cpu);
}

bool is_simt(RunTarget target) {
  return target == RunTarget::SimtFast || target == RunTarget::SimtRace || target == RunTarget::SimtAddress;
}

Program compile(const Pipeline& pipeline, RunTarget target, int threads,
                const compile::Scheduling& scheduling, RunProgress* progress) {
  switch (target) {
    case RunTarget::SimtFast:
    case RunTarget::SimtRace:
    case RunTarget::SimtAddress: return simt_program(pipeline, {build_of(target), {}, scheduling});
    default: break;
  }
  CompileOptions options;
  options.target = library_target(target), options.threads = threads;
  options.tile = scheduling.tile, options.fuse = scheduling.fuse, options.cost = scheduling.cost,
  options.schedule = scheduling.groups;
  const auto told = std::make_shared<std::atomic<bool>>(false);  // benchmarks run it many times
  return runtime::compile_watched(pipeline, options, progress, [told](const std::string& reason) {
    if (!told->exchange(true))
      std::fprintf(stderr, "weft: the CPU takes the GPU's place: %s\n", reason.c_str());
  });
}

}  // namespace weft::tools
