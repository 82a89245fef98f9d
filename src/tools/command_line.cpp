#include "tools/command_line.h"

#include <weft/error.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <new>
#include <string>

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

/// What the parser says, in our words.
std::string text_of(const CLI::ParseError& error) {
  const std::string text = error.what();
  const auto after_colon = [&] { return text.substr(text.find(": ") + 2); };
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr)
    return "unexpected argument: " + after_colon();
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr)
    return text.substr(0, text.find(':')) + " needs a value";
  return text;
}

int run(int argc, const char* const* argv) {
  CLI::App weft("Weft compiles image pipelines: it reads what each pixel is, and decides how to compute it.");
  weft.name(std::filesystem::path(argv[0]).filename().string());
  weft.set_version_flag("--version", "weft " WEFT_VERSION);
  weft.require_subcommand(0, 1);
  weft.footer(
      "Examples:\n"
      "  weft list\n"
      "  weft run harris photo.png -o corners.png --grey --normalize\n"
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
    return fail(mistake, text_of(error));
  }
  if (weft.get_subcommands().empty()) std::fputs(weft.help().c_str(), stdout);
  return exit_code;
}

}  // namespace

int run_command_line(int argc, const char* const* argv) {
  try {
    return run(argc, argv);
  } catch (const Error& error) {
    return fail(mistake, error.what());
  } catch (const std::bad_alloc&) {
    return fail(mistake, "there is not enough memory");
  } catch (const std::exception& error) {
    return fail(defect, std::string("a mistake in Weft itself: ") + error.what());
  }
}

}  // namespace weft::tools
