// What a program does when its code is in the cache: it neither plans nor prints it again.
#include "tests/support/environment.h"

#include <gtest/gtest.h>
#include <weft/weft.hpp>

#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <vector>

namespace weft {
namespace {

using namespace testing_support;

namespace fs = std::filesystem;

Pipeline times(int factor) { return {"times", point("out", Image<std::int32_t>("in") * factor)}; }

class WarmStart : public ::testing::Test {
 public:
  /// What the program makes of 1, and the files that compiling it left.
  std::int32_t result_of(const Pipeline& pipeline, const CompileOptions& options) {
    const Program program = pipeline.compile(options);
    const Buffer one = Buffer::allocate(type_of<std::int32_t>(), {1, 1});
    *static_cast<std::int32_t*>(one.data()) = 1;
    const Buffer result = program(one);
    return *static_cast<const std::int32_t*>(result.data());
  }
  std::int32_t result_of(const Pipeline& pipeline) { return result_of(pipeline, cpu()); }

  static CompileOptions cpu() {
    CompileOptions options;
    options.target = Target::Cpu;
    return options;
  }
  std::set<fs::path> known() const {
    std::set<fs::path> found;
    for (const auto& entry : fs::directory_iterator(folder.path())) {
      if (entry.path().extension() == ".known") found.insert(entry.path());
    }
    return found;
  }

  TemporaryFolder folder;
  Variable cache{"WEFT_CACHE", folder.path()};
};

TEST_F(WarmStart, WhatIsRememberedIsLoadedUnread) {
  EXPECT_EQ(result_of(times(2)), 2);
  const fs::path of_two = *known().begin();
  EXPECT_EQ(result_of(times(3)), 3);
  ASSERT_EQ(known().size(), 2u);
  // Whoever takes the code of one for that of the other has not asked what the pipeline becomes.
  for (const fs::path& file : known()) {
    if (file != of_two) fs::copy_file(file, of_two, fs::copy_options::overwrite_existing);
  }
  EXPECT_EQ(result_of(times(2)), 3);
  EXPECT_EQ(result_of(times(3)), 3);
  fs::remove(of_two);
  EXPECT_EQ(result_of(times(2)), 2);
}

TEST_F(WarmStart, OptionsThatDecideWhatIsEmittedAreTold) {
  const std::vector<std::function<void(CompileOptions&)>> deciding = {
      [](CompileOptions&) {},
      [](CompileOptions& o) { o.tile = Tile::None; },
      [](CompileOptions& o) { o.fuse = Fuse::Dp; },
      [](CompileOptions& o) { o.schedule = R"({"groups": [["out"]]})"; },
      [](CompileOptions& o) { o.compiler_flags = {"-O0"}; },
      [](CompileOptions& o) {
        o.compiler_flags = {"-O0", "-g"};
      },
      [](CompileOptions& o) { o.compiler_flags = {"-O0 -g"}; }};
  for (std::size_t i = 0; i + 1 < deciding.size(); ++i) {
    CompileOptions options = cpu();
    deciding[i](options);
    EXPECT_EQ(result_of(times(2), options), 2);
    EXPECT_EQ(known().size(), i + 1) << i;
  }
  CompileOptions joined = cpu();
  deciding.back()(joined);
  EXPECT_THROW(times(2).compile(joined), Error) << "one flag of a blank, which the compiler refuses";

  CompileOptions threads = cpu();
  threads.threads = 1;
  const std::size_t before = known().size();
  EXPECT_EQ(result_of(times(2), threads), 2);
  EXPECT_EQ(known().size(), before) << "the code is the same for every number of threads";
}

}  // namespace
}  // namespace weft
