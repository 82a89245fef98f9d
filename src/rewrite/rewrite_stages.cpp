#include "rewrite/rewrite_stages.h"

#include <deque>
#include <unordered_map>

namespace weft::rewrite {

ir::Read read_at_pixel(const ir::StagePtr& source, const Where& where) {
  ir::Read read{source, {}, std::nullopt, source->box, where};
  for (int d = 0; d < source->rank(); ++d) read.indices.emplace_back(ir::Affine(ir::Coord{d}));
  return read;
}

ir::Expr with_source(const ir::Expr& e, ir::StagePtr source) {
  ir::Read read = std::get<ir::Read>(e->op);
  const Type type = source->type;
  read.source = std::move(source);
  return std::make_shared<const ir::Node>(ir::Node{type, std::move(read)});
}

namespace {

using Change = std::function<void(ir::Stage&)>;

/// `change` sees each stage after its rule.
ir::Pipeline rewritten_and_changed(const ir::Pipeline& pipeline,
                                   const std::function<Rule(const ir::Stage&)>& rule_for,
                                   const Rule& of_updates, const Change& change) {
  ir::Pipeline result = pipeline;
  Evolutions::Replaced rewritten;
  Evolutions evolutions(rewritten, of_updates);
  for (ir::StagePtr& stage : result.stages) {
    const Rule rule = rule_for(*stage);
    ir::Rewriter rewrite([&](const ir::Expr& e) -> ir::Expr {
      ir::Expr current = e;
      if (const auto* read = std::get_if<ir::Read>(&e->op)) {
        if (auto source = rewritten.find(read->source.get()); source != rewritten.end()) {
          current = with_source(e, source->second);
        }
      }
      const ir::Expr replaced = rule(current);
      return replaced ? replaced : current == e ? nullptr : current;
    });
    const ir::Stage* original = stage.get();
    ir::Stage copy = evolutions(ir::rewritten(*stage, std::ref(rewrite)));
    change(copy);
    stage = rewritten[original] = std::make_shared<const ir::Stage>(std::move(copy));
  }
  for (ir::StagePtr& output : result.outputs) output = rewritten.at(output.get());
  return result;
}

}  // namespace

ir::Pipeline rewrite_stages(const ir::Pipeline& pipeline,
                            const std::function<Rule(const ir::Stage&)>& rule_for, const Rule& of_updates) {
  return rewritten_and_changed(pipeline, rule_for, of_updates, [](ir::Stage&) {});
}

ir::Pipeline with_needs(const ir::Pipeline& pipeline,
                        const std::function<std::shared_ptr<const ir::Need>(const ir::Stage&)>& need_of) {
  const auto as_it_is = [](const ir::Stage&) -> Rule {
    return [](const ir::Expr&) -> ir::Expr { return nullptr; };
  };
  return rewritten_and_changed(pipeline, as_it_is, nullptr,
                               [&](ir::Stage& stage) { stage.need = need_of(stage); });
}

ir::Pipeline with_stages_before(const ir::Pipeline& pipeline, const RuleWithStages& rule_for) {
  std::unordered_set<std::string> names;
  for (const auto& stage : pipeline.stages) names.insert(stage->name);
  for (const auto& input : pipeline.inputs) names.insert(input->name);
  for (const auto& param : pipeline.params) names.insert(param->name);

  std::deque<std::vector<ir::StagePtr>> before;  // by stage
  ir::Pipeline result = rewrite_stages(
      pipeline, [&](const ir::Stage& stage) { return rule_for(stage, names, before.emplace_back()); });
  std::vector<ir::StagePtr> rewritten = std::move(result.stages);
  result.stages.clear();
  for (std::size_t i = 0; i < rewritten.size(); ++i) {
    result.stages.insert(result.stages.end(), before[i].begin(), before[i].end());
    result.stages.push_back(rewritten[i]);
  }
  return result;
}

ir::Stage Evolutions::operator()(const ir::Stage& stage) {
  ir::Stage copy = stage;
  if (auto* evolve = std::get_if<ir::Evolve>(&copy.definition)) {
    auto& known = done_[evolve->evolution.get()];
    if (!known) known = rewritten(*evolve->evolution);
    evolve->evolution = known;
  }
  return copy;
}

std::shared_ptr<const ir::Evolution> Evolutions::rewritten(const ir::Evolution& evolution) const {
  auto copy = std::make_shared<ir::Evolution>(evolution);
  const auto replacement = [&](const ir::StagePtr& stage) {
    const auto known = replaced_.find(stage.get());
    return known == replaced_.end() ? stage : known->second;
  };
  ir::Rewriter follow([&](const ir::Expr& e) -> ir::Expr {
    const auto* read = std::get_if<ir::Read>(&e->op);
    const ir::StagePtr source = read ? replacement(read->source) : nullptr;
    if (read && source != read->source) return with_source(e, source);
    return of_updates_ ? of_updates_(e) : nullptr;
  });
  for (ir::Evolving& field : copy->fields) {
    field.initial = replacement(field.initial);
    field.update = std::make_shared<const ir::Stage>(ir::rewritten(*field.update, std::ref(follow)));
  }
  return copy;
}

}  // namespace weft::rewrite
