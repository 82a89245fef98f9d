#include "tools/files.h"

#include <unistd.h>
#include <weft/error.h>

#include <array>
#include <fstream>
#include <system_error>

#include "io/draft.h"

namespace weft::tools {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_bytes = std::size_t{64} << 20;  // of a text; devices have no end

fs::path folder_of(const fs::path& file) {
  return file.has_parent_path() ? file.parent_path() : fs::path(".");
}

Error cannot_write(const fs::path& file, const std::string& why) {
  return Error("cannot write '" + file.string() + "': " + why);
}

}  // namespace

void check_writable(const fs::path& file) {
  std::error_code ignored;
  const fs::path folder = folder_of(file);
  if (file.filename().empty() || fs::is_directory(file, ignored)) throw cannot_write(file, "it is a folder");
  if (!fs::exists(folder, ignored)) throw cannot_write(file, "there is no folder '" + folder.string() + "'");
  if (!fs::is_directory(folder, ignored))
    throw cannot_write(file, "'" + folder.string() + "' is not a folder");
  if (access(folder.c_str(), W_OK) != 0)
    throw cannot_write(file, "the folder '" + folder.string() + "' cannot be written to");
}

void write_text(const fs::path& file, const std::string& text) {
  check_writable(file);
  try {
    io::Draft draft(file);
    io::put(draft.file(), text.data(), text.size());
    draft.commit();
  } catch (const io::Fault& fault) {
    throw cannot_write(file, fault.why);
  }
}

std::string read_text(const fs::path& file) {
  std::error_code ignored;
  const auto refuse = [&](const char* why) { return Error("cannot read '" + file.string() + "': " + why); };
  if (!fs::exists(file, ignored)) throw refuse("there is no such file");
  if (fs::is_directory(file, ignored)) throw refuse("it is a folder");
  std::ifstream in(file, std::ios::binary);
  std::string text;
  std::array<char, 1 << 16> part;
  while (in.read(part.data(), part.size()) || in.gcount() > 0) {
    text.append(part.data(), static_cast<std::size_t>(in.gcount()));
    if (text.size() > most_bytes) throw refuse("it is larger than 64 MB, so it is no such file");
  }
  if (!in.eof()) throw refuse("the disk or the folder refuses it");
  return text;
}

void make_folder(const fs::path& folder) {
  const auto refuse = [&](const std::string& why) {
    return Error("cannot make the folder '" + folder.string() + "': " + why);
  };
  std::error_code problem;
  if (fs::exists(folder, problem) && !fs::is_directory(folder, problem)) throw refuse("a file has that name");
  fs::create_directories(folder, problem);
  if (problem) throw refuse(problem.message());
}

}  // namespace weft::tools
