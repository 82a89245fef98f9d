#include "analysis/set_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/ranges.h"

namespace weft::analysis {
namespace {

/// The index of an item in a list, which grows if the item is new.
template <class T>
std::size_t number_of(const T& item, std::vector<T>& list) {
  const auto known = std::find(list.begin(), list.end(), item);
  if (known != list.end()) return static_cast<std::size_t>(known - list.begin());
  list.push_back(item);
  return list.size() - 1;
}

}  // namespace

SetText::SetText(const ir::Pipeline& pipeline, const ir::Stage& stage) : pipeline_(pipeline), stage_(stage) {}

std::string SetText::operator()(const ir::Affine& form) {
  std::string text = std::to_string(form.constant());
  for (const auto& [atom, factor] : form.terms()) {
    const std::string spelt =
        std::visit(ir::overloaded{
                       [&](const ir::Coord& c) { return fmt::format("x{}", c.dim); },
                       [&](const ir::TapCoord& t) { return fmt::format("t{}", number_of(t, taps_)); },
                       [&](const ir::Size& s) { return fmt::format("s{}", number_of(s, sizes_)); },
                       [&](const ir::FloorDiv& f) {
                         return fmt::format("floor(({})/{})", (*this)(*f.numerator), f.divisor);
                       },
                   },
                   atom);
    text += fmt::format(" + {}*{}", factor, spelt);
  }
  return text;
}

std::string SetText::box() {
  std::string text = "0 = 0";
  for (const ir::StagePtr& input : pipeline_.inputs) {
    for (const ir::Range& range : input->box) text += " and " + (*this)(range.extent) + " >= 1";
  }
  for (std::size_t d = 0; d < stage_.domain().size(); ++d) {
    const ir::Range& range = stage_.domain()[d];
    text += fmt::format(" and {} <= x{} < {}", (*this)(range.min), d, (*this)(range.min + range.extent));
  }
  return text;
}

std::string SetText::tap_bounds() const {
  std::string text = "0 = 0";
  for (std::size_t i = 0; i < taps_.size(); ++i) {
    const TapRange range = tap_range(*taps_[i].loop, taps_[i].dim);
    text += fmt::format(" and {} <= t{} <= {}", range.min, i, range.max);
  }
  return text;
}

std::optional<std::string> SetText::comparison(const ir::Binary& node, bool sense) {
  const auto a = as_affine(node.a), b = as_affine(node.b);
  if (!a || !b) return std::nullopt;
  const char* relation = node.op == ir::BinaryOp::Lt   ? "<"
                         : node.op == ir::BinaryOp::Le ? "<="
                         : node.op == ir::BinaryOp::Eq ? "="
                                                       : "!=";
  return fmt::format("{}({} {} {})", sense ? "" : "not ", (*this)(*a), relation, (*this)(*b));
}

std::optional<std::string> SetText::condition(const ir::Expr& condition, bool sense, bool* exact) {
  if (const auto* constant = std::get_if<ir::Const>(&condition->op)) {
    return (constant->value.lane[0].i != 0) == sense ? "0 = 0" : "0 = 1";
  }
  if (const auto* unary = std::get_if<ir::Unary>(&condition->op); unary && unary->op == ir::UnaryOp::Not) {
    return this->condition(unary->a, !sense, exact);
  }
  std::optional<std::string> text;
  if (const auto* binary = std::get_if<ir::Binary>(&condition->op)) {
    if (ir::is_comparison(binary->op)) {
      text = comparison(*binary, sense);
    } else if (binary->op == ir::BinaryOp::And || binary->op == ir::BinaryOp::Or) {
      const auto a = this->condition(binary->a, sense, exact), b = this->condition(binary->b, sense, exact);
      const bool both = (binary->op == ir::BinaryOp::And) == sense;
      if (a && b) return fmt::format("(({}) {} ({}))", *a, both ? "and" : "or", *b);
      if (both) text = a ? a : b;
    }
  }
  if (!text) *exact = false;
  return text;
}

int SetText::rank() const { return static_cast<int>(sizes_.size() + stage_.domain().size() + taps_.size()); }

std::string SetText::variables(const char* prefix, std::size_t count) const {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += fmt::format("{}{}{}", i ? ", " : "", prefix, i);
  return text;
}

namespace {

std::string joined(std::initializer_list<std::string> lists) {
  std::string text;
  for (const std::string& list : lists) text += (text.empty() || list.empty() ? "" : ", ") + list;
  return text;
}

}  // namespace

std::string SetText::set(const std::string& formula) const {
  return fmt::format("{{ [{}] : {} }}",
                     joined({variables("s", sizes_.size()), variables("x", stage_.domain().size()),
                             variables("t", taps_.size())}),
                     formula);
}

std::string SetText::set_of_index(const std::string& formula) const {
  const std::string bound = joined({variables("x", stage_.domain().size()), variables("t", taps_.size())});
  return fmt::format("[{}] -> {{ [i] : {}{} }}", variables("s", sizes_.size()),
                     bound.empty() ? "" : "exists " + bound + ": ", formula);
}

std::optional<ir::Affine> as_affine(const ir::Expr& e) {
  if (e->type.lanes != 1 || !is_integer(e->type.scalar)) return std::nullopt;
  if (const auto* quantity = std::get_if<ir::Quantity>(&e->op)) return quantity->value;
  if (const auto* constant = std::get_if<ir::Const>(&e->op)) return ir::Affine(constant->value.lane[0].i);
  const auto* binary = std::get_if<ir::Binary>(&e->op);
  if (!binary || e->type.scalar != Scalar::I64) return std::nullopt;
  const auto a = as_affine(binary->a), b = as_affine(binary->b);
  if (!a || !b) return std::nullopt;
  switch (binary->op) {
    case ir::BinaryOp::Add: return *a + *b;
    case ir::BinaryOp::Sub: return *a - *b;
    case ir::BinaryOp::Mul:
      if (b->is_constant()) return *a * b->constant();
      if (a->is_constant()) return *b * a->constant();
      return std::nullopt;
    default: return std::nullopt;
  }
}

SizeNames::SizeNames(const ir::Pipeline& pipeline) : short_names_(pipeline.inputs.size() == 1) {
  for (const auto& stage : pipeline.stages) short_names_ &= stage->rank() < 4;  // w would be a coordinate
}

std::string SizeNames::operator()(const ir::Affine& form) const {
  return form.to_string([&](const ir::Atom& atom) {
    const std::string name = ir::name_of(atom);
    const auto* size = std::get_if<ir::Size>(&atom);
    return size && short_names_ ? name.substr(size->image.size() + 1) : name;
  });
}

}  // namespace weft::analysis
