#include "kernel/drop_unused.h"

#include <algorithm>
#include <set>

#include "kernel/visit.h"

namespace weft::kernel {
namespace {

using UsedNames = std::set<Symbol>;

bool is_unused(const kernel::Stmt& s, const UsedNames& used) {
  if (const auto* let = std::get_if<kernel::Let>(&s.op)) return !let->is_mutable && !used.count(let->name);
  if (const auto* pointer = std::get_if<kernel::Pointer>(&s.op)) return !used.count(pointer->name);
  return false;
}

/// Goes from the last statement to the first, and returns the names that those left mention.
UsedNames drop(kernel::Block& block) {
  UsedNames used;
  kernel::Block left;
  for (auto s = block.rbegin(); s != block.rend(); ++s) {
    if (is_unused(*s, used)) continue;
    if (auto* loop = std::get_if<kernel::For>(&s->op)) {
      kernel::For rest = *loop;
      rest.body.clear();
      used.merge(drop(loop->body));
      used.merge(kernel::names_in({{std::move(rest)}}));
    } else if (auto* branch = std::get_if<kernel::If>(&s->op)) {
      used.merge(drop(branch->then));
      used.merge(drop(branch->otherwise));
      used.merge(kernel::names_in({{kernel::If{branch->condition, {}, {}}}}));
    } else if (auto* vectors = std::get_if<kernel::IfVectors>(&s->op)) {
      used.merge(drop(vectors->then));
      used.merge(drop(vectors->otherwise));
      used.merge(kernel::names_in({{kernel::IfVectors{vectors->name, vectors->condition, {}, {}}}}));
    } else if (auto* steps = std::get_if<kernel::StepsInLanes>(&s->op)) {
      used.merge(drop(steps->update));
      used.merge(kernel::names_in({{kernel::StepsInLanes{{}, 0, 0, steps->taps, steps->bytes}}}));
    } else if (auto* scope = std::get_if<kernel::Scope>(&s->op)) {
      used.merge(drop(scope->body));
    } else {
      used.merge(kernel::names_in({*s}));
    }
    left.push_back(std::move(*s));
  }
  std::reverse(left.begin(), left.end());
  block = std::move(left);
  return used;
}

}  // namespace

void drop_unused(kernel::Function& function) { drop(function.body); }

}  // namespace weft::kernel
