#include "compile/known_objects.h"

#include "compile/build_identity.h"
#include "compile/native_compiler.h"
#include "tests/support/environment.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace weft::compile {
namespace {

using namespace testing_support;

namespace fs = std::filesystem;

const std::string a_key = content_key({"a"}), b_key = content_key({"b"});

class KnownObjects : public ::testing::Test {
 public:
  fs::path file(const std::string& key) const { return folder / (key + ".known"); }

  /// Compiles what answers so; `description` is what that is said to depend on.
  int answer(const std::string& description, int value) {
    const SharedObject object = compile_shared(
        description,
        [&] {
          ++emitted;
          return Emitted{"extern \"C\" int answer() { return " + std::to_string(value) + "; }\n", {}};
        },
        cache);
    return reinterpret_cast<int (*)()>(object.symbol("answer"))();
  }
  /// All cached files that end so.
  std::vector<fs::path> files(const std::string& extension) const {
    std::vector<fs::path> found;
    for (const auto& entry : fs::directory_iterator(folder.path())) {
      if (entry.path().extension() == extension) found.push_back(entry.path());
    }
    return found;
  }

  TemporaryFolder folder;
  ContentCache cache{folder.path()};
  int emitted = 0;
};

TEST_F(KnownObjects, ThisProgramHasABuildId) {
  ASSERT_TRUE(identity_of_this_build());
  EXPECT_GE(identity_of_this_build()->size(), 16u);
  EXPECT_EQ(identity_of_this_build()->find_first_not_of("0123456789abcdef"), std::string::npos);
}

TEST_F(KnownObjects, AreRememberedByBuild) {
  EXPECT_EQ(known_object(cache, a_key), std::nullopt);
  remember_object(cache, a_key, b_key);
  EXPECT_EQ(known_object(cache, a_key), b_key);
  EXPECT_EQ(known_object(cache, b_key), std::nullopt);
  EXPECT_EQ(read(file(a_key)), *identity_of_this_build() + " " + b_key + "\n");
}

TEST_F(KnownObjects, OtherBuildsKeepTheirs) {
  write(file(a_key), "0123 " + a_key + "\n4567 " + b_key + "\n");
  EXPECT_EQ(known_object(cache, a_key), std::nullopt);
  remember_object(cache, a_key, b_key);
  remember_object(cache, a_key, b_key);
  EXPECT_EQ(known_object(cache, a_key), b_key);
  EXPECT_EQ(read(file(a_key)),
            *identity_of_this_build() + " " + b_key + "\n0123 " + a_key + "\n4567 " + b_key + "\n");
}

TEST_F(KnownObjects, TheOldestBuildsAreForgotten) {
  std::string others;
  for (int build = 10; build < 18; ++build) others += std::to_string(build) + " " + a_key + "\n";
  write(file(a_key), others);
  remember_object(cache, a_key, b_key);
  const std::string kept = read(file(a_key));
  EXPECT_EQ(kept.find("\n17 "), std::string::npos);
  EXPECT_NE(kept.find("\n16 "), std::string::npos);
}

TEST_F(KnownObjects, WhatIsNoKeyIsNotFollowed) {
  for (const std::string& damaged : {std::string("../../etc/passwd"), b_key.substr(1), std::string()}) {
    write(file(a_key), *identity_of_this_build() + " " + damaged + "\n");
    EXPECT_EQ(known_object(cache, a_key), std::nullopt) << damaged;
  }
}

TEST_F(KnownObjects, ACodeThatIsKnownIsNotEmittedAgain) {
  EXPECT_EQ(answer("question", 42), 42);
  EXPECT_EQ(answer("question", 42), 42);
  EXPECT_EQ(emitted, 1);
  EXPECT_EQ(answer("another question", 42), 42);
  EXPECT_EQ(emitted, 2);
  EXPECT_EQ(files(".so").size(), 1u) << "both became the same code";
}

TEST_F(KnownObjects, AnObjectThatIsGoneOrDamagedIsMadeAgain) {
  EXPECT_EQ(answer("question", 42), 42);
  const fs::path object = files(".so").at(0);
  fs::remove(object);
  EXPECT_EQ(answer("question", 42), 42);
  EXPECT_EQ(emitted, 2);
  write(object, read(object).substr(0, 1000));
  EXPECT_EQ(answer("question", 42), 42);
  EXPECT_EQ(emitted, 3);
  EXPECT_EQ(answer("question", 42), 42);
  EXPECT_EQ(emitted, 3);
}

TEST_F(KnownObjects, AnotherCompilerKnowsNothingOfThem) {
  EXPECT_EQ(answer("question", 42), 42);
  const TemporaryFolder tools;
  write_program(tools / "cxx", "#!/bin/sh\nexec c++ \"$@\"\n");
  const Variable cxx("WEFT_CXX", tools / "cxx");
  EXPECT_EQ(answer("question", 42), 42);
  EXPECT_EQ(emitted, 2);
}

TEST_F(KnownObjects, WhatCannotBeWrittenIsNotRemembered) {
  // A folder in its place cannot be replaced by a file, whoever asks.
  fs::create_directories(file(a_key) / "inner");
  remember_object(cache, a_key, b_key);
  EXPECT_EQ(known_object(cache, a_key), std::nullopt);
}

}  // namespace
}  // namespace weft::compile
