#include "schedule/kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "ir/visit.h"

namespace weft::schedule {
namespace {

/// The reads that occur inside some loop over a window, where computing a producer in place would repeat it.
std::unordered_set<const ir::Node*> reads_inside_loops(const ir::Stage& stage) {
  std::unordered_set<const ir::Node*> inside;
  ir::visit(ir::expressions(stage), [&](const ir::Expr& e) {
    std::vector<ir::Expr> bodies;
    if (const auto* fold = std::get_if<ir::FoldResult>(&e->op)) bodies = fold->fold->next;
    if (const auto* median = std::get_if<ir::Median>(&e->op)) bodies = {median->value};
    ir::visit(bodies, [&](const ir::Expr& inner) {
      if (std::holds_alternative<ir::Read>(inner->op)) inside.insert(inner.get());
    });
  });
  return inside;
}

std::unordered_map<const ir::Stage*, Uses> uses_of(const ir::Pipeline& pipeline) {
  std::unordered_map<const ir::Stage*, Uses> uses;
  for (const ir::StagePtr& consumer : pipeline.stages) {
    uses[consumer.get()];
    const auto inside = reads_inside_loops(*consumer);
    for (const ir::Expr& e : ir::reads(*consumer)) {
      const auto& read = std::get<ir::Read>(e->op);
      Uses& use = uses[read.source.get()];
      if (use.consumers.empty() || use.consumers.back() != consumer.get())
        use.consumers.push_back(consumer.get());
      use.at_current_pixel_only &= ir::reads_current_pixel(read, consumer->domain());
      use.inside_a_loop |= inside.count(e.get()) > 0;
    }
    if (!std::holds_alternative<ir::Evolve>(consumer->definition)) continue;
    for (const ir::StagePtr& source : ir::sources(*consumer)) {
      uses[source.get()].consumers.push_back(consumer.get());
      uses[source.get()].evolution = consumer.get();
    }
  }
  return uses;
}

}  // namespace

std::string Uses::names() const {
  std::string names;
  for (const ir::Stage* stage : consumers) names += (names.empty() ? "" : ", ") + stage->name;
  return names;
}

std::optional<std::string> always_stored(const ir::Pipeline& pipeline, const ir::Stage& stage) {
  if (ir::is_output(pipeline, stage)) return "it is an output";
  if (std::holds_alternative<ir::Reduce>(stage.definition))
    return "a reduction: one value for all its readers";
  if (std::holds_alternative<ir::Scatter>(stage.definition)) return "it is scattered into";
  if (std::holds_alternative<ir::Evolve>(stage.definition)) return "it changes in place, step by step";
  return std::nullopt;
}

bool stays_stored(const ir::Pipeline& pipeline, const ir::Stage& stage) {
  const bool may_end =
      std::holds_alternative<ir::Scatter>(stage.definition) && !ir::is_output(pipeline, stage);
  return always_stored(pipeline, stage) && !may_end;
}

bool is_stored(const ir::Pipeline& pipeline, const Kernels& kernels, const ir::Stage& stage,
               const std::function<bool(const ir::Stage& reader)>& is_in_group) {
  const auto& readers = kernels.uses(stage).consumers;
  return stays_stored(pipeline, stage) ||
         !std::all_of(readers.begin(), readers.end(), [&](const ir::Stage* r) { return is_in_group(*r); });
}

bool can_be_in_place(const ir::Stage& stage, const Uses& uses) {
  return uses.evolution == nullptr && uses.at_current_pixel_only && !uses.inside_a_loop &&
         std::get<ir::Pure>(stage.definition).cases.size() == 1;
}

Kernels::Kernels(const ir::Pipeline& pipeline, const MayShare& may_share) : uses_(uses_of(pipeline)) {
  for (auto at = pipeline.stages.rbegin(); at != pipeline.stages.rend(); ++at) {  // readers first
    const ir::Stage& stage = **at;
    loop_of_[&stage] = &stage;
    const Uses& use = uses_.at(&stage);
    if (use.consumers.empty() || always_stored(pipeline, stage) || !can_be_in_place(stage, use)) continue;
    const ir::Stage* loop = loop_of_.at(use.consumers[0]);
    if (std::all_of(use.consumers.begin(), use.consumers.end(), [&](const ir::Stage* reader) {
          return loop_of_.at(reader) == loop && may_share(stage, *reader);
        }))
      loop_of_[&stage] = loop;
  }
  find_loops(pipeline);
}

void Kernels::find_loops(const ir::Pipeline& pipeline) {
  std::unordered_map<const ir::Stage*, plan::Loop> of_parts;  // by the loop they are in
  for (const ir::StagePtr& at : pipeline.stages) {
    const ir::Stage& stage = *at;
    const plan::Loop own = plan::loop_of(stage);
    plan::Loop& loop = of_parts[&loop_of(stage)];
    loop.reads.stage = &loop_of(stage);
    loop.reads.has_places |= own.reads.has_places;
    loop.operations += own.operations;
    loop.shared += own.shared;
    loop.alike += own.alike;
    loop.of_windows.insert(loop.of_windows.end(), own.of_windows.begin(), own.of_windows.end());
    loop.of_medians.insert(loop.of_medians.end(), own.of_medians.begin(), own.of_medians.end());
    for (const ir::Read* read : own.reads.reads) {
      const auto source = loop_of_.find(read->source.get());
      if (source == loop_of_.end() || source->second == source->first) loop.reads.reads.push_back(read);
    }
    if (in_place(stage)) {
      // What is in place is read at one pixel, by each of its readers.
      loop.operations.loads -= static_cast<std::int64_t>(uses(stage).consumers.size());
      loop.in_place.push_back(stage.name);
      continue;
    }
    loop.can_be_value = std::holds_alternative<ir::Pure>(stage.definition) &&
                        !always_stored(pipeline, stage) && can_be_in_place(stage, uses(stage));
    for (const ir::Read* read : loop.reads.reads) readers_[read->source.get()].insert(loops_.size());
    for (const ir::StagePtr& source : ir::sources(stage)) readers_[source.get()].insert(loops_.size());
    loops_.push_back(std::move(loop));
  }
}

bool Kernels::read_only_in(const std::vector<bool>& group, const ir::Stage& stage) const {
  const auto readers = readers_.find(&stage);
  return readers != readers_.end() && std::all_of(readers->second.begin(), readers->second.end(),
                                                  [&](std::size_t reader) { return group[reader]; });
}

std::string why_not_in_place(const ir::Pipeline& pipeline, const Kernels& kernels, const ir::Stage& stage) {
  if (auto why = always_stored(pipeline, stage)) return *why;
  const Uses& uses = kernels.uses(stage);
  if (uses.evolution) return fmt::format("'{}' reads it in its steps", uses.evolution->name);
  const std::size_t count = uses.consumers.size();
  const ir::Stage& loop = kernels.loop_of(*uses.consumers.at(0));
  if (!std::all_of(uses.consumers.begin(), uses.consumers.end(),
                   [&](const ir::Stage* c) { return &kernels.loop_of(*c) == &loop; }))
    return fmt::format("{} stages read it: {}", count, uses.names());
  const std::string who =
      count == 1 ? fmt::format("'{}' reads", uses.names()) : fmt::format("{} read", uses.names());
  if (!uses.at_current_pixel_only) return fmt::format("{} it at other pixels than its own", who);
  if (uses.inside_a_loop) return fmt::format("{} it inside a loop, which would compute it again", who);
  return "it is defined piecewise";
}

}  // namespace weft::schedule
