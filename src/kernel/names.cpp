#include "kernel/names.h"

#include <algorithm>
#include <utility>

#include "ir/identifiers.h"

namespace weft::kernel {

bool Names::is_free(const std::string& name, const Prefixes& prefixes) const {
  return !taken_.count(name) && std::none_of(prefixes.begin(), prefixes.end(),
                                             [&](const char* p) { return taken_.count(p + name) > 0; });
}

std::string Names::unique(const std::string& name, const Prefixes& prefixes) const {
  std::string unique = name;
  for (int i = 2; !is_free(unique, prefixes); ++i) unique = name + "_" + std::to_string(i);
  return unique;
}

Symbol Names::make(std::string spelling) const {
  return Symbol(std::make_shared<const Symbol::Self>(Symbol::Self{std::move(spelling), (*made_)++}));
}

Symbol Names::claim(const std::string& wanted, const Prefixes& prefixes) {
  const std::string spelling = unique(ir::safe_identifier(wanted), prefixes);
  taken_.insert(spelling);
  for (const char* prefix : prefixes) taken_.insert(prefix + spelling);
  return make(spelling);
}

Symbol Names::local(const std::string& word) const { return make(unique(word, {})); }

}  // namespace weft::kernel
