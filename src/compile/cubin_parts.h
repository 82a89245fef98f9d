// How a cubin is read: an ELF file of sections that name their kernel, with instructions of 16 bytes. What it says of
// kernels is in compile/cubin.h, what their instructions are in compile/sass.h.
#pragma once

#include <weft/error.h>

#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <elf.h>

namespace weft::compile::cubin {

[[noreturn]] inline void refuse(const std::string& why) { throw Error("this is no cubin: " + why); }

template <class T>
T read_at(std::string_view bytes, std::size_t offset) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) refuse("it ends too early");
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

inline std::string_view slice(std::string_view bytes, std::size_t offset, std::size_t size) {
  if (offset > bytes.size() || bytes.size() - offset < size) refuse("it ends too early");
  return bytes.substr(offset, size);
}

inline std::string_view text_at(std::string_view strings, std::size_t offset) {
  if (offset >= strings.size()) refuse("a name lies outside its table");
  const std::string_view rest = strings.substr(offset);
  return rest.substr(0, rest.find('\0'));
}

/// What follows the prefix, if the text begins with it.
inline std::optional<std::string_view> after(std::string_view prefix, std::string_view text) {
  if (text.substr(0, prefix.size()) != prefix) return std::nullopt;
  return text.substr(prefix.size());
}

struct Section {
  std::string_view name;
  Elf64_Shdr header{};
  std::string_view bytes;  ///< Empty if the section takes no space in the file.
};

struct Function {
  std::string name;
  bool is_kernel = false;
};

class Elf {
 public:
  explicit Elf(std::string_view file) : file_(file) {
    const auto header = read_at<Elf64_Ehdr>(file, 0);
    constexpr Elf64_Half machine_cuda = 190;
    if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) refuse("it does not begin as an ELF file");
    if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != machine_cuda)
      refuse("it is an ELF file for another machine");
    for (std::size_t i = 0; i < header.e_shnum; ++i) sections_.push_back(section(header.e_shoff, i));
    if (header.e_shstrndx >= sections_.size()) refuse("it has no names of sections");
    for (Section& each : sections_)
      each.name = text_at(sections_[header.e_shstrndx].bytes, each.header.sh_name);
  }

  const std::vector<Section>& sections() const { return sections_; }

  /// By the symbol's number.
  std::map<std::uint32_t, Function> functions() const {
    constexpr unsigned char entry = 0x10;  // STO_CUDA_ENTRY: a kernel, not a function that kernels call.
    std::map<std::uint32_t, Function> found;
    for (const Section& table : sections_) {
      if (table.header.sh_type != SHT_SYMTAB) continue;
      if (table.header.sh_link >= sections_.size()) refuse("symbols have no names");
      for (std::uint32_t i = 0; i < table.bytes.size() / sizeof(Elf64_Sym); ++i) {
        const auto symbol = read_at<Elf64_Sym>(table.bytes, i * sizeof(Elf64_Sym));
        if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC) continue;
        found[i] = {std::string(text_at(sections_[table.header.sh_link].bytes, symbol.st_name)),
                    (symbol.st_other & entry) != 0};
      }
    }
    return found;
  }

 private:
  Section section(std::size_t table, std::size_t index) const {
    Section result;
    result.header = read_at<Elf64_Shdr>(file_, table + index * sizeof(Elf64_Shdr));
    if (result.header.sh_type != SHT_NOBITS)
      result.bytes = slice(file_, result.header.sh_offset, result.header.sh_size);
    return result;
  }

  std::string_view file_;
  std::vector<Section> sections_;
};

constexpr std::size_t instruction_bytes = 16;

/// Bits that mean the same from Volta to Blackwell.
class Instruction {
 public:
  Instruction(std::string_view text, std::size_t offset)
      : low_(read_at<std::uint64_t>(text, offset)), high_(read_at<std::uint64_t>(text, offset + 8)) {}

  bool pads() const { return (low_ & 0xfff) == 0x918; }               // NOP
  bool branches_always() const { return (low_ & 0xffff) == 0x7947; }  // BRA without a condition
  bool loads_local() const { return (low_ & 0x1ff) == 0x183; }        // LDL
  bool stores_local() const { return (low_ & 0x1ff) == 0x187; }       // STL

  /// That a load or store moves per thread.
  int bytes() const {
    constexpr int sizes[] = {1, 1, 2, 2, 4, 8, 16, 0};
    return sizes[high_ >> 9 & 7];
  }

 private:
  std::uint64_t low_, high_;
};

/// A function's text ends in a branch to itself, which nothing reaches, and NOPs up to a round size.
inline int count_instructions(std::string_view text) {
  std::size_t count = text.size() / instruction_bytes;
  const auto last = [&] { return Instruction(text, (count - 1) * instruction_bytes); };
  while (count > 0 && last().pads()) --count;
  if (count > 0 && last().branches_always()) --count;
  return static_cast<int>(count);
}

}  // namespace weft::compile::cubin
