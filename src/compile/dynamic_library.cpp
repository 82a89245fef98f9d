#include "compile/dynamic_library.h"

#include <dlfcn.h>
#include <link.h>

namespace weft::compile {

namespace fs = std::filesystem;

DynamicLibrary::DynamicLibrary(const fs::path& path)
    : handle_(::dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE)) {}

DynamicLibrary::~DynamicLibrary() {
  if (handle_) ::dlclose(handle_);
}

void* DynamicLibrary::symbol(const char* name) const { return ::dlsym(handle_, name); }

fs::path DynamicLibrary::path() const {
  link_map* map = nullptr;
  return ::dlinfo(handle_, RTLD_DI_LINKMAP, &map) == 0 ? fs::path(map->l_name) : fs::path();
}

}  // namespace weft::compile
