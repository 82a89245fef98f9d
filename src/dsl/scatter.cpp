#include <fmt/format.h>
#include <weft/reduce.h>

#include "dsl/stage_parts.h"
#include "ir/build.h"

namespace weft {
namespace {

ir::BinaryOp operation(ScatterUpdate::Op op) {
  switch (op) {
    case ScatterUpdate::Op::Add: return ir::BinaryOp::Add;
    case ScatterUpdate::Op::Multiply: return ir::BinaryOp::Mul;
    case ScatterUpdate::Op::Min: return ir::BinaryOp::Min;
    case ScatterUpdate::Op::Max: break;
  }
  return ir::BinaryOp::Max;
}

ir::Expr of_type(Type type, const Expr& value, const std::string& name, const Where& where) {
  const ir::Expr converted = dsl::converted(type, value.node());
  const bool lanes_fit = converted->type == type;
  if (lanes_fit && dsl::keeps_values(value.node(), type.scalar)) return converted;
  throw Error(
      fmt::format("'{}' is updated by {} but starts as {}", name, name_of(value.type()), name_of(type)),
      where)
      .help(lanes_fit ? dsl::how_to_fit(value.type().scalar, type.scalar)
                      : "give the initial value and the updates the same number of lanes");
}

ir::Update update_of(const ScatterUpdate& update, Type type, int rank, const std::string& name,
                     const Where& where) {
  if (static_cast<int>(update.at.size()) != rank) {
    throw Error(fmt::format("an update of '{}' has {} ind{}", name, update.at.size(),
                            update.at.size() == 1 ? "ex" : "ices"),
                where)
        .note("needs", fmt::format("{}, one per dimension", rank));
  }
  ir::Update result{{}, of_type(type, update.value, name, where)};
  for (const Expr& at : update.at) {
    const Type index = at.type();
    if (index.lanes > 1) {
      throw Error(fmt::format("an update of '{}' has an index of type {}", name, name_of(index)), where)
          .help("an index is a scalar; take one lane of the pixel with .lane(i)");
    }
    if (is_float(index.scalar)) {
      throw Error(fmt::format("an update of '{}' has an index of type {}", name, name_of(index)), where)
          .help("an index is an integer: cast<int>(v) rounds towards 0, cast<int>(floor(v)) down");
    }
    result.at.push_back(ir::cast(ir::CastMode::Convert, {Scalar::I64, 1}, at.node()));
  }
  return result;
}

}  // namespace

Stage detail::make_scatter(const std::string& name, const Extents& extents, const Expr& initial,
                           const Over& over, const ScatterBody& body, const Where& where) {
  return dsl::placed(name, where, [&] {
    const ir::Box box = dsl::box_of(fmt::format("stage '{}'", name), {{}, extents}, where);
    const ir::Box domain = dsl::box_of(fmt::format("scatter '{}'", name), over.box(), where);
    const ScatterUpdates updates = body(dsl::coordinates(over.rank()));
    if (updates.empty())
      throw Error(fmt::format("scatter '{}' makes no updates", name), where)
          .help("return add({x, y}, value), or a list of updates");
    ir::Scatter scatter{domain, initial.node(), operation(updates[0].op), {}};
    for (const ScatterUpdate& update : updates) {
      if (operation(update.op) != scatter.op) {
        throw Error(
            fmt::format("the updates of '{}' differ in their operation, so their order would matter", name),
            where)
            .help("use one operation per scatter, or several stages");
      }
      scatter.updates.push_back(update_of(update, initial.type(), extents.rank(), name, where));
    }
    return Stage(dsl::checked({name, initial.type(), box, std::move(scatter), where}));
  });
}

}  // namespace weft
