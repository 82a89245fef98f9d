#include "tools/kernel_costs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <weft/error.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "emit/gpu.h"
#include "host/plan.h"
#include "kernel/build.h"
#include "kernel/registers.h"
#include "kernel/symbol_format.h"
#include "kernel/visit.h"
#include "tools/terminal.h"

namespace weft::tools {
namespace {

/// 0 if a loop runs within a thread.
int pixels_per_pass(const kernel::Function& function) {
  using kernel::LoopKind;
  std::int64_t pixels = 1;
  kernel::visit_statements(function.body, [&](const kernel::Stmt& statement) {
    const auto* loop = std::get_if<kernel::For>(&statement.op);
    if (loop == nullptr || loop->kind == LoopKind::Unrolled || loop->has_block_each) return;
    const bool is_divided =
        loop->kind == LoopKind::GridX || loop->kind == LoopKind::GridY || loop->kind == LoopKind::GridZ;
    const auto step = loop->step ? kernel::literal_value(loop->step) : 1;
    pixels *= is_divided ? step.value_or(0) : 0;
  });
  return static_cast<int>(pixels);
}

std::optional<double> instructions_per_pixel(const KernelCost& cost) {
  if (cost.pixels_per_pass == 0) return std::nullopt;
  return static_cast<double>(cost.resources.instructions) / cost.pixels_per_pass;
}

std::vector<std::string> row_of(const KernelCost& cost) {
  const compile::KernelResources& r = cost.resources;
  const auto per_pixel = instructions_per_pixel(cost);
  return {cost.kernel,
          std::to_string(cost.threads),
          std::to_string(r.registers),
          std::to_string(r.static_shared),
          std::to_string(r.spill_stores + r.spill_loads),
          std::to_string(r.local_memory),
          std::to_string(r.instructions),
          per_pixel ? fmt::format("{:.4g}", *per_pixel) : "-",
          machine::to_string(cost.occupancy)};
}

}  // namespace

std::vector<KernelBlock> kernel_blocks(const kernel::Module& module) {
  std::vector<KernelBlock> blocks;
  for (const kernel::Function& function : module.functions) {
    const kernel::Grid& grid = *host::launch_of(module, function).grid;
    std::string why = grid.why;
    if (grid.layers > 1) {
      why += fmt::format("; {} layers, as {} are made alike", grid.layers,
                         fmt::join(kernel::uses_of(module, function.name).writes, ", "));
    }
    blocks.push_back(
        {function.name.spelling(), grid.block, kernel::estimated_registers(function).most, std::move(why)});
  }
  return blocks;
}

std::vector<KernelCost> kernel_costs(const kernel::Module& module, const machine::Architecture& architecture,
                                     const compile::DeviceCompiler& compiler) {
  const compile::DeviceFlags flags{architecture.name(), module.strict, {}};
  const compile::DeviceCode code =
      compiler.compile(emit::emit_cuda_kernels(module), flags, compile::ContentCache());
  const auto resources = compile::resources_of(code.cubin);
  std::vector<KernelCost> costs;
  for (const kernel::Function& function : module.functions) {
    const std::string& name = function.name.spelling();
    const auto found = resources.find(name);
    if (found == resources.end()) throw InternalError("the compiled code lacks '" + name + "'");
    KernelCost cost;
    cost.kernel = name;
    cost.resources = found->second;
    cost.threads = cost.resources.max_threads;  // launches have as many threads as __launch_bounds__ says
    cost.occupancy = machine::occupancy(architecture, compile::needs_of(cost.resources, cost.threads));
    cost.pixels_per_pass = pixels_per_pass(function);
    costs.push_back(std::move(cost));
  }
  return costs;
}

std::string KernelReport::text() const {
  Table decided({"kernel", "block", "because"});
  for (const KernelBlock& kernel : blocks)
    decided.add({kernel.kernel, fmt::format("{}", fmt::join(kernel.block, "x")), kernel.why});
  const std::string why = "blocks of threads\n" + decided.text();
  if (!missing.empty()) return why + "\nkernels: " + missing + "\n";
  Table table({"kernel", "threads", "registers", "shared B", "spilled B", "local B", "SASS", "SASS / pixel",
               "occupancy"});
  for (const KernelCost& cost : costs) table.add(row_of(cost));
  return why + fmt::format(
                   "\nkernels, compiled by {}\n{}"
                   "SASS: instructions in a kernel's text; per pixel where all loops are divided among "
                   "threads, and then "
                   "an\n"
                   "upper bound, since the text holds what borders need and what the compiler unrolls\n",
                   compiler, table.text());
}

nlohmann::ordered_json KernelReport::json() const {
  using Json = nlohmann::ordered_json;
  Json json = {{"compiler", compiler.empty() ? Json(nullptr) : Json(compiler)},
               {"missing", missing.empty() ? Json(nullptr) : Json(missing)},
               {"blocks", Json::array()},
               {"kernels", Json::array()}};
  for (const KernelBlock& kernel : blocks) {
    json["blocks"].push_back({{"name", kernel.kernel},
                              {"block", kernel.block},
                              {"estimated_registers", kernel.registers},
                              {"why", kernel.why}});
  }
  for (const KernelCost& cost : costs) {
    const compile::KernelResources& r = cost.resources;
    const auto per_pixel = instructions_per_pixel(cost);
    json["kernels"].push_back({{"name", cost.kernel},
                               {"threads", cost.threads},
                               {"registers", r.registers},
                               {"static_shared", r.static_shared},
                               {"spill_stores", r.spill_stores},
                               {"spill_loads", r.spill_loads},
                               {"local_memory", r.local_memory},
                               {"barriers", r.barriers},
                               {"instructions", r.instructions},
                               {"instructions_per_pixel", per_pixel ? Json(*per_pixel) : Json(nullptr)},
                               {"blocks_per_multiprocessor", cost.occupancy.blocks},
                               {"occupancy", cost.occupancy.fraction()},
                               {"limited_by", machine::name_of(cost.occupancy.binding())}});
  }
  return json;
}

KernelReport report_on_kernels(const kernel::Module& module, const machine::Architecture& architecture) {
  KernelReport report;
  report.blocks = kernel_blocks(module);
  std::optional<compile::DeviceCompiler> compiler;
  try {
    compiler.emplace();
  } catch (const Error& error) {
    report.missing = error.message();
    return report;
  }
  const std::string name = "NVRTC " + compiler->nvrtc().version();
  report.compiler = name;
  const std::vector<int> known = compiler->nvrtc().architectures();
  if (std::find(known.begin(), known.end(), 10 * architecture.major + architecture.minor) == known.end()) {
    report.missing = name + " does not compile for " + architecture.name();
    return report;
  }
  report.costs = kernel_costs(module, architecture, *compiler);
  return report;
}

}  // namespace weft::tools
