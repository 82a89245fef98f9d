#include "tools/command_line.h"

#include <weft/application.h>
#include <weft/error.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <new>
#include <string>
#include <system_error>

#include "tools/arguments.h"
#include "tools/commands.h"

namespace weft::tools {
namespace {

constexpr int mistake = 2, defect = 3;

int fail(int code, const std::string& message) {
  std::fflush(stdout);
  std::fprintf(stderr, "weft: %s\n", message.c_str());
  return code;
}

int fail_to_print(const std::string& why) {
  return fail(mistake, "cannot print to the standard output: " + why);
}

/// The parser would call a mistyped command an unexpected argument.
void check_command(const CLI::App& weft, int argc, const char* const* argv) {
  if (argc < 2 || argv[1][0] == '-') return;
  std::vector<std::string> names;
  for (const CLI::App* command : weft.get_subcommands({})) names.push_back(command->get_name());
  if (std::find(names.begin(), names.end(), argv[1]) == names.end()) {
    throw unknown("there is no command '" + std::string(argv[1]) + "'", argv[1], names)
        .help("weft --help lists the commands");
  }
}

/// The names of the flags of the command that was given, or of `weft` itself.
std::vector<std::string> flags_of(const CLI::App& weft) {
  const auto given = weft.get_subcommands();
  std::vector<std::string> names;
  for (const CLI::Option* option : (given.empty() ? &weft : given.front())->get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

/// What no command and no flag takes.
Error unexpected(const CLI::App& weft, const std::string& arguments) {
  const std::vector<std::string> all = split(arguments, ' ');
  const auto flag = std::find_if(all.begin(), all.end(), [](const auto& a) { return a.starts_with("-"); });
  if (flag == all.end()) return Error("unexpected argument: " + arguments);
  const std::string name = flag->substr(0, flag->find('='));
  const std::string given = "--" + name.substr(std::min(name.find_first_not_of('-'), name.size()));
  const auto commands = weft.get_subcommands();
  return unknown("there is no flag '" + name + "'", given, flags_of(weft))
      .help("weft " + (commands.empty() ? "" : commands.front()->get_name() + " ") +
            "--help lists those that there are");
}

/// What the parser says, in our words.
Error in_our_words(const CLI::App& weft, const CLI::ParseError& error) {
  const std::string text = error.what();
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr)
    return unexpected(weft, text.substr(text.find(": ") + 2));
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr)
    return Error(text.substr(0, text.find(':')) + " needs a value");
  return Error(text);
}

int run(int argc, const char* const* argv) {
  applications();  // throws if two have one name: no command is to work with either
  CLI::App weft("Weft compiles image pipelines: it reads what each pixel is, and decides how to compute it.");
  weft.name(std::filesystem::path(argv[0]).filename().string());
  weft.set_version_flag("--version", "weft " WEFT_VERSION);
  weft.require_subcommand(0, 1);
  weft.footer(
      "Examples:\n"
      "  weft list\n"
      "  weft run harris photo.png -o corners.png --grey\n"
      "  weft run sobel --size 640x480 -o edges.png\n"
      "  weft explain harris\n"
      "  weft COMMAND --help tells more about one command.");
  int exit_code = 0;
  add_list(weft);
  add_run(weft);
  add_explain(weft);
  add_emit(weft);
  add_verify(weft, exit_code);
  add_bench(weft);
  add_tune(weft);
  add_draw(weft);

  try {
    check_command(weft, argc, argv);
    weft.parse(argc, argv);
  } catch (const CLI::Success& help_or_version) {
    return weft.exit(help_or_version);
  } catch (const CLI::ParseError& error) {
    throw in_our_words(weft, error);
  }
  if (weft.get_subcommands().empty()) std::fputs(weft.help().c_str(), stdout);
  return exit_code;
}

int run_and_explain(int argc, const char* const* argv) {
  try {
    return run(argc, argv);
  } catch (const Error& error) {
    return fail(mistake, error.what());
  } catch (const std::bad_alloc&) {
    return fail(mistake, "there is not enough memory");
  } catch (const std::system_error& error) {
    if (std::ferror(stdout) != 0) return fail_to_print(error.code().message());
    return fail(mistake, std::string("the system refuses what is needed: ") + error.what());
  } catch (const std::exception& error) {
    return fail(defect, std::string("a mistake in Weft itself: ") + error.what());
  }
}

}  // namespace

int run_command_line(int argc, const char* const* argv) {
  const int exit_code = run_and_explain(argc, argv);
  // What was printed may still be in memory.
  if (exit_code == 0 && (std::fflush(stdout) != 0 || std::ferror(stdout) != 0))
    return fail_to_print(std::strerror(errno));
  return exit_code;
}

}  // namespace weft::tools
