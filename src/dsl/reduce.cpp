#include <weft/reduce.h>

#include <fmt/format.h>

#include <limits>

#include "dsl/stage_parts.h"
#include "ir/build.h"

namespace weft {

using ir::BinaryOp;

namespace {

constexpr Type index_type{Scalar::I64, 1};

/// Sums and products of integers are 64 bits wide, halves become floats.
Type accumulator_type(Type element) {
  if (is_float(element.scalar)) return ir::promoted(element);
  return element.with_lanes(element.lanes).scalar == Scalar::Bool || !is_signed(element.scalar)
             ? Type{Scalar::U64, element.lanes}
             : Type{Scalar::I64, element.lanes};
}

/// One component, combined by a binary operation.
ir::Reduce by_operation(BinaryOp op, Type type, const ir::Expr& element, const ir::Value& identity) {
  return {
      {},
      {ir::cast(ir::CastMode::Convert, type.lane(), element)},
      {{ir::constant(identity)}, {ir::binary(op, ir::operand(0, 0, type), ir::operand(1, 0, type))}, true},
      ir::operand(0, 0, type)};
}

/// The place of a point among all points of a box, x fastest.
ir::Expr place_in(const ir::Box& box) {
  ir::Expr place = ir::quantity(0);
  for (std::size_t d = box.size(); d-- > 0;) {
    const ir::Expr at = ir::quantity(dsl::coordinate(static_cast<int>(d)) - box[d].min);
    place = ir::binary(BinaryOp::Add, ir::binary(BinaryOp::Mul, place, ir::quantity(box[d].extent)), at);
  }
  return place;
}

/// The coordinates of the point at a place; -1 if there is none.
ir::Expr point_at(ir::Expr place, const ir::Box& box) {
  const ir::Expr none = ir::binary(BinaryOp::Eq, place, ir::constant(ir::largest(index_type)));
  std::vector<ir::Expr> lanes;
  for (const ir::Range& range : box) {
    const ir::Expr extent = ir::quantity(range.extent);
    const ir::Expr at =
        ir::binary(BinaryOp::Add, ir::binary(BinaryOp::Rem, place, extent), ir::quantity(range.min));
    lanes.push_back(ir::cast(ir::CastMode::Convert, {Scalar::I32, 1},
                             ir::select(none, ir::constant(index_type, -1), at)));
    place = ir::binary(BinaryOp::Div, place, extent);
  }
  return lanes.size() == 1 ? lanes[0] : ir::pack(lanes);
}

/// The place of the least (greatest) element: the better value wins, of equal ones the earlier.
ir::Reduce by_place(bool least, const ir::Box& over, const ir::Expr& element, const std::string& name,
                    const Where& where) {
  const Type type = element->type;
  if (type.lanes > 1) {
    throw Error(fmt::format("'{}' orders pixels of {} lanes", name, type.lanes), where)
        .help("take one lane with .lane(i), or a value made of them");
  }
  if (over.empty() || over.size() > 4) {
    throw Error(fmt::format("'{}' asks for a place among {} dimensions", name, over.size()), where)
        .note("needs", "one to four");
  }
  const ir::Expr a = ir::operand(0, 0, type), b = ir::operand(1, 0, type);
  const ir::Expr at_a = ir::operand(0, 1, index_type), at_b = ir::operand(1, 1, index_type);
  const ir::Expr better = least ? ir::binary(BinaryOp::Lt, b, a) : ir::binary(BinaryOp::Lt, a, b);
  const ir::Expr earlier =
      ir::binary(BinaryOp::And, ir::binary(BinaryOp::Eq, a, b), ir::binary(BinaryOp::Lt, at_b, at_a));
  const ir::Expr take = ir::binary(BinaryOp::Or, better, earlier);
  return {{},
          {element, place_in(over)},
          {{ir::constant(least ? ir::largest(type) : ir::least(type)), ir::constant(ir::largest(index_type))},
           {ir::select(take, b, a), ir::select(take, at_b, at_a)},
           true},
          point_at(at_a, over)};
}

ir::Reduce by_user(const Reduce& op, const ir::Expr& element, const std::string& name, const Where& where) {
  if (!op.identity()) {
    throw Error(fmt::format("the operator of reduction '{}' has no identity", name), where)
        .note("needs", "the value e with combine(e, v) == v and combine(v, e) == v for every v")
        .help("say it: Reduce(combine).identity(0.f)");
  }
  const ir::Expr identity = op.identity()->node();
  const Type type = identity->type;
  const ir::Expr converted = dsl::converted(type, element);
  const Expr a(ir::operand(0, 0, type)), b(ir::operand(1, 0, type));
  const ir::Expr combined = dsl::converted(type, op.combine()(a, b).node());
  for (const ir::Expr& e : {converted, combined}) {
    if (e->type == type) continue;
    throw Error(fmt::format("reduction '{}' combines {} but its identity is {}", name, name_of(e->type),
                            name_of(type)),
                where)
        .help("give elements, operator and identity the same number of lanes");
  }
  return {{}, {converted}, {{identity}, {combined}, op.is_commutative()}, ir::operand(0, 0, type)};
}

ir::Reduce reduction(const Reduce& op, const ir::Box& over, const ir::Expr& element, const std::string& name,
                     const Where& where) {
  const Type type = element->type, wide = accumulator_type(type);
  switch (op.kind()) {
    case Reduce::Kind::Sum: return by_operation(BinaryOp::Add, wide, element, ir::Value::integer(wide, 0));
    case Reduce::Kind::Product:
      return by_operation(BinaryOp::Mul, wide, element, ir::Value::integer(wide, 1));
    case Reduce::Kind::Min: return by_operation(BinaryOp::Min, type, element, ir::largest(type));
    case Reduce::Kind::Max: return by_operation(BinaryOp::Max, type, element, ir::least(type));
    case Reduce::Kind::ArgMin: return by_place(true, over, element, name, where);
    case Reduce::Kind::ArgMax: return by_place(false, over, element, name, where);
    case Reduce::Kind::Custom: break;
  }
  return by_user(op, element, name, where);
}

Stage reduce_over(const std::string& name, const ir::Box& over, const ir::Expr& element, const Reduce& op,
                  const Where& where) {
  ir::Reduce reduce = reduction(op, over, element, name, where);
  reduce.over = over;
  const Type type = reduce.result->type;
  return Stage(dsl::checked({name, type, {}, std::move(reduce), where}));
}

BoxAt whole(const Source& source) {
  BoxAt box{{}, source.size()};
  for (const ir::Range& range : dsl::visible_box(source.node())) box.min.emplace_back(Index(range.min));
  return box;
}

}  // namespace

Over::Over(const Source& source) : box_(whole(source)) {}
Over::Over(const Accessor& accessor)
    : box_(accessor.origin().empty() ? whole(accessor.source()) : BoxAt{{}, accessor.size()}) {}
Over::Over(const Extents& extents) : box_{{}, extents} {}

Stage reduce(const std::string& name, const Expr& value, const Reduce& op, std::source_location here) {
  return dsl::placed(name, here, [&] {
    const std::string general_form =
        fmt::format("reduce(\"{}\", size, [&](Var x, Var y) {{ return …; }}, …)", name);
    return reduce_over(name, dsl::common_box(name, value.node(), general_form, here), value.node(), op, here);
  });
}

Stage detail::make_reduce(const std::string& name, const Over& over, const Body& body, const Reduce& op,
                          const Where& where) {
  return dsl::placed(name, where, [&] {
    const ir::Box box = dsl::box_of(fmt::format("reduction '{}'", name), over.box(), where);
    const Cases cases = body(dsl::coordinates(over.rank()));
    if (cases.list().size() != 1 || cases.list()[0].condition) {
      throw Error(fmt::format("the elements of reduction '{}' are defined by cases", name), where)
          .help("choose with select, or reduce a stage that is defined by the cases");
    }
    return reduce_over(name, box, cases.list()[0].value.node(), op, where);
  });
}

}  // namespace weft
