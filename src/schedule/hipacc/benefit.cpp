#include "schedule/hipacc/benefit.h"

#include <fmt/format.h>

#include <algorithm>

namespace weft::schedule::hipacc {

using analysis::Pattern;

namespace {

bool is_recomputed(Scenario s) { return s == Scenario::PointToLocal || s == Scenario::LocalToLocal; }

Scenario scenario_of(const Vertex& producer, const Vertex& consumer, const ImageRead& read) {
  const bool per_pixel = producer.pattern <= Pattern::Gather && consumer.pattern <= Pattern::Gather;
  const bool has_window = read.pattern <= Pattern::Local && !read.of_a_crop;
  if (!per_pixel || !has_window || producer.box != consumer.box) return Scenario::None;
  // What reads at other coordinates or at computed places is local, too: computing it takes more than the
  // pixel at hand.
  const bool from_point = producer.pattern == Pattern::Point;
  if (is_one_pixel(read.window)) return from_point ? Scenario::PointToPoint : Scenario::LocalToPoint;
  return from_point ? Scenario::PointToLocal : Scenario::LocalToLocal;
}

PairShape shape_of(Scenario scenario, const Vertex& producer, const ImageRead& read) {
  // The thesis has two operations in a kernel that squares a pixel: its operations, and one for each lane of
  // the result, which is written to memory, or to a register once it is fused.
  const auto n_alu = static_cast<double>(producer.operations.alu + producer.type.lanes);
  // The thesis has at least one input; without any, computing still costs.
  return {scenario,
          n_alu,
          static_cast<double>(producer.operations.sfu),
          std::max(producer.images_read(), 1),
          producer.window(),
          read.window};
}

std::string why_legal(Scenario scenario, const Vertex& producer) {
  const std::string kept = "'" + producer.name + "' stays in ";
  switch (scenario) {
    case Scenario::PointToPoint:
    case Scenario::LocalToPoint: return kept + "registers";
    case Scenario::PointToLocal:
      return "'" + producer.name + "' is computed again for each pixel of the window";
    case Scenario::LocalToLocal: return kept + "shared memory, its halo is computed again";
    case Scenario::None: break;
  }
  throw InternalError("a legal pair without a scenario");
}

}  // namespace

std::string name_of(Scenario scenario) {
  switch (scenario) {
    case Scenario::PointToPoint: return "point-to-point";
    case Scenario::LocalToPoint: return "local-to-point";
    case Scenario::PointToLocal: return "point-to-local";
    case Scenario::LocalToLocal: return "local-to-local";
    case Scenario::None: return "none";
  }
  throw InternalError("a scenario without a name");
}

std::int64_t fused_window(const Window& source, const Window& destination) {
  std::int64_t product = 1;
  for (std::size_t d = 0; d < destination.size(); ++d) {
    const std::int64_t around = d < source.size() ? source[d].extent() / 2 * 2 : 0;
    product *= destination[d].extent() + around;
  }
  return product;
}

BenefitTerms terms_of(const PairShape& pair, const BenefitModel& model) {
  BenefitTerms terms;
  if (pair.scenario == Scenario::None) return terms;
  const machine::AccessCosts& costs = model.costs;
  constexpr double image = 1;  // IS(i_e)
  terms.n_alu = pair.n_alu, terms.n_sfu = pair.n_sfu;
  terms.cost_op = costs.alu.value * pair.n_alu + costs.sfu.value * pair.n_sfu;
  terms.images = pair.images;
  terms.delta = image * costs.global.value;
  if (pair.scenario == Scenario::LocalToLocal) terms.delta /= costs.shared.value;
  if (is_recomputed(pair.scenario)) {
    terms.window = pair.scenario == Scenario::PointToLocal ? pixels_in(pair.destination)
                                                           : fused_window(pair.source, pair.destination);
    terms.phi = terms.cost_op * terms.images * static_cast<double>(terms.window);
  }
  terms.gamma = model.gamma;
  return terms;
}

EdgeBenefit benefit_of(const StageGraph& graph, const Edge& edge, const FusionLimits& limits,
                       const BenefitModel& model) {
  const Vertex &producer = graph.vertices[edge.from], &consumer = graph.vertices[edge.to];
  const ImageRead& read = *consumer.read_of(edge.from);
  EdgeBenefit result;
  result.from = producer.name, result.to = consumer.name;
  result.scenario = scenario_of(producer, consumer, read);
  result.terms = terms_of(shape_of(result.scenario, producer, read), model);
  const auto found = objection(graph, {edge.from, edge.to}, limits);
  result.legal = !found;
  result.is_loss = result.scenario != Scenario::None && result.terms.benefit() <= 0;
  result.weight = epsilon;
  if (found) {
    result.why = name_of(found->obstacle) + ": " + found->why;
  } else if (result.is_loss) {
    result.why = fmt::format("computing '{}' again costs {:g}, and {:g} would be saved", producer.name,
                             result.terms.phi, result.terms.delta + result.terms.gamma);
  } else {
    result.why = why_legal(result.scenario, producer);
    result.weight = std::max(result.terms.benefit(), epsilon);
  }
  return result;
}

}  // namespace weft::schedule::hipacc
