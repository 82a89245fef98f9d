// The stage IR, the host plan, the emitted C++ and the emitted CUDA of some applications, word for word. After an intended change:
//     UPDATE_GOLDEN=1 ctest -R Golden
// rewrites the files under data/, and the diff shows what the change did.
#include <gtest/gtest.h>
#include <weft/weft.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>

#include "compile/device_compiler.h"
#include "compile/scheduling.h"
#include "emit/cpp.h"
#include "emit/gpu.h"
#include "host/plan.h"
#include "ir/print.h"
#include "lower/lower.h"
#include "rewrite/prepare.h"
#include "runtime/cpu_program.h"
#include "plan/block_strip.h"
#include "schedule/schedule.h"
#include "tools/roofs.h"
#include "tools/sass_counts.h"
#include "tools/sizes.h"

namespace weft {
namespace {

const std::filesystem::path data = WEFT_SOURCE_DIR "/tests/golden/data";

std::optional<std::string> read(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

void write(const std::filesystem::path& path, const std::string& text) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

/// "12: expected …\n    got …" for the first line that differs; whole texts would hide it.
std::string first_difference(const std::string& expected, const std::string& got) {
  std::istringstream left(expected), right(got);
  for (int line = 1;; ++line) {
    std::string a, b;
    const bool more_left = static_cast<bool>(std::getline(left, a)),
               more_right = static_cast<bool>(std::getline(right, b));
    if (!more_left && !more_right) return "the ends of the lines differ";
    if (a != b || more_left != more_right) {
      return std::to_string(line) + ": expected " + (more_left ? a : "no more") + "\n    got " +
             (more_right ? b : "no more");
    }
  }
}

void expect_golden(const std::string& name, const std::string& text) {
  const std::filesystem::path path = data / name;
  const char* update = std::getenv("UPDATE_GOLDEN");
  if (update && *update) write(path, text);
  const auto expected = read(path);
  ASSERT_TRUE(expected) << path << " is missing; UPDATE_GOLDEN=1 writes it";
  if (text != *expected) ADD_FAILURE() << path.string() << ":" << first_difference(*expected, text);
}

/// One CMakeLists.txt is like the other, and a README beside it repeats signatures.
bool is_shown(const std::string& file, const std::string& application) {
  return file == "CMakeLists.txt" ? application == "gaussian" : file != "README.md";
}

/// As the papers define it, where the default is another.
Pipeline pipeline_of(const std::string& application) {
  Settings settings;
  if (application == "unsharp_mask") settings.options["border"] = "constant";
  return build(applications().at(application), settings).pipeline;
}

class Golden : public testing::TestWithParam<std::string> {};

TEST_P(Golden, IsAsCommitted) {
  const Pipeline pipeline = pipeline_of(GetParam());
  expect_golden(GetParam() + ".ir", ir::to_string(pipeline.ir()));
  const auto module = compile::lowered(pipeline.ir());
  for (const auto& [name, text] : emit::emit_for_users(module)) {
    if (is_shown(name, GetParam())) expect_golden(name, text);
  }
}

class GoldenCuda : public testing::TestWithParam<std::string> {};

TEST_P(GoldenCuda, IsAsCommitted) {
  const ir::Pipeline prepared = rewrite::prepare(pipeline_of(GetParam()).ir());
  const schedule::Schedule schedule =
      schedule::choose(prepared, schedule::Tiling::None, {plan::most_shared_bytes});
  const auto module = lower::lower(prepared, schedule.kernels, target::Processor::Gpu,
                                   schedule::to_text(schedule));
  for (const auto& [name, text] : emit::emit_gpu_for_users(module, "sm_90")) {
    if (is_shown(name, GetParam())) expect_golden("cuda/" + name, text);
  }
}

class GoldenCudaTiles : public testing::TestWithParam<std::string> {};

TEST_P(GoldenCudaTiles, IsAsCommitted) {
  const Pipeline pipeline = pipeline_of(GetParam());
  const auto module = compile::lowered(pipeline.ir(), target::Processor::Gpu, {.tile = Tile::March});
  const std::string name = GetParam() + ".cu";
  expect_golden("cuda_tiles/" + name, emit::emit_gpu_for_users(module, "sm_90").at(name));
}

std::string name_of(Tile tile) {
  return tile == Tile::Block ? "block" : tile == Tile::Warp ? "warp" : "hybrid";
}

class GoldenCudaStructures : public testing::TestWithParam<std::tuple<std::string, Tile>> {};

TEST_P(GoldenCudaStructures, IsAsCommitted) {
  const auto [application, tile] = GetParam();
  const Pipeline pipeline = pipeline_of(application);
  const auto module = compile::lowered(pipeline.ir(), target::Processor::Gpu, {.tile = tile});
  expect_golden("cuda_structures/" + application + "_" + name_of(tile) + ".cu",
                emit::emit_gpu_for_users(module, "sm_90").at(application + ".cu"));
}

/// A line on blocks, an image on cores.
TEST(GoldenSplit, IsAsCommitted) {
  const auto on_cores =
      compile::lowered(pipeline_of("heat2d").ir(), target::Processor::Cpu, {.tile = Tile::Split});
  expect_golden("split/heat2d.cpp", emit::emit_for_users(on_cores).at("heat2d.cpp"));
  const auto on_blocks =
      compile::lowered(pipeline_of("heat1d").ir(), target::Processor::Gpu, {.tile = Tile::Split});
  expect_golden("split/heat1d.cu", emit::emit_gpu_for_users(on_blocks, "sm_90").at("heat1d.cu"));
}

class GoldenHostPlan : public testing::TestWithParam<std::string> {};

/// Of a kernel for each stage, since groups are chosen by models that change.
TEST_P(GoldenHostPlan, IsAsCommitted) {
  const Pipeline pipeline = pipeline_of(GetParam());
  for (const auto processor : {target::Processor::Cpu, target::Processor::Gpu}) {
    const auto module =
        compile::lowered(pipeline.ir(), processor, {.tile = Tile::None, .fuse = Fuse::None});
    const std::string name = GetParam() + (processor == target::Processor::Cpu ? ".cpu" : ".gpu");
    expect_golden("host/" + name, host::to_string(host::plan_of(module)));
  }
}

INSTANTIATE_TEST_SUITE_P(Applications, GoldenHostPlan, testing::Values("spline", "heat2d"),
                         [](const auto& info) { return info.param; });

INSTANTIATE_TEST_SUITE_P(Applications, GoldenCudaTiles, testing::Values("harris", "unsharp_mask", "enhance"),
                         [](const auto& info) { return info.param; });

INSTANTIATE_TEST_SUITE_P(Applications, GoldenCudaStructures,
                         testing::Combine(testing::Values("harris_corner", "unsharp_mask"),
                                          testing::Values(Tile::Block, Tile::Warp, Tile::Hybrid)),
                         [](const auto& info) {
                           return std::get<0>(info.param) + "_" + name_of(std::get<1>(info.param));
                         });

INSTANTIATE_TEST_SUITE_P(Applications, GoldenCuda,
                         testing::Values("gaussian", "harris", "bilateral", "histogram", "reduce_sum", "jacobi2d",
                                         "scaling"),
                         [](const auto& info) { return info.param; });

INSTANTIATE_TEST_SUITE_P(Applications, Golden,
                         testing::Values("gaussian", "harris", "bilateral", "median", "unsharp",
                                         "unsharp_mask", "enhance", "color_convert"),
                         [](const auto& info) { return info.param; });

/// What follows from compiled kernels, by the compiler named in the file's first line.
class GoldenSass : public testing::Test {
 protected:
  void SetUp() override {
    try {
      compiler.emplace();
    } catch (const Error& error) {
      GTEST_SKIP() << error.what();
    }
  }
  std::string by() const { return "NVRTC " + compiler->nvrtc().version() + "\n"; }
  /// Why that file says nothing about this compiler; else empty.
  std::string other_compiler(const std::string& name) const {
    const auto committed = read(data / name);
    if (!committed || committed->starts_with(by())) return "";
    return "what is committed is by " + committed->substr(0, committed->find('\n')) + ", here is " + by();
  }

  std::optional<compile::DeviceCompiler> compiler;
};

/// What kernels of the benchmarks and of some stencils take per pixel.
TEST_F(GoldenSass, IsAsCommitted) {
  const std::string name = "sass_sm_90.txt";
  if (const std::string why = other_compiler(name); !why.empty()) GTEST_SKIP() << why;
  std::string text = by();
  for (const char* application : {"harris_corner", "unsharp_mask", "bilateral_grid", "camera_pipe", "multiscale_interp",
                                  "pyramid_blend", "sobel", "gaussian", "heat2d", "jacobi2d"}) {
    const Pipeline pipeline = build(applications().at(application)).pipeline;
    const kernel::Module module = compile::lowered(pipeline.ir(), target::Processor::Gpu);
    const tools::CompiledKernels compiled =
        tools::compiled_kernels(module, machine::architecture(9, 0), *compiler);
    for (const tools::SassCount& kernel : tools::sass_counts(module, compiled)) {
      text += std::string(application) + " " + kernel.kernel.spelling() + "\n";
      const auto columns = tools::sass_columns();
      const auto row = tools::to_rows({kernel}).at(0);
      for (std::size_t i = 1; i < row.size(); ++i)
        text += (i == 1 ? "  " : ", ") + columns[i] + " " + row[i] + (i + 1 == row.size() ? "\n" : "");
    }
  }
  expect_golden(name, text);
}

/// How long kernels take of an H200 at least: marching, repeated, with updates and reductions, and with tables.
TEST_F(GoldenSass, BoundsAreAsCommitted) {
  const std::string name = "roofs_h200.txt";
  if (const std::string why = other_compiler(name); !why.empty()) GTEST_SKIP() << why;
  const machine::Board& board = machine::board("h200");
  std::string text = by();
  for (const char* application : {"sobel", "harris_corner", "heat2d", "bilateral_grid", "equalize", "normalize"}) {
    const Pipeline definition = build(applications().at(application)).pipeline;
    const target::Target target(target::Processor::Gpu, board.architecture());
    const compile::Scheduled what = compile::scheduled(definition.ir(), target, {.board = &board});
    const kernel::Module module = lower::lower(what.pipeline, what.schedule.kernels, target);
    const ir::Sizes sizes = tools::input_sizes(what.pipeline, {{4096, 4096}});
    text += std::string(application) + ": " +
            tools::roofs_of(module, what.pipeline, what.schedule.kernels, sizes, {}, board, *compiler).text();
  }
  expect_golden(name, text);
}

}  // namespace
}  // namespace weft
