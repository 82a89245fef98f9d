#include "lower/rewrite_stages.h"

#include <unordered_map>

namespace weft::lower {

ir::Expr with_source(const ir::Expr& e, ir::StagePtr source) {
  ir::Read read = std::get<ir::Read>(e->op);
  const Type type = source->type;
  read.source = std::move(source);
  return std::make_shared<const ir::Node>(ir::Node{type, std::move(read)});
}

ir::Pipeline rewrite_stages(const ir::Pipeline& pipeline,
                            const std::function<Rule(const ir::Stage&)>& rule_for) {
  ir::Pipeline result = pipeline;
  std::unordered_map<const ir::Stage*, ir::StagePtr> rewritten;
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
    ir::Stage copy = *stage;
    for (ir::Case& c : std::get<ir::Pure>(copy.definition).cases) {
      if (c.when) c.when = rewrite(c.when);
      c.value = rewrite(c.value);
    }
    const ir::Stage* original = stage.get();
    stage = rewritten[original] = std::make_shared<const ir::Stage>(std::move(copy));
  }
  for (ir::StagePtr& output : result.outputs) output = rewritten.at(output.get());
  return result;
}

}  // namespace weft::lower
