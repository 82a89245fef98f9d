#include <fmt/format.h>
#include <weft/evolve.h>

#include <algorithm>
#include <optional>

#include "dsl/stage_parts.h"
#include "ir/build.h"
#include "ir/visit.h"

namespace weft {

/// The stages that stand for a field in its updates are made when they are first read.
struct AnyField::State {
  std::string name;
  std::shared_ptr<const ir::Stage> initial;
  Where where;
  int frozen = 0;
  std::vector<std::shared_ptr<const ir::Stage>> past;  // by age
};

namespace {

using State = AnyField::State;

/// A stage that stands for the field's past, as a thing to read.
class PastSource : public Source {
 public:
  explicit PastSource(std::shared_ptr<const ir::Stage> node) : Source(std::move(node)) {}
};

Accessor past(State& field, int age) {
  const auto at = static_cast<std::size_t>(age);
  if (field.past.size() <= at) field.past.resize(at + 1);
  if (!field.past[at]) {
    const std::string name =
        age == 1 ? field.name : fmt::format("{}[t{}]", field.name, age == 0 ? "" : fmt::format("-{}", age));
    field.past[at] = std::make_shared<const ir::Stage>(
        ir::Stage{name, field.initial->type, dsl::visible_box(field.initial), ir::Past{age}, field.where});
  }
  return PastSource(field.past[at]);
}

/// How far a window reaches below and above the current pixel.
struct Reach {
  std::int64_t low = 0, high = 0;
};

/// Of an index at a distance from the pixel's own coordinate that depends on taps alone; else nothing.
std::optional<Reach> reach_of(const ir::Affine& index, int dim) {
  const ir::Affine distance = index - dsl::coordinate(dim);
  Reach reach{-distance.constant(), distance.constant()};
  for (const auto& [atom, factor] : distance.terms()) {
    const auto* tap = std::get_if<ir::TapCoord>(&atom);
    if (!tap) return std::nullopt;
    const auto& points = tap->loop->domain.points;
    const auto [least, greatest] =
        std::minmax_element(points.begin(), points.end(),
                            [&](const auto& p, const auto& q) { return p[tap->dim] < q[tap->dim]; });
    const std::int64_t a = factor * (*least)[tap->dim], b = factor * (*greatest)[tap->dim];
    reach.low -= std::min(a, b);
    reach.high += std::max(a, b);
  }
  return reach;
}

/// What an update leaves of the field's box: its reads without a border stay inside, and the frozen pixels
/// are left alone. Reads of other places than a neighbourhood are analysis' business.
ir::Box box_of_update(const State& field, const ir::Stage& whole) {
  std::vector<Reach> frozen(whole.box.size(), Reach{field.frozen, field.frozen});
  for (const ir::Expr& e : ir::reads(whole)) {
    const auto& read = std::get<ir::Read>(e->op);
    if (read.border || !(read.source->box == whole.box)) continue;
    for (std::size_t d = 0; d < read.indices.size(); ++d) {
      const auto* index = std::get_if<ir::Affine>(&read.indices[d]);
      const auto reach = index ? reach_of(*index, static_cast<int>(d)) : std::nullopt;
      if (!reach) continue;
      frozen[d].low = std::max(frozen[d].low, reach->low);
      frozen[d].high = std::max(frozen[d].high, reach->high);
    }
  }
  ir::Box box = whole.box;
  for (std::size_t d = 0; d < box.size(); ++d) {
    box[d].min += frozen[d].low;
    box[d].extent += -frozen[d].low - frozen[d].high;
  }
  return box;
}

/// Throws for reads of a step's values before the update that computes them.
void check_order(const std::vector<FieldUpdate>& updates, std::size_t at, const ir::Stage& stage) {
  for (const ir::Expr& e : ir::reads(stage)) {
    const auto& read = std::get<ir::Read>(e->op);
    const auto* reads_past = std::get_if<ir::Past>(&read.source->definition);
    if (!reads_past) continue;
    std::size_t owner = 0;
    while (owner < updates.size() &&
           std::find(updates[owner].field->past.begin(), updates[owner].field->past.end(), read.source) ==
               updates[owner].field->past.end()) {
      ++owner;
    }
    const Where where = read.where.line > 0 ? read.where : stage.where;
    if (owner == updates.size()) {
      throw Error(fmt::format("update '{}' reads field '{}', which has no update in this evolve", stage.name,
                              read.source->name),
                  where)
          .help("add an update of it, or read the image that it starts as");
    }
    if (reads_past->age > 0 || owner < at) continue;
    const std::string& field = updates[owner].field->name;
    throw Error(fmt::format("update '{}' reads '{}' at the step that is being computed", stage.name, field),
                where)
        .note("known", owner == at
                           ? fmt::format("the pixels of '{}' in a step are computed in any order", field)
                           : fmt::format("'{}' is updated after '{}' in a step", field, stage.name))
        .help(fmt::format("read the step before: {0}(…) instead of {0}.now()(…)", field));
  }
}

/// The value as a pixel of the field. A stage would have the type of the value; a field keeps its own.
Expr stored(const Expr& value, const FieldUpdate& update) {
  const Type type = update.field->initial->type;
  const ir::Expr converted = dsl::converted(type, value.node());
  const bool lanes_fit = converted->type == type;
  if (lanes_fit && dsl::keeps_values(value.node(), type.scalar)) return Expr(converted);
  Error error(fmt::format("an update of field '{}' is {} but the field is {}", update.field->name,
                          name_of(value.type()), name_of(type)),
              update.where);
  if (!lanes_fit) throw error.help("give as many lanes as the field has: pack(a, b), or .lane(i)");
  throw error.help(dsl::how_to_fit(value.type().scalar, type.scalar));
}

/// The update as a stage over what it may compute.
std::shared_ptr<const ir::Stage> stage_of(const std::vector<FieldUpdate>& updates, std::size_t at) {
  const FieldUpdate& update = updates[at];
  const Cases given = update.body(dsl::coordinates(update.field->initial->rank()));
  Cases cases;
  for (const Cases::Case& c : given.list()) {
    const Expr value = stored(c.value, update);
    c.condition ? cases.when(*c.condition, value) : cases.otherwise(value);
  }
  const auto whole =
      dsl::define_stage(update.name, dsl::visible_box(update.field->initial), cases, update.where);
  check_order(updates, at, *whole);
  ir::Stage stage = *whole;
  stage.box = box_of_update(*update.field, *whole);
  return std::make_shared<const ir::Stage>(std::move(stage));
}

void check_steps(const Expr& steps, const Where& where) {
  const ir::Expr& node = steps.node();
  const bool known =
      std::holds_alternative<ir::Const>(node->op) || std::holds_alternative<ir::ParamRef>(node->op);
  if (known && is_integer(node->type.scalar) && node->type.lanes == 1) return;
  throw Error("the number of steps has to be an integer constant or parameter", where)
      .help("Param<int> steps(\"steps\", 1)");
}

void check_fields(const std::vector<FieldUpdate>& updates, const Where& where) {
  if (updates.empty())
    throw Error("evolve is given no updates", where).help("evolve(steps, {update(\"out\", u, …)})");
  for (std::size_t i = 0; i < updates.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (updates[i].field != updates[j].field) continue;
      throw Error(fmt::format("field '{}' is updated twice in a step, by '{}' and '{}'",
                              updates[i].field->name, updates[j].name, updates[i].name),
                  updates[i].where)
          .help("make one update of both, with cases()");
    }
  }
}

}  // namespace

std::vector<Stage> evolve(const Expr& steps, const std::vector<FieldUpdate>& updates,
                          std::source_location here) {
  check_fields(updates, here);
  check_steps(steps, here);
  auto evolution = std::make_shared<ir::Evolution>();
  evolution->steps = steps.node();
  for (std::size_t i = 0; i < updates.size(); ++i) {
    dsl::placed(updates[i].name, updates[i].where, [&] {
      evolution->fields.push_back({updates[i].field->initial, {}, stage_of(updates, i)});
      return Stage();
    });
  }
  std::vector<Stage> result;
  for (std::size_t i = 0; i < updates.size(); ++i) {
    const State& field = *updates[i].field;
    evolution->fields[i].past = field.past;  // complete only after the bodies of all updates
    result.emplace_back(std::make_shared<const ir::Stage>(
        ir::Stage{updates[i].name, field.initial->type, dsl::visible_box(field.initial),
                  ir::Evolve{evolution, static_cast<int>(i)}, updates[i].where}));
  }
  return result;
}

AnyField::AnyField(const std::string& name, const Source& initial, Type type, const Where& where)
    : state_(std::make_shared<State>(State{name, initial.node(), where, 0, {}})) {
  if (initial.type() == type) return;
  throw Error(fmt::format("field '{}' is {} but starts as '{}', which is {}", name, name_of(type),
                          initial.name(), name_of(initial.type())),
              where)
      .help(fmt::format("start from point(\"start\", …) of the same type, or make it a Field of {} pixels",
                        name_of(initial.type())));
}

Accessor AnyField::back(int steps, std::source_location here) const {
  if (steps > 0) return past(*state_, steps);
  throw Error(fmt::format("field '{}' is read {} steps back", name(), steps), here)
      .note("needs", "at least 1")
      .help("back(1) is the step before; what an earlier update of the same step has made of it is now()");
}
Accessor AnyField::now() const { return past(*state_, 0); }
void AnyField::freeze(int width) const { state_->frozen = std::max(state_->frozen, width); }
const std::string& AnyField::name() const { return state_->name; }
Extents AnyField::size() const { return PastSource(state_->initial).size(); }

Expr step_number() { return Expr(ir::step_number()); }

}  // namespace weft
