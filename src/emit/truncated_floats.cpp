#include "emit/truncated_floats.h"

#include "ir/stage_ir.h"
#include "kernel/visit.h"

namespace weft::emit {

TruncatedFloats::TruncatedFloats(const kernel::Block& body) {
  // What a loop assigns may be read before that, in its next iteration.
  std::size_t known = 0;
  do {
    known = names_.size();
    const auto note = [&](const kernel::Symbol& name, const kernel::Expr& value) {
      if (!is_float(value->type) && may_be(value)) names_.insert(name);
    };
    kernel::visit_statements(body, [&](const kernel::Stmt& statement) {
      if (const auto* let = std::get_if<kernel::Let>(&statement.op)) note(let->name, let->value);
      if (const auto* assign = std::get_if<kernel::Assign>(&statement.op)) note(assign->name, assign->value);
      if (const auto* store = std::get_if<kernel::Store>(&statement.op)) note(store->array, store->value);
    });
  } while (names_.size() != known);
}

bool TruncatedFloats::may_be(const kernel::Expr& integer) const {
  return kernel::any_of(integer, [&](const kernel::Node& node) {
    if (const auto* cast = std::get_if<kernel::Cast>(&node.op))
      return is_float(cast->a->type) && !is_float(node.type) && node.type != Scalar::Bool;
    if (const auto* name = std::get_if<kernel::Name>(&node.op)) return names_.count(name->name) > 0;
    if (const auto* load = std::get_if<kernel::Load>(&node.op)) return names_.count(load->array) > 0;
    if (const auto* median = std::get_if<kernel::MedianOf>(&node.op)) return names_.count(median->array) > 0;
    return false;
  });
}

}  // namespace weft::emit
