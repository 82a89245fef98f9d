// What `weft emit --target bench` and bench/gpu/pack write: programs that check CUDA against C++ and time it.
// Here they run on the SIMT checker, where nothing takes any time, and compile for a GPU where there is nvcc.
#include <gtest/gtest.h>
#include <simt/simt.h>
#include <stdlib.h>
#include <weft/weft.hpp>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "compile/process.h"
#include "tests/support/nvcc.h"
#include "tools/arguments.h"
#include "tools/command_line.h"

namespace weft::testing_support {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

std::string content_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

class BenchKit : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "weft-bench-kit-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder = name;
  }
  void TearDown() override {
    if (!folder.empty()) fs::remove_all(folder);
  }

  /// Emits the program of one application into a folder of its own.
  void emit(const std::string& application, const std::vector<std::string>& more) const {
    std::vector<std::string> words = {
        "weft", "emit", application, "--target", "bench", "-o", (folder / application).string()};
    words.insert(words.end(), more.begin(), more.end());
    std::vector<const char*> command;
    for (const std::string& word : words) command.push_back(word.c_str());
    ASSERT_EQ(tools::run_command_line(static_cast<int>(command.size()), command.data()), 0);
  }

  struct Outcome {
    int exit_code = -1;
    Json row;
  };
  /// Runs an emitted program on the checker: its CUDA and its C++.
  Outcome run(const std::string& application, const std::vector<std::string>& more = {}) const {
    const fs::path home = folder / application, row = folder / "row.json";
    const auto compiled = compile::run_process({"/usr/bin/env", "g++", "-std=c++17", "-O0", "-fPIC", "-c",
                                                (home / "cpp" / (application + ".cpp")).string(), "-o",
                                                (home / "cpp.o").string()});
    EXPECT_EQ(compiled.exit_code, 0) << compiled.output;
    simt::CompileOptions options;
    options.flags = simt::quick_flags(options.build);
    options.includes = {home};
    options.objects = {home / "cpp.o"};
    const std::string text =
        "#define main bench_main\n#include \"bench.cu\"\n#undef main\n#include \"cuda/" + application +
        ".cu\"\n"
        "extern \"C\" int simt_main(int count, char** words) { return bench_main(count, words); }";
    simt::Device device;
    const simt::Module module(device, simt::compile(text, options));
    std::vector<std::string> words = {"bench",  "--runs", "2",      "--probe-mb", "1",
                                      "--seed", "7",      "--json", row.string()};
    words.insert(words.end(), more.begin(), more.end());
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    Outcome outcome;
    outcome.exit_code =
        module.function<int(int, char**)>("simt_main")(static_cast<int>(argv.size()), argv.data());
    device.report_leaks();
    for (const simt::Report& report : device.reports()) ADD_FAILURE() << to_string(report);
    if (fs::exists(row)) outcome.row = Json::parse(content_of(row));
    return outcome;
  }

  fs::path folder;
};

TEST_F(BenchKit, FindsThatCudaAndCppAreEqual) {
  emit("harris", {"--size", "37x11", "--param", "k=0.06", "--tile", "none"});
  EXPECT_NE(content_of(folder / "harris" / "bench.cu").find("const float k = 0.06f;"), std::string::npos);
  const Outcome outcome = run("harris");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.row["application"], "harris");
  EXPECT_EQ(outcome.row["options"], "k=0.06");
  EXPECT_EQ(outcome.row["size"], "37x11");
  EXPECT_EQ(outcome.row["seed"], 7);
  EXPECT_EQ(outcome.row["smooth"], false);
  EXPECT_EQ(outcome.row["runs"], 2);
  EXPECT_EQ(outcome.row["equal"], true);
  EXPECT_EQ(outcome.row["bytes"], 2 * 37 * 11 * 4) << "one image in, one out";
  EXPECT_GT(outcome.row["kernel_bytes"], outcome.row["bytes"]) << "intermediates are stored";
  ASSERT_EQ(outcome.row["outputs"].size(), 1);
  EXPECT_EQ(outcome.row["outputs"][0]["name"], "hc");
  EXPECT_EQ(outcome.row["outputs"][0]["pixels"], 37 * 11);
  EXPECT_EQ(outcome.row["outputs"][0]["wrong"], 0);
}

TEST_F(BenchKit, FillsImagesWithWhatPicturesAreLike) {
  emit("box", {"--size", "64x9"});
  const Outcome outcome = run("box", {"--smooth"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.row["smooth"], true);
  EXPECT_EQ(outcome.row["equal"], true);
}

TEST_F(BenchKit, FindsPixelsThatDiffer) {
  emit("harris", {"--size", "9x5"});
  const fs::path program = folder / "harris" / "bench.cu";
  std::string text = content_of(program);
  const std::size_t call = text.find(", k,", text.find("on_cpu"));
  ASSERT_NE(call, std::string::npos);
  std::ofstream(program) << text.replace(call, 4, ", k + 1,");
  const Outcome outcome = run("harris");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(outcome.row["equal"], false);
  EXPECT_GT(outcome.row["outputs"][0]["wrong"], 40);
  EXPECT_TRUE(outcome.row["outputs"][0]["first_wrong"].get<std::string>().starts_with("(0, 0): expected "));
}

TEST_F(BenchKit, RunsWhatHasNoInput) {
  emit("mandelbrot", {"--size", "16x9"});
  const Outcome outcome = run("mandelbrot");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.row["outputs"][0]["pixels"], 16 * 9);
}

TEST_F(BenchKit, RunsWhatGivesOneValue) {
  emit("reduce_sum", {"--size", "33x7"});
  const Outcome outcome = run("reduce_sum");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.row["outputs"][0]["pixels"], 1);
}

TEST_F(BenchKit, HasAProgramForEveryApplication) {
  std::ofstream all(folder / "all.cpp");
  for (const Application* application : tools::select_applications("all")) {
    emit(application->name, {});
    for (const char* header : {"bench_kit.h", "bench_pixels.h"})  // one for all
      fs::rename(folder / application->name / header, folder / header);
    all << "#define main bench_" << application->name << "\n#include \"" << application->name
        << "/bench.cu\"\n#undef main\n";
  }
  all.close();
  const auto header_folder = [](const char* name) { return (simt::header_folder() / name).string(); };
  const std::vector<std::string> command = {"/usr/bin/env",
                                            "g++",
                                            "-std=c++17",
                                            "-fsyntax-only",
                                            "-Wall",
                                            "-Wextra",
                                            "-Werror",
                                            "-Wno-unknown-pragmas",
                                            "-isystem",
                                            header_folder("cuda"),
                                            "-isystem",
                                            header_folder("include"),
                                            "-I" + folder.string(),
                                            "-include",
                                            "cuda_runtime.h",
                                            (folder / "all.cpp").string()};
  const auto compiled = compile::run_process(command);
  EXPECT_EQ(compiled.exit_code, 0) << compiled.output;
}

// As a user does it: pack here, run there. Where there is no GPU, the program that can be built says so.
TEST_F(BenchKit, IsPackedAndRun) {
  if (!find_nvcc()) GTEST_SKIP() << no_nvcc;
  const auto python = compile::find_program("python3");
  if (!python) GTEST_SKIP() << "python3 is not installed";
  const fs::path kit = folder / "kit";
  const auto packed =
      compile::run_process({python->string(), WEFT_SOURCE_DIR "/bench/gpu/pack", kit.string(), "histogram",
                            "jacobi2d:steps=3", "--size", "64x48", "--weft", WEFT_COMMAND});
  ASSERT_EQ(packed.exit_code, 0) << packed.output;
  std::ofstream(kit / "apps" / "jacobi2d-steps3" / "cuda" / "jacobi2d.cu", std::ios::app) << "no C++\n";

  const auto ran =
      compile::run_process({"/usr/bin/env", "NVCC=" + find_nvcc()->string(), (kit / "run").string(), "--runs",
                            "3", "--probe-mb", "10", "--jobs", "2"});
  EXPECT_EQ(ran.exit_code, 1) << ran.output;
  const Json results = Json::parse(content_of(kit / "results.json"));
  ASSERT_EQ(results["rows"].size(), 2) << ran.output;
  EXPECT_EQ(results["architecture"], "sm_90");
  const Json &histogram = results["rows"][0], &broken = results["rows"][1];
  EXPECT_EQ(histogram["application"], "histogram");
  if (histogram.contains("error")) {
    EXPECT_EQ(results["board"], nullptr) << histogram["error"];
    EXPECT_TRUE(histogram["error"].get<std::string>().starts_with("exit code 2: histogram: "));
  } else {
    EXPECT_EQ(histogram["equal"], true);
  }
  EXPECT_EQ(broken["application"], "jacobi2d-steps3");
  EXPECT_TRUE(broken["error"].get<std::string>().starts_with("it does not build: ")) << broken["error"];
  EXPECT_NE(content_of(kit / "results.txt").find("jacobi2d-steps3         FAILED: it does not build"),
            std::string::npos);
}

/// In place of a simulator: notes what it is asked for, and computes zeros.
constexpr const char* no_simulator = R"(#!/usr/bin/env python3
import sys
text, kernel, grid, block, registers, shared, *arguments = sys.argv[1:]
ptx = open(text).read()
for unknown in ["ld.global.nc", "shfl.sync", "bar.warp.sync"]:
    assert unknown not in ptx, unknown
assert f".entry {kernel}(" in ptx and int(registers) > 0 and int(shared) >= 0
files = [a.split(":")[2] for a in arguments if a.startswith("out:") and a.count(":") == 2]
for word, file in zip([a for a in arguments if a.startswith("out:")], files):
    open(file, "wb").write(bytes(4 * int(word.split(":")[1])))
with open("asked", "a") as asked:
    print(grid, block, *[a.partition(":/")[0] for a in arguments], file=asked)
print("total dram reads = 10\ngpu_sim_insn = 2800\ntotal dram reads = 11\ntotal dram writes = 7")
print("PTXRUN cycles=%d" % (500 if kernel == "copy" else 1000))
)";

TEST_F(BenchKit, KernelsAreGivenToASimulator) {
  if (!find_nvcc()) GTEST_SKIP() << no_nvcc;
  const auto python = compile::find_program("python3");
  if (!python) GTEST_SKIP() << "python3 is not installed";
  std::ofstream(folder / "simulator") << no_simulator;
  fs::permissions(folder / "simulator", fs::perms::owner_all);
  std::ofstream(folder / "gpgpusim.config") << "-gpgpu_n_clusters 10\n";
  std::ofstream(folder / "strips.json") << R"({"groups": [["dx", "dy", "mag"]],
             "kernels": {"mag": {"levels": [{"kind": "grid", "extent": ["all", 16]}, {"kind": "warp"}]}}})";
  const auto ran = compile::run_process(
      {python->string(), WEFT_SOURCE_DIR "/bench/gpu/simulate", (folder / "simulator").string(),
       folder.string(), "sobel=" + (folder / "strips.json").string(), "--size", "140x20", "--weft",
       WEFT_COMMAND, "--nvcc", find_nvcc()->string(), "--json", (folder / "numbers.json").string()});
  ASSERT_EQ(ran.exit_code, 0) << ran.output;
  // Two strips of 120 pixels, two of 16 rows; then as many floats as the image and the result have, halved.
  EXPECT_EQ(content_of(folder / "asked"),
            "2,2,1 32,1,1 in:140,20,160 out:3200 i:140 i:20 l:160 l:160\n"
            "3,1,1 256,1,1 in:2800,1,2800 out:2800 i:700\n");
  const Json numbers = Json::parse(content_of(folder / "numbers.json"));
  const Json& result = numbers["results"][0];
  EXPECT_EQ(result["schedule"], "strips.json");
  EXPECT_NEAR(result["difference"], 1, 1e-6);  // zeros are wrong
  const Json& kernel = result["kernels"][0];
  EXPECT_EQ(kernel["kernel"], "mag_kernel");
  EXPECT_EQ(kernel["cycles"], 1000);
  EXPECT_EQ(kernel["instructions"], 2800);
  EXPECT_EQ(kernel["bytes_read"], 21 * 32);
  EXPECT_NE(ran.output.find("| 500 | 0.50 | 1.0e+00, 2"), std::string::npos) << ran.output;
}

}  // namespace
}  // namespace weft::testing_support
