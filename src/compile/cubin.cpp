// The parts of a cubin that are read here, for a kernel k:
//
//     .text.k         its instructions, 16 bytes each
//     .nv.shared.k    as large as its static shared memory (and what the driver reserves, from Hopper on)
//     .nv.info        attributes of all functions, each with the number of its symbol
//     .nv.info.k      attributes of k
//
// NVIDIA does not document attributes. Their numbers are those that `cuobjdump -elf` names, and the test
// compares what comes out with the assembler's own report.
#include "compile/cubin.h"

#include <weft/error.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

#include <elf.h>

namespace weft::compile {
namespace {

[[noreturn]] void refuse(const std::string& why) { throw Error("this is no cubin: " + why); }

template <class T>
T read_at(std::string_view bytes, std::size_t offset) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) refuse("it ends too early");
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

std::string_view slice(std::string_view bytes, std::size_t offset, std::size_t size) {
  if (offset > bytes.size() || bytes.size() - offset < size) refuse("it ends too early");
  return bytes.substr(offset, size);
}

std::string_view text_at(std::string_view strings, std::size_t offset) {
  if (offset >= strings.size()) refuse("a name lies outside its table");
  const std::string_view rest = strings.substr(offset);
  return rest.substr(0, rest.find('\0'));
}

/// What follows the prefix, if the text begins with it.
std::optional<std::string_view> after(std::string_view prefix, std::string_view text) {
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

// ---- attributes -------------------------------------------------------------------------------------------

enum AttributeKind : unsigned char {
  max_threads = 0x05,     // x, y, z of the largest block
  frame_size = 0x11,      // symbol, bytes of a function's own stack frame
  min_stack_size = 0x12,  // symbol, bytes of stack with those of the functions it calls
  register_count = 0x2f,  // symbol, registers
  barrier_count = 0x4c,   // in the attribute's own value
  annotations = 0x55,     // pairs: a kind of remark, the byte offset of the instruction it is about
};

struct Attribute {
  unsigned char kind = 0;
  std::uint16_t value = 0;  ///< Unless there are words.
  std::vector<std::uint32_t> words;
};

/// Four bytes, and if the first of them says so, as many more as the last two tell.
std::vector<Attribute> attributes_in(std::string_view info) {
  constexpr unsigned char with_byte = 2, with_words = 4;
  std::vector<Attribute> found;
  for (std::size_t at = 0; at + 4 <= info.size();) {
    Attribute attribute;
    const auto form = read_at<unsigned char>(info, at);
    attribute.kind = read_at<unsigned char>(info, at + 1);
    attribute.value =
        form == with_byte ? read_at<unsigned char>(info, at + 2) : read_at<std::uint16_t>(info, at + 2);
    at += 4;
    if (form == with_words) {
      const std::string_view words = slice(info, at, attribute.value);
      for (std::size_t i = 0; i + 4 <= words.size(); i += 4)
        attribute.words.push_back(read_at<std::uint32_t>(words, i));
      at += words.size();
    }
    found.push_back(std::move(attribute));
  }
  return found;
}

// ---- instructions -----------------------------------------------------------------------------------------

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
int count_instructions(std::string_view text) {
  std::size_t count = text.size() / instruction_bytes;
  const auto last = [&] { return Instruction(text, (count - 1) * instruction_bytes); };
  while (count > 0 && last().pads()) --count;
  if (count > 0 && last().branches_always()) --count;
  return static_cast<int>(count);
}

/// Adds the loads and stores that the assembler marked as spills.
void add_spills(KernelResources& kernel, const Attribute& marks, std::string_view text) {
  constexpr std::uint32_t spill = 1;
  for (std::size_t i = 0; i + 2 <= marks.words.size(); i += 2) {
    if (marks.words[i] != spill) continue;
    const Instruction instruction(text, marks.words[i + 1]);
    if (instruction.loads_local()) kernel.spill_loads += instruction.bytes();
    if (instruction.stores_local()) kernel.spill_stores += instruction.bytes();
  }
}

// ---- kernels ----------------------------------------------------------------------------------------------

/// What .nv.info tells of all functions.
void apply_common(const Attribute& attribute, const std::map<std::uint32_t, Function>& functions,
                  std::map<std::string, KernelResources>& kernels) {
  if (attribute.words.size() < 2) return;
  const auto function = functions.find(attribute.words[0]);
  if (function == functions.end() || !function->second.is_kernel) return;
  KernelResources& kernel = kernels[function->second.name];
  const auto value = attribute.words[1];
  if (attribute.kind == register_count) kernel.registers = static_cast<int>(value);
  if (attribute.kind == frame_size || attribute.kind == min_stack_size)
    kernel.local_memory = std::max<std::int64_t>(kernel.local_memory, value);
}

void apply_own(const Attribute& attribute, std::string_view text, KernelResources& kernel) {
  if (attribute.kind == barrier_count) kernel.barriers = attribute.value;
  if (attribute.kind == annotations) add_spills(kernel, attribute, text);
  if (attribute.kind == max_threads && attribute.words.size() == 3)
    kernel.max_threads = static_cast<int>(attribute.words[0] * attribute.words[1] * attribute.words[2]);
}

}  // namespace

std::map<std::string, KernelResources> resources_of(std::string_view cubin) {
  const Elf elf(cubin);
  std::map<std::string, KernelResources> kernels;
  const auto functions = elf.functions();
  for (const auto& [number, function] : functions)
    if (function.is_kernel) kernels[function.name] = {};

  std::map<std::string, std::string_view, std::less<>> texts;
  std::int64_t reserved = 0;
  for (const Section& section : elf.sections()) {
    if (const auto function = after(".text.", section.name)) texts.emplace(*function, section.bytes);
    // Where the driver's part lies in every block's shared memory, sections of kernels include it.
    if (after(".nv.shared.reserved.", section.name)) reserved = 1 * machine::KiB;
  }
  const auto kernel_of = [&](std::string_view name) {
    const auto found = kernels.find(std::string(name));
    return found == kernels.end() ? nullptr : &found->second;
  };
  for (auto& [name, kernel] : kernels) kernel.instructions = count_instructions(texts[name]);
  for (const Section& section : elf.sections()) {
    if (section.name == ".nv.info") {
      for (const Attribute& each : attributes_in(section.bytes)) apply_common(each, functions, kernels);
    } else if (const auto name = after(".nv.info.", section.name)) {
      if (KernelResources* kernel = kernel_of(*name))
        for (const Attribute& each : attributes_in(section.bytes))
          apply_own(each, texts[std::string(*name)], *kernel);
    } else if (const auto shared = after(".nv.shared.", section.name)) {
      if (KernelResources* kernel = kernel_of(*shared))
        kernel->static_shared = static_cast<std::int64_t>(section.header.sh_size) - reserved;
    }
  }
  return kernels;
}

machine::BlockNeeds needs_of(const KernelResources& kernel, int threads, std::int64_t dynamic_shared) {
  return {.threads = threads,
          .registers = kernel.registers,
          .static_shared = kernel.static_shared,
          .dynamic_shared = dynamic_shared,
          .barriers = kernel.barriers};
}

}  // namespace weft::compile
