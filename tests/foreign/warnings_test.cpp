// Emitted code as strict projects compile it, with the warnings that they ask for as errors. Many pipelines
// are included by one file, each in its namespace, as in a unity build: the compilers start once.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "compile/process.h"
#include "compile/scheduling.h"
#include "emit/cpp.h"
#include "emit/gpu.h"
#include "fuzz/build.h"
#include "fuzz/generate.h"
#include "ir/stage_ir.h"
#include "tests/support/differential.h"

namespace weft::testing_support {
namespace {

namespace fs = std::filesystem;

/// A file that includes pipelines, in a folder that is removed afterwards.
class Unity {
 public:
  explicit Unity(target::Processor processor) : processor_(processor) {
    std::string name = (fs::temp_directory_path() / "weft-warnings-XXXXXX").string();
    if (!::mkdtemp(name.data())) throw std::runtime_error("no temporary folder");
    folder_ = name;
  }
  ~Unity() { fs::remove_all(folder_); }
  Unity(const Unity&) = delete;
  Unity& operator=(const Unity&) = delete;

  void add(const ir::Pipeline& pipeline, const std::string& name_space) {
    const bool gpu = processor_ == target::Processor::Gpu;
    const kernel::Module module = compile::lowered(pipeline, processor_);
    fs::create_directory(folder_ / name_space);
    for (const auto& [name, text] : gpu ? emit::emit_gpu_for_users(module, "sm_90", name_space)
                                        : emit::emit_for_users(module, name_space))
      std::ofstream(folder_ / name_space / name) << text;
    includes_ += "#include \"" + name_space + "/" + module.name + (gpu ? ".cu\"\n" : ".cpp\"\n");
    ++count_;
  }
  int count() const { return count_; }

  void expect_no_warnings(const std::string& compiler, const std::vector<std::string>& flags = {}) const {
    const auto found = compile::find_program(compiler);
    if (!found) GTEST_SKIP() << compiler << " is not installed";
    std::ofstream(folder_ / "all.cpp") << includes_;
    std::vector<std::string> command = {found->string(), "-std=c++17",    "-Wall",  "-Wextra",
                                        "-Wconversion",  "-Wparentheses", "-Werror"};
    command.insert(command.end(), flags.begin(), flags.end());
    command.push_back((folder_ / "all.cpp").string());
    const auto result = compile::run_process(command);
    EXPECT_EQ(result.exit_code, 0) << result.output;
  }

 private:
  target::Processor processor_;
  fs::path folder_;
  std::string includes_;
  int count_ = 0;
};

void add_applications(Unity& unity) {
  for (const auto& [name, application] : applications()) {
    if (!application.about.refused) unity.add(build(application).pipeline.ir(), name);
  }
}

void add_random_pipelines(Unity& unity, std::uint64_t first_seed, std::uint64_t count) {
  for (std::uint64_t seed = first_seed; seed < first_seed + count; ++seed) {
    fuzz::Recipe recipe = fuzz::random_recipe(seed);
    unity.add(fuzz::build(recipe).ir(), "random_" + std::to_string(seed));
  }
}

/// What random pipelines say for nothing, and no printer can mend: v < v, u8 >= -2, bools that are -1, sums
/// that nobody reads.
const std::vector<std::string> said_for_nothing = {"-Wno-tautological-compare", "-Wno-type-limits",
                                                   "-Wno-bool-compare", "-Wno-unknown-warning-option",
                                                   "-Wno-unused-but-set-variable"};

class Warnings : public testing::TestWithParam<const char*> {};

TEST_P(Warnings, NoneInCpp) {
  Unity unity(target::Processor::Cpu);
  add_applications(unity);
  EXPECT_GT(unity.count(), 40);
  add_random_pipelines(unity, 20261123, 60);
  std::vector<std::string> flags = said_for_nothing;
  flags.push_back("-fsyntax-only");
  unity.expect_no_warnings(GetParam(), flags);
}

INSTANTIATE_TEST_SUITE_P(Compilers, Warnings, testing::Values("g++", "clang++-19"),
                         [](const auto& info) { return *info.param == 'g' ? "gcc" : "clang"; });

// Clang does not make vectors of all loops that could be, and says so when it optimizes.
TEST(Warnings, NoneFromTheOptimizer) {
  Unity unity(target::Processor::Cpu);
  unity.add(build(applications().at("life")).pipeline.ir(), "life");
  unity.expect_no_warnings("clang++", {"-O3", "-S", "-o", "/dev/null"});
}

// The checker's headers stand in for CUDA's, so that g++ sees kernels, too.
TEST(Warnings, NoneInCuda) {
  Unity unity(target::Processor::Gpu);
  add_applications(unity);
  EXPECT_GT(unity.count(), 40);
  add_random_pipelines(unity, 20261123, 60);
  std::vector<std::string> flags = {"-isystem",
                                    WEFT_SOURCE_DIR "/simt/cuda",
                                    "-isystem",
                                    WEFT_SOURCE_DIR "/simt/include",
                                    "-include",
                                    "cuda_runtime.h",
                                    "-x",
                                    "c++",
                                    "-Wno-unknown-pragmas",
                                    "-fsyntax-only"};
  flags.insert(flags.end(), said_for_nothing.begin(), said_for_nothing.end());
  unity.expect_no_warnings("g++", flags);
}

}  // namespace
}  // namespace weft::testing_support
