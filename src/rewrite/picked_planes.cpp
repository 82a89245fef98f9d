#include "rewrite/picked_planes.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "analysis/shared_values.h"
#include "ir/build.h"
#include "rewrite/rewrite_stages.h"

namespace weft::rewrite {

using ir::Expr;

namespace {

// Gathering 16 floats takes about as long as loading them from 8 planes and choosing.
constexpr std::int64_t most_planes = 8;

bool is_widened(const ir::Cast& cast, Type to) {
  const Scalar from = cast.a->type.scalar;
  return cast.mode == ir::CastMode::Convert && is_integer(from) && is_signed(from) && is_integer(to.scalar) &&
         size_of(from) < size_of(to.scalar);
}

/// The dimension of the one computed index of a read, if its planes are few and lie in rows.
std::optional<std::size_t> computed_dim(const ir::Read& read) {
  if (!read.border || read.border->mode != ir::BorderMode::Clamp) return std::nullopt;
  std::optional<std::size_t> computed;
  for (std::size_t d = 0; d < read.indices.size(); ++d) {
    const auto* affine = std::get_if<ir::Affine>(&read.indices[d]);
    if (affine ? ir::mentions_coord(*affine, 0) != (d == 0) : d == 0 || computed) return std::nullopt;
    if (!affine) computed = d;
  }
  return computed;
}

/// The values of a stage's expressions at each plane.
class Picker {
 public:
  Expr rule(const Expr& e) {
    std::optional<Planes> planes;
    if (const auto* read = std::get_if<ir::Read>(&e->op))
      planes = planes_of(*read);
    else if (const auto* binary = std::get_if<ir::Binary>(&e->op))
      planes = planes_of(*binary);
    if (!planes) return nullptr;
    const Expr choice = choice_of(*planes);
    planes_[choice.get()] = *std::move(planes);
    kept_.push_back(choice);
    return choice;
  }

 private:
  struct Planes {
    Expr index;
    std::int64_t first;
    std::vector<Expr> values;
  };

  std::optional<Planes> planes_of(const ir::Read& read) {
    const std::optional<std::size_t> dim = computed_dim(read);
    if (!dim) return std::nullopt;
    const ir::Range& range = read.region[*dim];
    if (!range.min.is_constant() || !range.extent.is_constant()) return std::nullopt;
    // Of one plane, no choice would be left, and nobody who reads what the index is computed from.
    if (range.extent.constant() < 2 || range.extent.constant() > most_planes) return std::nullopt;
    Planes planes{std::get<Expr>(read.indices[*dim]), range.min.constant(), {}};
    const auto* cast = std::get_if<ir::Cast>(&planes.index->op);
    if (cast && is_widened(*cast, planes.index->type)) planes.index = cast->a;
    for (std::int64_t at = 0; at < range.extent.constant(); ++at) {
      ir::Read of_plane = read;
      of_plane.indices[*dim] = ir::Affine(planes.first + at);
      planes.values.push_back(known(ir::read(std::move(of_plane))));
    }
    return planes;
  }

  /// Of two choices of the same planes, perhaps times a constant each.
  std::optional<Planes> planes_of(const ir::Binary& binary) {
    const auto a = scaled(binary.a), b = scaled(binary.b);
    if (!a || !b || a->first != b->first || a->values.size() != b->values.size() ||
        !analysis::surely_same(a->index, b->index))
      return std::nullopt;
    return combined(*a, [&](std::size_t p) { return ir::binary(binary.op, a->values[p], b->values[p]); });
  }

  std::optional<Planes> scaled(const Expr& e) {
    if (const auto found = planes_.find(e.get()); found != planes_.end()) return found->second;
    const auto* binary = std::get_if<ir::Binary>(&e->op);
    if (!binary) return std::nullopt;
    const auto a = planes_.find(binary->a.get()), b = planes_.find(binary->b.get());
    const bool is_a = a != planes_.end() && std::holds_alternative<ir::Const>(binary->b->op),
               is_b = b != planes_.end() && std::holds_alternative<ir::Const>(binary->a->op);
    if (!is_a && !is_b) return std::nullopt;
    const Planes& planes = is_a ? a->second : b->second;
    return combined(planes, [&](std::size_t p) {
      return ir::binary(binary->op, is_a ? planes.values[p] : binary->a, is_a ? binary->b : planes.values[p]);
    });
  }

  Planes combined(const Planes& like, const auto& value_of) {
    Planes planes{like.index, like.first, {}};
    for (std::size_t p = 0; p < like.values.size(); ++p) planes.values.push_back(known(value_of(p)));
    return planes;
  }

  /// The same value from before, if there is one.
  Expr known(Expr value) {
    const auto found = std::find_if(values_.begin(), values_.end(),
                                    [&](const Expr& before) { return analysis::surely_same(before, value); });
    return found != values_.end() ? *found : values_.emplace_back(std::move(value));
  }

  static Expr choice_of(const Planes& planes) {
    Expr value = planes.values.back();
    for (std::size_t p = planes.values.size() - 1; p-- > 0;) {
      const auto at = static_cast<double>(planes.first + static_cast<std::int64_t>(p));
      const Expr is_here = ir::binary(ir::BinaryOp::Le, planes.index, ir::constant(planes.index->type, at));
      value = ir::select(is_here, planes.values[p], value);
    }
    return value;
  }

  std::unordered_map<const ir::Node*, Planes> planes_;  ///< Of choices.
  std::vector<Expr> kept_, values_;
};

}  // namespace

ir::Pipeline picked_planes(const ir::Pipeline& pipeline) {
  return rewrite_stages(pipeline, [](const ir::Stage& stage) -> Rule {
    if (!std::holds_alternative<ir::Pure>(stage.definition)) return [](const Expr&) { return nullptr; };
    return [picker = std::make_shared<Picker>()](const Expr& e) { return picker->rule(e); };
  });
}

}  // namespace weft::rewrite
