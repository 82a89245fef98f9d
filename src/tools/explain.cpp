// weft explain: what the compiler found out about an application's stages, and what it decided.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "analysis/footprint.h"
#include "analysis/row_reach.h"
#include "analysis/time_dependences.h"
#include "compile/scheduling.h"
#include "host/plan.h"
#include "ir/bindings.h"
#include "ir/print.h"
#include "lower/lower.h"
#include "machine/board.h"
#include "plan/split_proof.h"
#include "plan/warp_tiling_costs.h"
#include "schedule/groups.h"
#include "schedule/hipacc/partition.h"
#include "schedule/schedule.h"
#include "tools/arguments.h"
#include "tools/commands.h"
#include "tools/files.h"
#include "tools/graph.h"
#include "tools/json_text.h"
#include "tools/kernel_costs.h"
#include "tools/loop_costs.h"
#include "tools/machines.h"
#include "tools/roofs.h"
#include "tools/schedule_flags.h"
#include "tools/sizes.h"
#include "tools/targets.h"
#include "tools/terminal.h"
#include "tools/window_report.h"

namespace weft::tools {
namespace {

using Json = nlohmann::ordered_json;

struct ExplainOptions {
  std::string application, size, machine = "cpu", dot;
  ScheduleFlags schedule;
  std::vector<std::string> params, types;
  bool json = false, ir = false, compiler = false;
};

/// A stage with all that is known about it.
struct Explained {
  analysis::StageSummary summary;
  schedule::StagePlan plan;
  std::optional<ir::ConcreteBox> box;  ///< With --size.

  std::int64_t pixels() const {
    std::int64_t product = 1;
    for (std::int64_t extent : box->extent) product *= extent;
    return product;
  }
};

std::vector<Explained> explain_stages(const ir::Pipeline& pipeline, const schedule::Schedule& schedule,
                                      const std::optional<ir::Sizes>& sizes) {
  std::vector<Explained> stages;
  const auto summaries = analysis::summarize(pipeline);
  for (std::size_t i = 0; i < summaries.size(); ++i) {
    Explained stage{summaries[i], schedule.of(summaries[i].name), {}};
    if (sizes) stage.box = ir::evaluate(*pipeline.stages[i], *sizes);
    stages.push_back(std::move(stage));
  }
  return stages;
}

/// What the C++ compiler makes of the loops, if that is asked for.
std::optional<LoopsOfModule> explain_loops(const kernel::Module& module, const ExplainOptions& options) {
  if (!options.compiler) return std::nullopt;
  return loops_of(module);
}

/// What the kernels take of a board; nothing for the CPU.
std::optional<KernelReport> explain_kernels(const kernel::Module& module, const ExplainOptions& options) {
  const machine::Board* board = machine::find_board(options.machine);
  if (board == nullptr) return std::nullopt;
  return report_on_kernels(module, board->architecture());
}

// ---- text -------------------------------------------------------------------------------------------------

std::string box_text(const Explained& stage) {
  if (!stage.box) return stage.summary.box;
  std::string text = fmt::format("{}", fmt::join(stage.box->extent, "x"));
  const auto& min = stage.box->min;
  if (std::any_of(min.begin(), min.end(), [](auto m) { return m != 0; }))
    text += fmt::format(" at ({})", fmt::join(min, ", "));
  return text.empty() ? "one value" : text;
}

std::string sources_text(const analysis::StageSummary& stage) {
  std::vector<std::string> texts;
  for (const auto& source : stage.sources) texts.push_back(read_text(source));
  return texts.empty() ? "nothing" : joined(texts);
}

/// "9 stages in 6 kernels: 214 operations and 63 loads per pixel"
std::string totals(const std::vector<Explained>& stages) {
  std::int64_t operations = 0, loads = 0, kernels = 0, work = 0;
  for (const Explained& stage : stages) {
    const auto& o = stage.summary.operations;
    kernels += stage.plan.has_kernel() ? 1 : 0;
    operations += o.alu + o.sfu;
    loads += o.loads;
    if (stage.box) work += (o.alu + o.sfu) * stage.pixels();
  }
  std::string text = fmt::format("{} {} in {} {}", stages.size(), stages.size() == 1 ? "stage" : "stages",
                                 kernels, kernels == 1 ? "kernel" : "kernels");
  text += stages[0].box ? fmt::format(": {:.4g} million operations", static_cast<double>(work) * 1e-6)
                        : fmt::format(": {} operations and {} loads per pixel", operations, loads);
  return text;
}

std::string text_of(const std::vector<WindowReport>& windows) {
  if (windows.empty()) return "";
  Table table({"window", "of", "becomes", "because"});
  for (const WindowReport& w : windows) table.add({w.window, w.stage, w.form, w.why});
  return table.text() + "\n";
}

/// What integer sets say of the split tiles of an evolution.
std::string proof_text(const ir::Pipeline& pipeline, const plan::KernelPlan& kernel) {
  if (kernel.several.empty() || !kernel.several[0].split) return "";
  const auto stage = std::find_if(pipeline.stages.begin(), pipeline.stages.end(),
                                  [&](const ir::StagePtr& s) { return s->name == kernel.result; });
  const ir::Evolution& evolution = *std::get<ir::Evolve>((*stage)->definition).evolution;
  const plan::SplitProof proof = plan::prove(*kernel.several[0].split, analysis::time_dependences(evolution));
  if (!proof.refuted.empty()) return fmt::format("  refuted: {}\n", proof.refuted);
  return fmt::format(
      "  proved by {} integer sets, for all sizes and numbers of steps: tiles of '{}' cover each pixel once, "
      "and nothing "
      "comes before what it needs\n",
      proof.sets, kernel.result);
}

void print(const Application& application, const compile::Scheduled& what,
           const std::vector<Explained>& stages, const std::vector<WindowReport>& windows,
           const std::optional<ir::Sizes>& sizes, const host::Plan& host,
           const std::optional<KernelReport>& kernels, const std::optional<PipelineRoofs>& roofs,
           const std::optional<LoopsOfModule>& loops, const ExplainOptions& options) {
  fmt::print("{}: {}\n", application.name, application.about.summary);
  for (const ir::StagePtr& input : what.pipeline.inputs)
    fmt::print("  image {}: {} {}\n", input->name, weft::name_of(input->type),
               sizes ? Size{sizes->at(input->name)}.text() : ir::to_string(input->box));
  fmt::print("  {}\n\n", totals(stages));
  Table table({"stage", "pattern", "pixels", "box", "alu", "sfu", "loads", "reads"});
  for (const Explained& stage : stages) {
    const auto& s = stage.summary;
    table.add({s.name, analysis::name_of(s.pattern), weft::name_of(s.type), box_text(stage),
               std::to_string(s.operations.alu), std::to_string(s.operations.sfu),
               std::to_string(s.operations.loads), sources_text(s)});
  }
  fmt::print("{}\n{}schedule for {}{}\n", table.text(), text_of(windows), options.machine,
             what.search.empty() ? "" : ": " + what.search);
  Table decisions({"stage", "decision", "because"});
  for (const Explained& stage : stages) {
    const auto& plan = stage.plan;
    decisions.add({plan.stage, plan.where(), plan.why});
  }
  fmt::print("{}\n", decisions.text());
  for (const plan::KernelPlan& kernel : what.schedule.kernels)
    fmt::print("{}{}", plan::to_text(kernel), proof_text(what.pipeline, kernel));
  if (what.partition) fmt::print("\n{}", schedule::hipacc::to_text(*what.partition));
  fmt::print("\nhost plan\n{}", host::to_string(host));
  if (kernels) fmt::print("\n{}", kernels->text());
  if (roofs) fmt::print("\n{}", roofs->text());
  if (loops) fmt::print("\n{}", loops->text());
  if (const std::string machine = machine_text(options.machine); !machine.empty())
    fmt::print("\n{}", machine);
}

/// The paper's costs of kernels, by its lines, where they chose.
std::string paper_text(const compile::Scheduled& what, const compile::Scheduling& scheduling,
                       const std::optional<ir::Sizes>& sizes) {
  if (scheduling.cost != Cost::Paper || scheduling.board == nullptr) return "";
  Table table({"kernel", "cost", "transactions", "occupancy", "memory / compute", "shared unallocated",
               "registers unused", "overlap", "extra blocks"});
  const ir::Sizes known = sizes ? *sizes : plan::nominal_sizes(what.pipeline);
  for (const plan::KernelPlan& kernel : what.schedule.kernels) {
    if (!kernel.updates.empty() || !kernel.evolves_with.empty()) continue;
    const plan::WarpTilingCost c =
        plan::warp_tiling_cost(plan::warp_tiling_of(kernel, known, *scheduling.board), *scheduling.board);
    const auto share = [](double part) { return fmt::format("{:.1f} %", 100 * part); };
    table.add({kernel.result, fmt::format("{:.1f}", c.cost), fmt::format("{:.1f}", c.transactions),
               share(c.occupancy), fmt::format("{:.2f}", c.memory_per_compute), share(c.unallocated_shared),
               share(c.unused_registers), share(c.overlap), fmt::format("{:.0f}", c.extra_blocks)});
  }
  return "\ncost by the paper, of a warp's tile\n" + table.text();
}

// ---- JSON -------------------------------------------------------------------------------------------------

Json as_json(const analysis::SourceSummary& source) {
  Json json = {{"source", source.name},
               {"pattern", analysis::name_of(source.pattern)},
               {"window", analysis::window(source.footprint)},
               {"offsets", analysis::offsets(source.footprint)},
               {"reads", source.reads},
               {"borders", Json::array()}};
  for (ir::BorderMode mode : source.borders) json["borders"].push_back(ir::name_of(mode));
  return json;
}

Json as_json(const Explained& stage) {
  const auto& s = stage.summary;
  Json json = {
      {"name", s.name},
      {"pattern", analysis::name_of(s.pattern)},
      {"type", weft::name_of(s.type)},
      {"box", s.box},
      {"operations", {{"alu", s.operations.alu}, {"sfu", s.operations.sfu}, {"loads", s.operations.loads}}},
      {"sources", Json::array()},
      {"stored", stage.plan.stored},
      {"in_rows", stage.plan.in_rows},
      {"in_columns", stage.plan.in_columns},
      {"into", stage.plan.has_kernel() ? Json(nullptr) : Json(stage.plan.into)},
      {"why", stage.plan.why}};
  if (stage.box) json["min"] = stage.box->min, json["extent"] = stage.box->extent;
  for (const auto& source : s.sources) json["sources"].push_back(as_json(source));
  return json;
}

Json as_json(const std::vector<host::Node>& nodes) {
  Json list = Json::array();
  for (const host::Node& node : nodes) {
    constexpr const char* when[] = {"always", "host image", "empty image"};
    Json json = {{"does", host::to_string(node)},
                 {"reads", Json::array()},
                 {"writes", Json::array()},
                 {"after", node.after},
                 {"device", host::name_of(node.device)},
                 {"stream", node.stream},
                 {"when", when[static_cast<int>(node.when)]}};
    for (const host::Place& place : node.uses.reads)
      json["reads"].push_back({{"array", place.array.spelling()}, {"device", host::name_of(place.device)}});
    for (const host::Place& place : node.uses.writes)
      json["writes"].push_back({{"array", place.array.spelling()}, {"device", host::name_of(place.device)}});
    if (const auto* repeat = std::get_if<host::Repeat>(&node.what)) {
      for (const host::Turns& part : repeat->parts) json["parts"].push_back(as_json(part.nodes));
    }
    list.push_back(std::move(json));
  }
  return list;
}

void print_json(const Application& application, const ir::Pipeline& definition,
                const compile::Scheduled& what, const std::vector<Explained>& stages,
                const std::vector<WindowReport>& windows, const host::Plan& host,
                const std::optional<KernelReport>& kernels, const std::optional<PipelineRoofs>& roofs,
                const std::optional<LoopsOfModule>& loops, const ExplainOptions& options) {
  Json json = {{"application", application.name}, {"machine", options.machine}, {"inputs", Json::array()},
               {"outputs", Json::array()},        {"stages", Json::array()},    {"windows", Json::array()}};
  for (const auto& input : what.pipeline.inputs)
    json["inputs"].push_back({{"name", input->name}, {"type", weft::name_of(input->type)}});
  for (const auto& output : what.pipeline.outputs) json["outputs"].push_back(output->name);
  for (const Explained& stage : stages) json["stages"].push_back(as_json(stage));
  for (const WindowReport& w : windows)
    json["windows"].push_back(
        {{"stage", w.stage}, {"window", w.window}, {"becomes", w.form}, {"why", w.why}});
  if (Json board = machine_json(options.machine); !board.is_null()) json["board"] = std::move(board);
  json["schedule"] = json_of(schedule::to_json(what.schedule));
  if (!what.search.empty()) json["search"] = what.search;
  if (what.partition) json["fusion"] = json_of(schedule::hipacc::to_json(*what.partition));
  json["host"] = as_json(host.nodes);
  if (host.rows.reach)
    json["parts"] = {{"above", host.rows.reach->above},
                     {"below", host.rows.reach->below},
                     {"step", host.rows.reach->step}};
  if (!host.rows.why.empty()) json["parts"] = {{"why_not", host.rows.why}};
  if (kernels) json["device_code"] = kernels->json();
  if (roofs) json["predicted"] = roofs->json();
  if (loops) json["compiled"] = loops->json();
  if (options.ir) json["ir"] = ir::to_string(definition);
  fmt::print("{}\n", json_text(json));
}

void explain(const ExplainOptions& options) {
  check_machine(options.machine);
  std::optional<Size> size;
  if (!options.size.empty()) size = parse_size(options.size);
  const Application& application = find_application(options.application);
  const std::map<std::string, Type> types = parse_types(options.types);
  Prepared prepared = prepare(application, options.params, types);
  if (size) {
    check_rank(application, prepared.built, *size);
    prepared = prepare(application, with_size(prepared.built, options.params, *size), types);
  }
  const ir::Pipeline& definition = prepared.built.pipeline.ir();
  const machine::Board* board = machine::find_board(options.machine);
  if (board && options.compiler)
    throw Error(
        fmt::format("--compiler asks the C++ compiler, which compiles nothing for '{}'", options.machine))
        .help("leave out --machine, or --compiler");
  const target::Target target = board ? target::Target(target::Processor::Gpu, board->architecture())
                                      : target::Target(target::Processor::Cpu);
  compile::Scheduling scheduling = parse(options.schedule);
  if (board) scheduling.model.costs = machine::access_costs(*board), scheduling.board = board;
  const compile::Scheduled what = compile::scheduled(definition, target, scheduling);
  const ir::Pipeline& pipeline = what.pipeline;
  std::optional<ir::Sizes> sizes;
  if (size) sizes = input_sizes(pipeline, *size);
  const std::vector<Explained> stages = explain_stages(pipeline, what.schedule, sizes);
  if (!options.dot.empty()) {
    write_text(options.dot, what.partition
                                ? to_dot(definition, analysis::summarize(definition), *what.partition)
                                : to_dot(pipeline, analysis::summarize(pipeline), what.schedule));
  }
  if (options.ir && !options.json) {
    fmt::print("{}", ir::to_string(definition));
  } else {
    const kernel::Module module = lower::lower(pipeline, what.schedule.kernels, target);
    const host::Plan host =
        board ? host::plan_of(module, analysis::row_reach(definition)) : host::plan_of(module);
    const std::optional<KernelReport> kernels = explain_kernels(module, options);
    std::optional<PipelineRoofs> roofs;
    if (board && sizes && kernels && !kernels->compiler.empty())
      roofs = roofs_of(module, pipeline, what.schedule.kernels, *sizes, prepared.params, *board,
                       compile::DeviceCompiler());
    const std::optional<LoopsOfModule> loops = explain_loops(module, options);
    const std::vector<WindowReport> windows =
        windows_of(definition, what.schedule.preparation, target.processor, what.schedule.kernels);
    if (options.json)
      return print_json(application, definition, what, stages, windows, host, kernels, roofs, loops, options);
    print(application, what, stages, windows, sizes, host, kernels, roofs, loops, options);
    fmt::print("{}", paper_text(what, scheduling, sizes));
  }
  if (!options.dot.empty()) fmt::print("\n{}: the graph, for Graphviz\n", options.dot);
}

}  // namespace

void add_explain(Parser& weft) {
  auto options = std::make_shared<ExplainOptions>();
  Command command = weft.add_command("explain", "an application's stages, and what was decided about them");
  command.add_option("APP", options->application, "the application").required();
  command.add_option("--size", options->size,
                     "WIDTHxHEIGHT of the images (or WIDTH, or WIDTHxHEIGHTxDEPTH), to see boxes as numbers, "
                     "and with a board as --machine how long its kernels take at least");
  command.add_option("--machine", options->machine, "one of " + machine_names()).capture_default_str();
  add_schedule_flags(command, options->schedule);
  command.add_repeatable("--param", options->params,
                         "NAME=VALUE: an option or a parameter of the application");
  add_types(command, options->types);
  command.add_flag("--compiler", options->compiler,
                   "also asks the C++ compiler which loops it made vectors of, and why not of others");
  command.add_flag("--ir", options->ir, "the definition as the compiler holds it");
  command.add_option("--dot", options->dot, "also writes the graph to this file, for Graphviz");
  command.add_flag("--json", options->json, "one JSON object");
  command.footer(
      "Operations are counted per pixel: alu are additions, products and the like; sfu divisions, roots,\n"
      "exponentials. Loads are pixels read. A source without a window is read at the current pixel alone.\n"
      "A window is separated into columns and rows, stages of their own, in pieces if it is a box; or a "
      "strip\n"
      "of pixels shares its columns; or it is unrolled to straight-line code, or goes tap by tap.\n"
      "For a board, the CUDA is compiled by NVRTC, if it is there, and its registers, spills, instructions "
      "and\n"
      "occupancy are read back; that needs no GPU.\n"
      "With --size, too, each kernel's bounds are printed: memory, instructions issued, accesses, latency …, "
      "by the compiled\n"
      "code and what is known of the board; the floor is a copy of the images and results.\n"
      "The host plan is what runs around the kernels: memory, copies, launches, and which have to wait for "
      "which.\n"
      "With --compiler the emitted C++ is compiled, which takes a second or so. A loop over pixels that is "
      "not "
      "in\n"
      "vectors takes several times as long as it could.\n"
      "With --fuse none, basic or mincut, all edges between stages are listed with what fusing along them "
      "would save, in clocks "
      "per\n"
      "pixel, as the Hipacc thesis counts it (chapter 3); then the cuts, and the groups. A graph of --dot "
      "has\n"
      "a frame around each group. The schedule follows the groups as far as there are kernels for them.\n"
      "The JSON has it as \"schedule\", and --schedule of other commands reads that file.\n"
      "Examples:\n  weft explain harris\n  weft explain harris --fuse mincut\n  weft explain harris "
      "--compiler\n  weft explain harris "
      "--machine h200\n  weft explain harris --machine h200 --size 4096x4096\n  weft explain harris --dot "
      "harris.dot && dot -Tsvg harris.dot -o "
      "harris.svg");
  command.callback([options] { explain(*options); });
}

}  // namespace weft::tools
