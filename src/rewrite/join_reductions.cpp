#include "rewrite/join_reductions.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

#include "ir/build.h"
#include "ir/visit.h"
#include "rewrite/rewrite_stages.h"

namespace weft::rewrite {
namespace {

constexpr int most_lanes = 4;

using Set = std::vector<ir::StagePtr>;  // of reductions, in the order of the pipeline

const ir::Reduce& reduce_of(const ir::Stage& stage) { return std::get<ir::Reduce>(stage.definition); }

/// What holds a value of either; nothing if no type does. Conversions of integers wrap, so 64 bits hold all of them.
std::optional<Scalar> common_type(Scalar a, Scalar b) {
  if (a == b) return a;
  return is_integer(a) && is_integer(b) ? std::optional(Scalar::I64) : std::nullopt;
}

class Sets {
 public:
  explicit Sets(const ir::Pipeline& pipeline) {
    for (const ir::StagePtr& stage : pipeline.stages) {
      if (std::holds_alternative<ir::Reduce>(stage->definition)) add(stage);
    }
    std::erase_if(sets_, [](const Set& set) { return set.size() == 1; });
  }
  const std::vector<Set>& all() const { return sets_; }

 private:
  void add(const ir::StagePtr& stage) {
    for (std::size_t s = 0; s < sets_.size(); ++s) {
      if (!fits(sets_[s], *stage)) continue;
      set_of_[stage.get()] = s;
      sets_[s].push_back(stage);
      return;
    }
    set_of_[stage.get()] = sets_.size();
    sets_.push_back({stage});
  }

  bool fits(const Set& set, const ir::Stage& stage) const {
    int lanes = stage.type.lanes;
    std::optional<Scalar> type = stage.type.scalar;
    bool has_source = false;
    for (const ir::StagePtr& other : set) {
      lanes += other->type.lanes;
      if (type) type = common_type(*type, other->type.scalar);
      has_source |= read_in_common(*other, stage);
    }
    const ir::Reduce &first = reduce_of(*set.front()), &own = reduce_of(stage);
    return lanes <= most_lanes && type && has_source && first.over == own.over &&
           first.op.commutative == own.op.commutative && !depend(set, stage);
  }

  static bool read_in_common(const ir::Stage& a, const ir::Stage& b) {
    const std::vector<ir::StagePtr> of_a = ir::sources(a), of_b = ir::sources(b);
    return std::any_of(of_a.begin(), of_a.end(), [&](const ir::StagePtr& source) {
      return !source->box.empty() && std::count(of_b.begin(), of_b.end(), source) > 0;
    });
  }

  bool depend(const Set& set, const ir::Stage& stage) const {
    return std::any_of(set.begin(), set.end(), [&](const ir::StagePtr& other) {
      return needs(stage, *other) || needs(*other, stage);
    });
  }
  /// Whether a stage needs another, given that all of a set are computed at a time.
  bool needs(const ir::Stage& stage, const ir::Stage& other) const {
    std::set<const ir::Stage*> seen;
    std::vector<const ir::Stage*> open{&stage};
    while (!open.empty()) {
      const ir::Stage& next = *open.back();
      open.pop_back();
      if (!seen.insert(&next).second) continue;
      for (const ir::StagePtr& source : ir::sources(next)) {
        if (source.get() == &other) return true;
        open.push_back(source.get());
        const auto set = set_of_.find(source.get());
        if (set == set_of_.end()) continue;
        for (const ir::StagePtr& together : sets_[set->second]) open.push_back(together.get());
      }
    }
    return false;
  }

  std::vector<Set> sets_;
  std::unordered_map<const ir::Stage*, std::size_t> set_of_;
};

/// An expression of a state whose components come after others.
ir::Expr after(const ir::Expr& e, int components) {
  ir::Rewriter rewrite([&](const ir::Expr& part) -> ir::Expr {
    const auto* operand = std::get_if<ir::Operand>(&part->op);
    return operand ? ir::operand(operand->side, operand->component + components, part->type) : nullptr;
  });
  return rewrite(e);
}

ir::Stage joined(const Set& set, const std::string& name) {
  ir::Stage all = *set.front();
  ir::Reduce reduce{reduce_of(all).over, {}, {{}, {}, reduce_of(all).op.commutative}, nullptr};
  std::optional<Scalar> scalar = all.type.scalar;
  for (const ir::StagePtr& stage : set) scalar = common_type(*scalar, stage->type.scalar);
  std::vector<ir::Expr> lanes;
  for (const ir::StagePtr& stage : set) {
    const ir::Reduce& own = reduce_of(*stage);
    const auto before = static_cast<int>(reduce.element.size());
    reduce.element.insert(reduce.element.end(), own.element.begin(), own.element.end());
    reduce.op.identity.insert(reduce.op.identity.end(), own.op.identity.begin(), own.op.identity.end());
    for (const ir::Expr& e : own.op.combined) reduce.op.combined.push_back(after(e, before));
    const ir::Expr result = after(own.result, before);
    for (int l = 0; l < stage->type.lanes; ++l) {
      const ir::Expr lane = stage->type.lanes == 1 ? result : ir::lane(result, l);
      lanes.push_back(ir::cast(ir::CastMode::Convert, {*scalar}, lane));
    }
  }
  reduce.result = ir::pack(std::move(lanes));
  all.name = name, all.type = reduce.result->type, all.definition = std::move(reduce);
  return all;
}

class Joining {
 public:
  Joining(const ir::Pipeline& pipeline, const std::vector<Set>& sets) : result_(pipeline) {
    for (const Set& set : sets) {
      for (const ir::StagePtr& stage : set) set_of_[stage.get()] = &set;
    }
  }

  ir::Pipeline run() {
    const std::vector<ir::StagePtr> stages = std::move(result_.stages);
    for (const ir::StagePtr& stage : stages) names_.insert(stage->name);
    for (const ir::StagePtr& input : result_.inputs) names_.insert(input->name);
    for (const ir::StagePtr& stage : stages) follow(stage);
    for (ir::StagePtr& output : result_.outputs) output = replaced_.at(output.get());
    result_.stages.clear();
    for (const ir::StagePtr& stage : ir::topological_order(result_.outputs)) {
      if (!std::holds_alternative<ir::Input>(stage->definition)) result_.stages.push_back(stage);
    }
    return std::move(result_);
  }

 private:
  /// What takes the stage's place; of what it reads, too. A reduction of a set has the value of its lanes.
  ir::StagePtr follow(const ir::StagePtr& stage) {
    if (std::holds_alternative<ir::Input>(stage->definition)) return stage;
    if (const auto known = replaced_.find(stage.get()); known != replaced_.end()) return known->second;
    for (const ir::StagePtr& source : ir::sources(*stage)) follow(source);
    const auto set = set_of_.find(stage.get());
    if (set == set_of_.end()) return place(stage, evolutions_(following(*stage)));
    ir::Stage value = *stage;
    value.definition = ir::Pure{{{nullptr, value_of(stage, stage->where)}}};
    return place(stage, std::move(value));
  }
  ir::StagePtr place(const ir::StagePtr& stage, ir::Stage by) {
    return replaced_[stage.get()] = std::make_shared<const ir::Stage>(std::move(by));
  }

  ir::Stage following(const ir::Stage& stage) {
    ir::Rewriter rewrite([&](const ir::Expr& e) -> ir::Expr {
      const auto* read = std::get_if<ir::Read>(&e->op);
      if (!read) return nullptr;
      if (set_of_.count(read->source.get())) return value_of(read->source, read->where);
      const ir::StagePtr source = follow(read->source);
      return source == read->source ? nullptr : with_source(e, source);
    });
    return ir::rewritten(stage, std::ref(rewrite));
  }

  /// Of a reduction, from the lanes of its set.
  ir::Expr value_of(const ir::StagePtr& stage, const Where& where) {
    const Set& set = *set_of_.at(stage.get());
    const ir::Expr all = ir::read(read_at_pixel(joined_of(set), where));
    int first = 0;
    for (const ir::StagePtr& other : set) {
      if (other == stage) break;
      first += other->type.lanes;
    }
    std::vector<ir::Expr> lanes;
    for (int l = 0; l < stage->type.lanes; ++l)
      lanes.push_back(ir::cast(ir::CastMode::Convert, stage->type.lane(), ir::lane(all, first + l)));
    return lanes.size() == 1 ? lanes[0] : ir::pack(std::move(lanes));
  }
  ir::StagePtr joined_of(const Set& set) {
    ir::StagePtr& known = joined_[&set];
    if (known) return known;
    std::string name = set.front()->name;
    for (std::size_t s = 1; s < set.size(); ++s) name += "_and_" + set[s]->name;
    while (!names_.insert(name).second) name += "_";
    return known = std::make_shared<const ir::Stage>(following(joined(set, name)));
  }

  ir::Pipeline result_;
  std::unordered_map<const ir::Stage*, const Set*> set_of_;
  std::set<std::string> names_;
  std::map<const Set*, ir::StagePtr> joined_;
  Evolutions::Replaced replaced_;
  Evolutions evolutions_{replaced_};
};

}  // namespace

ir::Pipeline join_reductions(const ir::Pipeline& pipeline) {
  const Sets sets(pipeline);
  return sets.all().empty() ? pipeline : Joining(pipeline, sets.all()).run();
}

}  // namespace weft::rewrite
