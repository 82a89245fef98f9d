// What fusing two stages saves, in clocks per pixel: the model of the Hipacc thesis, sections 3.4.2 to 3.4.4.
// All images of a group are of one size (Eq. 3.3), so IS, the size of the iteration space, is counted in
// images.
//
//     (sx, gx) of Harris corners: point-to-local, 400 - 4*2 * 1 * 9 = 328
#pragma once

#include <string>

#include "machine/access_costs.h"
#include "schedule/hipacc/legality.h"
#include "schedule/stage_graph.h"

namespace weft::schedule::hipacc {

/// By the patterns of producer and consumer; a producer that is no point stage is local. The consumer's is
/// that of what it reads of the producer: a window over something else costs the same before and after.
enum class Scenario { PointToPoint, LocalToPoint, PointToLocal, LocalToLocal, None };
std::string name_of(Scenario scenario);  ///< "point-to-local"

/// The thesis' epsilon: the weight of an edge along which nothing is to be fused; it has to be positive,
/// since minimum cuts are to leave stages together that could still be. As a power of two it keeps sums with
/// whole clocks exact, so that equal weights are found equal.
constexpr double epsilon = 1.0 / 1024;

/// Every number that a benefit is made of, as the thesis calls it.
struct BenefitTerms {
  double n_alu = 0, n_sfu = 0;  ///< Of the producer, per pixel.
  double cost_op = 0;           ///< Eq. 3.8, clocks.
  int images = 0;               ///< IS_vs: images that the producer reads.
  std::int64_t window = 0;      ///< sz(v_d), or g for local-to-local; 0 if nothing is recomputed.
  double delta = 0;             ///< Eq. 3.4 or 3.5: accesses saved, clocks.
  double phi = 0;               ///< Eq. 3.9 or 3.12: recomputation, clocks.
  double gamma = 0;             ///< Of Eq. 3.14: what else fusion saves, clocks.
  double benefit() const { return delta - phi + gamma; }  ///< Eq. 3.7, 3.10 or 3.13, and gamma.
};

struct BenefitModel {
  machine::AccessCosts costs = machine::cpu_access_costs();
  double gamma = 0;  ///< The thesis leaves it out as insignificant.
};

/// What a pair is, for its terms.
struct PairShape {
  Scenario scenario = Scenario::None;
  double n_alu = 0, n_sfu = 0;
  int images = 1;
  Window source, destination;  ///< Of which sz(v_s) and sz(v_d) are the pixels.
};
BenefitTerms terms_of(const PairShape& pair, const BenefitModel& model);

/// g of Eq. 3.11, for each dimension: a destination's window, and around each of its pixels a source's.
std::int64_t fused_window(const Window& source, const Window& destination);

struct EdgeBenefit {
  std::string from, to;
  Scenario scenario = Scenario::None;
  BenefitTerms terms;    ///< Also of an illegal pair; zero without a scenario.
  bool legal = false;    ///< Whether the two alone may be one kernel.
  bool is_loss = false;  ///< The terms' benefit is not positive.
  std::string why;       ///< A clause about the scenario, the obstacle, or the loss.
  double weight = 0;     ///< Eq. 3.14, and Eq. 3.6 for what is illegal.
};
EdgeBenefit benefit_of(const StageGraph& graph, const Edge& edge, const FusionLimits& limits,
                       const BenefitModel& model);

}  // namespace weft::schedule::hipacc
