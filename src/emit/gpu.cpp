#include "emit/gpu.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <weft/error.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "emit/c_like.h"
#include "emit/cmake.h"
#include "emit/gpu_host_helpers.h"
#include "emit/gpu_prelude.h"
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
using kernel::LoopKind;
using kernel::Module;
using target::Dialect;

namespace {

/// For host memory, and for device memory.
std::string entries(const Module& module, const std::string& name) {
  return entry_function(module, name, function_name(module) + "_on_host") +
         entry_function(module, name + "_on_device", function_name(module), "", "nullptr");
}

/// Kernels as C++ of a GPU's vendor.
class GpuPrinter : public CLike {
 public:
  GpuPrinter(Writer& out, bool strict, const Dialect& dialect) : CLike(out, strict), dialect_(dialect) {}

  std::string stored_type(Scalar s) const override { return c_type(s); }

 protected:
  void open_loop(const kernel::For& loop) override {
    const bool by_one_thread = loop.kind == LoopKind::Threads && kernel::is_literal(loop.to, 1) &&
                               !kernel::names_in(loop.body).count(loop.variable);
    if (by_one_thread) return open("if (threadIdx.x == 0)");
    const bool is_wide = loop.from->type == Scalar::I64;
    const auto head = [&](std::string first, std::string apart) {
      if (loop.step) {
        const std::string times = " * " + spelt(loop.step, tightest);
        first += times, apart += times;
      }
      const std::string from =
          kernel::is_literal(loop.from, 0) ? first : spelt(loop.from, tightest) + " + " + first;
      open(fmt::format("for ({4} {0} = {1}; {0} < {2}; {0} += {3})", loop.variable, from,
                       operand_of_comparison(loop.to), apart, c_type(loop.from->type)));
    };
    const auto grid = [&](const std::string& d) {
      const std::string wide = is_wide ? wide_prefix : "";
      head(helper(wide + "thread_" + d) + "()", helper(wide + "threads_" + d) + "()");
    };
    const auto blocks = [&](const std::string& d) {
      const std::string wide = is_wide && loop.step ? "(int64_t)" : "";
      if (loop.has_block_each) {
        open("");
        const std::string from = kernel::is_literal(loop.from, 0) ? "" : spelt(loop.from, tightest) + " + ";
        const std::string times = loop.step ? " * " + spelt(loop.step, tightest) : "";
        return line(fmt::format("const {} {} = {}{}blockIdx.{}{};", c_type(loop.from->type), loop.variable,
                                from, wide, d, times));
      }
      head(wide + "blockIdx." + d, wide + "gridDim." + d);
    };
    switch (loop.kind) {
      case LoopKind::GridX: return grid("x");
      case LoopKind::GridY: return grid("y");
      case LoopKind::GridZ: return grid("z");
      case LoopKind::BlocksX: return blocks("x");
      case LoopKind::BlocksY: return blocks("y");
      case LoopKind::BlocksZ: return blocks("z");
      case LoopKind::Threads: return head("threadIdx.x", "blockDim.x");
      case LoopKind::Warps:
        open("");
        return line(fmt::format("const {0} {1} = ({0})threadIdx.y;", c_type(loop.from->type), loop.variable));
      case LoopKind::Lanes:
        open("");
        return line(fmt::format("const {0} {1} = ({0})threadIdx.x;", c_type(loop.from->type), loop.variable));
      case LoopKind::Unrolled: line("#pragma unroll"); return CLike::open_loop(loop);
      case LoopKind::Rolled: line("#pragma unroll 1"); return CLike::open_loop(loop);
      default: CLike::open_loop(loop);
    }
  }
  void print(const kernel::LocalArray& array) override {
    const std::string shared = array.is_aligned ? "__shared__ __align__(16) " : "__shared__ ";
    line(fmt::format("{}{} {}[{}]{};", array.storage == kernel::Storage::Shared ? shared : "",
                     c_type(array.type), array.name, array.count, array.is_zeroed ? " = {}" : ""));
  }
  void print(const kernel::LoadPack& load) override {
    line(fmt::format("{} {}[{}];", c_type(load.type), load.name, load.scalars()));
    std::string from = address(load.array, load.offset);
    if (load.has_several) from = fmt::format("(const {}*)({})", c_type(load.type), from);
    if (load.scalars() > load.count)
      return line(fmt::format("{}<{}, {}>({}, {});", helper("load_columns"), load.before, load.count,
                              load.name, from));
    if (load.is_whole) return line(fmt::format("{}({}, {});", helper("load_whole"), load.name, from));
    line(fmt::format("{}({}, {}, {});", helper("load_pack"), load.name, from, initializer(load.valid)));
  }
  void print(const kernel::StorePack& store) override {
    const std::string to = address(store.array, store.offset);
    if (store.is_whole) return line(fmt::format("{}({}, {});", helper("store_whole"), to, store.name));
    line(fmt::format("{}({}, {}, {});", helper("store_pack"), to, store.name, initializer(store.valid)));
  }
  void print(const kernel::Shuffle& shuffle) override {
    const Scalar type = shuffle.value->type;
    const std::string function = shuffle.lane ? "" : shuffle.distance < 0 ? "_up" : "_down";
    const std::string lane = shuffle.lane ? text(shuffle.lane) : std::to_string(std::abs(shuffle.distance));
    const std::string narrow = size_of(type) < 4 ? fmt::format("({})", c_type(type)) : "";
    const std::string call = fmt::format(fmt::runtime(dialect_.shuffle), function);
    line(fmt::format("const {} {} = {}{}{}, {}{};", c_type(type), shuffle.name, narrow, call,
                     text(shuffle.value), lane, dialect_.shuffle_ends));
  }
  void print(const kernel::IsAligned& test) override {
    line(fmt::format("const bool {} = (size_t)({}) % {} == 0;", test.name, address(test.array, test.offset),
                     test.bytes));
  }
  void print(const kernel::Atomic& update) override {
    const Scalar type = update.value->type;
    line(fmt::format("{}(&{}[{}], {});", helper(atomic_helper(update.op, type)), update.array,
                     initializer(update.index), text(update.value)));
  }
  void print(const kernel::Barrier& barrier) override {
    line(std::string(barrier.is_of_warp ? dialect_.warp_barrier : "__syncthreads();"));
  }
  // In hardware, where the error grows with the exponent: language.md says how far.
  std::string fast_exp(const std::string& v) override { return fmt::format("__expf({})", v); }
  std::string fast_pow(const std::string& x, const std::string& y) override {
    return fmt::format("exp2f({} * __log2f({}))", y, x);
  }
  std::string index_function(const std::string& name, Scalar type) override {
    return helper(type == Scalar::I32 ? name : wide_prefix + name);
  }

 private:
  const Dialect& dialect_;
};

class GpuEmitter {
 public:
  GpuEmitter(const Module& module, const Dialect& dialect) : module_(module), dialect_(dialect) {}

  /// What the module needs of helpers, its kernels, and the functions of the host that launch them.
  struct Parts {
    std::set<std::string> helpers;
    std::string kernels, functions;
  };
  Parts parts() const {
    Writer kernels, functions;
    GpuPrinter printer(kernels, module_.strict, dialect_);
    declarations(kernels);
    for (const kernel::Function& function : module_.functions) print(kernels, printer, function);
    device_function(functions, printer);
    functions.blank();
    host_function(functions, printer);
    return {printer.used_helpers(), kernels.text(), functions.text()};
  }

  /// Everything below the includes, among which may be a header.
  std::string body(const std::string& name_space = "", const std::string& header = "") const {
    const Parts own = parts();
    return inside(name_space, "namespace {\n\n" +
                                  helpers_of(own.helpers, own.kernels + own.functions, dialect_, header) +
                                  own.kernels + gpu_host_helpers({&module_}, dialect_) +
                                  "\n}  // namespace\n\n" + own.functions);
  }

  /// Likewise for several modules, which share the helpers.
  static std::string body(const std::vector<const Module*>& modules, const Dialect& dialect) {
    std::set<std::string> helpers;
    std::string text;
    for (std::size_t m = 0; m < modules.size(); ++m) {
      Parts own = GpuEmitter(*modules[m], dialect).parts();
      helpers.merge(own.helpers);
      text += fmt::format("namespace module_{} {{\n\n", m) + head_comment(*modules[m]) + "namespace {\n\n" +
              own.kernels + "}  // namespace\n\n" + own.functions + entries(*modules[m], entry_name(m)) +
              fmt::format("\n}}  // namespace module_{}\n\n", m);
    }
    return "namespace {\n\n" + helpers_of(helpers, text, dialect) + gpu_host_helpers(modules, dialect) +
           "\n}  // namespace\n\n" + text;
  }

  /// The kernels under their own names, and nothing of the host's.
  std::string kernels() const {
    Writer before, out;
    GpuPrinter printer(out, module_.strict, dialect_);
    declarations(before);
    for (const kernel::Function& function : module_.functions) print(out, printer, function, "extern \"C\" ");
    const std::string helpers = gpu_prelude(printer.used_helpers(), dialect_);
    return half_type(helpers + out.text()) + "namespace {\n\n" + helpers + "\n" + before.text() +
           "}  // namespace\n\n" + out.text();
  }

  std::string device_signature(bool with_default) const {
    return signature(function_name(module_), runtime("Stream_t stream") + (with_default ? " = nullptr" : ""));
  }
  std::string host_signature() const { return signature(function_name(module_) + "_on_host", ""); }

 private:
  /// Parameters that the body does not mention have their names in comments, or compilers complain.
  std::string signature(const std::string& name, const std::string& last,
                        const std::optional<std::string>& body = {}) const {
    std::string list;
    for (std::string p : parameters(module_)) {
      const std::size_t space = p.rfind(' ');
      if (body && !mentions(*body, p.substr(space + 1)))
        p = p.substr(0, space) + " /*" + p.substr(space + 1) + "*/";
      list += (list.empty() ? "" : ", ") + p;
    }
    if (!last.empty()) list += (list.empty() ? "" : ", ") + last;
    return fmt::format("{} {}({})", runtime("Error_t"), name, list);
  }

  /// What kernels refer to.
  void declarations(Writer& out) const {
    print_tables(out, module_, "__constant__");
    print_networks(out, module_, "__device__ __forceinline__");
  }

  static std::string helpers_of(const std::set<std::string>& names, const std::string& text,
                                const Dialect& dialect, const std::string& header = "") {
    const std::string helpers = gpu_prelude(names, dialect);
    return half_type(helpers + text, header) + helpers + "\n";
  }

  // ---- kernels ----

  static std::string declaration(const host::Parameter& p) {
    if (!p.is_array) return c_type(p.type) + " " + p.name.spelling();
    return fmt::format("{}{}* __restrict__ {}", p.is_const ? "const " : "", c_type(p.type), p.name);
  }

  /// `linkage` goes before the declaration.
  void print(Writer& out, CLike& printer, const kernel::Function& function,
             const std::string& linkage = "") const {
    const kernel::Grid& grid = *host::launch_of(module_, function).grid;
    const std::array<int, 3>& block = grid.block;
    std::string list;
    for (const host::Parameter& p : host::parameters_of(module_, function))
      list += (list.empty() ? "" : ", ") + declaration(p);
    out.comment(function.comment);
    const std::string bounds =
        fmt::format(fmt::runtime(dialect_.launch_bounds), block[0] * block[1] * block[2], grid.at_a_time);
    out.open(fmt::format("{}__global__ void {} {}({})", linkage, bounds, function.name, list));
    printer.print(function.body);
    out.close();
    out.blank();
  }

  // ---- the function for device memory ----

  void device_function(Writer& out, CLike& printer) const {
    Writer body;
    body.indent();
    device_steps(body, printer);
    out.open(signature(function_name(module_), runtime("Stream_t stream"), body.text()));
    out.raw(body.text());
    out.close();
  }

  void device_steps(Writer& out, CLike& printer) const {
    limit_sizes(out);
    out.line(fmt::format("{} status = {};", runtime("Error_t"), runtime("Success")));
    for (const Array& a : module_.arrays) {
      if (const auto* own = host::allocation_of(plan_, a.name, host::When::Always))
        declare(out, printer, *own, "");
      if (host::allocation_of(plan_, a.name, host::When::EmptyImage))
        out.line(fmt::format("{}* {}{} = nullptr;", c_type(a.type.scalar), kernel::when_empty, a.name));
    }
    for (const kernel::Field& counter : module_.counters)
      out.line(fmt::format("{} {} = 0;", c_type(counter.type), counter.name));
    find_rooms(out);
    for (const host::Node& node : plan_.nodes) {
      if (node.when == host::When::HostImage) continue;
      if (begins_step(plan_.nodes, node)) out.blank();
      print(out, printer, node, "");
    }
    out.line("return status;");
  }

  /// Asks the device for how many blocks it has room, where grids depend on it.
  void find_rooms(Writer& out) const {
    const auto launches = kernel::launches_with_room(module_);
    if (!launches.empty()) out.line(fmt::format("static thread_local Room rooms[{}];", launches.size()));
    for (std::size_t k = 0; k < launches.size(); ++k) {
      const kernel::Grid& grid = *launches[k]->grid;
      out.line(fmt::format("{} status = find_room({}, {}, rooms[{}]);", if_succeeded(), launches[k]->function,
                           grid.block[0] * grid.block[1] * grid.block[2], k));
      out.line(fmt::format("const int64_t {} = rooms[{}].blocks;", grid.room->field, k));
    }
  }

  /// Refuses sizes that the kernels' index arithmetic or the pipeline is not made for.
  void limit_sizes(Writer& out) const {
    std::string tests = too_small(module_);
    for (const host::Limit& limit : plan_.limits)
      tests += fmt::format("{}{} > {}", tests.empty() ? "" : " || ", limit.size, limit.most);
    if (!tests.empty()) out.line(fmt::format("if ({}) return {};", tests, runtime("ErrorInvalidValue")));
  }

  /// Variables of arrays on the device have the prefix.
  void print(Writer& out, CLike& printer, const host::Node& node, const std::string& prefix) const {
    const bool is_stand_in = node.when == host::When::EmptyImage;
    std::visit(
        ir::overloaded{
            [&](const host::Allocate& n) {
              is_stand_in ? stand_in(out, printer, n)
                          : allocate(out, printer, n, prefix + n.array.spelling(), prefix);
            },
            [&](const host::Free& n) {
              out.line(
                  fmt::format("release({}{}, stream);", is_stand_in ? kernel::when_empty : prefix, n.array));
            },
            [&](const host::Copy& n) { copy(out, printer, n); },
            [&](const host::Launch& n) { print(out, printer, n); },
            // Arrays rotate whatever happens, so that in the end each pointer is what it was.
            [&](const host::Repeat& n) {
              print_repeat(out, printer, module_, n, prefix, [&](const std::vector<host::Node>& nodes) {
                for (const host::Node& inner : nodes) print(out, printer, inner, prefix);
              });
            },
        },
        node.what);
  }

  /// The pointer and the strides of an array that is allocated here.
  void declare(Writer& out, CLike& printer, const host::Allocate& n, const std::string& prefix) const {
    const Array& a = host::array_named(module_, n.array);
    out.line(fmt::format("{}* {}{} = nullptr;", c_type(n.type), prefix, n.array));
    for (std::size_t d = 0; d < a.strides.size(); ++d)
      out.line(fmt::format("int64_t {}{} = {};", prefix, a.strides[d],
                           printer.text(n.strides[d], prefix, a.strides)));
  }

  void allocate(Writer& out, CLike& printer, const host::Allocate& n, const std::string& memory,
                const std::string& prefix) const {
    const std::string scalars = printer.text(n.scalars, prefix, host::array_named(module_, n.array).strides);
    out.line(fmt::format("{} status = allocate({}, {}, {}, stream);", if_succeeded(), memory, scalars,
                         printer.text(n.zeroed)));
  }

  void stand_in(Writer& out, CLike& printer, const host::Allocate& n) const {
    const Array& a = host::array_named(module_, n.array);
    out.open(fmt::format("if ({})", printer.text(host::is_empty(a))));
    out.comment("Without pixels it is read as zero: one cleared row, which all rows share.");
    const std::string memory = kernel::when_empty + n.array.spelling();
    allocate(out, printer, n, memory, "");
    out.line(fmt::format("{} = {};", n.array, memory));
    for (std::size_t d = 0; d < a.strides.size(); ++d)
      out.line(fmt::format("{} = {};", a.strides[d], printer.text(n.strides[d])));
    out.close();
  }

  void print(Writer& out, CLike& printer, const host::Launch& launch) const {
    std::string arguments;
    for (const host::Parameter& p : launch.parameters) arguments += ", " + p.name.spelling();
    out.open(if_succeeded());
    out.line(fmt::format("status = launch({}, {{{}, {}, {}}}, {{{}}}, stream{});", launch.function,
                         printer.text(launch.work[0]), printer.text(launch.work[1]),
                         printer.text(launch.work[2]), fmt::join(launch.block, ", "), arguments));
    out.close();
  }

  // ---- the function for host memory ----

  /// What the plan does for images of the host, around a call of the function for device memory, which does
  /// the rest.
  void host_function(Writer& out, CLike& printer) const {
    out.open(host_signature());
    out.line(runtime("Stream_t stream = nullptr;"));
    out.line(fmt::format("{} status = {}(&stream);", runtime("Error_t"), runtime("StreamCreate")));
    out.line(fmt::format("if (status != {}) return status;", runtime("Success")));
    for (const host::Node& node : plan_.nodes) {
      const auto* memory = std::get_if<host::Allocate>(&node.what);
      if (memory && node.when == host::When::HostImage) declare(out, printer, *memory, kernel::on_device);
    }
    bool is_called = false;
    for (const host::Node& node : plan_.nodes) {
      if (node.when == host::When::HostImage)
        print(out, printer, node, kernel::on_device);
      else if (!std::exchange(is_called, true))
        call_device_function(out);
    }
    out.line(
        fmt::format("const {} finished = {}(stream);", runtime("Error_t"), runtime("StreamSynchronize")));
    out.line(fmt::format("{}{}(stream);", dialect_.ignoring, runtime("StreamDestroy")));
    out.line(fmt::format("return status != {} ? status : finished;", runtime("Success")));
    out.close();
  }

  void call_device_function(Writer& out) const {
    std::string arguments;
    const auto pass_array = [&](const Array& a) {
      arguments += fmt::format("{}{}, ", kernel::on_device, a.name);
      for (const kernel::Symbol& stride : a.strides)
        arguments += fmt::format("{}{}, ", kernel::on_device, stride);
    };
    each_parameter(module_, pass_array,
                   [&](const kernel::Field& f) { arguments += f.name.spelling() + ", "; });
    out.open(if_succeeded());
    out.line(fmt::format("status = {}({}stream);", function_name(module_), arguments));
    out.close();
  }

  void copy(Writer& out, CLike& printer, const host::Copy& n) const {
    const Array& a = host::array_named(module_, n.array);
    const bool is_input = n.from == host::the_host;
    const std::string to = is_input ? kernel::on_device : "", from = is_input ? "" : kernel::on_device;
    const std::string direction = runtime(is_input ? "MemcpyHostToDevice" : "MemcpyDeviceToHost");
    std::string extents =
        printer.text(a.extents.empty() ? kernel::literal(a.type.lanes)
                                       : kernel::mul(a.extents[0], kernel::literal(a.type.lanes)));
    std::string to_strides, from_strides;
    for (std::size_t d = 0; d < a.strides.size(); ++d) {
      extents += ", " + printer.text(a.extents[d + 1]);
      to_strides += (d ? ", " : "") + to + a.strides[d].spelling();
      from_strides += (d ? ", " : "") + from + a.strides[d].spelling();
    }
    out.open(if_succeeded());
    if (a.strides.empty()) {
      out.line(fmt::format("status = copy_row({}{}, {}{}, {}, {}, stream);", to, a.name, from, a.name,
                           extents, direction));
    } else {
      out.line(fmt::format("const int64_t extents[] = {{{}}}, to[] = {{{}}}, from[] = {{{}}};", extents,
                           to_strides, from_strides));
      out.line(fmt::format("status = copy_rows({}{}, to, {}{}, from, extents, {}, {}, stream);", to, a.name,
                           from, a.name, a.extents.size(), direction));
    }
    out.close();
  }

  /// A name of the vendor's runtime, or what begins with one.
  std::string runtime(const std::string& name) const { return std::string(dialect_.runtime) + name; }
  std::string if_succeeded() const { return fmt::format("if (status == {})", runtime("Success")); }

  const Module& module_;
  const Dialect& dialect_;
  const host::Plan plan_ = host::on_one_stream(host::plan_of(module_));
};

// NVRTC has neither the host's headers nor its compiler's functions.
constexpr const char* what_nvrtc_lacks = R"text(#ifdef __CUDACC_RTC__
typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned uint32_t;
typedef unsigned long long uint64_t;
#define __builtin_inff() __builtin_bit_cast(float, 0x7f800000)
#define __builtin_inf() __builtin_bit_cast(double, 0x7ff0000000000000ll)
#define __builtin_nanf(text) __builtin_bit_cast(float, 0x7fc00000)
#define __builtin_nan(text) __builtin_bit_cast(double, 0x7ff8000000000000ll)
#else
#include <stdint.h>
#endif

)text";

std::string headers(const Dialect& dialect) {
  return fmt::format("#include <{}>\n#include <stddef.h>\n#include <stdint.h>\n\n", dialect.header);
}

std::string readme(const Module& module, const std::string& compile, const std::string& name_space,
                   const Dialect& dialect, const GpuEmitter& emitter) {
  const std::string inside = name_space.empty() ? "" : ", from namespace `" + name_space + "`,";
  return fmt::format(
      R"(# {title}

{brand} C++ that Weft emitted. It needs {needs} and nothing else.

    {compile}

makes an object file to link; with CMake, `add_subdirectory` of this folder makes the library `{library}`. Include `{file}.h`, which says what the arguments mean, and call{inside}

    {device};

with images in device memory: the work is queued on the stream, and nothing waits for it. Or call

    {host};

with images in host memory, which are copied there and back. Both return the first error of a {brand} call.
)",
      fmt::arg("title", title(module)), fmt::arg("brand", dialect.brand), fmt::arg("needs", dialect.needs),
      fmt::arg("compile", compile), fmt::arg("library", library_name(module, std::string(dialect.name))),
      fmt::arg("file", file_name(module)), fmt::arg("inside", inside),
      fmt::arg("device", emitter.device_signature(true)), fmt::arg("host", emitter.host_signature()));
}

}  // namespace

std::string emit_gpu_for_loading(const Module& module, const Dialect& dialect) {
  const GpuEmitter emitter(module, dialect);
  return head_comment(module) + headers(dialect) + emitter.body() + entries(module, "weft_entry");
}

std::string emit_cuda_kernels(const Module& module) {
  return head_comment(module) + "\n" + what_nvrtc_lacks + GpuEmitter(module, target::cuda()).kernels();
}

std::string gpu_flags(const Module& module, const std::string& architecture, const Dialect& dialect) {
  return fmt::format("-std=c++17 -O3 {}{} {}", dialect.architecture_option, architecture,
                     float_options(dialect, module.strict));
}

std::string emit_gpu_for_loading_together(const std::vector<const Module*>& modules, const Dialect& dialect) {
  return headers(dialect) + GpuEmitter::body(modules, dialect);
}

std::map<std::string, std::string> emit_gpu_for_users(const Module& module, const std::string& architecture,
                                                      const std::optional<std::string>& chosen,
                                                      const Dialect& dialect) {
  const std::string name_space = chosen.value_or(default_namespace(module));
  const GpuEmitter emitter(module, dialect);
  const std::string header = file_name(module) + ".h";
  const std::string source = fmt::format("{}.{}", file_name(module), dialect.suffix);
  std::map<std::string, std::string> files;
  files[header] =
      "// Pipeline '" + title(module) + "', emitted by Weft.\n#pragma once\n\n" + headers(dialect) +
      inside(name_space, half_type(emitter.host_signature()) + documentation(module) +
                             "// Images lie in device memory. The work is queued on the stream; errors of "
                             "launches are returned.\n" +
                             emitter.device_signature(true) + ";\n\n" +
                             "// Images lie in host memory, and results are there when the function "
                             "returns.\n" +
                             emitter.host_signature() + ";\n");
  const std::string compile =
      fmt::format("{} {} -c {}", dialect.compiler, gpu_flags(module, architecture, dialect), source);
  files[source] = head_comment(module) + "//\n// Compile with: " + compile + "\n#include \"" + header +
                  "\"\n\n" + emitter.body(name_space, emitter.host_signature());
  files["CMakeLists.txt"] = cmake_for_gpu(module, dialect, architecture);
  files["README.md"] = readme(module, compile, name_space, dialect, emitter);
  return files;
}

}  // namespace weft::emit
