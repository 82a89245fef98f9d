// Emitted HIP: AMD's compiler takes the kernels of every application, and what they compute is right where
// the SIMT checker runs them. Both have hip/hip_runtime.h beside this file for AMD's header of that name.
#include <gtest/gtest.h>
#include <simt/simt.h>
#include <weft/weft.hpp>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "compile/process.h"
#include "compile/scheduling.h"
#include "emit/gpu.h"
#include "emit/writer.h"
#include "fuzz/build.h"
#include "fuzz/generate.h"
#include "runtime/executable.h"
#include "tests/support/differential.h"

namespace weft::testing_support {
namespace {

namespace fs = std::filesystem;

const fs::path headers = fs::path(WEFT_SOURCE_DIR) / "tests" / "cuda";

kernel::Module lowered(const ir::Pipeline& pipeline, const char* architecture) {
  return compile::lowered(pipeline, {target::Processor::Gpu, machine::amd_architecture(architecture)});
}

/// Windows of windows, a sum, updates that HIP has no instruction for, and steps in time.
Pipeline of_all_kinds() {
  const Image<std::int16_t> in("in");
  const Mask mask{{1, 2, 1}, {2, 4, 2}, {1, 2, 1}};
  const Stage once = convolve("once", in.border(Border::mirror()), mask);
  const Stage twice = convolve("twice", once.border(Border::clamp()), mask);
  const Stage sum = weft::reduce("sum", twice, Reduce::sum());
  const Stage least = scatter("least", Extents(5), Expr(std::int64_t(1) << 40), in, [&](Var x, Var y) {
    return minimum({Expr((x + y) % 5)}, cast<std::int64_t>(in(x, y)));
  });
  const Stage counts = scatter("counts", Extents(3), Expr(std::uint16_t(0)), in,
                               [&](Var x, Var y) { return add({Expr((x * y) % 3)}, Expr(1)); });
  return Pipeline("of_all_kinds", Outputs{twice, sum, least, counts}.strict());
}

// ---- AMD's compiler, which is clang

class Hip : public testing::Test {
 protected:
  void SetUp() override {
    compiler_ = compile::find_program("clang++-19");
    if (!compiler_) GTEST_SKIP() << "clang++-19, which compiles HIP, is not installed";
    std::string name = (fs::temp_directory_path() / "weft-hip-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override {
    if (!folder_.empty()) fs::remove_all(folder_);
  }

  void add(const ir::Pipeline& pipeline, const std::string& name_space, const char* architecture) {
    const kernel::Module module = lowered(pipeline, architecture);
    fs::create_directory(folder_ / name_space);
    for (const auto& [name, text] :
         emit::emit_gpu_for_users(module, architecture, name_space, target::hip())) {
      std::ofstream(folder_ / name_space / name) << text;
      if (name.ends_with(".hip")) includes_ += "#include \"" + name_space + "/" + name + "\"\n";
    }
  }

  /// Of the code for the device alone, which needs none of ROCm.
  void expect_clean(const std::vector<std::string>& options, const char* architecture) {
    const fs::path source = folder_ / "all.hip";
    std::ofstream(source) << includes_;
    std::vector<std::string> command = {compiler_->string(),
                                        "--cuda-device-only",
                                        std::string("--offload-arch=") + architecture,
                                        "-nogpulib",
                                        "-nogpuinc",
                                        "-isystem",
                                        headers.string(),
                                        "-std=c++17",
                                        "-Wall",
                                        "-Wextra",
                                        "-Werror",
                                        "-Wno-tautological-compare",
                                        "-Wno-unused-but-set-variable"};
    command.insert(command.end(), options.begin(), options.end());
    command.push_back(source.string());
    const compile::ProcessResult result = compile::run_process(command);
    ASSERT_EQ(result.exit_code, 0) << result.output;
  }

  std::string assembly(const char* architecture) {
    const fs::path product = folder_ / "all.s";
    expect_clean({"-O3", "-S", "-o", product.string()}, architecture);
    std::ifstream in(product);
    return {std::istreambuf_iterator<char>(in), {}};
  }

 private:
  std::optional<fs::path> compiler_;
  fs::path folder_;
  std::string includes_;
};

int count(const std::string& text, const std::string& what) {
  int found = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++found;
  return found;
}

TEST_F(Hip, OfAllApplicationsIsAcceptedWithoutWarnings) {
  for (const auto& [name, application] : applications()) {
    if (!application.about.refused) add(build(application).pipeline.ir(), name, "gfx90a");
  }
  for (std::uint64_t seed = 20261123; seed < 20261123 + 40; ++seed) {
    fuzz::Recipe recipe = fuzz::random_recipe(seed);
    add(fuzz::build(recipe).ir(), "random_" + std::to_string(seed), "gfx90a");
  }
  add(of_all_kinds().ir(), "of_all_kinds", "gfx90a");
  expect_clean({"-fsyntax-only"}, "gfx90a");
}

TEST_F(Hip, KeepsValuesInRegistersOfWavesOf32And64) {
  for (const auto& [architecture, lanes] : {std::pair{"gfx90a", "64"}, {"gfx1100", "32"}}) {
    for (const char* name : {"harris", "unsharp", "bilateral"})
      add(build(applications().at(name)).pipeline.ir(), name + std::string("_") + architecture, architecture);
    const std::string text = assembly(architecture);
    const int kernels = count(text, ".vgpr_spill_count:");
    EXPECT_GE(kernels, 3);
    EXPECT_EQ(count(text, ".vgpr_spill_count: 0\n"), kernels);
    EXPECT_EQ(count(text, ".private_segment_fixed_size: 0\n"), kernels);
    EXPECT_EQ(count(text, std::string(".wavefront_size: ") + lanes + "\n"), kernels);
  }
}

// ---- what is computed

class HipProgram : public runtime::Executable {
 public:
  explicit HipProgram(const Pipeline& pipeline, simt::Build build)
      : pipeline_(pipeline.ir()), module_(device_, compiled(pipeline.ir(), build)) {}

  void run(const ir::Bindings& bindings, const std::map<std::string, Buffer>& outputs) const override {
    const runtime::EntryArguments arguments(pipeline_, bindings, outputs);
    const auto entry =
        module_.function<int(void* const*, const std::int64_t*, const void* const*)>("weft_entry");
    EXPECT_EQ(entry(arguments.arrays(), arguments.integers(), arguments.params()), 0);
    device_.synchronize();
    for (const simt::Report& report : device_.reports()) ADD_FAILURE() << to_string(report);
  }

 private:
  /// The checker takes kernels as they are, not as addresses.
  static simt::Compiled compiled(const ir::Pipeline& pipeline, simt::Build build) {
    simt::CompileOptions options;
    options.build = build;
    options.flags = simt::quick_flags(build);
    options.includes = {headers};
    const std::string text = emit::emit_gpu_for_loading(lowered(pipeline, "gfx90a"), target::hip());
    return simt::compile(emit::replaced(text, "(const void*)kernel", "kernel"), options);
  }

  ir::Pipeline pipeline_;
  mutable simt::Device device_;
  simt::Module module_;
};

class HipOnTheChecker : public testing::TestWithParam<simt::Build> {};

TEST_P(HipOnTheChecker, ComputesTheSame) {
  const Pipeline pipeline = of_all_kinds();
  const Program program = runtime::program_of(pipeline, std::make_unique<HipProgram>(pipeline, GetParam()));
  expect_agreement(program, pipeline, {{{"in", noise(type_of<std::int16_t>(), {301, 70}, 5)}}, {}, {}});
}

INSTANTIATE_TEST_SUITE_P(Builds, HipOnTheChecker, testing::Values(simt::Build::fast, simt::Build::race),
                         [](const auto& info) { return std::string(simt::name_of(info.param)); });

// ---- the files

TEST(HipFiles, NameNothingOfCuda) {
  const kernel::Module module = lowered(build(applications().at("harris")).pipeline.ir(), "gfx942");
  const auto files = emit::emit_gpu_for_users(module, "gfx942", {}, target::hip());
  std::vector<std::string> names;
  for (const auto& [name, text] : files) {
    names.push_back(name);
    for (const char* word : {"cuda", "CUDA", "nvcc", "sm_", "NVIDIA"})
      EXPECT_EQ(text.find(word), std::string::npos) << name << " says " << word;
  }
  EXPECT_EQ(names, (std::vector<std::string>{"CMakeLists.txt", "README.md", "harris.h", "harris.hip"}));
  const std::string& cmake = files.at("CMakeLists.txt");
  EXPECT_EQ(cmake.substr(cmake.find("# Pipeline")), R"(# Pipeline 'harris'
cmake_minimum_required(VERSION 3.21)  # which knows HIP
if(NOT DEFINED CMAKE_HIP_ARCHITECTURES)
  set(CMAKE_HIP_ARCHITECTURES gfx942)
endif()
enable_language(HIP)
find_package(hip REQUIRED)
add_library(harris_hip STATIC harris.hip harris.h)
set_target_properties(harris_hip PROPERTIES HIP_STANDARD 17 HIP_STANDARD_REQUIRED ON HIP_EXTENSIONS OFF)
target_compile_options(harris_hip PRIVATE -O3 -fgpu-flush-denormals-to-zero)
target_include_directories(harris_hip PUBLIC ${CMAKE_CURRENT_SOURCE_DIR})
target_link_libraries(harris_hip PUBLIC hip::host)
)");
}

TEST(HipFiles, AreForArchitecturesOfAmd) {
  EXPECT_EQ(machine::amd_architecture("gfx90a").warp, 64);
  EXPECT_EQ(machine::amd_architecture("gfx1100").warp, 32);
  try {
    machine::amd_architecture("gfx803");
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "there is no architecture 'gfx803'\n"
                 "  known gfx906, gfx908, gfx90a, gfx942, gfx1030, gfx1100, gfx1201");
  }
}

}  // namespace
}  // namespace weft::testing_support
