// Text files that commands write, each whole or absent, and read.
#pragma once

#include <filesystem>
#include <string>

namespace weft::tools {

/// Throws weft::Error if a file of that name can clearly not be written; asked before long work.
void check_writable(const std::filesystem::path& file);
/// Writes all of it, or throws weft::Error and leaves `file` as it was.
void write_text(const std::filesystem::path& file, const std::string& text);
/// All of it. Throws weft::Error.
std::string read_text(const std::filesystem::path& file);
/// The folder and those above it. Throws weft::Error.
void make_folder(const std::filesystem::path& folder);

}  // namespace weft::tools
