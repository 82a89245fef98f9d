#include "fuzz/build.h"

#include <weft/application.h>
#include <weft/evolve.h>
#include <weft/pyramid.h>
#include <weft/resample.h>

#include <map>
#include <memory>

#include "fuzz/operators.h"
#include "ir/affine.h"
#include "ir/build.h"

namespace weft::fuzz {
namespace {

/// An image of a type that is known when the program runs.
class TypedImage : public AnyImage {
 public:
  TypedImage(const std::string& name, Type type, int rank) : AnyImage(name.c_str(), type, rank, Where()) {}
  TypedImage(const std::string& name, Type type, const Extents& extents)
      : AnyImage(name.c_str(), type, extents, Where()) {}
};

Mask mask_of(const Window& w) {
  std::vector<Mask::Coefficient> coefficients;
  for (const double c : w.coefficients) {
    if (w.scalar == Scalar::F32)
      coefficients.emplace_back(static_cast<float>(c));
    else if (w.scalar == Scalar::F64)
      coefficients.emplace_back(c);
    else
      coefficients.emplace_back(static_cast<int>(c));
  }
  return {w.width, w.height, coefficients};
}

/// The language takes lists as they stand in a program.
Domain domain_of(const std::vector<std::array<int, 2>>& p) {
  const auto at = [&](std::size_t i) { return std::vector<int>{p.at(i)[0], p[i][1]}; };
  switch (p.size()) {
    case 1: return Domain{at(0)};
    case 2: return Domain{at(0), at(1)};
    case 3: return Domain{at(0), at(1), at(2)};
    default: return Domain{at(0), at(1), at(2), at(3)};
  }
}

Domain domain_of(const Window& w) {
  if (!w.listed.empty()) return domain_of(w.listed);
  if (!w.coefficients.empty()) return Domain(mask_of(w));
  return w.depth > 0 ? Domain(w.width, w.height, w.depth) : Domain(w.width, w.height);
}

/// A field of a type that is known when the program runs.
class TypedField : public AnyField {
 public:
  TypedField(const std::string& name, const Source& initial)
      : AnyField(name, initial, initial.type(), Where()) {}
};

weft::Reduce reduction(const Stage& stage, Type element) {
  using Kind = weft::Reduce::Kind;
  switch (stage.reduce) {
    case Kind::Sum: return weft::Reduce::sum();
    case Kind::Product: return weft::Reduce::product();
    case Kind::Min: return weft::Reduce::min();
    case Kind::Max: return weft::Reduce::max();
    case Kind::ArgMin: return weft::Reduce::arg_min();
    case Kind::ArgMax: return weft::Reduce::arg_max();
    case Kind::Custom: break;
  }
  const AssociativeOperator& op = operator_of(stage.associative);
  std::vector<Expr> identity;
  for (int lane = 0; lane < element.lanes; ++lane)
    identity.emplace_back(ir::constant(ir::Value::integer(element.lane(), op.identity(lane))));
  weft::Reduce result(op.combine);
  result.identity(element.lanes == 1 ? identity[0] : pack(identity));
  return op.commutes ? result.commutative() : result;
}

/// Builds the images, parameters and stages, one after the other.
class Builder {
 public:
  explicit Builder(Recipe& recipe) : recipe_(recipe) {}

  Outputs outputs() {
    const std::vector<bool> needed = needed_sources(recipe_);
    for (int s = 0; s < static_cast<int>(needed.size()); ++s) {
      sources_.emplace_back();
      if (needed[s]) sources_.back() = std::make_unique<Source>(source(s));
      if (s + 1 == recipe_.first_stage()) declare_params();
    }
    std::vector<weft::Stage> outputs;
    for (int o : recipe_.outputs) outputs.emplace_back(sources_.at(recipe_.first_stage() + o)->node());
    return Outputs(outputs).strict(recipe_.strict);
  }

 private:
  /// What names stand for inside a stage.
  struct Scope {
    std::vector<Var> coordinates;
    std::map<int, Tap> taps;  // by loop
    std::map<int, std::unique_ptr<Accumulator>> accumulators;
    std::map<int, Expr> given;
  };

  // ---- sources ----

  Source source(int s) {
    if (!recipe_.is_image(s)) return stage(s - recipe_.first_stage());
    const Image& image = recipe_.images[s];
    const std::string name = image_name(s);
    if (image.extents.empty()) return TypedImage(name, image.type, image.rank);
    std::vector<weft::Index> extents;
    for (const Size& size : image.extents) extents.push_back(index(size));
    return TypedImage(name, image.type, Extents(extents));
  }

  void declare_params() {
    for (int p = 0; p < static_cast<int>(recipe_.params.size()); ++p) {
      const Parameter& param = recipe_.params[p];
      params_.push_back(
          detail::declare_param(parameter_name(p).c_str(), {param.scalar, 1}, param.initial, {}, Where()));
    }
  }

  weft::Stage stage(int s) {
    Stage& stage = recipe_.stages[s];
    const weft::Stage result = stage.kind == Stage::Kind::Evolve ? evolved(s) : defined(s, stage);
    stage.type = result.type();
    return result;
  }

  weft::Stage defined(int s, Stage& stage) {
    const std::string name = stage_name(s);
    Scope scope;
    if (stage.kind == Stage::Kind::Point) return point(name, value(stage.cases.at(0).value, scope));
    if (stage.kind == Stage::Kind::Body) {
      return detail::make_stage(
          name, box(stage.box),
          [&](const std::vector<Var>& coordinates) {
            scope.coordinates = coordinates;
            return cases(stage, scope);
          },
          Where());
    }
    if (stage.kind == Stage::Kind::Reduce) return reduced(name, stage, scope);
    if (stage.kind == Stage::Kind::Scatter) return scattered(name, stage, scope);
    if (stage.kind == Stage::Kind::Pyramid) return collapsed(name, stage, scope);
    const Accessor read = accessor(stage.access, scope);
    Post post;
    if (!stage.post.empty()) {
      post = [&](const Expr& e) {
        scope.given.emplace(0, e);
        stage.window_type = e.type();
        return value(stage.post[0], scope);
      };
    }
    const weft::Stage result = stage.kind == Stage::Kind::Convolve
                                   ? convolve(name, read, mask_of(stage.window), post)
                               : stage.kind == Stage::Kind::Resize
                                   ? resize(name, read, box(stage.box).extents, stage.interpolation, post)
                                   : local(name, read, domain_of(stage.window), stage.local, post);
    if (!post) stage.window_type = result.type();
    return result;
  }

  weft::Stage reduced(const std::string& name, Stage& stage, Scope& scope) {
    Term& element = stage.cases.at(0).value;
    if (stage.over.empty()) {
      const Expr pixel = value(element, scope);
      return reduce(name, pixel, reduction(stage, pixel.type()));
    }
    const auto body = [&](const std::vector<Var>& coordinates) {
      scope.coordinates = coordinates;
      return cases(stage, scope);
    };
    return detail::make_reduce(name, box(stage.over), body, reduction(stage, element.type), Where());
  }

  weft::Stage collapsed(const std::string& name, const Stage& stage, Scope& scope) {
    Access access = stage.access;
    const Border border = border_of(access, scope);
    const weft::Pyramid levels(name + "_g", *sources_.at(access.source), stage.levels,
                               binomial_reduce(border));
    return point(name, levels.collapse(name + "_out", expand_and_add(border)));
  }

  weft::Stage scattered(const std::string& name, Stage& stage, Scope& scope) {
    const auto body = [&](const std::vector<Var>& coordinates) -> ScatterUpdates {
      scope.coordinates = coordinates;
      const std::vector<Expr> at = values(stage.at, scope);
      return {{stage.update, at, value(stage.cases.at(0).value, scope)}};
    };
    return detail::make_scatter(name, box(stage.box).extents, value(stage.initial, scope),
                                *sources_.at(stage.access.source), body, Where());
  }

  /// The stage of a field. The first one makes those of all fields that are needed.
  weft::Stage evolved(int s) {
    const Stage& stage = recipe_.stages[s];
    const int first = s - stage.field;
    if (!evolved_.count(s)) {
      const std::vector<bool> needed = needed_sources(recipe_);
      std::vector<int> fields;
      for (int f = first; f < first + stage.fields; ++f) {
        if (needed[recipe_.first_stage() + f]) fields.push_back(f);
      }
      evolve(fields);
    }
    return evolved_.at(s);
  }

  void evolve(const std::vector<int>& fields) {
    std::vector<FieldUpdate> updates;
    for (int f : fields) {
      const Stage& stage = recipe_.stages[f];
      fields_.emplace(recipe_.first_stage() + f,
                      TypedField(field_name(f), *sources_.at(stage.access.source)));
      if (stage.frozen > 0) fields_.at(recipe_.first_stage() + f).freeze(stage.frozen);
    }
    for (int f : fields) {
      const auto body = [this, f](const std::vector<Var>& coordinates) {
        Scope scope;
        scope.coordinates = coordinates;
        return cases(recipe_.stages[f], scope);
      };
      updates.push_back({stage_name(f), fields_.at(recipe_.first_stage() + f).state(), body, Where()});
    }
    Scope none;
    const Expr steps = value(recipe_.stages[fields.at(0)].steps.at(0), none);
    const std::vector<weft::Stage> stages = weft::evolve(steps, updates);
    for (std::size_t i = 0; i < fields.size(); ++i) evolved_.emplace(fields[i], stages[i]);
    fields_.clear();
  }

  Cases cases(Stage& stage, Scope& scope) {
    Cases all;
    for (Case& c : stage.cases) {
      if (c.when.empty()) {
        all.otherwise(value(c.value, scope));
      } else {
        const Expr when = value(c.when[0], scope);
        all.when(when, value(c.value, scope));
      }
    }
    return all;
  }

  // ---- sizes and indices ----

  weft::Index index(const Size& size) const {
    if (size.image < 0) return size.offset;
    return (sources_.at(size.image)->size()[size.dim] * size.scale + size.inner) / size.divisor + size.offset;
  }

  BoxAt box(const Box& box) const {
    std::vector<weft::Index> min, extents;
    for (const Range& range : box) min.push_back(index(range.min)), extents.push_back(index(range.extent));
    return {min, Extents(extents)};
  }

  weft::Index index(const Index& i, const Scope& scope) const {
    weft::Index sum = 0;  // in the order in which it is printed
    if (i.coordinate >= 0) sum = scope.coordinates.at(i.coordinate) * i.scale;
    if (i.other >= 0) sum = sum + scope.coordinates.at(i.other);
    if (i.loop >= 0) sum = sum + scope.taps.at(i.loop)[i.tap] * i.tap_scale;
    sum = sum + index(i.offset);
    if (i.divisor > 1) sum = sum / i.divisor;
    return i.modulo > 0 ? sum % i.modulo : sum;
  }

  At at(Index& i, Scope& scope) {
    if (!i.computed.empty()) return value(i.computed[0], scope);
    return index(i, scope);
  }

  // ---- values ----

  Accessor whole(const Access& access) const {
    if (access.age < 0) return *sources_.at(access.source);
    const AnyField& field = fields_.at(access.source);
    return access.age == 0 ? field.now() : field.back(access.age);
  }

  Border border_of(Access& access, Scope& scope) {
    if (access.border == Border::Mode::Constant) return Border::constant(value(access.constant.at(0), scope));
    return Border::named(border_name(access.border.value()));
  }

  Accessor accessor(Access& access, Scope& scope) {
    Accessor result = whole(access);
    if (!access.crop.empty()) {
      const BoxAt crop = box(access.crop);
      result = result.source().crop(crop.min, crop.extents);
    }
    if (access.border) result = result.border(border_of(access, scope));
    return access.valid ? result.valid() : result;
  }

  Expr read(Access& access, Scope& scope) {
    const Accessor from = accessor(access, scope);
    std::vector<At> i;
    for (Index& one : access.indices) i.push_back(at(one, scope));
    switch (i.size()) {
      case 0: return from;
      case 1: return from(i[0]);
      case 2: return from(i[0], i[1]);
      case 3: return from(i[0], i[1], i[2]);
      default: return from(i.at(0), i.at(1), i.at(2), i.at(3));
    }
  }

  std::vector<Expr> values(std::vector<Term>& terms, Scope& scope) {
    std::vector<Expr> all;
    for (Term& t : terms) all.push_back(value(t, scope));
    return all;
  }

  Expr value(Term& t, Scope& scope) {
    const Expr result = computed(t, scope);
    t.type = result.type();
    return result;
  }

  Expr computed(Term& t, Scope& scope) {
    using Kind = Term::Kind;
    switch (t.kind) {
      case Kind::Literal: return Expr(ir::constant(t.literal));
      case Kind::Position: return index(t.position, scope);
      case Kind::Parameter: return params_.at(t.id);
      case Kind::Operator: return operator_of(t.op).apply(values(t.operands, scope));
      case Kind::Cast: return cast(t.type.lane(), value(t.operands.at(0), scope));
      case Kind::Saturate: return saturate(t.type.lane(), value(t.operands.at(0), scope));
      case Kind::Pack: return pack(values(t.operands, scope));
      case Kind::Lane: return value(t.operands.at(0), scope).lane(t.id);
      case Kind::Read: return read(t.access, scope);
      case Kind::Window: return window(t, scope);
      case Kind::Coefficient: return mask_of(t.window)(scope.taps.at(t.id));
      case Kind::Fold: return fold(t, scope);
      case Kind::Accumulator: return *scope.accumulators.at(t.id);
      case Kind::Given: return scope.given.at(0);
      case Kind::StepNumber: return step_number();
      case Kind::Interpolated: return interpolated(t, scope);
    }
    throw InternalError("a recipe has an unknown kind of term");
  }

  Expr interpolated(Term& t, Scope& scope) {
    const Interpolated read = accessor(t.access, scope).interpolate(t.interpolation);
    const std::vector<Expr> at = values(t.operands, scope);
    if (at.size() == 1) return read(at[0]);
    return at.size() == 2 ? read(at[0], at[1]) : read(at.at(0), at.at(1), at.at(2));
  }

  Expr window(Term& t, Scope& scope) {
    return combined(t.combine, domain_of(t.window), [&](Tap tap) {
      scope.taps.insert_or_assign(t.id, tap);
      const Expr result = value(t.operands.at(0), scope);
      scope.taps.erase(t.id);
      return result;
    });
  }

  Expr fold(Term& t, Scope& scope) {
    const int count = accumulators_of(t);
    for (int a = 0; a < count; ++a) {
      const Expr initial = value(t.operands.at(a), scope);
      scope.accumulators[accumulator_of(t.id, a)] =
          std::make_unique<Accumulator>(t.operands[a].type, initial);
    }
    for_each(domain_of(t.window), [&](Tap tap) {
      scope.taps.insert_or_assign(t.id, tap);
      for (int a = 0; a < count; ++a) {
        scope.accumulators.at(accumulator_of(t.id, a))->assign(value(t.operands.at(count + a), scope));
      }
      scope.taps.erase(t.id);
    });
    const Expr result = value(t.operands.at(2 * count), scope);
    for (int a = 0; a < count; ++a) scope.accumulators.erase(accumulator_of(t.id, a));
    return result;
  }

  Recipe& recipe_;
  std::vector<std::unique_ptr<Source>> sources_;
  std::vector<Expr> params_;
  std::map<int, TypedField> fields_;    // of the evolution that is being built, by source
  std::map<int, weft::Stage> evolved_;  // by stage
};

}  // namespace

Pipeline build(Recipe& recipe) {
  const Application application{pipeline_name(recipe), {}, [&] { return Builder(recipe).outputs(); }, ""};
  return weft::build(application).pipeline;
}

Type type_of_reduction(const Stage& stage, Type element, int rank) {
  return reduce("sample", Expr(TypedImage("in", element, rank)), reduction(stage, element)).type();
}

}  // namespace weft::fuzz
