#include "tools/parser.h"

#include <weft/error.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>

#include "tools/arguments.h"

namespace weft::tools {
namespace {

/// CLI11 would call a mistyped command an unexpected argument.
void check_command(const CLI::App& app, int argc, const char* const* argv) {
  if (argc < 2 || argv[1][0] == '-') return;
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
  if (std::find(names.begin(), names.end(), argv[1]) == names.end()) {
    throw unknown("there is no command '" + std::string(argv[1]) + "'", argv[1], names)
        .help("weft --help lists the commands");
  }
}

/// The names of the flags of the command that was given, or of `weft` itself.
std::vector<std::string> flags_of(const CLI::App& app) {
  const auto given = app.get_subcommands();
  std::vector<std::string> names;
  for (const CLI::Option* option : (given.empty() ? &app : given.front())->get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

/// What no command and no flag takes.
Error unexpected(const CLI::App& app, const std::string& arguments) {
  const std::vector<std::string> all = split(arguments, ' ');
  const auto flag = std::find_if(all.begin(), all.end(), [](const auto& a) { return a.starts_with("-"); });
  if (flag == all.end()) return Error("unexpected argument: " + arguments);
  const std::string name = flag->substr(0, flag->find('='));
  const std::string given = "--" + name.substr(std::min(name.find_first_not_of('-'), name.size()));
  const auto commands = app.get_subcommands();
  return unknown("there is no flag '" + name + "'", given, flags_of(app))
      .help("weft " + (commands.empty() ? "" : commands.front()->get_name() + " ") +
            "--help lists those that there are");
}

/// What CLI11 says, in our words.
Error in_our_words(const CLI::App& app, const CLI::ParseError& error) {
  const std::string text = error.what();
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr)
    return unexpected(app, text.substr(text.find(": ") + 2));
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr)
    return Error(text.substr(0, text.find(':')) + " needs a value");
  return Error(text);
}

}  // namespace

Argument& Argument::required() {
  option_->required();
  return *this;
}

Argument& Argument::capture_default_str() {
  option_->capture_default_str();
  return *this;
}

Argument& Argument::type_name(const std::string& name) {
  option_->type_name(name);
  return *this;
}

Argument Command::add_option(const std::string& name, std::string& value, const std::string& help) {
  return Argument(app_->add_option(name, value, help));
}

Argument Command::add_option(const std::string& name, std::optional<std::string>& value,
                             const std::string& help) {
  return Argument(app_->add_option(name, value, help));
}

Argument Command::add_option(const std::string& name, std::vector<std::string>& values,
                             const std::string& help) {
  return Argument(app_->add_option(name, values, help));
}

Argument Command::add_repeatable(const std::string& name, std::vector<std::string>& values,
                                 const std::string& help) {
  return Argument(app_->add_option(name, values, help)->allow_extra_args(false));
}

Argument Command::add_flag(const std::string& name, bool& value, const std::string& help) {
  return Argument(app_->add_flag(name, value, help));
}

Argument Command::add_flag(const std::string& name, std::string& value, const std::string& help) {
  return Argument(app_->add_flag(name, value, help));
}

void Command::footer(const std::string& text) { app_->footer(text); }

void Command::callback(std::function<void()> work) { app_->callback(std::move(work)); }

Parser::Parser(const std::string& program, const std::string& about, const std::string& version,
               const std::string& footer)
    : app_(std::make_unique<CLI::App>(about)) {
  app_->name(program);
  app_->set_version_flag("--version", version);
  app_->require_subcommand(0, 1);
  app_->footer(footer);
}

Parser::~Parser() = default;

Command Parser::add_command(const std::string& name, const std::string& about) {
  return Command(app_->add_subcommand(name, about));
}

void Parser::parse(int argc, const char* const* argv) {
  try {
    check_command(*app_, argc, argv);
    app_->parse(argc, argv);
  } catch (const CLI::Success& help_or_version) {
    app_->exit(help_or_version);
    return;
  } catch (const CLI::ParseError& error) {
    throw in_our_words(*app_, error);
  }
  if (app_->get_subcommands().empty()) std::fputs(app_->help().c_str(), stdout);
}

}  // namespace weft::tools
