// The references themselves: what can be said about them without another implementation.
#include "tests/oracle/reference/time_stencils.h"

#include <gtest/gtest.h>

#include <map>
#include <numeric>

namespace weft::oracle {
namespace {

const LinearStencil& named(const std::string& name) {
  for (const LinearStencil& s : linear_stencils()) {
    if (s.name == name) return s;
  }
  throw std::out_of_range(name);
}

Array<double> uneven(std::array<std::int64_t, 3> extents) {
  Array<double> a{extents, std::vector<double>(extents[0] * extents[1] * extents[2])};
  for (std::size_t i = 0; i < a.values.size(); ++i)
    a.values[i] = static_cast<double>((i * i * 37 + 11) % 101);
  return a;
}

struct Known {
  std::size_t taps;  // some are visited twice: heat's centre
  double sum;        // of the weights, to the digits that the sources say
};
const std::map<std::string, Known> known = {
    {"jacobi1d3", {3, 1}},  {"jacobi1d5", {5, 1}},  {"jacobi1d7", {7, 1}}, {"heat1d", {4, 1}},
    {"upwind", {2, 1}},     {"j2d5pt", {5, .42}},   {"j2d9pt", {9, .70}},  {"j2d9pt_gol", {9, .70}},
    {"star2d1r", {5, 1}},   {"star2d2r", {9, 1}},   {"box2d1r", {9, 1}},   {"jacobi2d", {5, 1}},
    {"heat2d", {7, 1}},     {"star3d1r", {7, 1}},   {"star3d2r", {13, 1}}, {"box3d1r", {27, .9855}},
    {"j3d27pt", {27, .15}}, {"j3d7pt", {7, -.689}}, {"heat3d", {10, 1}},   {"poisson", {19, .67}},
};

TEST(TimeStencils, TheTable) {
  EXPECT_EQ(linear_stencils().size(), known.size());
  for (const LinearStencil& s : linear_stencils()) {
    SCOPED_TRACE(s.name);
    ASSERT_TRUE(known.count(s.name));
    EXPECT_EQ(s.taps.size(), known.at(s.name).taps);
    double sum = 0;
    int farthest = 0;
    for (const auto& [offset, weight] : s.taps) {
      sum += weight / s.divisor;
      for (int d = 0; d < 3; ++d) {
        farthest = std::max(farthest, std::abs(offset[d]));
        EXPECT_TRUE(d < s.rank || offset[d] == 0);
      }
    }
    EXPECT_NEAR(sum, known.at(s.name).sum, .005);
    EXPECT_EQ(farthest, s.radius);
  }
}

TEST(TimeStencils, AHaloStaysAndSoDoesWhatIsAllHalo) {
  for (const LinearStencil& s : linear_stencils()) {
    SCOPED_TRACE(s.name);
    std::array<std::int64_t, 3> small{1, 1, 1}, large{1, 1, 1};
    std::fill_n(small.begin(), s.rank, 2 * s.radius);
    std::fill_n(large.begin(), s.rank, 2 * s.radius + 1);
    EXPECT_EQ(linear(s, uneven(small), 3, {}).values, uneven(small).values);
    const Array<double> after = linear(s, uneven(large), 3, {});
    int changed = 0;
    for (std::size_t i = 0; i < after.values.size(); ++i)
      changed += after.values[i] != uneven(large).values[i];
    EXPECT_EQ(changed, 1);
    EXPECT_NE(after.values[after.values.size() / 2], uneven(large).values[after.values.size() / 2]);
  }
}

TEST(TimeStencils, RepeatKeepsTheMassOfHeat) {
  for (const char* name : {"heat1d", "heat2d", "heat3d"}) {
    const std::int64_t deep = named(name).rank == 3 ? 4 : 1, high = named(name).rank == 1 ? 1 : 5;
    const Array<double> in = uneven({7, high, deep});
    const Array<double> out = linear(named(name), in, 9, {Edge::Repeat});
    EXPECT_NEAR(std::accumulate(out.values.begin(), out.values.end(), 0.),
                std::accumulate(in.values.begin(), in.values.end(), 0.), 1e-9);
  }
}

TEST(TimeStencils, Edges) {
  const LinearStencil far{"far", 1, 5, {{{-5, 0, 0}, 1}}};
  const auto first = [&](const Boundary& boundary) {
    return linear(far, uneven({3, 1, 1}), 1, boundary).at(0);
  };
  const Array<double> in = uneven({3, 1, 1});  // a b c: … c b a | a b c, … b c | a b c, … a b c b | a b c
  EXPECT_EQ(first({Edge::Clamp}), in.at(0));
  EXPECT_EQ(first({Edge::Mirror}), in.at(1));
  EXPECT_EQ(first({Edge::Mirror101}), in.at(1));
  EXPECT_EQ(first({Edge::Repeat}), in.at(1));
  EXPECT_EQ(first({Edge::Constant, 7}), 7);
}

TEST(TimeStencils, TwoDepthMovesAtTwoSpeeds) {
  Array<double> in{{20, 1, 1}, std::vector<double>(20)};
  in.at(10) = 8;
  const Array<double> one = twodepth(in, 1, {}), two = twodepth(in, 2, {});
  EXPECT_EQ(one.at(9), 4);   // from the right, one step back
  EXPECT_EQ(one.at(13), 4);  // from the left, before the first step
  EXPECT_EQ(two.at(8), 2);
  EXPECT_EQ(two.at(12), 2);
  EXPECT_EQ(two.at(13), 4);  // of the input again: the step before the first
}

TEST(TimeStencils, LifeBlinks) {
  Array<std::uint8_t> in{{5, 5, 1}, std::vector<std::uint8_t>(25)};
  in.at(1, 2) = 9, in.at(2, 2) = 1, in.at(3, 2) = 255;
  Array<std::uint8_t> row{{5, 5, 1}, std::vector<std::uint8_t>(25)}, column = row;
  for (int i = 1; i < 4; ++i) row.at(i, 2) = 1, column.at(2, i) = 1;
  EXPECT_EQ(life(in, 0, {Edge::Repeat}).values, row.values);
  EXPECT_EQ(life(in, 1, {Edge::Repeat}).values, column.values);
  EXPECT_EQ(life(in, 6, {Edge::Clamp}).values, row.values);
}

TEST(TimeStencils, FdtdRadiatesFromRowZero) {
  const Array<double> zero{{4, 5, 1}, std::vector<double>(20)};
  const Fields<double> after = fdtd2d<double>({zero, zero, zero}, 3);
  EXPECT_EQ(after.ey.at(3, 0), 2);  // the number of the last step
  EXPECT_DOUBLE_EQ(after.hz.at(0, 0), .7 * 1 + .7 * (2 - .5 * .7));
  EXPECT_EQ(after.hz.at(3, 1), 0);  // the last column is never written
}

}  // namespace
}  // namespace weft::oracle
