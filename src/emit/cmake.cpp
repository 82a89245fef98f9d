#include "emit/cmake.h"

#include <fmt/format.h>

#include <vector>

#include "emit/module_text.h"

namespace weft::emit {

namespace {

/// Lines that begin so begin a part.
constexpr const char* mark = "# Pipeline ";

constexpr const char* head =
    R"(# Written by 'weft emit'. In your project: add_subdirectory(THIS_FOLDER), and for each library below that you use
# target_link_libraries(YOUR_TARGET PRIVATE LIBRARY) and #include its header.
cmake_minimum_required(VERSION 3.18)
project(emitted LANGUAGES CXX)
)";

/// The head, then the parts.
std::vector<std::string> parts_of(const std::string& text) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  while (begin != std::string::npos) {
    const std::size_t next = text.find(std::string("\n") + mark, begin + 1);
    parts.push_back(text.substr(begin, next - begin));
    begin = next;
  }
  return parts;
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n', 1)); }

}  // namespace

std::string library_name(const kernel::Module& module, const std::string& target) {
  return default_namespace(module) + "_" + target;
}

std::string cmake_for_cpp(const kernel::Module& module, const std::string& flags) {
  const std::string standard = "-std=c++17 ";
  return head + fmt::format(R"(
{mark}'{name}'
# -march=native is for the processor that compiles this.
find_package(Threads REQUIRED)
add_library({library} STATIC {file}.cpp {file}.h)
set_target_properties({library} PROPERTIES CXX_STANDARD 17 CXX_STANDARD_REQUIRED ON CXX_EXTENSIONS OFF)
target_compile_options({library} PRIVATE {options})
if(CMAKE_CXX_COMPILER_ID MATCHES Clang)  # or it makes no vectors of loops in which neighbours read the same
  target_compile_options({library} PRIVATE "SHELL:-mllvm -enable-load-in-loop-pre=false")
endif()
target_include_directories({library} PUBLIC ${{CMAKE_CURRENT_SOURCE_DIR}})
target_link_libraries({library} PRIVATE Threads::Threads)
)",
                            fmt::arg("mark", mark), fmt::arg("name", title(module)),
                            fmt::arg("file", file_name(module)),
                            fmt::arg("library", library_name(module, "cpp")),
                            fmt::arg("options", flags.substr(standard.size())));
}

std::string cmake_for_gpu(const kernel::Module& module, const target::Dialect& dialect,
                          const std::string& architecture) {
  return head +
         fmt::format(
             R"(
{mark}'{name}'
{requires}if(NOT DEFINED CMAKE_{language}_ARCHITECTURES)
  set(CMAKE_{language}_ARCHITECTURES {architecture})
endif()
enable_language({language})
find_package({package} REQUIRED)
add_library({library} STATIC {file}.{suffix} {file}.h)
set_target_properties({library} PROPERTIES {language}_STANDARD 17 {language}_STANDARD_REQUIRED ON {language}_EXTENSIONS OFF)
target_compile_options({library} PRIVATE -O3 {options})
target_include_directories({library} PUBLIC ${{CMAKE_CURRENT_SOURCE_DIR}})
target_link_libraries({library} PUBLIC {runtime})
)",
             fmt::arg("mark", mark), fmt::arg("name", title(module)),
             fmt::arg("requires", dialect.cmake_requires), fmt::arg("language", dialect.cmake_language),
             fmt::arg("architecture", fmt::format("{}{}", dialect.cmake_architecture_prefix,
                                                  architecture.substr(dialect.architecture_prefix.size()))),
             fmt::arg("package", dialect.cmake_package), fmt::arg("file", file_name(module)),
             fmt::arg("suffix", dialect.suffix),
             fmt::arg("library", library_name(module, std::string(dialect.name))),
             fmt::arg("options", float_options(dialect, module.strict)),
             fmt::arg("runtime", dialect.cmake_library));
}

std::optional<std::string> merged_cmake(const std::string& old, const std::string& added) {
  std::vector<std::string> parts = parts_of(old);
  const std::vector<std::string> others = parts_of(added);
  if (first_line(parts[0]) != first_line(others[0])) return std::nullopt;
  parts[0] = others[0];
  for (std::size_t i = 1; i < others.size(); ++i) {
    bool replaces = false;
    for (std::size_t p = 1; p < parts.size() && !replaces; ++p) {
      replaces = first_line(parts[p]) == first_line(others[i]);
      if (replaces) parts[p] = others[i];
    }
    if (!replaces) parts.push_back(others[i]);
  }
  return fmt::format("{}", fmt::join(parts, ""));
}

}  // namespace weft::emit
