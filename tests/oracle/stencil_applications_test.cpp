// Weft's iterated stencils against the plain loops: interpreter and compiled code, every border, sizes that
// are all halo among them, every pixel.
#include <gtest/gtest.h>
#include <weft/weft.hpp>

#include <cstring>
#include <ostream>
#include <random>
#include <sstream>
#include <tuple>

#include "ir/stage_ir.h"
#include "tests/oracle/reference/time_stencils.h"
#include "tests/support/combinations.h"
#include "tests/support/compile.h"

namespace weft::oracle {
namespace {

using Extents = std::vector<std::int64_t>;
constexpr int all_steps[] = {0, 1, 2, 17};

const std::vector<Extents>& sizes(int rank) {
  static const std::vector<Extents> one = {{1}, {2}, {3}, {6}, {7}, {64}, {1031}};
  static const std::vector<Extents> two = {{1, 1}, {1, 7}, {7, 1},   {2, 3},
                                           {3, 3}, {5, 4}, {33, 17}, {131, 67}};
  static const std::vector<Extents> three = {{1, 1, 1}, {2, 7, 5}, {3, 3, 3},
                                             {5, 5, 5}, {4, 1, 9}, {33, 17, 9}};
  return rank == 1 ? one : rank == 2 ? two : three;
}

// ---- arrays and buffers ----

template <class T>
Array<T> random_array(const Extents& extents, std::uint64_t seed) {
  const double most = std::is_integral_v<T> ? 255 : 1000;  // as in the sources
  std::mt19937_64 random(seed);
  Array<T> a;
  std::copy(extents.begin(), extents.end(), a.extents.begin());
  a.values.resize(a.extents[0] * a.extents[1] * a.extents[2]);
  for (T& v : a.values) v = static_cast<T>(static_cast<double>(random() >> 11) * 0x1p-53 * most);
  return a;
}

template <class To, class From>
Array<To> as(const Array<From>& from) {
  return {from.extents, std::vector<To>(from.values.begin(), from.values.end())};
}
template <>
Array<Magnitude> as(const Array<float>& from) {
  Array<Magnitude> to{from.extents, {}};
  for (float v : from.values) to.values.emplace_back(v);
  return to;
}

template <class T>
Buffer buffer_of(const Array<T>& a, int rank) {
  Buffer buffer = Buffer::allocate(type_of<T>(), Extents(a.extents.begin(), a.extents.begin() + rank));
  std::memcpy(buffer.data(), a.values.data(), buffer.bytes());
  return buffer;
}

/// Empty, or the first value that is farther from the expected one than its bound.
std::string difference(const Array<double>& expected, const Buffer& got, const std::vector<double>& bounds) {
  const auto* values = static_cast<const float*>(got.data());
  for (std::size_t i = 0; i < expected.values.size(); ++i) {
    const double off = std::abs(expected.values[i] - static_cast<double>(values[i]));
    if (off <= bounds[i]) continue;
    std::ostringstream text;
    const auto at = static_cast<std::int64_t>(i);
    text << "at (" << at % expected.extents[0] << ", " << at / expected.extents[0] % expected.extents[1]
         << ", " << at / expected.extents[0] / expected.extents[1] << "): expected " << expected.values[i]
         << ", got " << values[i] << ", off by " << off << ", allowed " << bounds[i];
    return text.str();
  }
  return "";
}

// ---- one float field ----

/// What a stencil should give, and how far each value may be from it.
struct Expectation {
  Array<double> values;
  std::vector<double> bounds;
};

/// A float is off by one rounding of the sum of magnitudes per operation on the way to it.
std::vector<double> rounded(const Array<Magnitude>& magnitudes, int operations) {
  std::vector<double> bounds;
  for (const Magnitude& m : magnitudes.values) bounds.push_back(m.value * operations * 0x1p-24);
  return bounds;
}

struct Subject {
  std::string name;
  int rank;
  std::function<Expectation(const Array<float>&, int steps, const Boundary&)> expected;
};
void PrintTo(const Subject& subject, std::ostream* out) { *out << subject.name; }

std::vector<Subject> subjects() {
  std::vector<Subject> all;
  for (const LinearStencil& s : linear_stencils()) {
    all.push_back({s.name, s.rank, [&s](const Array<float>& in, int steps, const Boundary& boundary) {
                     const int operations = steps * (static_cast<int>(s.taps.size()) + 4);
                     return Expectation{linear(s, as<double>(in), steps, boundary),
                                        rounded(linear(s, as<Magnitude>(in), steps, boundary), operations)};
                   }});
  }
  all.push_back({"twodepth", 1, [](const Array<float>& in, int steps, const Boundary& boundary) {
                   return Expectation{twodepth(as<double>(in), steps, boundary),
                                      rounded(twodepth(as<Magnitude>(in), steps, boundary), 3 * steps)};
                 }});
  // Its terms are at most 100, and noise makes them small; so an error stays about as large as it is made.
  all.push_back({"gradient2d", 2, [](const Array<float>& in, int steps, const Boundary& boundary) {
                   const double bound = (1000 + 100 * steps) * 4 * steps * 0x1p-24;
                   return Expectation{gradient2d(as<double>(in), steps, boundary),
                                      std::vector<double>(in.values.size(), bound)};
                 }});
  return all;
}

struct NamedBoundary {
  std::string name;
  Boundary boundary;
};
void PrintTo(const NamedBoundary& boundary, std::ostream* out) { *out << boundary.name; }

const std::vector<NamedBoundary>& boundaries() {
  static const std::vector<NamedBoundary> all = {{"halo", {}},
                                                 {"clamp", {Edge::Clamp}},
                                                 {"mirror", {Edge::Mirror}},
                                                 {"mirror101", {Edge::Mirror101}},
                                                 {"repeat", {Edge::Repeat}},
                                                 {"constant", {Edge::Constant, 40}}};
  return all;
}

Settings settings_of(const NamedBoundary& boundary) {
  Settings settings;
  settings.options["border"] = boundary.name;
  if (boundary.boundary.edge == Edge::Constant) settings.options["border_value"] = "40";
  return settings;
}

Pipeline pipeline_of(const std::string& application, const NamedBoundary& boundary) {
  return build(applications().at(application), settings_of(boundary)).pipeline;
}

std::vector<Program> compiled(const Pipeline& pipeline,
                              const CompileOptions& options = testing_support::user_compile_options()) {
  return {pipeline.compile({Target::Reference, 0, {}}), pipeline.compile(options)};
}

class StencilApplications : public testing::TestWithParam<std::tuple<Subject, NamedBoundary>> {};

TEST_P(StencilApplications, AreThePlainLoops) {
  const auto& [subject, boundary] = GetParam();
  const Pipeline pipeline = pipeline_of(subject.name, boundary);
  // Borders differ in what stands around the loops, which compilers get the halo's right or wrong.
  const bool has_halo = boundary.boundary.edge == Edge::Halo;
  const std::vector<Program> programs =
      compiled(pipeline,
               has_halo ? testing_support::user_compile_options() : testing_support::quick_compile_options());
  std::uint64_t seed = 1;
  for (const Extents& extents : sizes(subject.rank)) {
    const Array<float> in = random_array<float>(extents, seed);
    for (const int steps : all_steps) {
      const Expectation expected = subject.expected(in, steps, boundary.boundary);
      for (std::size_t p = 0; p < programs.size(); ++p) {
        const auto out = programs[p].run({{{"in", buffer_of(in, subject.rank)}}, {{"steps", steps}}, {}});
        EXPECT_EQ(difference(expected.values, out.at(subject.name), expected.bounds), "")
            << (p == 0 ? "interpreter" : "cpu") << ", width " << extents[0] << ", " << steps
            << " steps, seed " << seed;
      }
    }
    ++seed;
  }
}

std::string name_of(const testing::TestParamInfo<std::tuple<Subject, NamedBoundary>>& info) {
  return std::get<0>(info.param).name + "_" + std::get<1>(info.param).name;
}
const std::vector<NamedBoundary> halo(boundaries().begin(), boundaries().begin() + 1),
    borders(boundaries().begin() + 1, boundaries().end());

INSTANTIATE_TEST_SUITE_P(Halo, StencilApplications,
                         testing::ValuesIn(testing_support::combinations(subjects(), halo)), name_of);
// Stencils of as many dimensions differ in their masks: one of them has every border, the others one in turn.
INSTANTIATE_TEST_SUITE_P(All, StencilApplications,
                         testing::ValuesIn(testing_support::combinations<Subject, NamedBoundary>(
                             subjects(), borders,
                             [](const Subject& subject) {
                               const std::string& name = subject.name;
                               return name == "jacobi1d5" || name == "j2d9pt" || name == "box2d1r" ||
                                      name == "star3d2r";
                             })),
                         name_of);

// ---- the others ----

class Life : public testing::TestWithParam<NamedBoundary> {};

TEST_P(Life, IsThePlainLoop) {
  const NamedBoundary& boundary = GetParam();
  const std::vector<Program> programs = compiled(pipeline_of("life", boundary));
  for (const Extents& extents : sizes(2)) {
    Array<std::uint8_t> in = as<std::uint8_t>(random_array<float>(extents, 5));
    for (std::uint8_t& cell : in.values) cell = cell % 3 == 0 ? cell : 0;
    for (const int steps : all_steps) {
      const Array<std::uint8_t> expected = life(in, steps, boundary.boundary);
      for (const Program& program : programs) {
        const Buffer out = program.run({{{"in", buffer_of(in, 2)}}, {{"steps", steps}}, {}}).at("life");
        EXPECT_EQ(0, std::memcmp(out.data(), expected.values.data(), expected.values.size()))
            << extents[0] << "x" << extents[1] << ", " << steps << " steps";
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, Life,
                         testing::ValuesIn(borders),  // it has no halo
                         [](const auto& info) { return info.param.name; });

class Diffusion : public testing::TestWithParam<NamedBoundary> {};

TEST_P(Diffusion, IsThePlainLoop) {
  const NamedBoundary& boundary = GetParam();
  for (const int steps : {0, 1, 4, 9}) {
    Settings settings = settings_of(boundary);
    settings.options["steps"] = std::to_string(steps);
    settings.options["edge"] = "20";
    for (const Program& program : compiled(build(applications().at("diffusion"), settings).pipeline)) {
      for (const Extents& extents : sizes(2)) {
        Array<std::uint8_t> in = random_array<std::uint8_t>(extents, 7);
        const Array<double> expected = diffusion(in, steps, 20, boundary.boundary);
        const Buffer out = program.run({{{"in", buffer_of(in, 2)}}, {}, {}}).at("out");
        const auto* values = static_cast<const std::uint8_t*>(out.data());
        for (std::size_t i = 0; i < expected.values.size(); ++i) {
          ASSERT_NEAR(values[i], expected.values[i], .501)
              << extents[0] << "x" << extents[1] << ", pixel " << i << " after " << steps << " steps";
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, Diffusion,
                         testing::ValuesIn(borders),  // it has no halo
                         [](const auto& info) { return info.param.name; });

TEST(Fdtd, IsThePlainLoop) {
  const std::vector<Program> programs = compiled(build(applications().at("fdtd2d")).pipeline);
  for (const Extents& extents : sizes(2)) {
    const Fields<float> in{random_array<float>(extents, 1), random_array<float>(extents, 2),
                           random_array<float>(extents, 3)};
    for (const int steps : all_steps) {
      const auto expected = fdtd2d<double>({as<double>(in.ex), as<double>(in.ey), as<double>(in.hz)}, steps);
      const auto magnitudes =
          fdtd2d<Magnitude>({as<Magnitude>(in.ex), as<Magnitude>(in.ey), as<Magnitude>(in.hz)}, steps);
      for (const Program& program : programs) {
        const auto out = program.run(
            {{{"ex_in", buffer_of(in.ex, 2)}, {"ey_in", buffer_of(in.ey, 2)}, {"hz_in", buffer_of(in.hz, 2)}},
             {{"steps", steps}},
             {}});
        SCOPED_TRACE(testing::Message() << extents[0] << "x" << extents[1] << ", " << steps << " steps");
        EXPECT_EQ(difference(expected.ex, out.at("ex"), rounded(magnitudes.ex, 12 * steps)), "");
        EXPECT_EQ(difference(expected.ey, out.at("ey"), rounded(magnitudes.ey, 12 * steps)), "");
        EXPECT_EQ(difference(expected.hz, out.at("hz"), rounded(magnitudes.hz, 12 * steps)), "");
      }
    }
  }
}

TEST(Steps, AreNeverNegative) {
  int found = 0;
  for (const auto& [name, application] : applications()) {
    if (application.about.refused) continue;
    const Built built = build(application);
    for (const auto& param : built.pipeline.ir().params) {
      if (param->name != "steps") continue;
      EXPECT_FALSE(param->range.contains(-1)) << name;
      EXPECT_TRUE(param->range.contains(0)) << name;
      EXPECT_EQ(param->initial.as_double(), 1) << name;
      ++found;
    }
  }
  EXPECT_EQ(found, static_cast<int>(subjects().size()) + 2);  // life and fdtd2d
}

}  // namespace
}  // namespace weft::oracle
