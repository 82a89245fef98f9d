#include "emit/cpp.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <weft/error.h>

#include <algorithm>
#include <set>

#include "emit/c_like.h"
#include "emit/cmake.h"
#include "emit/module_text.h"
#include "emit/prelude.h"
#include "emit/writer.h"
#include "host/plan.h"
#include "ir/stage_ir.h"
#include "kernel/build.h"
#include "kernel/names.h"
#include "kernel/symbol_format.h"
#include "kernel/visit.h"

namespace weft::emit {

using kernel::Array;
using kernel::Expr;
using kernel::Module;

namespace {

constexpr int images_too_small = 2;  // returned by emitted functions

/// What emitted code asks of whoever runs it.
constexpr const char* host_interface = R"(#ifndef WEFT_HOST
#define WEFT_HOST
// Who provides memory and threads. Pass null for the C++ library's.
struct weft_host {
  void* context;
  // 64-byte aligned; cleared if asked; null when there is no memory left.
  void* (*allocate)(void* context, size_t bytes, bool clear);
  void (*release)(void* context, void* memory);
  // Calls body(frame, first, last) for parts that make up [0, count), in parallel, and returns when all are done.
  void (*parallel_for)(void* context, int64_t count, void (*body)(const void* frame, int64_t first, int64_t last),
                       const void* frame);
  // Loops over rows that take little are loops over portions of them, which take this many nanoseconds or more: less is
  // done before another thread hears of it. 0 stands for 2500, which suits threads that are there and sleep.
  int64_t least_portion = 0;
};
#endif
)";

constexpr const char* common_head = R"text(#if defined(__GNUC__) && !defined(__clang__)
#define WEFT_INDEPENDENT _Pragma("GCC ivdep")  // the iterations of the loop below are independent
#pragma GCC optimize("no-tree-sink")  // or what only one side of a select needs becomes a branch again
#pragma GCC optimize("no-thread-jumps")  // or selects become branches whose sides are selects: 5 comparisons for a clamp
#elif defined(__clang__)
#define WEFT_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define WEFT_INDEPENDENT
#endif
#define WEFT_SCALAR __asm__ volatile("");  // keeps the loop that it is in from being vectorised
#define WEFT_NOINLINE __attribute__((noinline))
)text";

// Where rows are computed together, GCC 12 would load again what it has in a register, unless a store between could have
// changed it. Of products by a constant it would make many shifts and sums.
constexpr const char* opaque_values = R"text(#if defined(__GNUC__) && !defined(__clang__)
#define WEFT_OPAQUE(value) __asm__("" : "+r"(value));  // hides what it is: where a pointer points to, or a factor
#else
#define WEFT_OPAQUE(value)
#endif
)text";

constexpr const char* flush_subnormals = R"text(
// While one lives, results too small for a normal float become 0: processors take a hundred cycles over each.
struct flush_subnormals {
#if defined(__SSE__)
  const unsigned saved = __builtin_ia32_stmxcsr();
  flush_subnormals() { __builtin_ia32_ldmxcsr(saved | 0x8000u); }
  ~flush_subnormals() { __builtin_ia32_ldmxcsr(saved); }
#else
  flush_subnormals() {}
#endif
};
)text";

constexpr const char* standard_host = R"(
void* host_allocate(void*, size_t bytes, bool clear) {
  void* memory = std::aligned_alloc(64, (bytes + 63) / 64 * 64);
  if (memory && clear) std::memset(memory, 0, bytes);
  return memory;
}

void host_release(void*, void* memory) { std::free(memory); }

// Threads share a loop: whoever has no part of it takes the next. Each starts another one before its first, unless
// none is left: so little work starts few threads.
struct shared_loop {
  void (*body)(const void*, int64_t, int64_t);
  const void* frame;
  int64_t count, parts;
  std::atomic<int64_t> next{0};

  void run(int64_t threads) {
    int64_t part = next++;
    std::thread other;
    if (threads > 1 && part + 1 < parts) other = std::thread([this, threads] { run(threads - 1); });
    for (; part < parts; part = next++) body(frame, count * part / parts, count * (part + 1) / parts);
    if (other.joinable()) other.join();
  }
};

void host_parallel_for(void*, int64_t count, void (*body)(const void*, int64_t, int64_t), const void* frame) {
  const int64_t cores = std::thread::hardware_concurrency(), most = cores < 1 ? 1 : 4 * cores;
  shared_loop loop = {body, frame, count, count < most ? count : most};
  loop.run(cores);
}

// Starting a thread takes several times as long as waking one.
const weft_host standard_host = {nullptr, host_allocate, host_release, host_parallel_for, 20000};
)";

bool has_opaque_values(const Module& module) {
  bool found = false;
  for (const kernel::Function& function : module.functions) {
    kernel::visit_statements(function.body, [&](const kernel::Stmt& statement) {
      const auto* pointer = std::get_if<kernel::Pointer>(&statement.op);
      const auto* variable = std::get_if<kernel::Let>(&statement.op);
      found |= (pointer && pointer->is_opaque) || (variable && variable->is_opaque);
    });
  }
  return found;
}

class CppEmitter {
 public:
  explicit CppEmitter(const Module& module) : module_(module) {}

  /// Everything below the includes. For users a null host means the C++ library's threads and memory, and
  /// there may be a namespace; for loading the function is static, and the host is always given.
  std::string body(bool for_users, const std::string& name_space = "") const {
    Writer out;
    CLike printer(out, module_.strict);
    out.raw("namespace {\n");
    if (for_users) out.raw(standard_host);
    out.raw("\n");
    frame(out);
    print_tables(out, module_, "const");
    print_networks(out, module_, "static inline __attribute__((always_inline))");
    for (const kernel::Function& function : module_.functions) print(out, printer, function);
    pipeline_function(out, printer, for_users);
    std::set<std::string> used = printer.used_helpers();
    if (has_portions(plan_.nodes)) used.insert("in_portions");
    if (std::any_of(module_.functions.begin(), module_.functions.end(),
                    [&](const kernel::Function& f) { return stores_past_caches(f); }))
      used.insert("settle_stores");
    const std::string helpers = prelude(used);
    return common_head + std::string(has_opaque_values(module_) ? opaque_values : "") +
           math_declarations(printer.used_functions(), module_.strict) + "\n" +
           inside(name_space, half_type(helpers + out.text(), for_users ? signature(true) : "") + helpers +
                                  (module_.strict ? "" : flush_subnormals) + "\n" + out.text());
  }

  std::string signature(bool with_default) const {
    std::string list;
    for (const std::string& p : parameters(module_)) list += p + ", ";
    return fmt::format("int {}({}const weft_host* host{})", function_name(module_), list,
                       with_default ? " = nullptr" : "");
  }

 private:
  std::string frame_type() const {
    const std::string name = identifier(module_) + "_frame";
    return std::isdigit(static_cast<unsigned char>(name[0])) ? "_" + name : name;
  }

  void frame(Writer& out) const {
    out.comment("What every kernel reads: images, their pitches in scalars, sizes and parameters.");
    out.open("struct " + frame_type());
    for (const Array& a : module_.arrays) out.line(pointer_type(a) + " " + a.name.spelling() + ";");
    const auto fields = [&](const std::vector<kernel::Field>& list, const std::string& type) {
      std::string names;
      for (const kernel::Field& f : list) names += (names.empty() ? "" : ", ") + f.name.spelling();
      if (!names.empty()) out.line(type + " " + names + ";");
    };
    fields(module_.sizes, "int64_t");
    fields(module_.strides, "int64_t");
    for (const auto* list : {&module_.params, &module_.counters}) {
      for (const kernel::Field& f : *list) out.line(c_type(f.type) + " " + f.name.spelling() + ";");
    }
    out.close("};");
    out.blank();
  }

  void print(Writer& out, CLike& printer, const kernel::Function& function) const {
    const auto launches = kernel::launches_of(module_);
    const bool is_called = std::none_of(launches.begin(), launches.end(), [&](const kernel::Launch* launch) {
      return launch->function == function.name;
    });
    out.comment(function.comment);
    const std::string instructions = CLike::instructions_for(function);
    if (!instructions.empty()) out.raw(fmt::format("#if {}\n", instructions));
    const auto used = kernel::names_in(function.body), written = kernel::arrays_written_in(function.body);
    std::string parameters = fmt::format("const {}& frame", frame_type());
    for (const kernel::Symbol& p : function.parameters)
      parameters += used.count(p) ? ", int64_t " + p.spelling() : ", int64_t";
    out.open(fmt::format("{}void {}({})", is_called ? "WEFT_NOINLINE " : "", function.name, parameters));
    for (const Array& a : module_.arrays) {
      if (!used.count(a.name)) continue;
      const char* constness = written.count(a.name) ? "" : "const ";
      const std::string type = constness + printer.stored_type(a.type.scalar) + "*";
      const bool is_same = printer.stored_type(a.type.scalar) == c_type(a.type.scalar);
      const std::string pointer = is_same ? "frame." + a.name.spelling()
                                          : fmt::format("reinterpret_cast<{}>(frame.{})", type, a.name);
      out.line(fmt::format("{} __restrict {} = {};", type, a.name, pointer));
    }
    for (const kernel::Field& f : kernel::fields_of(module_)) {
      if (used.count(f.name))
        out.line(fmt::format("const {} {} = frame.{};", c_type(f.type), f.name, f.name));
    }
    if (function.in_vectors) go_to_vectors(out, printer, function);
    printer.enter(function, module_);
    printer.print(function.body);
    out.close();
    if (!instructions.empty()) out.raw("#endif\n");
    out.blank();
  }

  void go_to_vectors(Writer& out, CLike& printer, const kernel::Function& function) const {
    const kernel::Function& in_vectors = kernel::function_named(module_, function.in_vectors);
    std::string arguments = "frame";
    for (const kernel::Symbol& p : function.parameters) arguments += ", " + p.spelling();
    out.raw(fmt::format("#if {}\n", CLike::instructions_for(in_vectors)));
    out.line(
        fmt::format("if ({}) return {}({});", printer.fills_vectors(in_vectors), in_vectors.name, arguments));
    out.raw("#endif\n");
  }

  void pipeline_function(Writer& out, CLike& printer, bool for_users) const {
    out.raw("}  // namespace\n\n");
    out.open((for_users ? "" : "static ") + signature(false));
    if (for_users) out.line("if (!host) host = &standard_host;");
    if (for_users && !module_.needed.empty())
      out.line(fmt::format("if ({}) return {};", too_small(module_), images_too_small));
    out.line(frame_type() + " frame;");
    for (const Array& a : module_.arrays) {
      const host::Allocate* own = allocation(a);
      out.line(fmt::format("frame.{} = {};", a.name, own ? "nullptr" : a.name.spelling()));
      for (std::size_t d = 0; d < a.strides.size(); ++d)
        out.line(
            fmt::format("frame.{} = {};", a.strides[d],
                        own ? printer.text(own->strides[d], "frame.", a.strides) : a.strides[d].spelling()));
    }
    for (const auto* list : {&module_.sizes, &module_.params}) {
      for (const kernel::Field& f : *list) out.line(fmt::format("frame.{0} = {0};", f.name));
    }
    for (const Array& a : module_.arrays) {
      if (stand_in(a)) out.line(fmt::format("{}* {} = nullptr;", c_type(a.type.scalar), when_empty(a.name)));
    }
    print(out, printer, plan_.nodes);
    out.line("return 0;");
    Writer release;
    release.indent();
    for (const Array& a : module_.arrays) {
      if (allocation(a)) release_if_any(release, "frame." + a.name.spelling());
      if (stand_in(a)) release_if_any(release, when_empty(a.name));
    }
    if (!release.text().empty()) {
      out.raw("\nout_of_memory:\n" + release.text());
      out.line("return 1;");
    }
    out.close();
  }

  const host::Allocate* allocation(const Array& a) const {
    return host::allocation_of(plan_, a.name, host::When::Always);
  }
  const host::Allocate* stand_in(const Array& a) const {
    return host::allocation_of(plan_, a.name, host::When::EmptyImage);
  }

  void print(Writer& out, CLike& printer, const std::vector<host::Node>& nodes) const {
    for (const host::Node& node : nodes) {
      if (&nodes == &plan_.nodes && begins_step(nodes, node)) out.blank();
      const bool is_own = node.when == host::When::Always;
      std::visit(
          ir::overloaded{
              [&](const host::Allocate& n) {
                is_own ? allocate(out, printer, n, "frame." + n.array.spelling()) : stand_in(out, printer, n);
              },
              [&](const host::Free& n) {
                is_own ? release(out, n) : release_if_any(out, when_empty(n.array));
              },
              [](const host::Copy&) { throw InternalError("a copy on the host alone"); },
              [&](const host::Launch& n) { print(out, printer, n); },
              [&](const host::Repeat& n) {
                print_repeat(out, printer, module_, n, "frame.",
                             [&](const std::vector<host::Node>& inner) { print(out, printer, inner); });
              },
          },
          node.what);
    }
  }

  void print(Writer& out, CLike& printer, const host::Launch& launch) const {
    const std::string work = printer.text(launch.work[0]);
    const std::string call =
        launch.picoseconds ? fmt::format("in_portions(host, {}, {}", work, printer.text(*launch.picoseconds))
                           : fmt::format("host->parallel_for(host->context, {}", work);
    out.line(call + ", [](const void* data, int64_t first, int64_t last) {");
    if (!module_.strict) out.line("  const flush_subnormals mode;");
    out.line(fmt::format("  {}(*static_cast<const {}*>(data), first, last);", launch.function, frame_type()));
    if (stores_past_caches(kernel::function_named(module_, launch.function))) out.line("  settle_stores();");
    out.line("}, &frame);");
  }

  static bool has_portions(const std::vector<host::Node>& nodes) {
    return std::any_of(nodes.begin(), nodes.end(), [](const host::Node& node) {
      const auto* launch = std::get_if<host::Launch>(&node.what);
      const auto* repeat = std::get_if<host::Repeat>(&node.what);
      if (launch) return launch->picoseconds.has_value();
      return repeat && std::any_of(repeat->parts.begin(), repeat->parts.end(),
                                   [](const host::Turns& part) { return has_portions(part.nodes); });
    });
  }

  bool stores_past_caches(const kernel::Function& function) const {
    if (function.in_vectors && stores_past_caches(kernel::function_named(module_, function.in_vectors)))
      return true;
    bool found = false;
    kernel::visit_statements(function.body, [&](const kernel::Stmt& s) {
      const auto* loop = std::get_if<kernel::For>(&s.op);
      found |= std::holds_alternative<kernel::StorePastCaches>(s.op) ||
               std::holds_alternative<kernel::StepsInLanes>(s.op) ||
               (loop && loop->vectors && loop->vectors->bytes);
    });
    return found;
  }

  static std::string when_empty(const kernel::Symbol& array) { return kernel::when_empty + array.spelling(); }
  static void release(Writer& out, const host::Free& n) {
    out.line(fmt::format("host->release(host->context, frame.{});", n.array));
    out.line(fmt::format("frame.{} = nullptr;", n.array));
  }
  static void release_if_any(Writer& out, const std::string& memory) {
    out.line(fmt::format("if ({0}) host->release(host->context, {0});", memory));
  }

  void stand_in(Writer& out, CLike& printer, const host::Allocate& n) const {
    const Array& a = host::array_named(module_, n.array);
    out.open(fmt::format("if ({})", printer.text(host::is_empty(a))));
    out.comment("Without pixels it is read as zero.");
    allocate(out, printer, n, when_empty(n.array));
    out.line(fmt::format("frame.{} = {};", n.array, when_empty(n.array)));
    for (std::size_t d = 0; d < a.strides.size(); ++d)
      out.line(fmt::format("frame.{} = {};", a.strides[d], printer.text(n.strides[d])));
    out.close();
  }

  void allocate(Writer& out, CLike& printer, const host::Allocate& n, const std::string& memory) const {
    const std::string scalars =
        printer.text(n.scalars, "frame.", host::array_named(module_, n.array).strides);
    out.line(fmt::format("{} = static_cast<{}*>(host->allocate(host->context, {} * sizeof({}), {}));", memory,
                         c_type(n.type), "static_cast<size_t>(" + scalars + ")", c_type(n.type),
                         printer.text(n.zeroed)));
    out.line(fmt::format("if (!{}) goto out_of_memory;", memory));
  }

  const Module& module_;
  const host::Plan plan_ = host::on_one_stream(host::plan_of(module_));
};

}  // namespace

namespace {

constexpr const char* integer_headers = "#include <stddef.h>\n#include <stdint.h>\n\n";

}  // namespace

std::string emit_for_loading(const Module& module) {
  const CppEmitter emitter(module);
  return head_comment(module) + integer_headers + host_interface + "\n" + emitter.body(false) +
         entry_function(module, "weft_entry", function_name(module), "const weft_host* host", "host");
}

std::string emit_for_loading_together(const std::vector<const Module*>& modules) {
  std::string text = std::string(integer_headers) + host_interface;
  for (std::size_t m = 0; m < modules.size(); ++m) {
    const CppEmitter emitter(*modules[m]);
    text += fmt::format("\nnamespace module_{} {{\n\n", m) + head_comment(*modules[m]) + emitter.body(false) +
            entry_function(*modules[m], entry_name(m), function_name(*modules[m]), "const weft_host* host",
                           "host") +
            fmt::format("\n}}  // namespace module_{}\n", m);
  }
  return text;
}

std::vector<std::string> float_flags(const Module& module) {
  // Nobody reads floating-point flags after a kernel, and loops with selects are vectorised only then.
  if (module.strict) return {"-fno-trapping-math", "-ffp-contract=off"};
  return {"-fno-trapping-math", "-freciprocal-math", "-ffp-contract=fast"};
}

std::string cpp_flags(const Module& module) {
  return fmt::format("-std=c++17 -O3 -march=native -fwrapv -fno-math-errno {}",
                     fmt::join(float_flags(module), " "));
}

namespace {

/// What clang says, unasked, when it optimizes.
constexpr const char* unspoken = R"(#if defined(__clang__)
#pragma clang diagnostic ignored "-Wpass-failed"  // loops that stay without vectors are right, too
#endif

)";

}  // namespace

std::map<std::string, std::string> emit_for_users(const Module& module,
                                                  const std::optional<std::string>& chosen) {
  const std::string name_space = chosen.value_or(default_namespace(module));
  CppEmitter emitter(module);
  Writer declaration;
  declaration.line(emitter.signature(true) + ";");
  std::map<std::string, std::string> files;
  const std::string returns =
      module.needed.empty()
          ? "// Returns 0, or 1 if there was not enough memory.\n"
          : fmt::format("// Returns 0; 1 if there was not enough memory; {} if images are too small.\n",
                        images_too_small);
  files[file_name(module) + ".h"] =
      "// Pipeline '" + title(module) +
      "', emitted by Weft.\n#pragma once\n\n#include <stddef.h>\n#include <stdint.h>\n\n" +
      std::string(host_interface) + "\n" +
      inside(name_space,
             half_type(declaration.text()) + documentation(module) + returns + declaration.text());
  files[file_name(module) + ".cpp"] =
      head_comment(module) + "//\n// Compile with: " + cpp_flags(module) + "\n#include \"" +
      file_name(module) +
      ".h\"\n\n#include <atomic>\n#include <cstdlib>\n#include <cstring>\n#include <thread>\n\n" + unspoken +
      emitter.body(true, name_space);
  files["CMakeLists.txt"] = cmake_for_cpp(module, cpp_flags(module));
  return files;
}

}  // namespace weft::emit
