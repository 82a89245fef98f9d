#include "compile/build_identity.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>

#include <elf.h>
#include <link.h>

namespace weft::compile {
namespace {

std::string hex(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    text += {"0123456789abcdef"[byte >> 4], "0123456789abcdef"[byte & 15]};
  }
  return text;
}

std::size_t padded(std::size_t bytes) { return (bytes + 3) / 4 * 4; }

/// Whose notes have ids: a name with its zero.
constexpr std::string_view owner("GNU\0", 4);

/// Looks through notes. Each is a header, a name and content, both padded. Those that begin at multiples of 8
/// have content of such a size, so that they need no other padding.
std::optional<std::string> build_id_among(std::string_view notes) {
  while (notes.size() > sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) note;
    std::memcpy(&note, notes.data(), sizeof note);
    notes.remove_prefix(sizeof note);
    const std::size_t name_size = padded(note.n_namesz);
    const std::size_t size = name_size + padded(note.n_descsz);
    if (size > notes.size()) break;
    if (note.n_type == NT_GNU_BUILD_ID && notes.substr(0, note.n_namesz) == owner)
      return hex(notes.substr(name_size, note.n_descsz));
    notes.remove_prefix(size);
  }
  return std::nullopt;
}

struct Search {
  std::uintptr_t code;  ///< An address in the object that is looked for.
  std::optional<std::string> found;
};

/// Called for each object in memory, until it returns something else than 0.
int look_at(dl_phdr_info* object, std::size_t, void* context) {
  Search& search = *static_cast<Search*>(context);
  const ElfW(Phdr)* const end = object->dlpi_phdr + object->dlpi_phnum;
  const bool has_code = std::any_of(object->dlpi_phdr, end, [&](const ElfW(Phdr) & part) {
    const std::uintptr_t begin = object->dlpi_addr + part.p_vaddr;
    return part.p_type == PT_LOAD && search.code >= begin && search.code < begin + part.p_memsz;
  });
  if (!has_code) return 0;
  for (const ElfW(Phdr)* part = object->dlpi_phdr; part != end && !search.found; ++part) {
    if (part->p_type != PT_NOTE) continue;
    const auto* notes =  // NOLINTNEXTLINE(performance-no-int-to-ptr): the loader has numbers
        reinterpret_cast<const char*>(object->dlpi_addr + part->p_vaddr);
    search.found = build_id_among({notes, part->p_memsz});
  }
  return 1;
}

}  // namespace

const std::optional<std::string>& identity_of_this_build() {
  static const std::optional<std::string> identity = [] {
    Search search{reinterpret_cast<std::uintptr_t>(&build_id_among), {}};
    ::dl_iterate_phdr(look_at, &search);
    return search.found;
  }();
  return identity;
}

}  // namespace weft::compile
