#include "dsl/assemble.h"

#include <algorithm>
#include <unordered_set>

#include "dsl/builder.h"
#include "ir/visit.h"

namespace weft::dsl {
namespace {

void collect_params(const ir::Stage& stage, std::vector<std::shared_ptr<const ir::Param>>& params) {
  ir::visit(ir::expressions(stage), [&](const ir::Expr& e) {
    const auto* ref = std::get_if<ir::ParamRef>(&e->op);
    if (ref && std::find(params.begin(), params.end(), ref->param) == params.end())
      params.push_back(ref->param);
  });
}

void check_names(const ir::Pipeline& pipeline) {
  std::unordered_set<std::string> names;
  const auto claim = [&](const std::string& name, const Where& where) {
    if (!names.insert(name).second) {
      throw Error("the name '" + name + "' is given twice in pipeline '" + pipeline.name + "'", where)
          .help("give every image, parameter and stage a name of its own");
    }
  };
  for (const auto& input : pipeline.inputs) claim(input->name, input->where);
  for (const auto& param : pipeline.params) claim(param->name, param->where);
  for (const auto& stage : pipeline.stages) claim(stage->name, stage->where);
}

}  // namespace

ir::Pipeline assemble(std::string name, const Outputs& outputs) {
  ir::Pipeline pipeline;
  pipeline.name = std::move(name);
  pipeline.strict = outputs.is_strict();
  if (outputs.stages().empty()) throw Error("pipeline '" + pipeline.name + "' has no outputs");
  for (const Stage& output : outputs.stages()) pipeline.outputs.push_back(output.node());
  if (const auto* builder =
          Builder::current()) {  // keeps the order of declaration, and what is declared but unused
    pipeline.inputs = builder->inputs;
    pipeline.params = builder->params;
  }
  for (const ir::StagePtr& stage : ir::topological_order(pipeline.outputs)) {
    if (!stage->is_input()) {
      pipeline.stages.push_back(stage);
      collect_params(*stage, pipeline.params);
    } else if (std::find(pipeline.inputs.begin(), pipeline.inputs.end(), stage) == pipeline.inputs.end()) {
      pipeline.inputs.push_back(stage);
    }
  }
  check_names(pipeline);
  return pipeline;
}

}  // namespace weft::dsl
