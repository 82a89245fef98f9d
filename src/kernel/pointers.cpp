#include "kernel/pointers.h"

#include "kernel/visit.h"

namespace weft::kernel {

Pointed pointed_in(const Function& function) {
  Pointed pointed;
  visit_statements(function.body, [&](const Stmt& statement) {
    const auto* pointer = std::get_if<Pointer>(&statement.op);
    if (!pointer) return;
    pointed[pointer->name].insert(pointer->array);
    if (pointer->unless) pointed[pointer->name].insert(pointer->instead);
  });
  return pointed;
}

std::set<Symbol> arrays_behind(const Symbol& name, const Pointed& pointed) {
  const auto found = pointed.find(name);
  if (found == pointed.end()) return {name};
  std::set<Symbol> arrays;
  for (const Symbol& of : found->second) arrays.merge(arrays_behind(of, pointed));
  return arrays;
}

}  // namespace weft::kernel
