// The command line as the commands see it: what each takes, and what it says of that with --help. CLI11 does
// the parsing. Its header takes three seconds to compile, so parser.cpp alone includes it.
//
//     Command command = weft.add_command("draw", "draws a picture");
//     command.add_option("PICTURE", options->kind, "scene or noise").required();
//     command.add_flag("--grey", options->grey, "luminance instead of colour");
//     command.callback([options] { draw(*options); });
//
// The values have to live until the command line is parsed.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace weft::tools {

/// Something that a command takes.
class Argument {
 public:
  explicit Argument(CLI::Option* option) : option_(option) {}
  Argument& required();
  /// Its value now is the one that --help shows as default.
  Argument& capture_default_str();
  /// What --help calls its values; else TEXT.
  Argument& type_name(const std::string& name);

 private:
  CLI::Option* option_;
};

class Command {
 public:
  explicit Command(CLI::App* app) : app_(app) {}

  /// A name that begins with a dash is a flag's, and its value follows; others are for --help, and the value
  /// is taken by its place.
  Argument add_option(const std::string& name, std::string& value, const std::string& help);
  Argument add_option(const std::string& name, std::optional<std::string>& value, const std::string& help);
  /// Takes several.
  Argument add_option(const std::string& name, std::vector<std::string>& values, const std::string& help);
  /// Takes one value each time it is given.
  Argument add_repeatable(const std::string& name, std::vector<std::string>& values, const std::string& help);
  Argument add_flag(const std::string& name, bool& value, const std::string& help);
  /// --name or --name=VALUE; the value is "true" where none is said.
  Argument add_flag(const std::string& name, std::string& value, const std::string& help);

  /// The last paragraphs of --help.
  void footer(const std::string& text);
  /// What is done when this command was given.
  void callback(std::function<void()> work);

 private:
  CLI::App* app_;
};

/// The whole command line: a program with commands.
class Parser {
 public:
  Parser(const std::string& program, const std::string& about, const std::string& version,
         const std::string& footer);
  ~Parser();
  Command add_command(const std::string& name, const std::string& about);

  /// Runs the command that is given, or prints help or the version. Throws weft::Error for what it cannot
  /// take.
  void parse(int argc, const char* const* argv);

 private:
  std::unique_ptr<CLI::App> app_;
};

}  // namespace weft::tools
