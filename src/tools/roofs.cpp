#include "tools/roofs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>

#include "host/plan.h"
#include "kernel/evaluate.h"
#include "kernel/trips.h"
#include "kernel/visit.h"
#include "machine/gpu.h"
#include "machine/occupancy.h"
#include "plan/block_costs.h"
#include "tools/sass_counts.h"
#include "tools/sizes.h"
#include "tools/terminal.h"
#include "tools/traffic.h"

namespace weft::tools {
namespace {

using compile::SassKind;

/// Of the images only the sizes matter: nothing lies where they point to.
ir::Bindings bindings_of(const ir::Pipeline& pipeline, const ir::Sizes& sizes,
                         const std::map<std::string, double>& params) {
  char nothing = 0;
  std::map<std::string, Buffer> images;
  for (const ir::StagePtr& input : pipeline.inputs)
    images.emplace(input->name, Buffer::on_gpu(&nothing, input->type, sizes.at(input->name)));
  return ir::bound(std::move(images), params);
}

class Roofs {
 public:
  Roofs(const kernel::Module& module, const ir::Pipeline& pipeline,
        const std::vector<plan::KernelPlan>& plans, const ir::Sizes& sizes,
        const std::map<std::string, double>& params, const machine::Board& board,
        const CompiledKernels& compiled)
      : module_(module),
        plans_(plans),
        sizes_(sizes),
        board_(board),
        gpu_(machine::gpu_speeds(board)),
        fields_(kernel::field_values(module, pipeline, bindings_of(pipeline, sizes, params))) {
    for (const kernel::Array& array : module.arrays) arrays_[array.name] = &array;
    for (const kernel::Launch* launch : kernel::launches_with_room(module)) {
      const int blocks = blocks_at_a_time(compiled.resources.at(launch->function.spelling()));
      fields_[launch->grid->room->field] = {.i = std::int64_t{blocks} * board.multiprocessors};
    }
    counts_ = sass_counts(module, compiled, sizes_and_room());
    for (const SassCount& count : sass_counts(module, compiled))
      instructions_[count.kernel] = instructions_of_loops(count);
    launches_ = launches_of_kernels(module, fields_);
    traffic_ = traffic_of_kernels(module, fields_);
  }

  std::vector<KernelRoofs> of_kernels() const {
    std::vector<KernelRoofs> kernels;
    for (const SassCount& count : counts_) kernels.push_back(of(count));
    return kernels;
  }

  double as_graph(const std::vector<KernelRoofs>& kernels) const {
    std::map<std::string_view, double> of_all;
    std::map<std::string, double> of_launch;
    for (const KernelRoofs& one : kernels) {
      for (const Roof& roof : one.roofs) {
        if (roof.what != "warps" && roof.what != "latency") of_all[roof.what] += roof.seconds;
      }
      const auto launches = static_cast<double>(std::max<std::int64_t>(one.launches, 1));
      of_launch[one.kernel] = one.longest_first().front().seconds / launches + gpu_.graph_launch.value;
    }
    double most = longest_chain(host::plan_of(module_).nodes, of_launch);
    for (const auto& [what, seconds] : of_all) most = std::max(most, seconds + gpu_.graph_launch.value);
    return most;
  }

  double bytes_of_images() const {
    std::set<kernel::Symbol> names;
    for (const kernel::Array& array : module_.arrays)
      if (array.role != kernel::Array::Role::Intermediate) names.insert(array.name);
    return bytes_of(names);
  }
  double floor() const { return bytes_of_images() / gpu_.bytes.value + gpu_.launch.value; }

 private:
  /// Of tiles as they are in this run; bands of steps are whole.
  kernel::FieldValues sizes_and_room() const {
    constexpr std::int64_t pitch = 4096;  // no loop asks how far apart rows lie
    kernel::FieldValues fields = kernel::nominal_fields(module_, pitch);
    for (const kernel::Field& field : module_.sizes) fields[field.name] = fields_.at(field.name);
    for (const kernel::Launch* launch : kernel::launches_with_room(module_))
      fields[launch->grid->room->field] = fields_.at(launch->grid->room->field);
    return fields;
  }

  KernelRoofs of(const SassCount& count) const {
    const std::int64_t launches = launches_.at(count.kernel);
    const auto times = static_cast<double>(launches);
    const double layers = grid_of(count.kernel).layers;
    const kernel::Uses uses = kernel::uses_of(module_, count.kernel);
    const machine::Architecture& architecture = board_.architecture();
    const auto kind = [&](SassKind k) { return count.kinds.at(static_cast<std::size_t>(k)); };
    double passes = kind(SassKind::Shuffle);
    for (const auto& [what, number] : count.widths) passes += number * std::max(1., what.second / 4.);
    // Counts are of a pixel of the array that a kernel stores most of; of updates, of a point that it reads.
    // A kernel of a band of steps stores pixels several times, and others not at all: they are counted by blocks.
    const double pixels = is_of_band(count.kernel)
                              ? blocks_of(count.kernel) * count.pixels
                              : layers * most_pixels(kind(SassKind::Atomic) > 0 ? uses.reads : uses.writes);
    const plan::KernelPlan* plan = plan_of(count.kernel, uses.writes);
    const double busy = plan != nullptr && plan->is_in_turn() ? layers : board_.multiprocessors;
    const auto at = [&](double each, double lanes) {
      return times * pixels * each / (lanes * busy * 1e6 * board_.boost_mhz);
    };
    const double issued =
        static_cast<double>(architecture.partitions) * architecture.warp / architecture.clocks_per_issue;
    return {count.kernel.spelling(),
            launches,
            {{"memory", static_cast<double>(traffic_.at(count.kernel).total()) / gpu_.bytes.value},
             {"issue", at(count.total(), issued)},
             {"warps", at(count.clocks(), warps_at_a_time(count) * architecture.warp)},
             {"accesses", at(passes, architecture.shared_lanes)},
             {"float", at(kind(SassKind::Float), architecture.fp32_lanes)},
             {"special", at(kind(SassKind::Special), architecture.sfu_lanes)},
             {"latency", times * latency(count, plan)}},
            times * gpu_.launch.value,
            times * instructions_.at(count.kernel) * gpu_.fetch.value,
            model(count.kernel, plan)};
  }

  static double instructions_of_loops(const SassCount& count) {
    return std::accumulate(count.loops.begin(), count.loops.end(), 0.,
                           [](double sum, const SassLoopCount& loop) { return sum + loop.instructions; });
  }

  /// Of nodes that come one after another.
  double longest_chain(const std::vector<host::Node>& nodes,
                       const std::map<std::string, double>& of_launch) const {
    std::vector<double> ends;
    for (const host::Node& node : nodes) {
      double begin = 0;
      for (const std::size_t earlier : node.after) begin = std::max(begin, ends[earlier]);
      double own = 0;
      if (const auto* launch = std::get_if<host::Launch>(&node.what))
        own = of_launch.at(launch->function.spelling());
      if (const auto* repeat = std::get_if<host::Repeat>(&node.what)) {
        for (const host::Turns& part : repeat->parts) {
          const kernel::Expr times = host::times_of(part.from, part.to, part.by);
          own += std::max(0., static_cast<double>(kernel::evaluate(times, fields_))) *
                 longest_chain(part.nodes, of_launch);
        }
      }
      ends.push_back(begin + own);
    }
    return ends.empty() ? 0 : *std::max_element(ends.begin(), ends.end());
  }

  double pixels_of(const kernel::Symbol& array) const {
    const std::vector<std::int64_t> extents = kernel::extents_of(*arrays_.at(array), fields_);
    return std::accumulate(extents.begin(), extents.end(), 1., std::multiplies<>());
  }
  double bytes_of(const std::set<kernel::Symbol>& arrays) const {
    return std::accumulate(arrays.begin(), arrays.end(), 0., [&](double sum, const kernel::Symbol& array) {
      return sum + pixels_of(array) * size_of(arrays_.at(array)->type);
    });
  }
  double most_pixels(const std::set<kernel::Symbol>& arrays) const {
    const auto bytes = [&](const kernel::Symbol& array) { return bytes_of({array}); };
    const auto most = std::max_element(arrays.begin(), arrays.end(),
                                       [&](const auto& a, const auto& b) { return bytes(a) < bytes(b); });
    return most == arrays.end() ? 0 : pixels_of(*most);
  }

  const kernel::Grid& grid_of(const kernel::Symbol& kernel) const {
    return *host::launch_of(module_, kernel::function_named(module_, kernel)).grid;
  }

  /// The only plan of a kernel that stores this; of each layer there is one.
  const plan::KernelPlan* plan_of(const kernel::Symbol& kernel,
                                  const std::set<kernel::Symbol>& written) const {
    std::vector<const plan::KernelPlan*> found;
    for (const plan::KernelPlan& plan : plans_) {
      const bool is_written = std::any_of(written.begin(), written.end(), [&](const kernel::Symbol& array) {
        return array.spelling() == plan.result;
      });
      if (is_written && plan.updates.empty() && !plan.parts) found.push_back(&plan);
    }
    return std::ssize(found) == grid_of(kernel).layers ? found.front() : nullptr;
  }

  /// Of all layers of a kernel.
  plan::BlockWork work_of(const kernel::Symbol& kernel, const plan::KernelPlan& plan) const {
    return plan::in_layers(plan::block_work_of(plan, sizes_, board_.architecture()), grid_of(kernel).layers);
  }

  std::optional<double> model(const kernel::Symbol& kernel, const plan::KernelPlan* plan) const {
    if (plan == nullptr) return std::nullopt;
    return plan::block_cost_of(work_of(kernel, *plan), gpu_);
  }

  double blocks_of(const kernel::Symbol& kernel) const {
    const kernel::Grid& grid = grid_of(kernel);
    double blocks = 1;
    for (std::size_t d = 0; d < grid.threads.size(); ++d)
      blocks *= std::ceil(static_cast<double>(kernel::evaluate(grid.threads[d], fields_)) / grid.block[d]);
    return blocks;
  }

  /// Of steps that change arrays in place.
  bool is_of_band(const kernel::Symbol& kernel) const {
    for (const kernel::Step& step : module_.steps) {
      const auto* repeat = std::get_if<kernel::Repeat>(&step);
      if (repeat == nullptr) continue;
      for (const kernel::Turns& part : repeat->parts) {
        for (const kernel::Launch& launch : part.launches) {
          if (launch.function == kernel && part.places == 0) return true;
        }
      }
    }
    return false;
  }

  int blocks_at_a_time(const compile::KernelResources& resources) const {
    const machine::BlockNeeds needs = compile::needs_of(resources, resources.max_threads);
    return std::max(1, machine::occupancy(board_.architecture(), needs).blocks);
  }
  /// Of a multiprocessor, if the kernel has that many.
  double warps_at_a_time(const SassCount& count) const {
    const double there_are = blocks_of(count.kernel) / board_.multiprocessors;
    const double of_block =
        std::ceil(static_cast<double>(count.resources.max_threads) / board_.architecture().warp);
    return std::clamp(there_are, 1., static_cast<double>(blocks_at_a_time(count.resources))) * of_block;
  }

  /// With as much room as compiled code leaves.
  plan::KernelPlan with_room(plan::KernelPlan plan, const SassCount& count) const {
    const kernel::Grid& grid = grid_of(count.kernel);
    if (grid.room)
      plan.levels.at(0).extent.back().enough = static_cast<int>(fields_.at(grid.room->field).i) / grid.layers;
    return plan;
  }

  /// Of one launch, in seconds.
  double latency(const SassCount& count, const plan::KernelPlan* plan) const {
    const double blocks = blocks_of(count.kernel);
    const double rounds =
        std::ceil(blocks / (static_cast<double>(board_.multiprocessors) * blocks_at_a_time(count.resources)));
    if (plan == nullptr || (!plan->is_tiled() && !plan->is_in_turn()))
      return rounds * plan::waiting_of({}, gpu_);
    return rounds * plan::waiting_of(work_of(count.kernel, with_room(*plan, count)), gpu_);
  }

  const kernel::Module& module_;
  const std::vector<plan::KernelPlan>& plans_;
  const ir::Sizes& sizes_;
  const machine::Board& board_;
  const machine::GpuSpeeds gpu_;
  kernel::FieldValues fields_;
  std::map<kernel::Symbol, const kernel::Array*> arrays_;
  std::map<kernel::Symbol, std::int64_t> launches_;
  std::map<kernel::Symbol, Traffic> traffic_;
  std::vector<SassCount> counts_;  ///< Of the tiles of this run.
  /// In the text of loops that tiles go through inside an image, which is what the seconds per instruction were measured
  /// with.
  std::map<kernel::Symbol, double> instructions_;
};

/// The board's architecture, or the oldest that the compiler knows.
const machine::Architecture& compiled_for(const machine::Architecture& architecture,
                                          const compile::DeviceCompiler& compiler) {
  const std::vector<int> known = compiler.nvrtc().architectures();
  const int oldest = *std::min_element(known.begin(), known.end());
  if (10 * architecture.major + architecture.minor >= oldest) return architecture;
  return machine::architecture(oldest / 10, oldest % 10);
}

std::string microseconds(double seconds) { return fmt::format("{:.2f}", 1e6 * seconds); }

}  // namespace

std::vector<Roof> KernelRoofs::longest_first() const {
  std::vector<Roof> sorted = roofs;
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const Roof& a, const Roof& b) { return a.seconds > b.seconds; });
  return sorted;
}

double KernelRoofs::expected() const {
  double longest = 0;
  for (const Roof& roof : roofs)
    longest = std::max(longest, roof.seconds * (roof.what == "latency" ? plan::part_of_waiting : 1));
  return launching + longest + fetching;
}

double PipelineRoofs::expected() const {
  return std::accumulate(kernels.begin(), kernels.end(), 0.,
                         [](double sum, const KernelRoofs& kernel) { return sum + kernel.expected(); });
}

double PipelineRoofs::seconds() const {
  return std::accumulate(kernels.begin(), kernels.end(), 0.,
                         [](double sum, const KernelRoofs& kernel) { return sum + kernel.seconds(); });
}

std::string PipelineRoofs::text() const {
  std::vector<std::string> header = {"kernel", "launches", "us", "bound by", "then"};
  if (!kernels.empty())
    for (const Roof& roof : kernels.front().roofs) header.emplace_back(roof.what);
  for (const char* last : {"code", "expected", "model"}) header.emplace_back(last);
  Table table(header);
  for (const KernelRoofs& kernel : kernels) {
    const std::vector<Roof> sorted = kernel.longest_first();
    std::vector<std::string> row = {
        kernel.kernel, std::to_string(kernel.launches), microseconds(kernel.seconds()),
        std::string(sorted.at(0).what),
        fmt::format("{} {:.0f} %", sorted.at(1).what,
                    sorted[0].seconds > 0 ? 100 * sorted[1].seconds / sorted[0].seconds : 0)};
    for (const Roof& roof : kernel.roofs) row.push_back(microseconds(roof.seconds));
    row.push_back(microseconds(kernel.fetching));
    row.push_back(microseconds(kernel.expected()));
    row.push_back(kernel.model ? microseconds(*kernel.model) : "-");
    table.add(std::move(row));
  }
  return fmt::format(
      "predicted for {}, at least, by what {} makes of it and what is known of the board; and as an "
      "H100 took it, with the code that each launch fetches\n{}"
      "all kernels one after another {} us; the floor, a copy of {:.4g} MB in one launch, {} us: {:.0f} %\n"
      "{}expected of them one after another {} us: {:.0f} %\n",
      size, compiler, table.text(), microseconds(seconds()), bytes / 1e6, microseconds(floor),
      100 * floor / seconds(),
      as_graph ? fmt::format("as a graph, from the second run on {} us: {:.0f} %\n", microseconds(*as_graph),
                             100 * floor / *as_graph)
               : "",
      microseconds(expected()), 100 * floor / expected());
}

nlohmann::ordered_json PipelineRoofs::json() const {
  using Json = nlohmann::ordered_json;
  Json json = {{"size", size},   {"compiler", compiler}, {"seconds", seconds()},    {"expected", expected()},
               {"floor", floor}, {"bytes", bytes},       {"kernels", Json::array()}};
  if (as_graph) json["as_graph"] = *as_graph;
  for (const KernelRoofs& kernel : kernels) {
    const std::vector<Roof> sorted = kernel.longest_first();
    Json each = {
        {"kernel", kernel.kernel},       {"launches", kernel.launches},   {"seconds", kernel.seconds()},
        {"bound_by", sorted.at(0).what}, {"then", sorted.at(1).what},     {"launching", kernel.launching},
        {"code", kernel.fetching},       {"expected", kernel.expected()}, {"bounds", Json::object()}};
    for (const Roof& roof : kernel.roofs) each["bounds"][std::string(roof.what)] = roof.seconds;
    if (kernel.model) each["model"] = *kernel.model;
    json["kernels"].push_back(std::move(each));
  }
  return json;
}

PipelineRoofs roofs_of(const kernel::Module& module, const ir::Pipeline& pipeline,
                       const std::vector<plan::KernelPlan>& plans, const ir::Sizes& sizes,
                       const std::map<std::string, double>& params, const machine::Board& board,
                       const compile::DeviceCompiler& compiler) {
  PipelineRoofs result;
  if (!pipeline.inputs.empty()) result.size = Size{sizes.at(pipeline.inputs.front()->name)}.text();
  const machine::Architecture& code = compiled_for(board.architecture(), compiler);
  result.compiler = "NVRTC " + compiler.nvrtc().version();
  if (code.name() != board.architecture().name())
    result.compiler += " for " + code.name() + ", the oldest that it compiles for,";
  const Roofs roofs(module, pipeline, plans, sizes, params, board, compiled_kernels(module, code, compiler));
  result.kernels = roofs.of_kernels();
  result.bytes = roofs.bytes_of_images();
  result.floor = roofs.floor();
  std::int64_t launches = 0;
  for (const KernelRoofs& kernel : result.kernels) launches += kernel.launches;
  if (launches > 1) result.as_graph = roofs.as_graph(result.kernels);
  return result;
}

}  // namespace weft::tools
