#include "rewrite/inline_points.h"

#include "ir/visit.h"
#include "rewrite/rewrite_stages.h"

namespace weft::rewrite {

Inlined inline_points(const ir::Pipeline& pipeline, const std::function<bool(const ir::Stage&)>& in_place) {
  Inlined result;
  result.pipeline = pipeline;
  result.pipeline.stages.clear();
  std::unordered_map<const ir::Stage*, ir::Expr> values;  // what a read of the stage becomes
  Evolutions::Replaced stored;                            // the stage as rewritten
  Evolutions evolutions(stored);
  for (const ir::StagePtr& stage : pipeline.stages) {
    ir::Rewriter rewrite([&](const ir::Expr& e) -> ir::Expr {
      const auto* read = std::get_if<ir::Read>(&e->op);
      if (!read) return nullptr;
      if (auto value = values.find(read->source.get()); value != values.end()) return value->second;
      if (auto source = stored.find(read->source.get()); source != stored.end()) {
        return with_source(e, source->second);
      }
      return nullptr;
    });
    ir::Stage copy = evolutions(ir::rewritten(*stage, std::ref(rewrite)));
    if (!in_place(*stage)) {
      stored[stage.get()] = std::make_shared<const ir::Stage>(std::move(copy));
      result.pipeline.stages.push_back(stored[stage.get()]);
    } else {
      const ir::Expr& value = std::get<ir::Pure>(copy.definition).cases.at(0).value;
      values[stage.get()] = value;
      result.names[value.get()] = stage->name;
    }
  }
  for (ir::StagePtr& output : result.pipeline.outputs) output = stored.at(output.get());
  return result;
}

}  // namespace weft::rewrite
