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

#include <algorithm>
#include <vector>

#include "compile/cubin_parts.h"

namespace weft::compile {
namespace {

using cubin::after, cubin::Elf, cubin::Function, cubin::Instruction, cubin::read_at, cubin::Section,
    cubin::slice;

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

// ---- spills -----------------------------------------------------------------------------------------------

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

std::map<std::string, KernelResources> resources_of(std::string_view bytes) {
  const Elf elf(bytes);
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
  for (auto& [name, kernel] : kernels) kernel.instructions = cubin::count_instructions(texts[name]);
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
