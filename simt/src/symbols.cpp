#include "symbols.h"

#include "process.h"
#include "simt/simt.h"

#include <fmt/format.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>

#include <cxxabi.h>
#include <elf.h>

namespace simt {
namespace {

/// Where the parentheses or brackets that end `text` begin, else npos.
std::size_t matching_open(const std::string& text, char open, char close) {
  int depth = 0;
  for (std::size_t i = text.size(); i-- > 0;) {
    if (text[i] == close) ++depth;
    if (text[i] == open && --depth == 0) return i;
  }
  return std::string::npos;
}

void erase_all(std::string& text, const std::string& part) {
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part)) text.erase(at, part.size());
}

/// "void (anonymous namespace)::blur<3>(float const*)" -> "blur<3>"
std::string function_name(std::string text) {
  erase_all(text, "(anonymous namespace)::");
  if (const auto clone = text.find(" ["); clone != std::string::npos) text.resize(clone);
  if (!text.empty() && text.back() == ')') {
    const auto open = matching_open(text, '(', ')');
    if (open != std::string::npos) text.resize(open);
  }
  // A template's result stands before its name, outside of the template's own brackets.
  int depth = 0;
  for (std::size_t i = text.size(); i-- > 0;) {
    if (text[i] == '>') ++depth;
    if (text[i] == '<') --depth;
    if (text[i] == ' ' && depth == 0) return text.substr(i + 1);
  }
  return text;
}

std::string demangled(const char* name) {
  int status = 0;
  char* text = ::abi::__cxa_demangle(name, nullptr, nullptr, &status);
  std::string result = status == 0 ? text : name;
  std::free(text);
  return result;
}

Symbol symbol_of(const Elf64_Sym& entry, const char* name) {
  Symbol symbol{entry.st_value, entry.st_size, {}, {}, name, false};
  symbol.exported =
      ELF64_ST_BIND(entry.st_info) != STB_LOCAL && ELF64_ST_VISIBILITY(entry.st_other) == STV_DEFAULT;
  const std::string full = demangled(name);
  if (ELF64_ST_TYPE(entry.st_info) == STT_FUNC) {
    symbol.name = function_name(full);
  } else if (const auto last = full.rfind("::"); last != std::string::npos) {
    symbol.name = full.substr(last + 2);
    symbol.owner = function_name(full.substr(0, last));
  } else {
    symbol.name = full;
  }
  return symbol;
}

}  // namespace

Symbols::Symbols(const std::filesystem::path& object) : object_(object) {
  std::ifstream file(object, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (bytes.size() < sizeof(Elf64_Ehdr) || std::memcmp(bytes.data(), ELFMAG, SELFMAG) != 0) {
    throw Failure("'" + object.string() + "' is not a compiled text");
  }
  Elf64_Ehdr header;
  std::memcpy(&header, bytes.data(), sizeof header);
  std::vector<Elf64_Shdr> sections(header.e_shnum);
  std::memcpy(sections.data(), bytes.data() + header.e_shoff, sections.size() * sizeof(Elf64_Shdr));

  for (const Elf64_Shdr& section : sections) {
    if (section.sh_type != SHT_SYMTAB) continue;
    const char* names = bytes.data() + sections.at(section.sh_link).sh_offset;
    std::vector<Elf64_Sym> entries(section.sh_size / sizeof(Elf64_Sym));
    std::memcpy(entries.data(), bytes.data() + section.sh_offset, entries.size() * sizeof(Elf64_Sym));
    for (const Elf64_Sym& entry : entries) {
      const unsigned type = ELF64_ST_TYPE(entry.st_info);
      if (entry.st_shndx == SHN_UNDEF || entry.st_size == 0) continue;
      if (type == STT_FUNC) functions_.emplace(entry.st_value, symbol_of(entry, names + entry.st_name));
      if (type == STT_OBJECT) variables_.emplace(entry.st_value, symbol_of(entry, names + entry.st_name));
    }
  }
}

const Symbol* Symbols::at(const std::map<std::uintptr_t, Symbol>& symbols, std::uintptr_t address) {
  auto next = symbols.upper_bound(address);
  if (next == symbols.begin()) return nullptr;
  const Symbol& symbol = std::prev(next)->second;
  return address < symbol.address + symbol.size ? &symbol : nullptr;
}

std::map<std::uintptr_t, Place> Symbols::places(const std::vector<std::uintptr_t>& addresses) const {
  std::map<std::uintptr_t, Place> places;
  if (addresses.empty()) return places;
  std::vector<std::string> command = {"addr2line", "-a", "-i", "-e", object_.string()};
  for (const std::uintptr_t address : addresses) command.push_back(fmt::format("{:#x}", address));

  const std::string headers = (header_folder() / "cuda").string();
  std::istringstream lines(run_process(command, false).output);
  std::uintptr_t address = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("0x", 0) == 0) {
      address = std::stoull(line, nullptr, 16);
      continue;
    }
    const auto colon = line.rfind(':');
    Place& place = places[address];
    if (colon == std::string::npos || !place.file.empty() || line.rfind("??", 0) == 0) continue;
    if (line.rfind(headers, 0) == 0) continue;
    const std::string prefix = std::string(relative_root) + "/";
    const std::size_t skipped = line.rfind(prefix, 0) == 0 ? prefix.size() : 0;
    place = {line.substr(skipped, colon - skipped), std::atoi(line.c_str() + colon + 1)};
  }
  return places;
}

}  // namespace simt
