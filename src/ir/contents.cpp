#include "ir/contents.h"

#include <bit>
#include <concepts>
#include <cstdint>
#include <type_traits>
#include <unordered_map>

namespace weft::ir {
namespace {

/// Every struct is taken apart by a structured binding, which names all its members: one that is added later
/// does not compile until it is added here, too.
class Contents {
 public:
  std::string of(const Pipeline& pipeline) {
    const auto& [name, outputs, inputs, params, stages, strict] = pipeline;
    add_all(name, inputs, params, stages, outputs, strict);
    return std::move(bytes_);
  }

 private:
  template <class... T>
  void add_all(const T&... values) {
    (add(values), ...);
  }

  // ---- what all is made of

  void add(std::uint64_t bits) {
    // Most numbers are small: seven bits in each byte, and the eighth bit in all but the last.
    for (; bits >= 0x80; bits >>= 7) bytes_ += static_cast<char>(bits | 0x80);
    bytes_ += static_cast<char>(bits);
  }
  template <class T>
  requires(std::integral<T> || std::is_enum_v<T>) void add(T value) {
    add(static_cast<std::uint64_t>(value));
  }
  void add(double value) { add(std::bit_cast<std::uint64_t>(value)); }
  void add(const std::string& text) {
    add(text.size());
    bytes_ += text;
  }
  template <class T>
  void add(const std::vector<T>& values) {
    add(values.size());
    for (const T& value : values) add(value);
  }
  template <class T>
  void add(const std::optional<T>& value) {
    add(value.has_value());
    if (value) add(*value);
  }
  template <class... T>
  void add(const std::variant<T...>& value) {
    add(value.index());
    std::visit([this](const auto& alternative) { this->add(alternative); }, value);
  }
  /// An object is written where it is met first; after that, its number is.
  template <class T>
  void add(const std::shared_ptr<T>& object) {
    if (!object) return add(0);
    const auto [known, is_new] = numbers_.emplace(object.get(), numbers_.size() + 1);
    add(known->second);
    if (is_new) add(*object);
  }

  // ---- values and indices

  void add(const Type& type) {
    const auto& [scalar, lanes] = type;
    add_all(scalar, lanes);
  }
  void add(const Value& value) {
    const auto& [type, lane] = value;
    add(type);
    for (int l = 0; l < type.lanes; ++l) add(std::bit_cast<std::uint64_t>(lane[static_cast<std::size_t>(l)]));
  }
  void add(const ValueRange& range) {
    const auto& [least, most] = range;
    add_all(least, most);
  }
  void add(const Affine& form) { add_all(form.terms(), form.constant()); }
  void add(const Affine::Term& term) {
    const auto& [atom, factor] = term;
    add_all(atom, factor);
  }
  void add(const Coord& coord) {
    const auto& [dim] = coord;
    add(dim);
  }
  void add(const TapCoord& coord) {
    const auto& [loop, dim] = coord;
    add_all(loop, dim);
  }
  void add(const Size& size) {
    const auto& [image, dim, input] = size;
    add_all(image, dim, input);
  }
  void add(const FloorDiv& floor) {
    const auto& [numerator, divisor] = floor;
    add_all(numerator, divisor);
  }

  // ---- windows, boxes and borders

  void add(const Domain& domain) {
    const auto& [rank, points] = domain;
    add_all(rank, points);
  }
  void add(const Mask& mask) {
    const auto& [extents, type, coefficients] = mask;
    add_all(extents, type, coefficients);
  }
  void add(const Loop& loop) {
    const auto& [domain] = loop;
    add(domain);
  }
  void add(const Fold& fold) {
    const auto& [loop, initial, next] = fold;
    add_all(loop, initial, next);
  }
  void add(const Range& range) {
    const auto& [min, extent] = range;
    add_all(min, extent);
  }
  void add(const Border& border) {
    const auto& [mode, constant] = border;
    add_all(mode, constant);
  }

  // ---- expressions

  void add(const Node& node) {
    const auto& [type, op] = node;
    add_all(type, op);
  }
  void add(const Param& param) {
    const auto& [name, initial, range, where] = param;
    add_all(name, initial, range);
  }
  void add(const Const& node) {
    const auto& [value] = node;
    add(value);
  }
  void add(const Quantity& node) {
    const auto& [value] = node;
    add(value);
  }
  void add(const ParamRef& node) {
    const auto& [param] = node;
    add(param);
  }
  void add(const Unary& node) {
    const auto& [op, a] = node;
    add_all(op, a);
  }
  void add(const Binary& node) {
    const auto& [op, a, b] = node;
    add_all(op, a, b);
  }
  void add(const Select& node) {
    const auto& [condition, a, b] = node;
    add_all(condition, a, b);
  }
  void add(const Cast& node) {
    const auto& [mode, a] = node;
    add_all(mode, a);
  }
  void add(const Pack& node) {
    const auto& [lanes] = node;
    add(lanes);
  }
  void add(const Lane& node) {
    const auto& [a, lane] = node;
    add_all(a, lane);
  }
  void add(const Read& node) {
    const auto& [source, indices, border, region, where] = node;
    add_all(source, indices, border, region);
  }
  void add(const Coefficient& node) {
    const auto& [loop, mask] = node;
    add_all(loop, mask);
  }
  void add(const Accumulated& node) {
    const auto& [loop, accumulator] = node;
    add_all(loop, accumulator);
  }
  void add(const FoldResult& node) {
    const auto& [fold, accumulator] = node;
    add_all(fold, accumulator);
  }
  void add(const Median& node) {
    const auto& [loop, value] = node;
    add_all(loop, value);
  }
  void add(const Operand& node) {
    const auto& [side, component] = node;
    add_all(side, component);
  }
  void add(const StepNumber&) { static_assert(std::is_empty_v<StepNumber>); }

  // ---- stages

  void add(const Stage& stage) {
    const auto& [name, type, box, definition, where, need] = stage;
    add_all(name, type, box, definition, need);
  }
  void add(const Input&) { static_assert(std::is_empty_v<Input>); }
  void add(const Case& one) {
    const auto& [when, value] = one;
    add_all(when, value);
  }
  void add(const Pure& pure) {
    const auto& [cases] = pure;
    add(cases);
  }
  void add(const Operator& op) {
    const auto& [identity, combined, commutative] = op;
    add_all(identity, combined, commutative);
  }
  void add(const Reduce& reduce) {
    const auto& [over, element, op, result] = reduce;
    add_all(over, element, op, result);
  }
  void add(const Update& update) {
    const auto& [at, value] = update;
    add_all(at, value);
  }
  void add(const Scatter& scatter) {
    const auto& [over, initial, op, updates] = scatter;
    add_all(over, initial, op, updates);
  }
  void add(const Past& past) {
    const auto& [age] = past;
    add(age);
  }
  void add(const Evolving& field) {
    const auto& [initial, past, update] = field;
    add_all(initial, past, update);
  }
  void add(const Evolution& evolution) {
    const auto& [fields, steps] = evolution;
    add_all(fields, steps);
  }
  void add(const Evolve& evolve) {
    const auto& [evolution, field] = evolve;
    add_all(evolution, field);
  }
  void add(const Need& need) {
    const auto& [who, extents, least, where, remedy] = need;
    add_all(who, extents, least, remedy);
  }

  std::string bytes_;
  std::unordered_map<const void*, std::uint64_t> numbers_;  // of the objects that were met
};

}  // namespace

std::string contents_of(const Pipeline& pipeline) { return Contents().of(pipeline); }

}  // namespace weft::ir
