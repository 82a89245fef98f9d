#include "lower/drop_unused.h"

#include <algorithm>

#include "ir/kernel_visit.h"

namespace weft::lower {
namespace {

/// Whether anything went. Names count for the whole function: what a name of another block keeps does no
/// harm.
bool drop(kernel::Block& block, const std::set<std::string>& used) {
  const auto is_unused = [&](const kernel::Stmt& s) {
    if (const auto* let = std::get_if<kernel::Let>(&s.op)) return !let->is_mutable && !used.count(let->name);
    if (const auto* pointer = std::get_if<kernel::Pointer>(&s.op)) return !used.count(pointer->name);
    return false;
  };
  bool dropped = std::erase_if(block, is_unused) > 0;
  for (kernel::Stmt& s : block) {
    if (auto* loop = std::get_if<kernel::For>(&s.op)) dropped |= drop(loop->body, used);
    if (auto* branch = std::get_if<kernel::If>(&s.op)) {
      dropped |= drop(branch->then, used);
      dropped |= drop(branch->otherwise, used);
    }
  }
  return dropped;
}

}  // namespace

void drop_unused(kernel::Function& function) {
  while (drop(function.body, kernel::names_in(function.body))) {
  }
}

}  // namespace weft::lower
