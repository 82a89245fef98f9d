#include "fuzz/operators.h"

#include <fmt/format.h>

#include <array>
#include <string_view>

namespace weft::fuzz {
namespace {

using E = std::vector<Expr>;
using Form = Operator::Form;

// In the order of Op.
constexpr std::array<Operator, op_count> operators = {{
    {"-", 1, Form::Prefix, [](const E& e) { return -e[0]; }},
    {"!", 1, Form::Prefix, [](const E& e) { return !e[0]; }},
    {"~", 1, Form::Prefix, [](const E& e) { return ~e[0]; }},
    {"abs", 1, Form::Call, [](const E& e) { return abs(e[0]); }},
#define ROW(op, name, ...) {#name, 1, Form::Call, [](const E& e) { return weft::name(e[0]); }},
    WEFT_FUNCTIONS_OF_ONE(ROW)
#undef ROW
        {"+", 2, Form::Infix, [](const E& e) { return e[0] + e[1]; }},
    {"-", 2, Form::Infix, [](const E& e) { return e[0] - e[1]; }},
    {"*", 2, Form::Infix, [](const E& e) { return e[0] * e[1]; }},
    {"/", 2, Form::Infix, [](const E& e) { return e[0] / e[1]; }},
    {"%", 2, Form::Infix, [](const E& e) { return e[0] % e[1]; }},
    {"&", 2, Form::Infix, [](const E& e) { return e[0] & e[1]; }},
    {"|", 2, Form::Infix, [](const E& e) { return e[0] | e[1]; }},
    {"^", 2, Form::Infix, [](const E& e) { return e[0] ^ e[1]; }},
    {"<<", 2, Form::Infix, [](const E& e) { return e[0] << e[1]; }},
    {">>", 2, Form::Infix, [](const E& e) { return e[0] >> e[1]; }},
    {"<", 2, Form::Infix, [](const E& e) { return e[0] < e[1]; }},
    {"<=", 2, Form::Infix, [](const E& e) { return e[0] <= e[1]; }},
    {">", 2, Form::Infix, [](const E& e) { return e[0] > e[1]; }},
    {">=", 2, Form::Infix, [](const E& e) { return e[0] >= e[1]; }},
    {"==", 2, Form::Infix, [](const E& e) { return e[0] == e[1]; }},
    {"!=", 2, Form::Infix, [](const E& e) { return e[0] != e[1]; }},
    {"&&", 2, Form::Infix, [](const E& e) { return e[0] && e[1]; }},
    {"||", 2, Form::Infix, [](const E& e) { return e[0] || e[1]; }},
    {"min", 2, Form::Call, [](const E& e) { return min(e[0], e[1]); }},
    {"max", 2, Form::Call, [](const E& e) { return max(e[0], e[1]); }},
#define ROW(op, name, ...) {#name, 2, Form::Call, [](const E& e) { return weft::name(e[0], e[1]); }},
    WEFT_FUNCTIONS_OF_TWO(ROW)
#undef ROW
        {"dot", 2, Form::Call, [](const E& e) { return dot(e[0], e[1]); }},
    {"select", 3, Form::Call, [](const E& e) { return select(e[0], e[1], e[2]); }},
    {"clamp", 3, Form::Call, [](const E& e) { return clamp(e[0], e[1], e[2]); }},
    {"lerp", 3, Form::Call, [](const E& e) { return lerp(e[0], e[1], e[2]); }},
}};

}  // namespace

const ir::Function* function_of(Op op) {
  for (const ir::Function& function : ir::functions()) {
    if (std::string_view(function.name) == operator_of(op).text) return &function;
  }
  return nullptr;
}

const Operator& operator_of(Op op) { return operators[static_cast<std::size_t>(op)]; }

std::string spelt(Op op, const std::vector<std::string>& operands) {
  const Operator& o = operator_of(op);
  switch (o.form) {
    case Form::Prefix: return fmt::format("{}{}", o.text, operands[0]);
    case Form::Infix: return fmt::format("{} {} {}", operands[0], o.text, operands[1]);
    case Form::Call: break;
  }
  return fmt::format("{}({})", o.text, fmt::join(operands, ", "));
}

const AssociativeOperator& operator_of(Associative op) {
  using A = const Expr&;
  static constexpr AssociativeOperator all[] = {
      {"a ^ b", [](A a, A b) { return a ^ b; }, [](int) -> std::int64_t { return 0; }, true},
      {"a & b", [](A a, A b) { return a & b; }, [](int) -> std::int64_t { return -1; }, true},
      {"a | b", [](A a, A b) { return a | b; }, [](int) -> std::int64_t { return 0; }, true},
      {"pack(a.lane(0) * b.lane(0), a.lane(0) * b.lane(1) + a.lane(1))",
       [](A a, A b) { return pack(a.lane(0) * b.lane(0), a.lane(0) * b.lane(1) + a.lane(1)); },
       [](int lane) -> std::int64_t { return lane == 0 ? 1 : 0; }, false}};
  return all[static_cast<int>(op)];
}

const char* name_of(Combine combine) {
  constexpr const char* names[] = {"sum", "product", "minimum", "maximum", "median"};
  return names[static_cast<int>(combine)];
}

Expr combined(Combine combine, const Domain& domain, const std::function<Expr(Tap)>& value) {
  constexpr Expr (*functions[])(const Domain&, const std::function<Expr(Tap)>&) = {
      weft::sum, weft::product, weft::minimum, weft::maximum, weft::median};
  return functions[static_cast<int>(combine)](domain, value);
}

}  // namespace weft::fuzz
