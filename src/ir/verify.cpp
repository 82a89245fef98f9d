#include "ir/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "ir/visit.h"

namespace weft::ir {
namespace {

class StageVerifier {
 public:
  using Updates = std::unordered_set<const Stage*>;

  StageVerifier(const Stage& stage, const std::string& after, bool is_update, Updates& known_updates)
      : stage_(stage), after_(after), is_update_(is_update), known_updates_(known_updates) {}

  void verify() {
    std::visit([&](const auto& definition) { verify(definition); }, stage_.definition);
  }

 private:
  void require(bool condition, const std::string& what) const {
    if (!condition) throw InternalError(fmt::format("after {}: stage '{}': {}", after_, stage_.name, what));
  }

  void verify(const Input&) const {}
  void verify(const Past&) const {}
  void verify(const Pure& pure) {
    require(!pure.cases.empty(), "it has no case");
    for (const Case& c : pure.cases) {
      if (c.when) check_of_type(c.when, Type{Scalar::Bool, 1}, "a case's condition");
      check_of_type(c.value, stage_.type, "a case");
    }
  }
  void verify(const Reduce& reduce) {
    require(stage_.rank() == 0, "a reduction has dimensions");
    const std::size_t components = reduce.op.identity.size();
    require(components > 0 && reduce.element.size() == components && reduce.op.combined.size() == components,
            "the states of a reduction differ in their components");
    for (const Expr& e : reduce.op.identity) state_.push_back(e->type);
    for (std::size_t i = 0; i < components; ++i) {
      check_of_type(reduce.element[i], state_[i], "an element");
      check_constant(reduce.op.identity[i], "an identity");
      require(reads_in(reduce.op.combined[i]) == 0, "an operator reads an image");
      check_of_type(reduce.op.combined[i], state_[i], "a combined component");
    }
    require(reads_in(reduce.result) == 0, "the result of a reduction reads an image");
    check_of_type(reduce.result, stage_.type, "the result");
  }
  void verify(const Scatter& scatter) {
    using enum BinaryOp;
    require(scatter.op == Add || scatter.op == Mul || scatter.op == Min || scatter.op == Max ||
                scatter.op == And || scatter.op == Or || scatter.op == Xor,
            "the order of its updates matters");
    check_constant(scatter.initial, "the initial value");
    require(scatter.initial->type == stage_.type, "the initial value's type");
    require(!scatter.updates.empty(), "it has no update");
    for (const Update& update : scatter.updates) {
      require(static_cast<int>(update.at.size()) == stage_.rank(), "an update has another rank");
      for (const Expr& at : update.at) check_of_type(at, Type{Scalar::I64, 1}, "the place of an update");
      check_of_type(update.value, stage_.type, "an update");
    }
  }
  void verify(const Evolve& evolve) {
    const Evolution& evolution = *evolve.evolution;
    require(evolve.field >= 0 && evolve.field < static_cast<int>(evolution.fields.size()), "a field");
    check_constant(evolution.steps, "the number of steps");
    require(is_integer(evolution.steps->type.scalar), "the number of steps is no integer");
    const Evolving& own = evolution.fields[evolve.field];
    require(own.initial->box == stage_.box && own.initial->type == stage_.type, "its initial value's shape");
    for (const Evolving& field : evolution.fields) {
      require(std::holds_alternative<Pure>(field.update->definition), "an update that is no pure stage");
      require(field.update->type == field.initial->type && field.update->rank() == field.initial->rank(),
              "an update has another shape than its field");
    }
    for (std::size_t f = 0; f < evolution.fields.size(); ++f) verify_update(evolution, f);
  }
  void verify_update(const Evolution& evolution, std::size_t of) {
    for (const Expr& e : reads(*evolution.fields[of].update)) {
      const StagePtr& source = std::get<Read>(e->op).source;
      const auto* past = std::get_if<Past>(&source->definition);
      if (!past) continue;
      const int field = field_of(source.get(), evolution);
      require(field >= 0, "an update reads a field of another evolution");
      require(past->age > 0 || field < static_cast<int>(of), "an update reads what is not yet computed");
    }
    if (!known_updates_.insert(evolution.fields[of].update.get()).second) return;
    StageVerifier(*evolution.fields[of].update, after_, true, known_updates_).verify();
  }

  static std::size_t reads_in(const Expr& root) {
    std::size_t count = 0;
    visit(root, [&](const Expr& e) { count += std::holds_alternative<Read>(e->op); });
    return count;
  }
  void check_constant(const Expr& root, const std::string& what) {
    visit(root, [&](const Expr& e) {
      const bool varies = std::holds_alternative<Read>(e->op) || std::holds_alternative<Quantity>(e->op) ||
                          std::holds_alternative<Operand>(e->op) || std::holds_alternative<StepNumber>(e->op);
      require(!varies, what + " is not made of constants and parameters");
    });
    check(root);
  }
  void check_of_type(const Expr& e, Type type, const std::string& what) {
    require(e->type == type, what + " has type " + name_of(e->type));
    check(e);
  }

  void check(const Affine& a) const {
    a.mentions([&](const Atom& atom) {
      if (const auto* coord = std::get_if<Coord>(&atom))
        require(coord->dim < static_cast<int>(stage_.domain().size()), "a coordinate beyond its rank");
      if (const auto* tap = std::get_if<TapCoord>(&atom)) {
        require(open_loops_.count(tap->loop.get()) > 0, "a tap outside its loop");
        require(tap->dim < tap->loop->domain.rank, "a tap's coordinate beyond its domain's rank");
      }
      return false;
    });
  }

  void check_accumulator(const Fold& fold, int accumulator, Type type) const {
    const int count = static_cast<int>(fold.initial.size());
    require(accumulator >= 0 && accumulator < count,
            fmt::format("accumulator {} of a fold of {}", accumulator, count));
    require(fold.initial[accumulator]->type == type, "an accumulator's type");
  }

  void check_in_loop(const Loop* loop, const Fold* fold, const std::vector<Expr>& body) {
    require(!loop->domain.points.empty(), "a loop over no points");
    open_loops_[loop] = fold;
    const auto outside = std::exchange(seen_, {});  // what is valid inside the loop need not be outside
    for (const Expr& e : body) check(e);
    open_loops_.erase(loop);
    seen_ = outside;
  }

  void check(const Expr& e) {
    if (!seen_.insert(e.get()).second) return;
    std::visit(overloaded{
                   [&](const Const& n) { require(n.value.type == e->type, "a constant's type"); },
                   [&](const Quantity& n) { check(n.value); },
                   [&](const Accumulated& n) {
                     const auto open = open_loops_.find(n.loop.get());
                     require(open != open_loops_.end() && open->second, "an accumulator outside its loop");
                     check_accumulator(*open->second, n.accumulator, e->type);
                   },
                   [&](const Coefficient& n) {
                     require(open_loops_.count(n.loop.get()) > 0, "a coefficient outside its loop");
                   },
                   [&](const FoldResult& n) {
                     require(n.fold->initial.size() == n.fold->next.size(), "a fold's accumulators");
                     for (std::size_t i = 0; i < n.fold->next.size(); ++i) {
                       require(n.fold->next[i]->type == n.fold->initial[i]->type,
                               "an accumulator changes its type");
                     }
                     check_accumulator(*n.fold, n.accumulator, e->type);
                     for (const Expr& initial : n.fold->initial) check(initial);
                     check_in_loop(n.fold->loop.get(), n.fold.get(), n.fold->next);
                   },
                   [&](const Median& n) { check_in_loop(n.loop.get(), nullptr, {n.value}); },
                   [&](const Operand& n) {
                     const bool known = n.component >= 0 && n.component < static_cast<int>(state_.size());
                     require(known && e->type == state_[n.component], "an operand outside an operator");
                   },
                   [&](const StepNumber&) { require(is_update_, "a step number outside an evolution"); },
                   [&](const auto& n) {
                     check_types(*e, n);
                     for (const Expr& operand : operands(*e)) check(operand);
                   },
               },
               e->op);
  }

  void check_types(const Node&, const ParamRef&) const {}
  void check_types(const Node& node, const Unary& n) const {
    require(n.a->type == node.type, name_of(n.op) + " changes the type");
  }
  void check_types(const Node& node, const Binary& n) const {
    require(n.a->type == n.b->type,
            name_of(n.op) + " of " + name_of(n.a->type) + " and " + name_of(n.b->type));
    const Type result = is_comparison(n.op) ? Type{Scalar::Bool, n.a->type.lanes} : n.a->type;
    require(node.type == result, name_of(n.op) + " gives " + name_of(node.type));
  }
  void check_types(const Node& node, const Select& n) const {
    require(n.condition->type.scalar == Scalar::Bool, "a select's condition is not a bool");
    require(n.condition->type.lanes == 1 || n.condition->type.lanes == node.type.lanes, "a select's lanes");
    require(n.a->type == node.type && n.b->type == node.type, "the sides of a select differ");
  }
  void check_types(const Node& node, const Cast& n) const {
    require(n.a->type.lanes == node.type.lanes, "a cast changes lanes");
  }
  void check_types(const Node& node, const Pack& n) const {
    require(static_cast<int>(n.lanes.size()) == node.type.lanes, "a pack's lanes");
    for (const Expr& lane : n.lanes) require(lane->type == node.type.lane(), "a packed lane's type");
  }
  void check_types(const Node& node, const Lane& n) const {
    require(n.lane >= 0 && n.lane < n.a->type.lanes && node.type == n.a->type.lane(), "a lane");
  }
  void check_types(const Node& node, const Read& n) const {
    require(static_cast<int>(n.indices.size()) == n.source->rank(),
            "a read of '" + n.source->name + "' has another rank");
    require(n.region.size() == n.indices.size() && node.type == n.source->type,
            "a read of '" + n.source->name + "'");
    for (const Index& index : n.indices) {
      if (const auto* affine = std::get_if<Affine>(&index))
        check(*affine);
      else
        require(std::get<Expr>(index)->type == Type{Scalar::I64, 1}, "a computed index is not an i64");
    }
    if (n.border && n.border->mode == BorderMode::Constant) {
      require(n.border->constant && n.border->constant->type == node.type, "a border's constant");
    }
  }

  const Stage& stage_;
  const std::string& after_;
  const bool is_update_;
  Updates& known_updates_;   // verified once, though several stages share an evolution
  std::vector<Type> state_;  // of a reduction
  std::unordered_set<const Node*> seen_;
  std::unordered_map<const Loop*, const Fold*> open_loops_;  // no fold for a median's
};

}  // namespace

void verify(const Pipeline& pipeline, const std::string& after) {
  std::unordered_set<const Stage*> defined, known_updates;
  std::unordered_set<std::string> names;
  const auto fail = [&](const std::string& what) {
    throw InternalError(fmt::format("after {}: {}", after, what));
  };
  for (const StagePtr& input : pipeline.inputs) {
    if (!input->is_input()) fail("'" + input->name + "' is listed as an input");
    if (!names.insert(input->name).second) fail("two things are named '" + input->name + "'");
    defined.insert(input.get());
  }
  for (const StagePtr& stage : pipeline.stages) {
    if (!names.insert(stage->name).second) fail("two things are named '" + stage->name + "'");
    StageVerifier(*stage, after, false, known_updates).verify();
    for (const StagePtr& source : sources(*stage)) {
      if (!defined.count(source.get()))
        fail("'" + stage->name + "' reads '" + source->name + "' before it is defined");
    }
    defined.insert(stage.get());
  }
  for (const StagePtr& output : pipeline.outputs) {
    if (!defined.count(output.get())) fail("output '" + output->name + "' is no stage of the pipeline");
  }
}

}  // namespace weft::ir
