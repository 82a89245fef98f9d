// weft emit: the code of an application, for a user's own project.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <memory>
#include <optional>

#include "compile/scheduling.h"
#include "emit/bench.h"
#include "emit/cmake.h"
#include "emit/cpp.h"
#include "emit/gpu.h"
#include "ir/identifiers.h"
#include "tools/arguments.h"
#include "tools/commands.h"
#include "tools/compare.h"
#include "tools/files.h"
#include "tools/schedule_flags.h"
#include "tools/sizes.h"
#include "tools/targets.h"
#include "tools/terminal.h"
#include "tools/traffic.h"

namespace weft::tools {
namespace {

struct EmitOptions {
  std::string application, target = "cpp", architecture, folder, size;
  std::optional<std::string> name_space;
  ScheduleFlags schedule;
  std::vector<std::string> params, types;
  bool quiet = false;
};

/// Null for C++.
const target::Dialect* dialect_named(const std::string& name) {
  for (const target::Dialect* dialect : target::dialects()) {
    if (dialect->name == name) return dialect;
  }
  return nullptr;
}
/// A bench compares C++ with CUDA.
const target::Dialect& dialect_of(const EmitOptions& options) {
  const target::Dialect* dialect = dialect_named(options.target);
  return dialect ? *dialect : target::cuda();
}
std::string architecture_of(const EmitOptions& options) {
  return options.architecture.empty() ? std::string(dialect_of(options).usual_architecture)
                                      : options.architecture;
}

/// "cpp, cuda", and the others that there are.
std::vector<std::string> targets_of_functions() {
  std::vector<std::string> names = {"cpp"};
  for (const target::Dialect* dialect : target::dialects()) names.emplace_back(dialect->name);
  return names;
}
/// "a, b and c"
std::string listed(std::vector<std::string> names) {
  const std::string last = names.back();
  names.pop_back();
  return fmt::format("{} and {}", fmt::join(names, ", "), last);
}

bool is_name_in_cpp(const std::string& name) {
  return !name.empty() && !std::isdigit(static_cast<unsigned char>(name[0])) &&
         std::all_of(name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) || c == '_'; });
}

/// "", "mine" or "mine::pictures".
void check_namespace(const std::string& name, const std::string& target) {
  if (target == "bench") throw Error("--namespace is for the functions of one target; a bench has its own");
  for (std::string rest = name; !rest.empty();) {
    const std::size_t end = rest.find("::");
    const bool is_last = end == std::string::npos;
    const std::string part = rest.substr(0, end), safe = ir::safe_identifier(part);
    if (!is_name_in_cpp(part) || (!is_last && end + 2 == rest.size())) {
      throw Error("'" + name + "' is no namespace of C++")
          .help("write mine or mine::pictures, say, or '' for none");
    }
    if (part != safe)
      throw Error("the namespace '" + part + "' may be a keyword, a macro or a name of emitted code")
          .help("write " + safe);
    rest = is_last ? "" : rest.substr(end + 2);
  }
}

void check(const EmitOptions& options) {
  const std::string& target = options.target;
  if (target != "cpp" && target != "bench" && !dialect_named(target)) {
    std::vector<std::string> names = targets_of_functions();
    names.push_back("bench");
    throw Error("nothing is emitted for '" + target + "'; there are " + listed(names));
  }
  if (!options.size.empty() && target != "bench")
    throw Error("--size is for --target bench; sizes are arguments of the emitted function");
  if (options.name_space) check_namespace(*options.name_space, target);
  const target::Dialect& dialect = dialect_of(options);
  const std::string name = architecture_of(options);
  const std::size_t digit = dialect.architecture_prefix.size();
  const bool is_architecture = name.starts_with(dialect.architecture_prefix) && name.size() > digit + 1 &&
                               std::isdigit(name[digit]) &&
                               std::all_of(name.begin() + static_cast<std::ptrdiff_t>(digit), name.end(),
                                           [](unsigned char c) { return std::isalnum(c); });
  if (!is_architecture)
    throw Error(fmt::format("'{}' is no architecture; write {}, say", name, dialect.usual_architecture));
}

target::Target gpu_of(const EmitOptions& options) {
  return {target::Processor::Gpu, dialect_of(options).architecture(architecture_of(options))};
}

using Files = std::map<std::string, std::string>;

/// Options alone: parameters are arguments of the emitted function.
Prepared prepare_without_params(const EmitOptions& options) {
  Prepared prepared =
      prepare(find_application(options.application), options.params, parse_types(options.types));
  if (!prepared.params.empty()) {
    throw Error("parameter '" + prepared.params.begin()->first + "' is an argument of the emitted function")
        .help("leave it out here, and give it to the function when it is called");
  }
  return prepared;
}

Files emitted_function(const EmitOptions& options) {
  const Prepared prepared = prepare_without_params(options);
  const target::Dialect* dialect = dialect_named(options.target);
  const target::Target target = dialect ? gpu_of(options) : target::Target(target::Processor::Cpu);
  const kernel::Module module =
      compile::lowered(prepared.built.pipeline.ir(), target, parse(options.schedule));
  return dialect ? emit::emit_gpu_for_users(module, architecture_of(options), options.name_space, *dialect)
                 : emit::emit_for_users(module, options.name_space);
}

/// The folder may have a CMakeLists.txt already: Weft's own gets another part, and no other is touched.
void merge_cmake(Files& files, const std::filesystem::path& folder) {
  const auto added = files.find("CMakeLists.txt");
  const std::filesystem::path file = folder / "CMakeLists.txt";
  if (added == files.end() || !std::filesystem::exists(file)) return;
  const auto merged = emit::merged_cmake(read_text(file), added->second);
  if (!merged) {
    throw Error("'" + file.string() + "' is there already, and not by 'weft emit'")
        .help("give the emitted files a folder of their own, and add_subdirectory() it");
  }
  added->second = *merged;
}

/// Images whose pixels do not matter.
std::map<std::string, Buffer> blank_images(const ir::Pipeline& pipeline, const Size& size) {
  std::map<std::string, Buffer> images;
  if (pipeline.inputs.empty()) return images;
  const ir::Sizes sizes = input_sizes(pipeline, size);
  for (const ir::StagePtr& input : pipeline.inputs)
    images[input->name] = Buffer::allocate(input->type, sizes.at(input->name));
  return images;
}

Files emitted_bench(const EmitOptions& options) {
  const Application& application = find_application(options.application);
  const std::map<std::string, Type> types = parse_types(options.types);
  const Built declared = prepare(application, options.params, types).built;
  std::optional<Size> given;
  if (!options.size.empty()) given = parse_size(options.size);
  const Size size = bench_size(application, declared, given);
  const Prepared prepared = prepare(application, with_size(declared, options.params, size), types);
  const ir::Pipeline& definition = prepared.built.pipeline.ir();
  const compile::Scheduling scheduling = parse(options.schedule);
  const kernel::Module cuda = compile::lowered(definition, gpu_of(options), scheduling);

  emit::BenchPlan plan;
  std::vector<std::string> said = options.params;
  said.insert(said.end(), options.types.begin(), options.types.end());
  plan.options = joined(said, " ");
  plan.size = size.text();
  plan.fields =
      kernel::field_values(cuda, definition, ir::bound(blank_images(definition, size), prepared.params));
  for (const kernel::Array& array : cuda.arrays)
    plan.extents[array.name] = kernel::extents_of(array, plan.fields);
  plan.range = application.about.range;
  plan.rounded = !definition.strict && rounds_floats(definition);
  plan.kernel_bytes = traffic_of(cuda, plan.fields).total();
  return emit::emit_bench(cuda, compile::lowered(definition, target::Processor::Cpu, scheduling),
                          architecture_of(options), plan);
}

void emit(const EmitOptions& options) {
  check(options);
  Progress progress(options.quiet);
  Files files = [&] {
    const Activity generating(progress, "generating the code of " + options.application);
    return options.target == "bench" ? emitted_bench(options) : emitted_function(options);
  }();
  const std::filesystem::path folder = options.folder;
  merge_cmake(files, folder);
  for (const auto& [name, text] : files) make_folder((folder / name).parent_path());
  for (const auto& [name, text] : files) check_writable(folder / name);
  for (const auto& [name, text] : files) {
    const std::filesystem::path file = folder / name;
    write_text(file, text);
    if (text.starts_with("#!"))
      std::filesystem::permissions(file, std::filesystem::perms(0111), std::filesystem::perm_options::add);
    if (!options.quiet)
      fmt::print("{}: {} lines\n", file.string(), std::count(text.begin(), text.end(), '\n'));
  }
}

}  // namespace

void add_emit(Parser& weft) {
  auto options = std::make_shared<EmitOptions>();
  Command command = weft.add_command("emit", "writes an application's code, for your own project");
  command.add_option("APP", options->application, "the application").required();
  command
      .add_option("--target", options->target,
                  fmt::format("{}; or bench, C++, CUDA and a program that checks one\n"
                              "against the other and times it",
                              fmt::join(targets_of_functions(), "; ")))
      .capture_default_str();
  std::vector<std::string> architectures;
  for (const target::Dialect* dialect : target::dialects())
    architectures.push_back(fmt::format("{} for {}", dialect->usual_architecture, dialect->name));
  command.add_option("--arch", options->architecture,
                     fmt::format("the GPU that kernels are compiled for, and that blocks fill;\n"
                                 "unless said, {}",
                                 fmt::join(architectures, ", ")));
  command.add_option("--namespace", options->name_space,
                     "where the functions are declared; unless said, in a namespace\nof the pipeline's name; "
                     "'' for none");
  add_schedule_flags(command, options->schedule);
  command.add_option("-o,--output", options->folder, "the folder for the files").required();
  command.add_option("--size", options->size,
                     "for --target bench: WIDTHxHEIGHT of the images; unless said, that\n"
                     "of the application's source");
  command.add_repeatable("--param", options->params,
                         "NAME=VALUE: an option of the application; for --target bench\nalso a parameter");
  add_types(command, options->types);
  add_quiet(command, options->quiet);
  command.footer(
      "The files need neither Weft nor anything else but a C++ compiler, or that of the GPU's vendor.\n"
      "Among them is a CMakeLists.txt, for add_subdirectory(), which makes a library APP_TARGET, such as\n"
      "harris_cpp; a folder may hold several applications.\n"
      "Examples:\n  weft emit gaussian --param size=5 --target cpp -o generated\n"
      "  weft emit harris --target bench -o harris && harris/build && harris/bench");
  command.callback([options] { emit(*options); });
}

}  // namespace weft::tools
