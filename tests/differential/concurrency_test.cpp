// Programs in several threads, and pipelines compiled by several processes at once.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <thread>

#include "tests/support/differential.h"

namespace weft::testing_support {
namespace {

Pipeline blur() {
  const Image<std::int32_t> in("in");
  const Stage once = convolve("once", in.border(Border::clamp()), Mask{{1, 2, 1}, {2, 4, 2}, {1, 2, 1}});
  return {"blur", convolve("twice", once.border(Border::mirror()), Mask{{1, 1, 1, 1, 1}})};
}

Arguments image(const std::vector<std::int64_t>& extents, std::uint64_t seed) {
  return {{{"in", noise(type_of<std::int32_t>(), extents, seed)}}, {}, {}};
}

TEST(Concurrency, OneProgramInTwoThreads) {
  const Pipeline pipeline = blur();
  const Program program = pipeline.compile(compile_options());
  const auto work = [&](std::uint64_t seed) {
    for (std::uint64_t i = 0; i < 20; ++i) {
      const auto size = static_cast<std::int64_t>(10 + seed + 7 * i);
      expect_agreement(program, pipeline, image({size, 61}, seed + i));
    }
  };
  std::thread other(work, 200);
  work(100);
  other.join();
}

TEST(Concurrency, ManyProgramsInManyThreads) {
  std::vector<std::thread> threads;
  for (std::uint64_t t = 0; t < 4; ++t) {
    threads.emplace_back([t] { expect_agreement(blur(), image({50, 40}, t)); });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(Concurrency, ProgramOutlivesItsPipeline) {
  auto pipeline = std::make_unique<Pipeline>(blur());
  const Arguments arguments = image({33, 21}, 1);
  const Buffer expected = interpreted(*pipeline, arguments).at("twice");
  const Program program = pipeline->compile(compile_options());
  pipeline.reset();
  const Program copy = program;
  EXPECT_EQ(difference(expected, copy.run(arguments).at("twice")), "");
}

TEST(Concurrency, ResultsOutliveTheProgram) {
  const Pipeline pipeline = blur();
  const Arguments arguments = image({33, 21}, 2);
  const Buffer result = pipeline.compile(compile_options()).run(arguments).at("twice");
  EXPECT_EQ(difference(interpreted(pipeline, arguments).at("twice"), result), "");
}

TEST(Concurrency, AnyNumberOfThreads) {
  const Pipeline pipeline = blur();
  for (const int threads : {1, 2, 3, 16}) {
    SCOPED_TRACE(threads);
    CompileOptions options = compile_options();
    options.threads = threads;
    expect_agreement(pipeline.compile(options), pipeline, image({57, 3}, 3));
  }
}

/// An empty cache for the processes that this one starts.
class EmptyCache {
 public:
  EmptyCache() {
    std::string name = (std::filesystem::temp_directory_path() / "weft-test-XXXXXX").string();
    if (!::mkdtemp(name.data())) throw std::runtime_error("no temporary folder");
    folder_ = name;
  }
  ~EmptyCache() { std::filesystem::remove_all(folder_); }
  EmptyCache(const EmptyCache&) = delete;
  EmptyCache& operator=(const EmptyCache&) = delete;
  const std::filesystem::path& folder() const { return folder_; }

 private:
  std::filesystem::path folder_;
};

/// What each of the processes does; run by itself it is just another test.
TEST(Concurrency, OneProcess) { expect_agreement(blur(), image({33, 21}, 4)); }

TEST(Concurrency, FourProcessesWithAnEmptyCache) {
  const EmptyCache cache;
  const std::string program = std::filesystem::read_symlink("/proc/self/exe").string();
  std::vector<pid_t> processes;
  for (int i = 0; i < 4; ++i) {
    const pid_t process = ::fork();
    ASSERT_GE(process, 0);
    if (process == 0) {
      ::setenv("WEFT_CACHE", cache.folder().c_str(), 1);
      ::execl(program.c_str(), program.c_str(), "--gtest_filter=Concurrency.OneProcess", "--gtest_brief=1",
              nullptr);
      ::_exit(127);
    }
    processes.push_back(process);
  }
  for (const pid_t process : processes) {
    int status = 0;
    ASSERT_EQ(::waitpid(process, &status, 0), process);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "status " << status;
  }
  // one object, its source and what it came of, and nothing half-written beside them
  for (const auto& file : std::filesystem::directory_iterator(cache.folder())) {
    const std::string extension = file.path().extension();
    EXPECT_TRUE(extension == ".so" || extension == ".cpp" || extension == ".known") << file.path();
  }
}

}  // namespace
}  // namespace weft::testing_support
