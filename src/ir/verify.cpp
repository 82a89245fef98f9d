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
  StageVerifier(const Stage& stage, const std::string& after) : stage_(stage), after_(after) {}

  void verify() {
    const auto* pure = std::get_if<Pure>(&stage_.definition);
    if (!pure) return;
    require(!pure->cases.empty(), "it has no case");
    for (const Case& c : pure->cases) {
      if (c.when) {
        require(c.when->type == Type{Scalar::Bool, 1}, "a case's condition is not a bool");
        check(c.when);
      }
      require(c.value->type == stage_.type, "a case has type " + name_of(c.value->type));
      check(c.value);
    }
  }

 private:
  void require(bool condition, const std::string& what) const {
    if (!condition) throw InternalError(fmt::format("after {}: stage '{}': {}", after_, stage_.name, what));
  }

  void check(const Affine& a) const {
    a.mentions([&](const Atom& atom) {
      if (const auto* coord = std::get_if<Coord>(&atom))
        require(coord->dim < stage_.rank(), "a coordinate beyond its rank");
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
  std::unordered_set<const Node*> seen_;
  std::unordered_map<const Loop*, const Fold*> open_loops_;  // no fold for a median's
};

}  // namespace

void verify(const Pipeline& pipeline, const std::string& after) {
  std::unordered_set<const Stage*> defined;
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
    StageVerifier(*stage, after).verify();
    for (const Expr& e : reads(*stage)) {
      const Stage* source = std::get<Read>(e->op).source.get();
      if (!defined.count(source))
        fail("'" + stage->name + "' reads '" + source->name + "' before it is defined");
    }
    defined.insert(stage.get());
  }
  for (const StagePtr& output : pipeline.outputs) {
    if (!defined.count(output.get())) fail("output '" + output->name + "' is no stage of the pipeline");
  }
}

}  // namespace weft::ir
