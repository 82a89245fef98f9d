#include "ir/identifiers.h"

#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>

#include "compile/process.h"

namespace weft::ir {
namespace {

TEST(Identifiers, AreKeptIfTheyCanBe) {
  for (const char* name : {"dx", "_a_2", "blur3", "R", "D0", "dX", "Gx", "Sobel_X", "aB_C"})
    EXPECT_EQ(safe_identifier(name), name);
}

TEST(Identifiers, HaveNoOtherCharactersAndNoDigitFirst) {
  EXPECT_EQ(safe_identifier("a b-c"), "a_b_c");
  EXPECT_EQ(safe_identifier("3rd"), "_3rd");
  EXPECT_EQ(safe_identifier(""), "_");
  EXPECT_EQ(safe_identifier("a\nb\"\\"), "a_b__");
}

TEST(Identifiers, LeaveToCompilersWhatIsTheirs) {
  EXPECT_EQ(safe_identifier("__LINE__"), "LINE___");
  EXPECT_EQ(safe_identifier("__LINE_"), "LINE__");
  EXPECT_EQ(safe_identifier("__restrict"), "restrict_");
  EXPECT_EQ(safe_identifier("_Complex"), "Complex");
  EXPECT_EQ(safe_identifier("__y"), "y_");
  EXPECT_EQ(safe_identifier("___3"), "_3");
  EXPECT_EQ(safe_identifier("__"), "_");
}

TEST(Identifiers, LookLikeNoMacros) {
  EXPECT_EQ(safe_identifier("INT8_MAX"), "INT8_MAX_");
  EXPECT_EQ(safe_identifier("RGB"), "RGB_");
  EXPECT_EQ(safe_identifier("SYS_read"), "SYS_read_");
  EXPECT_EQ(safe_identifier("M_PIf"), "M_PIf_");
}

TEST(Identifiers, AvoidTheLanguageAndWhatEmittedCodeUses) {
  for (const char* word : {"int", "typeof", "x", "frame", "int64_t", "expf", "clamp_index", "min_f32",
                           "saturate_u8_f32", "thread_x", "cudaFree", "weft_host", "unix"})
    EXPECT_EQ(safe_identifier(word), std::string(word) + "_");
}

/// The names of all macros that stand for something wherever they are found, with the headers of emitted
/// code.
std::set<std::string> macros_of(const std::string& compiler, const std::string& standard,
                                const std::string& file) {
  const auto run = compile::run_process({compiler, standard, "-dM", "-E", file});
  EXPECT_EQ(run.exit_code, 0) << run.output;
  std::set<std::string> names;
  std::istringstream lines(run.output);
  for (std::string define, name, rest; lines >> define >> name && std::getline(lines, rest);) {
    if (name.find('(') == std::string::npos) names.insert(name);
  }
  return names;
}

TEST(Identifiers, AreNoMacrosOfTheCompilersHere) {
  std::string file = testing::TempDir() + "weft-macros-XXXXXX.cpp";
  ASSERT_GE(::mkstemps(file.data(), 4), 0);
  std::ofstream(file) << "#include <stddef.h>\n#include <stdint.h>\n#include <cmath>\n#include <cstdlib>\n"
                         "#include <cstring>\n#include <thread>\n#include <vector>\n";
  for (const char* compiler : {"g++", "clang++"}) {
    if (!compile::find_program(compiler)) continue;
    for (const char* standard : {"-std=c++17", "-std=gnu++20"}) {
      const std::set<std::string> macros = macros_of(compiler, standard, file);
      EXPECT_TRUE(macros.count("INT8_MAX")) << compiler;
      for (std::string name : macros) {
        // Names that would become a macro, too.
        for (int cut = 0; cut < 2 && !name.empty(); ++cut, name.pop_back())
          EXPECT_FALSE(macros.count(safe_identifier(name))) << compiler << ": " << name;
      }
    }
  }
  std::remove(file.c_str());
}

}  // namespace
}  // namespace weft::ir
