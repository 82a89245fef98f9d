#include "loaded_text.h"

#include <algorithm>

#include <dlfcn.h>
#include <link.h>

namespace simt {

LoadedText::LoadedText(const Compiled& compiled, abi::Services& services)
    : compiled_(compiled), symbols_(compiled.object), build_(compiled.build) {
  // A text that is loaded already would share its variables, shared memory among them.
  if (void* loaded = ::dlopen(compiled.object.c_str(), RTLD_NOW | RTLD_NOLOAD)) {
    ::dlclose(loaded);
    throw Failure("'" + compiled.object.string() + "' is loaded already; load a copy of the file");
  }
  handle_ = ::dlopen(compiled.object.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle_) throw Failure(std::string("cannot load a compiled text: ") + ::dlerror());
  auto* attach = reinterpret_cast<abi::Attach*>(::dlsym(handle_, abi::attach_name));
  if (!attach) {
    ::dlclose(handle_);
    throw Failure("'" + compiled.object.string() + "' was not compiled by simt::compile");
  }
  find_image();
  abi::TextMemory memory{};
  attach(&services, &memory);
  const auto* begin = static_cast<const char*>(memory.shared_begin);
  shared = {begin, static_cast<std::size_t>(static_cast<const char*>(memory.shared_end) - begin)};
  dynamic_shared = {static_cast<const char*>(memory.dynamic_shared), abi::dynamic_shared_bytes};
  for (std::size_t i = 0; i < memory.global_count; ++i) {
    globals_[reinterpret_cast<std::uintptr_t>(memory.globals[i].begin)] = &memory.globals[i];
  }
}

LoadedText::~LoadedText() { ::dlclose(handle_); }

void LoadedText::find_image() {
  link_map* map = nullptr;
  ::dlinfo(handle_, RTLD_DI_LINKMAP, static_cast<void*>(&map));
  base_ = map->l_addr;
  const auto visit = [](dl_phdr_info* info, std::size_t, void* data) {
    auto* self = static_cast<LoadedText*>(data);
    if (info->dlpi_addr != self->base_) return 0;
    std::uintptr_t low = ~std::uintptr_t{0}, high = 0, first_variable = ~std::uintptr_t{0};
    for (int i = 0; i < info->dlpi_phnum; ++i) {
      const auto& segment = info->dlpi_phdr[i];
      if (segment.p_type != PT_LOAD) continue;
      const std::uintptr_t begin = self->base_ + segment.p_vaddr, end = begin + segment.p_memsz;
      low = std::min(low, begin);
      high = std::max(high, end);
      if (segment.p_flags & PF_W) first_variable = std::min(first_variable, begin);
    }
    self->image = {reinterpret_cast<const char*>(low), high - low};
    if (first_variable < high) {
      self->writable = {reinterpret_cast<const char*>(first_variable), high - first_variable};
    }
    return 1;
  };
  ::dl_iterate_phdr(visit, this);
}

void* LoadedText::symbol(const std::string& name) const {
  if (void* found = ::dlsym(handle_, name.c_str())) return found;
  void* found = nullptr;
  for (const auto& [address, function] : symbols_.functions()) {
    if (!function.exported || function.name != name) continue;
    if (found) throw Failure("the text has several functions '" + name + "'");
    found = reinterpret_cast<void*>(base_ + address);
  }
  if (!found) throw Failure("the text has no function '" + name + "' with external linkage");
  return found;
}

std::string LoadedText::kernel_name(const void* kernel) const {
  const Symbol* symbol = symbols_.function_at(relative(kernel));
  return symbol ? symbol->name : "unknown kernel";
}

unsigned LoadedText::launch_bound(const void* kernel) const {
  const std::string name = kernel_name(kernel);
  for (const auto& [address, variable] : symbols_.variables()) {
    if (variable.name == abi::launch_bounds_name && variable.owner == name)
      return *static_cast<const unsigned*>(absolute(address));
  }
  return 0;
}

std::vector<Range> LoadedText::shared_arrays(const void* kernel) const {
  const std::string name = kernel_name(kernel);
  const std::uintptr_t begin = relative(shared.begin);
  std::vector<Range> arrays;
  for (const auto& [address, variable] : symbols_.variables()) {
    if (address - begin < shared.size && variable.owner == name) {
      arrays.push_back({static_cast<const char*>(absolute(address)), variable.size});
    }
  }
  return arrays;
}

const abi::Global* LoadedText::checked_global_at(const void* address) const {
  const auto wanted = reinterpret_cast<std::uintptr_t>(address);
  auto next = globals_.upper_bound(wanted);
  if (next == globals_.begin()) return nullptr;
  const abi::Global* global = std::prev(next)->second;
  return wanted < reinterpret_cast<std::uintptr_t>(global->begin) + global->size_with_redzone ? global
                                                                                              : nullptr;
}

}  // namespace simt
