#include "kernel/code_walk.h"

#include <algorithm>
#include <utility>

#include "ir/stage_ir.h"
#include "kernel/build.h"
#include "kernel/visit.h"

namespace weft::kernel {
namespace {

bool is_number(const Expr& e, Scalar type) { return e->type == type && literal_value(e).has_value(); }

int number_of(std::initializer_list<bool> flags) {
  int number = 0;
  for (const bool flag : flags) number = 2 * number + int{flag};
  return number;
}

}  // namespace

Stmt CodeWalk::statement(const Stmt& original) {
  Stmt s = original;
  tag(static_cast<int>(s.op.index()));
  note(s);
  each_operand(s, [&](Expr& e) { e = expression(e); });
  declare(s);
  each_block(s, [&](Block& inside) {
    enter();
    inside = block(inside);
    leave();
  });
  return s;
}

Block CodeWalk::block(const Block& original) {
  Block copy;
  for (const Stmt& s : original) copy.push_back(statement(s));
  return copy;
}

Expr CodeWalk::expression(const Expr& e) {
  tag(static_cast<int>(e->type));
  if (is_number(e, Scalar::I64)) return number(nullptr, e);
  const auto* sum = std::get_if<Binary>(&e->op);
  const bool is_sum = sum && sum->op == ir::BinaryOp::Add;
  if (is_sum && (is_number(sum->b, Scalar::I64) || is_number(sum->b, Scalar::I32))) {
    tag("+");
    return number(expression(sum->a), sum->b);
  }
  Node node = *e;
  tag(static_cast<int>(node.op.index()));
  std::visit(ir::overloaded{
                 [&](const Const& n) { tag(n.value.to_string()); },
                 [&](Name& n) { n.name = used(n.name); },
                 [&](const Unary& n) { tag(static_cast<int>(n.op)); },
                 [&](const Binary& n) { tag(static_cast<int>(n.op)); },
                 [](const Select&) {},
                 [&](const Cast& n) { tag(static_cast<int>(n.mode)), tag(int{n.fits}); },
                 [&](const IndexCall& n) { tag(static_cast<int>(n.op)); },
                 [&](Load& n) { n.array = used(n.array); },
                 [&](MedianOf& n) { tag(n.count), n.array = used(n.array); },
                 [](const HalfOfSum&) {},
             },
             node.op);
  each_operand(node, [&](Expr& operand) { operand = expression(operand); });
  return std::make_shared<const Node>(std::move(node));
}

/// What a statement itself is, and what it uses.
void CodeWalk::note(Stmt& s) {
  const auto type = [&](Scalar scalar) { tag(static_cast<int>(scalar)); };
  const auto flags = [&](std::initializer_list<bool> of) { tag(number_of(of)); };
  std::visit(ir::overloaded{
                 [&](const Let& n) {
                   flags({n.is_mutable, n.is_opaque});
                 },
                 [&](Assign& n) { n.name = used(n.name); },
                 [&](Pointer& n) {
                   type(n.type), flags({n.is_const, n.is_opaque, n.unless != nullptr});
                   n.array = used(n.array);
                   if (n.unless) n.instead = used(n.instead);
                 },
                 [&](const LocalArray& n) {
                   type(n.type), tag(n.count), tag(static_cast<int>(n.storage));
                   flags({n.is_zeroed, n.is_aligned});
                 },
                 [&](Store& n) { n.array = used(n.array); },
                 [&](LoadPack& n) {
                   type(n.type), tag(n.before), tag(n.count), tag(n.after);
                   flags({n.is_whole, n.has_several});
                   n.array = used(n.array);
                 },
                 [&](StorePack& n) { flags({n.is_whole}), n.name = used(n.name), n.array = used(n.array); },
                 [&](Prefetch& n) { type(n.type), n.array = used(n.array); },
                 [](const ExceedsCaches&) {},
                 [&](StorePastCaches& n) { type(n.type), n.array = used(n.array), n.from = used(n.from); },
                 [&](const Shuffle& n) { tag(n.distance), flags({n.lane != nullptr}); },
                 [&](IsAligned& n) { tag(n.bytes), n.array = used(n.array); },
                 [&](Atomic& n) { tag(static_cast<int>(n.op)), n.array = used(n.array); },
                 [&](const Barrier& n) { flags({n.is_of_warp}); },
                 [&](For& n) { note(n); },
                 [](const If&) {},
                 [](const Scope&) {},
                 [](const Continue&) {},
                 [&](Order& n) { tag(n.network.spelling()), n.array = used(n.array); },
                 [](const Comment&) {},
                 [&](const LookUp&) { refuse(); },
                 [&](const PickPlanes&) { refuse(); },
                 [&](const IfVectors&) { refuse(); },
                 [&](const StepsInLanes&) { refuse(); },
                 [&](const CallFunction&) { refuse(); },
             },
             s.op);
}

void CodeWalk::note(For& loop) {
  tag(static_cast<int>(loop.kind)), tag(number_of({loop.step != nullptr, loop.has_block_each}));
  if (loop.ends) refuse();
  if (!loop.vectors) return tag("scalar");
  InVectors& vectors = *loop.vectors;
  tag(vectors.scalars), tag(number_of({vectors.may_repeat, vectors.bytes != nullptr}));
  if (vectors.is_whole_row || !vectors.columns.empty()) refuse();
  for (Neighbours& row : vectors.neighbours) tag(row.left), row.array = used(row.array);
}

void CodeWalk::declare(Stmt& s) {
  if (auto* let = std::get_if<Let>(&s.op)) let->name = declared(let->name);
  if (auto* pointer = std::get_if<Pointer>(&s.op)) pointer->name = declared(pointer->name);
  if (auto* array = std::get_if<LocalArray>(&s.op)) array->name = declared(array->name);
  if (auto* pack = std::get_if<LoadPack>(&s.op)) pack->name = declared(pack->name);
  if (auto* shuffle = std::get_if<Shuffle>(&s.op)) shuffle->name = declared(shuffle->name);
  if (auto* test = std::get_if<ExceedsCaches>(&s.op)) test->name = declared(test->name);
  if (auto* test = std::get_if<IsAligned>(&s.op)) test->name = declared(test->name);
  auto* loop = std::get_if<For>(&s.op);
  if (!loop) return;
  loop->variable = declared(loop->variable);
  if (!loop->vectors) return;
  for (Neighbours& row : loop->vectors->neighbours)
    row.before = declared(row.before), row.here = declared(row.here);
}

Expr CodeShape::number(const Expr&, const Expr& value) {
  numbers_.push_back(*literal_value(value)), text_ += "# ";
  return value;  // the copy of the code is not used
}

Symbol CodeShape::used(const Symbol& name) {
  const auto local = std::find(locals_.begin(), locals_.end(), name);
  if (local != locals_.end()) return tag(std::to_string(local - locals_.begin())), name;
  names_.push_back(name), text_ += "@ ";
  return name;
}

}  // namespace weft::kernel
