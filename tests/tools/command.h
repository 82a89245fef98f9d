// Runs the weft command as a user would, in a folder of its own.
#pragma once

#include <gtest/gtest.h>
#include <weft/buffer.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

struct Outcome {
  int exit_code;
  std::string out, err;
};

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// A test in an empty folder, with an empty cache elsewhere.
class CommandTest : public testing::Test {
 protected:
  using Arguments = std::vector<std::string>;

  CommandTest();
  ~CommandTest() override;

  Outcome weft(const Arguments& arguments) const { return run(WEFT_COMMAND, arguments); }
  Outcome run(const std::string& program, const Arguments& arguments) const;
  /// With stderr on a terminal of 80 columns, and for Streams::All the other two as well: then `out` is
  /// empty. Such a terminal gives the answer as soon as it has been asked what it is.
  enum class Streams { Stderr, All };
  Outcome on_terminal(const Arguments& arguments, Streams streams = Streams::Stderr,
                      const std::string& answer = "") const;
  /// The command fails with exit code 2, says exactly this, and leaves no new file.
  void expect_refusal(const Arguments& arguments, const std::string& message) const;
  /// The command succeeds and says nothing on stderr. Returns what it printed.
  std::string expect_success(const Arguments& arguments) const;
  /// Likewise, what it printed as JSON.
  nlohmann::json expect_json(const Arguments& arguments) const {
    return nlohmann::json::parse(expect_success(arguments));
  }

  void write(const std::string& name, const std::string& content) const;
  void write(const std::string& name, const weft::Buffer& picture) const;
  weft::Buffer read(const std::string& name) const;
  std::string content(const std::string& name) const;  ///< The bytes of a file.
  std::vector<std::string> files() const;              ///< Sorted.

  std::filesystem::path folder, cache;
  std::map<std::string, std::string> environment;  ///< Changes to this process' own.
};

/// A dense picture whose lane i, in order of memory, is value(i).
template <class T, class Value>
weft::Buffer picture(int width, int height, int lanes, Value value) {
  weft::Buffer buffer = weft::Buffer::allocate({weft::type_of<T>().scalar, lanes}, {width, height});
  for (int i = 0; i < width * height * lanes; ++i)
    static_cast<T*>(buffer.data())[i] = static_cast<T>(value(i));
  return buffer;
}

/// Likewise, of several pages.
template <class T, class Value>
weft::Buffer volume(int width, int height, int depth, Value value) {
  weft::Buffer buffer = weft::Buffer::allocate(weft::type_of<T>(), {width, height, depth});
  for (int i = 0; i < width * height * depth; ++i)
    static_cast<T*>(buffer.data())[i] = static_cast<T>(value(i));
  return buffer;
}
