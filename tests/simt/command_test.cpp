// The simt-check command, and docs/simt.md, which shows what it prints.
#include "simt/simt.h"
#include "src/process.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

namespace {

namespace fs = std::filesystem;

/// A folder to work in, until the end of the test.
class Command : public testing::Test {
 protected:
  Command() : before_(fs::current_path()) {
    std::string pattern = (fs::temp_directory_path() / "simt-test-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
    fs::current_path(folder_);
  }
  ~Command() override {
    fs::current_path(before_);
    fs::remove_all(folder_);
  }

  static void write(const char* name, const std::string& text) { std::ofstream(name) << text; }

  static simt::ProcessResult simt_check(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), SIMT_CHECK);
    return simt::run_process(arguments, true);
  }

 private:
  fs::path before_, folder_;
};

/// The text between a line of the page and the next "```".
std::string block_after(const std::string& page, const std::string& line) {
  const auto begin = page.find(line + "\n") + line.size() + 1;
  return page.substr(begin, page.find("```", begin) - begin);
}

TEST_F(Command, PrintsWhatThePageShows) {
  std::ifstream file(SIMT_PAGE);
  std::ostringstream page;
  page << file.rdbuf();
  write("scan.cu", block_after(page.str(), "```cuda"));
  const auto run = simt_check({"scan.cu", "--build", "race"});
  EXPECT_EQ(run.output, block_after(page.str(), "$ simt-check scan.cu --build race"));
  EXPECT_EQ(run.exit_code, 1);
}

TEST_F(Command, ChecksWithAllBuildsAndSeeds) {
  write("good.cu", "extern \"C\" int simt_main() { return 0; }\n");
  const auto run = simt_check({"good.cu", "--seed", "0", "5", "--arch", "sm_75"});
  EXPECT_EQ(run.output,
            "good.cu fast (seed 0): 0 reports, result 0, error 0\n"
            "good.cu fast (seed 5): 0 reports, result 0, error 0\n"
            "good.cu race (seed 0): 0 reports, result 0, error 0\n"
            "good.cu race (seed 5): 0 reports, result 0, error 0\n"
            "good.cu address (seed 0): 0 reports, result 0, error 0\n"
            "good.cu address (seed 5): 0 reports, result 0, error 0\n");
  EXPECT_EQ(run.exit_code, 0);
}

TEST_F(Command, FailsWhenTheResultIsWrong) {
  write("wrong.cu", "extern \"C\" int simt_main() { return RESULT; }\n");
  EXPECT_EQ(simt_check({"wrong.cu", "--build", "fast", "--flag=-DRESULT=3"}).exit_code, 1);
  EXPECT_EQ(simt_check({"wrong.cu", "--build", "fast", "--flag=-DRESULT=0"}).exit_code, 0);
}

TEST_F(Command, SaysWhatItCannotRun) {
  write("other.cu", "extern \"C\" int other() { return 0; }\n");
  const auto missing = simt_check({"missing.cu"});
  EXPECT_EQ(missing.output, "simt-check: error: cannot read 'missing.cu'\n");
  EXPECT_EQ(missing.exit_code, 2);
  EXPECT_EQ(simt_check({}).output, "simt-check: error: which file? Say simt-check FILE\n");
  const auto without = simt_check({"other.cu", "--build", "fast"});
  EXPECT_EQ(without.output,
            "simt-check: error: the text has no function 'simt_main' with external linkage\n");
  EXPECT_EQ(without.exit_code, 2);
  EXPECT_EQ(simt_check({"other.cu", "--build", "fast", "--function", "other"}).exit_code, 0);
}

TEST_F(Command, PrecompilesHeadersForEachBuildUsualAndQuick) {
  EXPECT_EQ(simt_check({"--precompile", "made"}).exit_code, 0);
  std::set<std::string> made;
  for (const auto& file : fs::directory_iterator("made/cuda_runtime.h.gch"))
    made.insert(file.path().filename().string());
  EXPECT_EQ(made,
            (std::set<std::string>{"address", "address_quick", "fast", "fast_quick", "race", "race_quick"}));
  EXPECT_TRUE(fs::exists("made/cuda_runtime.h")) << "for texts that include it again";
  EXPECT_NE(simt_check({"text.cu", "--precompile", "made"}).exit_code, 0) << "one or the other";
}

TEST_F(Command, ReportsLeaksAndCountsIfAsked) {
  write("leak.cu", R"(
__global__ void write(int* out) { out[threadIdx.x] = 1; }
extern "C" int simt_main() {
  int* out;
  cudaMalloc(&out, 128);
  void* arguments[] = {&out};
  cudaLaunchKernel(write, dim3(1), dim3(32), arguments, 0, 0);
  return 0;
}
)");
  EXPECT_EQ(simt_check({"leak.cu", "--build", "race"}).exit_code, 0);
  const auto run = simt_check({"leak.cu", "--build", "race", "--leaks", "--count"});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_EQ(run.output.rfind(
                "leak: a buffer of 128 bytes was never released\n  leak.cu:5: the host allocates it\n", 0),
            0u)
      << run.output;
  EXPECT_NE(run.output.find("\"sectors_stored\": 4"), std::string::npos) << run.output;
}

}  // namespace
