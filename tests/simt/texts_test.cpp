// Each text in faults/ has one fault. Its head says which builds find it, and as what; lines that a report
// has to name end in "<-- here". Each text in clean/ checks its own results, and no build may report
// anything, in any order of its threads.
#include "simt/simt.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <ostream>
#include <set>
#include <sstream>

namespace {

namespace fs = std::filesystem;

struct Expectation {
  fs::path file;
  simt::Build build{};
  std::set<std::string> kinds;  ///< Empty: nothing.
  std::set<int> lines;
};

void PrintTo(const Expectation& expectation, std::ostream* out) { *out << expectation.file; }

std::vector<fs::path> texts_in(const char* folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(fs::path(SIMT_TEXTS) / folder))
    files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

/// "// race: a kind; another kind" -> the kinds, if the line is about this build.
std::optional<std::set<std::string>> kinds_in(const std::string& line, simt::Build build) {
  const std::string head = "// " + std::string(name_of(build)) + ": ";
  if (line.rfind(head, 0) != 0) return std::nullopt;
  std::set<std::string> kinds;
  std::istringstream rest(line.substr(head.size()));
  for (std::string kind; std::getline(rest >> std::ws, kind, ';');) {
    if (kind != "nothing") kinds.insert(kind);
  }
  return kinds;
}

std::vector<Expectation> expectations() {
  std::vector<Expectation> all;
  for (const fs::path& file : texts_in("faults")) {
    std::set<int> lines;
    std::vector<Expectation> of_file;
    std::ifstream text(file);
    int number = 0;
    for (std::string line; std::getline(text, line);) {
      ++number;
      if (line.find("<-- here") != std::string::npos) lines.insert(number);
      for (const simt::Build build : {simt::Build::fast, simt::Build::race, simt::Build::address}) {
        if (const auto kinds = kinds_in(line, build)) of_file.push_back({file, build, *kinds, {}});
      }
    }
    for (Expectation& expectation : of_file) {
      expectation.lines = lines;
      all.push_back(std::move(expectation));
    }
  }
  return all;
}

struct Outcome {
  int result = 0;
  std::vector<simt::Report> reports;
  std::string text;
};

Outcome run(const simt::Compiled& compiled, std::uint64_t seed) {
  simt::Options options;
  options.seed = seed;
  simt::Device device(options);
  const simt::Module module(device, compiled);
  Outcome outcome;
  outcome.result = module.function<int()>("simt_main")();
  device.synchronize();
  outcome.reports = device.reports();
  for (const simt::Report& report : outcome.reports) outcome.text += to_string(report);
  return outcome;
}

simt::Compiled compile(const fs::path& file, simt::Build build) {
  simt::CompileOptions options;
  options.build = build;
  return simt::compile_file(file, options);
}

std::string identifier(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return !std::isalnum(static_cast<unsigned char>(c)); }, '_');
  return text;
}

class Faults : public testing::TestWithParam<Expectation> {};

TEST_P(Faults, AreReported) {
  const Expectation& expected = GetParam();
  const simt::Compiled compiled = compile(expected.file, expected.build);
  for (const std::uint64_t seed : {0, 1, 2}) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Outcome outcome = run(compiled, seed);
    std::set<std::string> kinds;
    for (const simt::Report& report : outcome.reports) {
      kinds.insert(std::string(name_of(report.kind)));
      EXPECT_EQ(fs::path(report.first.place.file), expected.file) << to_string(report);
      EXPECT_TRUE(expected.lines.count(report.first.place.line)) << to_string(report);
      if (report.second.action.empty()) continue;
      EXPECT_TRUE(expected.lines.count(report.second.place.line)) << to_string(report);
    }
    EXPECT_EQ(kinds, expected.kinds) << outcome.text;
  }
}

INSTANTIATE_TEST_SUITE_P(Simt, Faults, testing::ValuesIn(expectations()), [](const auto& info) {
  return identifier(info.param.file.stem().string() + "_" + std::string(name_of(info.param.build)));
});

class Clean : public testing::TestWithParam<std::tuple<fs::path, simt::Build>> {};

TEST_P(Clean, AreSilentAndRight) {
  const auto& [file, build] = GetParam();
  const simt::Compiled compiled = compile(file, build);
  for (const std::uint64_t seed : {0, 1, 2, 3}) {
    const Outcome outcome = run(compiled, seed);
    EXPECT_EQ(outcome.text, "") << "seed " << seed;
    EXPECT_EQ(outcome.result, 0) << "seed " << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(Simt, Clean,
                         testing::Combine(testing::ValuesIn(texts_in("clean")),
                                          testing::Values(simt::Build::fast, simt::Build::race,
                                                          simt::Build::address)),
                         [](const auto& info) {
                           return identifier(std::get<0>(info.param).stem().string() + "_" +
                                             std::string(name_of(std::get<1>(info.param))));
                         });

}  // namespace
