#include "kernel/share_places.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "kernel/build.h"
#include "kernel/value_ranges.h"
#include "kernel/visit.h"

namespace weft::kernel {

using ir::BinaryOp;

namespace {

/// An index as a sum: terms, in the order in which they are met, and how far it is from these.
struct Place {
  struct Term {
    Expr e;
    std::int64_t times;
  };
  std::vector<Term> terms;
  std::map<Symbol, std::int64_t> strides;
  std::int64_t constant = 0;

  void add(const Expr& e, std::int64_t times) {
    const auto known =
        std::find_if(terms.begin(), terms.end(), [&](const Term& term) { return same(term.e, e); });
    if (known == terms.end())
      terms.push_back({e, times});
    else
      known->times += times;
  }
  Expr near() const {
    Expr sum = literal(0);
    for (const Term& term : terms) sum = kernel::add(sum, mul(term.e, literal(term.times)));
    return sum;
  }
  Expr from_near() const {
    Expr sum = literal(0);
    for (const auto& [stride, times] : strides) sum = kernel::add(sum, mul(name(stride), literal(times)));
    return kernel::add(sum, literal(constant));
  }
};

bool have_the_same_terms(const Place& a, const Place& b) {
  return a.terms.size() == b.terms.size() &&
         std::all_of(a.terms.begin(), a.terms.end(), [&](const Place::Term& term) {
           return std::any_of(b.terms.begin(), b.terms.end(), [&](const Place::Term& other) {
             return term.times == other.times && same(term.e, other.e);
           });
         });
}

class PlaceSharing {
 public:
  PlaceSharing(const Module& module, Names& names) : names_(names) {
    for (const Array& array : module.arrays) {
      arrays_[array.name] = array.type.scalar;
      strides_.insert(array.strides.begin(), array.strides.end());
    }
  }

  void walk(Block& block) {
    const auto outer_ranges = ranges_.names;
    const auto outer_values = values_;
    groups_.clear();
    for (std::size_t s = 0; s < block.size(); ++s) {
      each_place(block[s], [&](const Symbol& array, const Expr& index) {
        note(array, index, s);
        return std::nullopt;
      });
      declare(block[s]);
    }
    ranges_.names = outer_ranges, values_ = outer_values;
    point_to_groups(block);
    for (Stmt& s : block) {
      declare(s);
      each_block(s, [&](Block& inside) { walk(inside); });
    }
    ranges_.names = outer_ranges, values_ = outer_values;
  }

 private:
  using Replaced = std::optional<std::pair<Symbol, Expr>>;

  /// Loads in a block, from places with the same terms.
  struct Group {
    Symbol array;
    Place place;
    std::size_t first;  ///< Statement.
    std::set<std::map<Symbol, std::int64_t>> strides;
    std::optional<Symbol> pointer = {};
  };

  /// The arrays and indices that a statement itself loads from, to be replaced by others.
  template <class Visitor>
  void each_place(Stmt& s, const Visitor& visitor) {
    if (auto* pack = std::get_if<LoadPack>(&s.op)) {
      if (const Replaced other = visitor(pack->array, pack->offset))
        pack->array = other->first, pack->offset = other->second;
      return;
    }
    each_operand(s, [&](Expr& e) {
      e = rewritten(e, [&](const Expr& part) -> Expr {
        const auto* loaded = std::get_if<Load>(&part->op);
        const Replaced other = loaded ? visitor(loaded->array, loaded->index) : std::nullopt;
        return other ? load(other->first, part->type, other->second) : nullptr;
      });
    });
  }

  void declare(const Stmt& s) {
    const auto* let = std::get_if<Let>(&s.op);
    if (!let) return;
    ranges_.declare(*let);
    if (let->is_mutable)
      changing_.insert(let->name);
    else if (!is_float(let->value->type))
      values_[let->name] = let->value;
  }

  void note(const Symbol& array, const Expr& index, std::size_t statement) {
    if (!arrays_.count(array)) return;
    const Place place = place_of(index);
    if (Group* group = find(array, place)) {
      group->strides.insert(place.strides);
    } else if (has_rows(place) && stays(place)) {
      groups_.push_back({array, place, statement, {place.strides}});
    }
  }

  /// Whether it takes more than an addition to get there.
  static bool has_rows(const Place& place) {
    return std::any_of(place.terms.begin(), place.terms.end(), [](const Place::Term& term) {
      const auto* n = std::get_if<Binary>(&term.e->op);
      return n && n->op == BinaryOp::Mul;
    });
  }
  /// Whether the terms are the same wherever they are read.
  bool stays(const Place& place) const {
    return std::none_of(place.terms.begin(), place.terms.end(), [&](const Place::Term& term) {
      return any_of(term.e, [&](const Node& node) {
        const auto* variable = std::get_if<Name>(&node.op);
        return std::holds_alternative<Load>(node.op) || (variable && changing_.count(variable->name));
      });
    });
  }

  Group* find(const Symbol& array, const Place& place) {
    const auto group = std::find_if(groups_.begin(), groups_.end(), [&](const Group& g) {
      return g.array == array && have_the_same_terms(g.place, place);
    });
    return group == groups_.end() ? nullptr : &*group;
  }

  void point_to_groups(Block& block) {
    std::erase_if(groups_, [](const Group& group) { return group.strides.size() < 2; });
    if (groups_.empty()) return;
    const auto outer_ranges = ranges_.names;
    const auto outer_values = values_;
    Block result;
    for (std::size_t s = 0; s < block.size(); ++s) {
      for (Group& group : groups_) {
        if (group.first != s) continue;
        group.pointer = names_.claim(group.array.spelling() + "_near");
        result.push_back({Pointer{*group.pointer, group.array, arrays_.at(group.array), group.place.near()}});
      }
      each_place(block[s], [&](const Symbol& array, const Expr& index) -> Replaced {
        if (!arrays_.count(array)) return std::nullopt;
        const Place place = place_of(index);
        const Group* group = find(array, place);
        if (!group) return std::nullopt;
        return std::pair{*group->pointer, place.from_near()};
      });
      declare(block[s]);
      result.push_back(std::move(block[s]));
    }
    block = std::move(result);
    ranges_.names = outer_ranges, values_ = outer_values;
  }

  // ---- indices as sums ----

  Place place_of(const Expr& index) const {
    Place place;
    decompose(index, 1, place);
    std::erase_if(place.terms, [](const Place::Term& term) { return term.times == 0; });
    std::erase_if(place.strides, [](const auto& stride) { return stride.second == 0; });
    return place;
  }

  void decompose(const Expr& e, std::int64_t times, Place& place) const {
    if (const auto constant = literal_value(e)) {
      place.constant += times * *constant;
      return;
    }
    if (const auto* variable = std::get_if<Name>(&e->op)) {
      if (strides_.count(variable->name)) {
        place.strides[variable->name] += times;
        return;
      }
      if (const Expr value = value_of(*variable);
          value && (is_sum_of_constant(value) || is_conversion(value)))
        return decompose(value, times, place);
    }
    if (const auto* n = std::get_if<Binary>(&e->op)) {
      if (n->op == BinaryOp::Add || n->op == BinaryOp::Sub) {
        decompose(n->a, times, place);
        return decompose(n->b, n->op == BinaryOp::Add ? times : -times, place);
      }
      if (n->op == BinaryOp::Mul) {
        if (const auto factor = literal_value(n->b)) return decompose(n->a, times * *factor, place);
        const auto* stride = std::get_if<Name>(&n->b->op);
        if (stride && strides_.count(stride->name)) return decompose_rows(n->a, n->b, times, place);
      }
    }
    if (is_conversion(e)) {
      if (const auto wide = widened(std::get<Cast>(e->op).a)) return decompose(*wide, times, place);
    }
    place.add(e, times);
  }

  /// A number of rows, or of planes.
  void decompose_rows(const Expr& rows, const Expr& stride, std::int64_t times, Place& place) const {
    Place of_rows;
    decompose(rows, 1, of_rows);
    for (const Place::Term& term : of_rows.terms) place.add(mul(term.e, stride), times * term.times);
    for (const auto& [other, factor] : of_rows.strides) place.add(mul(name(other), stride), times * factor);
    place.strides[std::get<Name>(stride->op).name] += times * of_rows.constant;
  }

  Expr value_of(const Name& variable) const {
    const auto value = values_.find(variable.name);
    return value == values_.end() ? nullptr : value->second;
  }

  static bool is_conversion(const Expr& e) {
    const auto* cast = std::get_if<Cast>(&e->op);
    return cast && cast->mode == ir::CastMode::Convert;
  }

  static bool is_sum_of_constant(const Expr& e) {
    const auto* n = std::get_if<Binary>(&e->op);
    const bool is_sum = n && (n->op == BinaryOp::Add || n->op == BinaryOp::Sub) && literal_value(n->b);
    return is_sum || std::holds_alternative<Name>(e->op);
  }

  /// A smaller integer as one of 64 bits, if it is a sum that cannot overflow, or has the value of one.
  std::optional<Expr> widened(const Expr& e) const {
    if (is_float(e->type) || e->type == Scalar::Bool || size_of(e->type) >= 8) return std::nullopt;
    const auto wide = [](const Expr& part) { return cast(ir::CastMode::Convert, Scalar::I64, part); };
    if (const auto* variable = std::get_if<Name>(&e->op)) {
      const Expr value = value_of(*variable);
      if (!value || value->type != e->type || !is_sum_of_constant(value)) return std::nullopt;
      if (std::holds_alternative<Name>(value->op)) return wide(value);
      return widened(value);
    }
    const auto* n = std::get_if<Binary>(&e->op);
    if (!n || !is_sum_of_constant(e)) return std::nullopt;
    const ValueRange exact = range_of_result(n->op, ranges_.of(n->a), ranges_.of(n->b));
    if (!exact.within(range_of(e->type))) return std::nullopt;
    const std::int64_t constant = *literal_value(n->b);
    return offset(wide(n->a), n->op == BinaryOp::Add ? constant : -constant);
  }

  Names& names_;
  std::map<Symbol, Scalar> arrays_;
  std::set<Symbol> strides_, changing_;
  std::map<Symbol, Expr> values_;  // of variables that do not change
  KnownRanges ranges_;
  std::vector<Group> groups_;  // of the block that is looked at
};

}  // namespace

void share_places(Function& function, const Module& module, Names names) {
  avoid_declared_in(function, names);
  PlaceSharing(module, names).walk(function.body);
}

}  // namespace weft::kernel
