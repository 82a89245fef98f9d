// What compilers leave in the cache, and which compiler it was. Both the C++ and the CUDA compiler need this.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace weft::compile {

/// Changes when the program or library is updated. Asking it for its version could cost a process on every
/// start.
std::string identity_of(const std::filesystem::path& program);

/// Writes the text with a newline, for people to read.
void write_source(const std::filesystem::path& path, const std::string& source);

// A cut or overwritten object is not always refused by whoever loads it: it maps the file and may then be
// killed by SIGBUS, or run into rubbish. So an object ends in a checksum, which no ELF reader looks at.

/// Appends the checksum of what the file holds.
void seal(const std::filesystem::path& object);
/// Writes the bytes and their checksum.
void write_sealed(const std::filesystem::path& object, const std::string& bytes);
/// What was sealed, unless the file was damaged since.
std::optional<std::string> read_sealed(const std::filesystem::path& object);

}  // namespace weft::compile
