// Whatever users call their things, emitted code compiles and means the same.
#include <gtest/gtest.h>

#include "tests/differential/tiles.h"
#include "tests/support/differential.h"

namespace weft::testing_support {
namespace {

/// What things of a pipeline are called: what emitted code, C++ or CUDA might call something itself.
struct Called {
  std::string image, parameter, middle, last, pipeline = "names";
  int window = 3;
};

Pipeline pipeline_of(const Called& names) {
  const Image<float> in(names.image.c_str());
  const Param<float> k(names.parameter.c_str(), 2.f);
  const Stage a = convolve(names.middle, in.border(Border::clamp()), Mask{{1.f, 2.f, 3.f}, {4.f, 5.f, 6.f}});
  const Accessor src = a.border(Border::constant(k));
  const Stage out = stage(names.last, in.size(), [&](Var x, Var y) {
    Accum<float> total = 0;
    for_each(Domain(names.window, names.window), [&](Tap t) { total += src(x + t.x, y + t.y) * Expr(t.x); });
    return total * k + floor(in(x, y));
  });
  return Pipeline(names.pipeline, Outputs(out).strict());
}

void agree_with(const std::vector<Called>& all) {
  std::vector<Pipeline> pipelines;
  for (const Called& names : all) pipelines.push_back(pipeline_of(names));
  const std::vector<Program> programs = compiled_at_once(pipelines);
  for (std::size_t p = 0; p < all.size(); ++p) {
    const auto& [image, parameter, middle, last, pipeline, window] = all[p];
    SCOPED_TRACE(image + " " + parameter + " " + middle + " " + last + " " + pipeline);
    expect_agreement(programs[p], pipelines[p], {{{image, noise(type_of<float>(), {19, 9}, 101)}}, {}, {}});
  }
}

TEST(Names, OfEmittedCode) {
  agree_with({// locals
              {"x", "y", "i", "x0", "names", 15},
              {"acc", "tx", "count", "left", "names", 15},
              {"count", "left", "right", "row"},
              {"first", "last", "acc", "v"},
              {"tx", "ty", "window", "next"},
              // the frame, and what becomes of names
              {"frame", "host", "data", "context"},
              {"in_w", "in_h", "in_stride", "in_y"},
              {"out", "out_rows", "out_pixel", "out_row"},
              {"in", "device_in", "device_in_w", "device_device_in"},
              {"device_out", "no_out", "no_in", "out"},
              {"run_names", "run_names_on_host", "names_frame", "run_names_2"},
              // functions and types
              {"weft_host", "weft_entry", "arrays", "integers"},
              {"floorf", "exp2f", "clamp_index", "half_t"},
              {"thread_x", "threads_y", "wide_clamp_index", "atomic_add_f32"},
              {"extents", "to", "from", "status"},
              {"cudaStream_t", "cudaSuccess", "finished", "prefetch"},
              {"copy_rows", "launch", "allocate", "release"},
              {"shifted", "in_vector", "vector_at", "store_vector"},
              {"joined", "few", "row_vector", "vector_before"},
              {"row_vector_of", "numbers", "numbers_up_to", "roots_of"},
              // the same characters, where identifiers lack the others
              {"a b", "a+b", "a-b", "a.b"},
              {"A_B", "A B", "A_B_", "_A_B"}});
}

/// Words that kernels which go through volumes have for variables of their own.
TEST(Names, OfVariables) {
  for (const auto& [image, middle] : {std::pair{"planes", "layers"}, {"tile", "plane"}, {"warp", "whole"}}) {
    const Image<float> in(image, 3);
    const Accessor src = in.border(Border::clamp());
    const Stage a =
        stage(middle, in.size(), [&](Var x, Var y, Var z) { return src(x, y, z - 1) + src(x, y + 1, z); });
    const Stage out = stage("out", in.size(), [&](Var x, Var y, Var z) {
      const Accessor of_a = a.border(Border::clamp());
      return of_a(x + 1, y, z) - of_a(x, y, z + 1);
    });
    const Pipeline pipeline("names", Outputs(out).strict());
    for (const Program& program : compiled_in_tiles(pipeline))
      expect_agreement(program, pipeline, {{{image, noise(type_of<float>(), {20, 9, 7}, 7)}}, {}, {}});
  }
}

TEST(Names, OfLanguages) {
  agree_with({{"int", "class", "template", "new"},
              {"std", "int64_t", "float", "main"},
              {"size_t", "bool", "true", "nullptr"},
              {"typeof", "restrict", "co_await", "concept"},
              {"module", "import", "char8_t", "consteval"},
              {"_Complex", "_Bool", "__int128", "__func__"},
              {"__restrict", "__restrict__", "__asm__", "__attribute__"},
              {"__global__", "__device__", "__shared__", "__launch_bounds__"},
              {"half", "__half", "float4", "dim3"}});
}

TEST(Names, OfMacros) {
  agree_with({{"INT8_MAX", "UINT64_C", "NULL", "SIZE_MAX"},
              {"EOF", "NAN", "INFINITY", "M_PI"},
              {"M_PIf", "SYS_read", "L_tmpnam", "RAND_MAX"},
              {"__LINE__", "__FILE__", "__COUNTER__", "__FMA__"},
              {"__cplusplus", "__SSE__", "__x86_64__", "__CUDACC__"},
              {"unix", "linux", "i386", "errno"},
              {"stdin", "assert", "offsetof", "alloca"},
              {"WEFT_NOINLINE", "WEFT_INDEPENDENT", "WEFT_SCALAR", "WEFT_HOST"},
              {"WEFT_CACHE_BYTES", "CUDART_VERSION", "SIMT_HOST", "I"},
              {"blockDim", "threadIdx", "cudaStreamPerThread", "warpSize"}});
}

TEST(Names, ThatAreNoIdentifiers) {
  agree_with({{"my image", "3rd", "a-b", "a_b"},
              {"größe", "_x", "__y", "%"},
              {"", "_", "__", "___3"},
              {"a\"b", "a'b", "a\\", "//"},
              {"*/", "/*", "?\?/", "a\nb"}});
}

TEST(Names, OfPipelines) {
  std::vector<Called> all;
  for (const char* name : {"my-pipeline", "3d", "two words", "frame", "in", "out", "double", "größe",
                           "__LINE__", "NULL", "std", "../a", "\\", "a\nint b;"})
    all.push_back({"in", "k", "a", "out", name});
  agree_with(all);
}

}  // namespace
}  // namespace weft::testing_support
