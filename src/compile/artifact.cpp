#include "compile/artifact.h"

#include "compile/cache.h"

#include <weft/error.h>

#include <fstream>
#include <sstream>
#include <string_view>
#include <utility>

#include <sys/stat.h>

namespace weft::compile {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t seal_size = 32;

std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream bytes;
  bytes << file.rdbuf();
  return std::move(bytes).str();
}

void write(const std::string& what, const fs::path& path, const std::string& bytes, std::ios::openmode mode) {
  std::ofstream file(path, std::ios::binary | mode);
  file << bytes;
  file.close();
  if (file) return;
  throw Error("the " + what + " could not be written to '" + path.string() + "'")
      .help("free some space, or set WEFT_CACHE to a folder on another disk");
}

}  // namespace

std::string identity_of(const fs::path& program) {
  struct stat info {};
  ::stat(program.c_str(), &info);
  std::error_code unresolved;
  std::ostringstream text;
  text << program.string() << '\n'
       << fs::canonical(program, unresolved).string() << '\n'
       << info.st_size << '\n'
       << info.st_mtim.tv_sec << '.' << info.st_mtim.tv_nsec;
  return text.str();
}

void write_source(const fs::path& path, const std::string& source) {
  write("emitted source", path, source + '\n', std::ios::trunc);
}

void seal(const fs::path& object) {
  write("compiled code", object, content_key({read_file(object)}), std::ios::app);
}

void write_sealed(const fs::path& object, const std::string& bytes) {
  write("compiled code", object, bytes + content_key({bytes}), std::ios::trunc);
}

std::optional<std::string> read_sealed(const fs::path& object) {
  std::string bytes = read_file(object);
  if (bytes.size() <= seal_size) return std::nullopt;
  const std::string_view content(bytes.data(), bytes.size() - seal_size);
  if (content_key({content}) != std::string_view(bytes).substr(content.size())) return std::nullopt;
  bytes.resize(content.size());
  return bytes;
}

}  // namespace weft::compile
