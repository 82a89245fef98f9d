#include "tools/command_line.h"

#include <weft/application.h>
#include <weft/error.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <new>
#include <string>
#include <system_error>

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

int run(int argc, const char* const* argv) {
  applications();  // throws if two have one name: no command is to work with either
  Parser weft(std::filesystem::path(argv[0]).filename().string(),
              "Weft compiles image pipelines: it reads what each pixel is, and decides how to compute it.",
              "weft " WEFT_VERSION,
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

  weft.parse(argc, argv);
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
