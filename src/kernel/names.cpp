#include "kernel/names.h"

#include <algorithm>

#include "ir/identifiers.h"

namespace weft::kernel {

bool Names::is_free(const std::string& name, const Prefixes& prefixes) const {
  return !taken_.count(name) && std::none_of(prefixes.begin(), prefixes.end(),
                                             [&](const char* p) { return taken_.count(p + name) > 0; });
}

std::string Names::claim(const std::string& wanted, const Prefixes& prefixes) {
  const std::string name = ir::safe_identifier(wanted);
  std::string unique = name;
  for (int i = 2; !is_free(unique, prefixes); ++i) unique = name + "_" + std::to_string(i);
  taken_.insert(unique);
  for (const char* prefix : prefixes) taken_.insert(prefix + unique);
  return unique;
}

}  // namespace weft::kernel
