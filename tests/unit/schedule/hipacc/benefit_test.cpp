// The benefit model against the numbers of the Hipacc thesis, chapter 3.
#include "schedule/hipacc/benefit.h"

#include <gtest/gtest.h>

#include "tests/unit/schedule/pipelines.h"

namespace weft::schedule::hipacc {
namespace {

Window square(int width) {
  const std::int64_t half = width / 2;
  return {{-half, half}, {-half, half}};
}

/// The costs of the thesis' example; t_s is nowhere said.
BenefitModel thesis_model(double t_s = 4) {
  BenefitModel model;
  model.costs = machine::access_costs(machine::board("gtx680"));
  model.costs.shared.value = t_s;
  return model;
}

EdgeBenefit edge_between(const StageGraph& graph, const std::string& from, const std::string& to) {
  for (const Edge& edge : graph.edges) {
    if (graph.vertices[edge.from].name == from && graph.vertices[edge.to].name == to)
      return benefit_of(graph, edge, {}, thesis_model());
  }
  throw InternalError("no edge " + from + " -> " + to);
}

TEST(Benefit, FusedWindowsAreThoseOfEquation311) {
  EXPECT_EQ(fused_window(square(3), square(5)), 49);
  EXPECT_EQ(fused_window(square(3), square(3)), 25);
  EXPECT_EQ(fused_window(square(5), square(3)), 49);
  EXPECT_EQ(fused_window(square(5), square(5)), 81);
  EXPECT_EQ(fused_window(square(7), square(3)), 81);
  EXPECT_EQ(fused_window(square(5), square(7)), 121);
  EXPECT_EQ(fused_window({{-1, 1}, {0, 0}}, {{0, 0}, {-2, 2}}), 15) << "a row, then a column";
}

TEST(Benefit, PointToLocalOfTheExample) {
  const PairShape one{Scenario::PointToLocal, 2, 0, 1, square(1), square(3)};
  const BenefitTerms terms = terms_of(one, thesis_model());
  EXPECT_EQ(terms.cost_op, 8);
  EXPECT_EQ(terms.delta, 400);
  EXPECT_EQ(terms.phi, 72);
  EXPECT_EQ(terms.window, 9);
  EXPECT_EQ(terms.benefit(), 328);
  PairShape two = one;
  two.images = 2;
  EXPECT_EQ(terms_of(two, thesis_model()).benefit(), 256);
}

TEST(Benefit, PointToLocalPaysUpToFortyFourClocks) {
  const auto benefit_at = [](double n_alu) {
    return terms_of({Scenario::PointToLocal, n_alu, 0, 1, square(1), square(3)}, thesis_model()).benefit();
  };
  EXPECT_NEAR(benefit_at(400.0 / 9 / 4), 0, 1e-9);
  EXPECT_GT(benefit_at(11), 0);
  EXPECT_LT(benefit_at(12), 0);
}

TEST(Benefit, LocalToLocalOfTheNightFilter) {
  const PairShape pair{Scenario::LocalToLocal, 68, 0, 1, square(3), square(5)};
  EXPECT_EQ(terms_of(pair, thesis_model(2)).benefit(), -13128);
  EXPECT_EQ(terms_of(pair, thesis_model(4)).benefit(), -13228);
  EXPECT_EQ(terms_of(pair, thesis_model(8)).benefit(), -13278);
  EXPECT_NEAR(terms_of(pair, thesis_model(30)).benefit(), -13314.7, 0.05);
}

TEST(Benefit, PointConsumersSaveAWholeAccess) {
  for (Scenario scenario : {Scenario::PointToPoint, Scenario::LocalToPoint}) {
    BenefitModel model = thesis_model();
    model.gamma = 10;
    const BenefitTerms terms = terms_of({scenario, 68, 3, 2, square(5), square(1)}, model);
    EXPECT_EQ(terms.phi, 0);
    EXPECT_EQ(terms.cost_op, 4 * 68 + 24 * 3);
    EXPECT_EQ(terms.benefit(), 410);
  }
}

TEST(Benefit, EdgesOfHarrisCorners) {
  const StageGraph harris = graph_of_application("harris");
  EXPECT_EQ(harris.vertices.size(), 9);
  EXPECT_EQ(harris.edges.size(), 10);
  EXPECT_EQ(edge_between(harris, "sx", "gx").weight, 328);
  EXPECT_EQ(edge_between(harris, "sy", "gy").weight, 328);
  EXPECT_EQ(edge_between(harris, "sxy", "gxy").weight, 256);
  int of_epsilon = 0;
  for (const Edge& edge : harris.edges)
    of_epsilon += benefit_of(harris, edge, {}, thesis_model()).weight == epsilon;
  EXPECT_EQ(of_epsilon, 7);

  const EdgeBenefit square = edge_between(harris, "sx", "gx");
  EXPECT_EQ(square.scenario, Scenario::PointToLocal);
  EXPECT_EQ(square.terms.n_alu, 2) << "the thesis counts two operations in a kernel that squares";
  EXPECT_TRUE(square.legal);
  EXPECT_EQ(square.why, "'sx' is computed again for each pixel of the window");
  const EdgeBenefit branch = edge_between(harris, "dx", "sx");
  EXPECT_FALSE(branch.legal);
  EXPECT_EQ(branch.scenario, Scenario::LocalToPoint);
  EXPECT_EQ(branch.why, "external output: 'sxy' reads 'dx', too");
  EXPECT_EQ(edge_between(harris, "gx", "hc").why,
            "external input: 'hc' reads 'gxy' and 'gy', which 'gx' does not read");
}

TEST(Benefit, ScenariosAreOfWhatAnEdgeReads) {
  Image<float> in("in");
  const auto src = in.border(Border::clamp());
  Stage blur = convolve("blur", src, binomial());
  Stage mixed = stage("mixed", in.size(), [&](Var x, Var y) { return blur(x, y) + src(x + 1, y); });
  Stage root = point("root", sqrt(mixed));
  Stage last = convolve("last", root.border(Border::clamp()), binomial());
  const StageGraph graph = graph_of({last});
  EXPECT_EQ(edge_between(graph, "blur", "mixed").scenario, Scenario::LocalToPoint)
      << "the window is over another image";
  EXPECT_EQ(edge_between(graph, "mixed", "root").scenario, Scenario::LocalToPoint);
  const EdgeBenefit edge = edge_between(graph, "root", "last");
  EXPECT_EQ(edge.scenario, Scenario::PointToLocal);
  EXPECT_EQ(edge.terms.n_sfu, 1);
  EXPECT_EQ(edge.terms.n_alu, 1) << "the result alone";
}

TEST(Benefit, LossesWeighAsMuchAsWhatIsIllegal) {
  Image<float> in("in");
  Stage costly = point("costly", pow(in, 0.3f) + pow(in, 0.7f));
  Stage last = convolve("last", costly.border(Border::clamp()), binomial());
  const EdgeBenefit edge = edge_between(graph_of({last}), "costly", "last");
  EXPECT_TRUE(edge.legal);
  EXPECT_TRUE(edge.is_loss);
  EXPECT_EQ(edge.weight, epsilon);
  EXPECT_EQ(edge.why, "computing 'costly' again costs 504, and 400 would be saved");
}

}  // namespace
}  // namespace weft::schedule::hipacc
