#include "rewrite/recompute_points.h"

#include <deque>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "analysis/operations.h"
#include "ir/visit.h"
#include "rewrite/rewrite_stages.h"

namespace weft::rewrite {
namespace {

constexpr std::int64_t most_operations_of_value = 4;  // for each value: less than to wait for memory

/// Made of no more bytes of inputs than it has itself, at its own pixels, by few operations.
bool is_cheap_point(const ir::Pipeline& pipeline, const ir::Stage& stage) {
  const auto* pure = std::get_if<ir::Pure>(&stage.definition);
  if (!pure || pure->cases.size() != 1 || stage.box.size() != 2 || ir::is_output(pipeline, stage))
    return false;
  std::set<const ir::Stage*> sources;
  for (const ir::Expr& e : ir::reads(stage)) {
    const auto& read = std::get<ir::Read>(e->op);
    if (!read.source->is_input() || !ir::reads_current_pixel(read, stage.domain())) return false;
    sources.insert(read.source.get());
  }
  int bytes = 0;
  for (const ir::Stage* source : sources) bytes += size_of(source->type);
  const analysis::Operations o = analysis::operations(stage);
  return bytes > 0 && bytes <= size_of(stage.type) && o.sfu == 0 &&
         o.alu <= most_operations_of_value * stage.type.lanes;
}

}  // namespace

ir::Pipeline recompute_points(const ir::Pipeline& pipeline) {
  std::set<std::string> names, cheap;
  std::map<std::string, std::vector<std::string>> readers;
  for (const ir::StagePtr& input : pipeline.inputs) names.insert(input->name);
  for (const ir::StagePtr& stage : pipeline.stages) {
    names.insert(stage->name);
    if (is_cheap_point(pipeline, *stage)) cheap.insert(stage->name);
    for (const ir::StagePtr& source : ir::sources(*stage)) {
      readers[source->name].push_back(stage->name);
      if (!std::holds_alternative<ir::Pure>(stage->definition)) cheap.erase(source->name);
    }
  }
  std::deque<std::map<std::string, ir::StagePtr>> copies;  // by stage: those that it reads instead, by name
  ir::Pipeline result = rewrite_stages(pipeline, [&](const ir::Stage& reader) -> Rule {
    auto& own = copies.emplace_back();
    return [&, name = reader.name](const ir::Expr& e) -> ir::Expr {
      const auto* read = std::get_if<ir::Read>(&e->op);
      if (!read || !cheap.count(read->source->name) || readers.at(read->source->name).front() == name)
        return nullptr;
      ir::StagePtr& copy = own[read->source->name];
      if (!copy) {
        ir::Stage stage = *read->source;
        stage.name += "_of_" + name;
        while (!names.insert(stage.name).second) stage.name += "_";
        copy = std::make_shared<const ir::Stage>(std::move(stage));
      }
      return with_source(e, copy);
    };
  });
  std::vector<ir::StagePtr> stages;
  for (std::size_t s = 0; s < result.stages.size(); ++s) {
    for (const auto& [original, copy] : copies[s]) stages.push_back(copy);
    stages.push_back(result.stages[s]);
  }
  result.stages = std::move(stages);
  return result;
}

}  // namespace weft::rewrite
