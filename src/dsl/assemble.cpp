#include "dsl/assemble.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <unordered_set>

#include "dsl/builder.h"
#include "ir/visit.h"

namespace weft::dsl {
namespace {

void collect_params(const ir::Stage& stage, std::vector<std::shared_ptr<const ir::Param>>& params) {
  std::vector<ir::Expr> roots = ir::expressions(stage);
  if (const auto* evolve = std::get_if<ir::Evolve>(&stage.definition))
    roots.push_back(evolve->evolution->steps);
  ir::visit(roots, [&](const ir::Expr& e) {
    const auto* ref = std::get_if<ir::ParamRef>(&e->op);
    if (ref && std::find(params.begin(), params.end(), ref->param) == params.end())
      params.push_back(ref->param);
  });
  for (const ir::StagePtr& update : ir::updates(stage)) collect_params(*update, params);
}

/// The images that a stage or image mentions only by their size.
void collect_sized(const ir::Stage& stage, const std::function<void(const ir::StagePtr&)>& found) {
  const auto search = [&](const ir::Affine& form) {
    form.mentions([&](const ir::Atom& atom) {
      const auto* size = std::get_if<ir::Size>(&atom);
      if (size && size->input) found(size->input);
      return false;
    });
  };
  const auto search_box = [&](const ir::Box& box) {
    for (const ir::Range& range : box) search(range.min), search(range.extent);
  };
  search_box(stage.box);
  search_box(stage.domain());
  for (const ir::StagePtr& update : ir::updates(stage)) collect_sized(*update, found);
  ir::visit(ir::expressions(stage), [&](const ir::Expr& e) {
    if (const auto* quantity = std::get_if<ir::Quantity>(&e->op)) search(quantity->value);
    const auto* read = std::get_if<ir::Read>(&e->op);
    if (!read) return;
    search_box(read->region);
    for (const ir::Index& index : read->indices) {
      if (const auto* affine = std::get_if<ir::Affine>(&index)) search(*affine);
    }
  });
}

/// Fields and step numbers have a meaning in the updates of their evolution alone, which are no stages of the
/// pipeline.
void check_outside_of_updates(const ir::Stage& stage) {
  ir::visit(ir::expressions(stage), [&](const ir::Expr& e) {
    if (std::holds_alternative<ir::StepNumber>(e->op)) {
      throw Error(fmt::format("stage '{}' uses the step number outside of an update", stage.name),
                  stage.where)
          .help("step_number() has a meaning only in the updates that evolve() is given");
    }
    const auto* read = std::get_if<ir::Read>(&e->op);
    if (!read || !std::holds_alternative<ir::Past>(read->source->definition)) return;
    throw Error(
        fmt::format("stage '{}' reads field '{}' outside of its updates", stage.name, read->source->name),
        read->where.line > 0 ? read->where : stage.where)
        .help("read the stage that evolve() returns, or the image that the field starts as");
  });
}

void check_outputs(const ir::Pipeline& pipeline) {
  if (pipeline.outputs.empty()) throw Error("pipeline '" + pipeline.name + "' has no outputs");
  std::unordered_set<const ir::Stage*> seen;
  for (const ir::StagePtr& output : pipeline.outputs) {
    if (seen.insert(output.get()).second) continue;
    throw Error("pipeline '" + pipeline.name + "' returns stage '" + output->name + "' twice", output->where)
        .help("return it once, or a copy of it: point(\"copy\", " + output->name + ")");
  }
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
  for (const Stage& output : outputs.stages()) pipeline.outputs.push_back(output.node());
  check_outputs(pipeline);
  if (const auto* builder =
          Builder::current()) {  // keeps the order of declaration, and what is declared but unused
    pipeline.inputs = builder->inputs;
    pipeline.params = builder->params;
  }
  const auto add_input = [&](const ir::StagePtr& input) {
    if (std::find(pipeline.inputs.begin(), pipeline.inputs.end(), input) == pipeline.inputs.end())
      pipeline.inputs.push_back(input);
  };
  for (const ir::StagePtr& stage : ir::topological_order(pipeline.outputs)) {
    if (!stage->is_input()) {
      check_outside_of_updates(*stage);
      pipeline.stages.push_back(stage);
      collect_params(*stage, pipeline.params);
    } else {
      add_input(stage);
    }
  }
  for (const ir::StagePtr& stage : pipeline.stages) collect_sized(*stage, add_input);
  for (std::size_t i = 0; i < pipeline.inputs.size(); ++i) {  // which adds to them
    const ir::StagePtr input = pipeline.inputs[i];
    collect_sized(*input, add_input);
  }
  check_names(pipeline);
  return pipeline;
}

}  // namespace weft::dsl
