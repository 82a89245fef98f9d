#include "ir/contents.h"

#include <gtest/gtest.h>
#include <weft/weft.hpp>

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace weft {
namespace {

/// What can be different in a pipeline that has something of most things.
struct Knobs {
  std::string pipeline = "p", image = "in", stage = "smooth", param = "k";
  float initial = 0.5f, coefficient = 2, constant = 3;
  double least = 0;
  Border border = Border::clamp();
  int tap = 1, origin = 0, extent = 0, first = 1, window = 3, begin = 0;
  bool strict = false, twice = false, multiplied = false, rooted = false, saturated = false,
       other_last = false;
};

Outputs defined(const Knobs& knobs) {
  const Image<float> in(knobs.image.c_str());
  const Param<float> k(knobs.param.c_str(), knobs.initial, at_least(knobs.least));
  const auto outside = in.border(knobs.border);
  const Stage smooth = convolve(knobs.stage, outside, Mask{{1, knobs.coefficient, 1}, {0, 1, 0}, {0, 0, 0}});
  const Stage half = stage(
      "half",
      BoxAt{{knobs.begin + in.width() * 0, in.height() * 0}, {in.width() / 2 + knobs.extent, in.height()}},
      [&](Var x, Var y) { return smooth.border(knobs.border)(x + knobs.origin, y) * k; });
  const Stage middle = stage("middle", in.size(), [&](Var x, Var y) {
    return median(Domain(knobs.window, 3), [&](Tap t) { return outside(x + knobs.tap * t.x, y + t.y); });
  });
  const Stage last = stage("last", in.size(), [&](Var x, Var y) {
    const Expr a = middle(x, y) + knobs.constant, b = knobs.twice ? middle(x, y) + knobs.constant : a;
    const Expr both = knobs.multiplied ? a * b : a + b;
    const Expr chosen = select(x + knobs.first < y, both, knobs.rooted ? sqrt(a) : exp(a));
    return knobs.saturated ? saturate<std::uint8_t>(chosen) : cast<std::uint8_t>(chosen);
  });
  Outputs outputs = knobs.other_last ? Outputs{last, half} : Outputs{half, last};
  return outputs.strict(knobs.strict);
}

std::string contents_of(const Knobs& knobs) {
  return ir::contents_of(Pipeline(knobs.pipeline, defined(knobs)).ir());
}

TEST(Contents, AreTheSameForTheSameDefinition) {
  EXPECT_EQ(contents_of({}), contents_of({}));
  const auto at_another_place = [] {
    return ir::contents_of(Pipeline("p", point("out", Image<int>("in") + 1)).ir());
  };
  EXPECT_EQ(ir::contents_of(Pipeline("p", point("out", Image<int>("in") + 1)).ir()), at_another_place());
}

TEST(Contents, TellWhatDiffers) {
  using Change = std::function<void(Knobs&)>;
  const std::vector<std::pair<std::string, Change>> changes = {
      {"nothing", [](Knobs&) {}},
      {"the pipeline's name", [](Knobs& k) { k.pipeline = "q"; }},
      {"an image's name", [](Knobs& k) { k.image = "picture"; }},
      {"a stage's name", [](Knobs& k) { k.stage = "smoothed"; }},
      {"a parameter's name", [](Knobs& k) { k.param = "l"; }},
      {"a parameter's value", [](Knobs& k) { k.initial = 0.25f; }},
      {"a parameter's range", [](Knobs& k) { k.least = 0.125; }},
      {"a coefficient", [](Knobs& k) { k.coefficient = 4; }},
      {"a constant", [](Knobs& k) { k.constant = 3.0000002f; }},
      {"a constant's sign", [](Knobs& k) { k.constant = -3; }},
      {"a border", [](Knobs& k) { k.border = Border::mirror(); }},
      {"a border of a constant", [](Knobs& k) { k.border = Border::constant(0); }},
      {"another constant of it", [](Knobs& k) { k.border = Border::constant(1); }},
      {"a distance between taps", [](Knobs& k) { k.tap = 2; }},
      {"where a pixel is read", [](Knobs& k) { k.origin = -1; }},
      {"an extent", [](Knobs& k) { k.extent = -1; }},
      {"where a box begins", [](Knobs& k) { k.begin = -1; }},
      {"a coordinate", [](Knobs& k) { k.first = 2; }},
      {"a window", [](Knobs& k) { k.window = 5; }},
      {"strictness", [](Knobs& k) { k.strict = true; }},
      {"a value written twice", [](Knobs& k) { k.twice = true; }},
      {"an operator", [](Knobs& k) { k.multiplied = true; }},
      {"a function", [](Knobs& k) { k.rooted = true; }},
      {"a cast", [](Knobs& k) { k.saturated = true; }},
      {"the order of outputs", [](Knobs& k) { k.other_last = true; }},
  };
  std::map<std::string, std::string> seen;
  for (const auto& [what, change] : changes) {
    Knobs knobs;
    change(knobs);
    const auto [other, is_new] = seen.emplace(contents_of(knobs), what);
    EXPECT_TRUE(is_new) << what << " is not told from " << other->second;
  }
}

TEST(Contents, TellReductionsScattersAndEvolutionsApart) {
  const Image<std::uint8_t> in("in");
  const auto histogram = [&](int bins, int weight, bool takes_most) {
    return scatter("bins", {bins}, 0, in, [&](Var x, Var y) {
      return takes_most ? maximum({in(x, y)}, weight) : add({in(x, y)}, weight);
    });
  };
  const auto combined = [&](const Reduce& op) { return reduce("one", cast<float>(in), op); };
  const auto first = [](const Expr& a, const Expr& b) { return a + b * 0.f; };
  const auto heat = [](int steps, int age, bool is_frozen) {
    Field<float> u("u");
    if (is_frozen) u.freeze(2);
    const auto before = u.back(age).border(Border::repeat());
    return evolve("heat", u, Param<int>("steps", steps),
                  [&](Var x, Var y) { return 0.5f * before(x - 1, y); });
  };
  const std::vector<Outputs> all = {histogram(256, 1, false),
                                    histogram(128, 1, false),
                                    histogram(256, 2, false),
                                    histogram(256, 1, true),
                                    combined(Reduce::sum()),
                                    combined(Reduce::max()),
                                    combined(Reduce(first).identity(0.f)),
                                    combined(Reduce(first).identity(1.f)),
                                    combined(Reduce(first).identity(0.f).commutative()),
                                    heat(1, 1, false),
                                    heat(2, 1, false),
                                    heat(1, 2, false),
                                    heat(1, 1, true)};
  std::map<std::string, std::size_t> seen;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto [other, is_new] = seen.emplace(ir::contents_of(Pipeline("p", all[i]).ir()), i);
    EXPECT_TRUE(is_new) << i << " is not told from " << other->second;
  }
}

}  // namespace
}  // namespace weft
