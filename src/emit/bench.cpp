#include "emit/bench.h"

#include <fmt/format.h>
#include <weft/error.h>

#include <iomanip>
#include <sstream>

#include "emit/c_like.h"
#include "emit/cpp.h"
#include "emit/gpu.h"
#include "emit/module_text.h"
#include "emit/writer.h"
#include "kernel/symbol_format.h"

namespace weft::emit {

using kernel::Array;
using kernel::Module;

namespace {

std::string text_literal(const std::string& text) {
  std::ostringstream out;
  out << std::quoted(text);
  return out.str();
}

void declare_images(Writer& out, const Module& module, const BenchPlan& plan) {
  for (const Array& a : module.arrays) {
    if (a.role == Array::Role::Intermediate) continue;
    if (a.type.scalar == Scalar::F16) {
      throw Error(fmt::format("the pixels of '{}' are halves, which the bench does not compare", a.name))
          .help("emit --target cuda, and write a program around it");
    }
    const std::string type = c_type(a.type.scalar);
    out.line(fmt::format("kit::Image<{}>& {} = bench.{}<{}>(\"{}\", {{{}}}, {});", type, a.name,
                         a.role == Array::Role::Input ? "input" : "output", type, a.name,
                         fmt::join(plan.extents.at(a.name), ", "), a.type.lanes));
  }
}

void declare_fields(Writer& out, const Module& module, const BenchPlan& plan) {
  for (const auto* list : {&module.sizes, &module.params}) {
    for (const kernel::Field& f : *list) {
      out.line(fmt::format("const {} {} = {};", c_type(f.type), f.name,
                           c_literal(f.type, plan.fields.at(f.name))));
    }
  }
}

/// The arguments of the pipeline's function, with the images on "host" or "device".
std::string arguments(const Module& module, const std::string& side) {
  std::string list;
  const auto add_array = [&](const Array& a) {
    list += fmt::format("{}.{}.pixels, ", a.name, side);
    for (std::size_t d = 0; d < a.strides.size(); ++d)
      list += fmt::format("{}.{}.stride[{}], ", a.name, side, d);
  };
  each_parameter(module, add_array, [&](const kernel::Field& f) { list += f.name.spelling() + ", "; });
  return list;
}

std::string program(const Module& module, const BenchPlan& plan) {
  Writer out;
  out.comment("Checks the CUDA of pipeline '" + title(module) +
              "' against its C++, on random pixels, and times it.\n"
              "Emitted by Weft. ./build compiles it; ./bench --help says more.");
  out.raw(fmt::format("#include \"bench_kit.h\"\n#include \"cpp/{0}.h\"\n#include \"cuda/{0}.h\"\n\n",
                      file_name(module)));
  out.open("int main(int count, char** words)");
  out.line(fmt::format("const kit::About about = {{{}, {}, \"{}\", {}, {}, {}}};",
                       text_literal(title(module)), text_literal(plan.options), plan.size, plan.range,
                       plan.rounded, plan.kernel_bytes));
  out.open("return kit::run(count, words, about, [](kit::Bench& bench)");
  declare_images(out, module, plan);
  declare_fields(out, module, plan);
  out.open("const auto on_gpu = [&](cudaStream_t stream)");
  const std::string function = default_namespace(module) + "::" + function_name(module);
  out.line(fmt::format("return {}({}stream);", function, arguments(module, "device")));
  out.close("};");
  out.open("const auto on_cpu = [&]");
  out.line("const weft_host* host = nullptr;");
  out.line(fmt::format("return {}({}host);", function, arguments(module, "host")));
  out.close("};");
  out.line("bench.measure(on_gpu, on_cpu);");
  out.close("});");
  out.close();
  return out.text();
}

std::string build_script(const Module& module, const std::string& architecture) {
  return fmt::format(R"text(#!/bin/sh
# Compiles ./bench, which checks the CUDA of pipeline '{4}' against its C++ and times it.
# NVCC, CXX and ARCH in the environment replace nvcc, g++ and {1}.
set -e
cd "$(dirname "$0")"
arch=${{ARCH:-{1}}}
"${{CXX:-g++}}" {2} -c cpp/{0}.cpp -o cpp.o
"${{NVCC:-nvcc}}" {3} -c cuda/{0}.cu -o cuda.o
"${{NVCC:-nvcc}}" -std=c++17 -O2 -arch=$arch -c bench.cu -o bench.o
"${{NVCC:-nvcc}}" -arch=$arch bench.o cuda.o cpp.o -o bench -lpthread
)text",
                     file_name(module), architecture, cpp_flags(module), gpu_flags(module, "$arch"),
                     title(module));
}

}  // namespace

std::map<std::string, std::string> emit_bench(const Module& cuda, const Module& cpp,
                                              const std::string& architecture, const BenchPlan& plan) {
  std::map<std::string, std::string> files = {{"bench.cu", program(cuda, plan)},
                                              {"bench_kit.h", bench_kit},
                                              {"bench_pixels.h", bench_pixels},
                                              {"build", build_script(cuda, architecture)}};
  for (auto& [name, text] : emit_gpu_for_users(cuda, architecture)) files["cuda/" + name] = std::move(text);
  for (auto& [name, text] : emit_for_users(cpp)) files["cpp/" + name] = std::move(text);
  for (const char* folder : {"cpp", "cuda"}) files.erase(std::string(folder) + "/CMakeLists.txt");
  return files;
}

}  // namespace weft::emit
