// Mistakes that the user's compiler finds: it says why in a sentence of ours, and nothing else.
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <map>
#include <sstream>
#include <string>

namespace {

std::string output_of(const std::string& command) {
  std::string output;
  std::FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return "";
  std::array<char, 4096> part{};
  while (const std::size_t n = std::fread(part.data(), 1, part.size(), pipe)) output.append(part.data(), n);
  pclose(pipe);
  return output;
}

TEST(DoesNotCompile, WithASentenceForEachMistake) {
  const std::map<std::string, std::string> sentences = {
      {"size",
       "a size is made of integers and the sizes of images: in.size(), {in.width() / 2, 256}; a Param is "
       "known "
       "only in a run, and a pixel only at its place"},
      {"window", "a window is made of integers: a Param is known only in a run; make it an Option"},
      {"coordinates", "a body takes one to four coordinates of type Var, not int: [&](Var x, Var y) { ... }"},
      {"value", "a body returns the value of a pixel, or cases()"},
      {"pixel", "a pixel cannot be assigned: the body of its stage returns its value"},
      {"stages", "a pipeline returns stages: point(\"out\", ...) makes one of a formula"},
      {"option", "an option is an int, a double or a std::string"}};
  const std::string file = WEFT_SOURCE_DIR "/tests/errors/does_not_compile.inc";
  const std::string said =
      output_of(WEFT_COMPILER " -std=c++20 -fsyntax-only -I " WEFT_SOURCE_DIR "/include -x c++ " + file);

  std::istringstream lines(said);
  for (std::string line; std::getline(lines, line);) {
    if (line.find("error:") == std::string::npos) continue;
    bool is_ours = false;
    for (const auto& [kind, sentence] : sentences) is_ours |= line.find(sentence) != std::string::npos;
    EXPECT_TRUE(is_ours) << line;
  }
  std::FILE* source = std::fopen(file.c_str(), "r");
  ASSERT_NE(source, nullptr);
  std::array<char, 256> line{};
  int mistakes = 0;
  for (int number = 1; std::fgets(line.data(), line.size(), source) != nullptr; ++number) {
    const std::string text = line.data();
    const auto comment = text.rfind("// ");
    if (text[0] != ' ' || comment == std::string::npos) continue;
    const std::string kind = text.substr(comment + 3, text.size() - comment - 4);
    ASSERT_TRUE(sentences.contains(kind)) << text;
    EXPECT_NE(said.find(sentences.at(kind)), std::string::npos) << said;
    EXPECT_NE(said.find("does_not_compile.inc:" + std::to_string(number) + ":"), std::string::npos) << text;
    ++mistakes;
  }
  std::fclose(source);
  EXPECT_EQ(mistakes, 14);
}

}  // namespace
