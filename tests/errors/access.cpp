// Reads that can leave what they read, and reads that cannot.
#include "ir/affine.h"
#include "tests/errors/expect_error.h"

using namespace weft;

TEST(Access, StencilInY) {
  Image<float> in("in");
  Stage blur = point("blur", in * 2.f);
  std::string here;
  Stage out = stage("out", in.size(), [&](Var x, Var y) {
    here = NEXT_LINE();
    return (blur(x, y - 1) + blur(x, y) + blur(x, y + 1)) / 3;
  });
  EXPECT_ERROR_AT(here, Pipeline("p", out), R"(HERE: error: 'out' reads 'blur' outside its box
  needs   blur y in [-1, h]
  defined blur y in [0, h - 1]
  help: read it through blur.border(Border::clamp()) or another mode, or make the box of 'out' smaller)");
}

TEST(Access, WindowOfAMask) {
  Image<float> in("in");
  const std::string here = NEXT_LINE();
  Stage out = convolve("out", in, Mask{{1, 2, 1}, {2, 4, 2}, {1, 2, 1}});
  EXPECT_ERROR_AT(here, Pipeline("p", out), R"(HERE: error: 'out' reads 'in' outside its box
  needs   in x in [-1, w], y in [-1, h]
  defined in x in [0, w - 1], y in [0, h - 1]
  help: read it through in.border(Border::clamp()) or another mode, or make the box of 'out' smaller)");
}

TEST(Access, InForEach) {
  Image<float> in("in");
  std::string here;
  Stage out = stage("out", in.size(), [&](Var x, Var y) {
    Accum<float> sum = 0.f;
    for_each(Domain(4, 1), [&](Tap t) {
      here = NEXT_LINE();
      sum += in(x + 2 * t.x, y);
    });
    return Expr(sum);
  });
  EXPECT_ERROR_AT(here, Pipeline("p", out), R"(HERE: error: 'out' reads 'in' outside its box
  needs   in x in [-4, w + 1]
  defined in x in [0, w - 1]
  help: read it through in.border(Border::clamp()) or another mode, or make the box of 'out' smaller)");
}

TEST(Access, OffsetInX) {
  Image<float> a("a"), b("b", a.size());
  std::string here;
  Stage out = stage("out", a.size(), [&](Var x, Var y) {
    here = NEXT_LINE();
    return a(x, y) + b(x + 1, y);
  });
  EXPECT_ERROR_AT(here, Pipeline("p", out), R"(HERE: error: 'out' reads 'b' outside its box
  needs   b x in [1, a.w]
  defined b x in [0, a.w - 1]
  help: read it through b.border(Border::clamp()) or another mode, or make the box of 'out' smaller)");
}

TEST(Access, ScaledBeyondTheLastPair) {
  Image<float> in("in");
  std::string here;
  Stage out = stage("out", in.size() / 2, [&](Var x, Var y) {
    here = NEXT_LINE();
    return in(2 * x + 2, y);
  });
  EXPECT_ERROR_AT(here, Pipeline("p", out), R"(HERE: error: 'out' reads 'in' outside its box
  needs   in x in [2, 2*(w/2)]
  defined in x in [0, w - 1]
  such as x = 0, y = 0 for w = 2, h = 2
  help: read it through in.border(Border::clamp()) or another mode, or make the box of 'out' smaller)");
}

TEST(Access, UpsamplingAnOddSize) {
  Image<float> in("in");
  Stage half = stage("half", in.size() / 2, [&](Var x, Var y) { return in(2 * x, 2 * y); });
  std::string here;
  Stage out = stage("out", {in.width(), in.height() / 2}, [&](Var x, Var y) {
    here = NEXT_LINE();
    return half(x / 2, y);
  });
  EXPECT_ERROR_AT(here, Pipeline("p", out), R"(HERE: error: 'out' reads 'half' outside its box
  needs   half x in [0, (w + 1)/2 - 1]
  defined half x in [0, w/2 - 1]
  such as x = 0, y = 0 for w = 1, h = 2
  help: read it through half.border(Border::clamp()) or another mode, or make the box of 'out' smaller)");
}

TEST(Access, InsideACaseThatAllowsTooMuch) {
  Image<float> in("in");
  std::string here;
  Stage out = stage("out", in.size(), [&](Var x, Var y) {
    here = NEXT_LINE();
    return cases().when(x >= 1, in(x - 2, y)).otherwise(0);
  });
  EXPECT_ERROR_AT(here, Pipeline("p", out), R"(HERE: error: 'out' reads 'in' outside its box
  needs   in x in [-1, w - 3]
  defined in x in [0, w - 1]
  help: read it through in.border(Border::clamp()) or another mode, or make the box of 'out' smaller)");
}

TEST(Access, InTheConditionOfACase) {
  Image<float> in("in");
  std::string here;
  Stage out = stage("out", in.size(), [&](Var x, Var y) {
    here = NEXT_LINE();
    return cases().when(in(x, y + 1) > 0.f, in(x, y)).otherwise(0);
  });
  EXPECT_ERROR_AT(here, Pipeline("p", out), R"(HERE: error: 'out' reads 'in' outside its box
  needs   in y in [1, h]
  defined in y in [0, h - 1]
  help: read it through in.border(Border::clamp()) or another mode, or make the box of 'out' smaller)");
}

TEST(Access, GatherWithoutABorder) {
  Image<std::uint8_t> in("in");
  Image<float> table("table", 1);
  std::string here;
  Stage out = stage("out", in.size(), [&](Var x, Var y) {
    here = NEXT_LINE();
    return table(in(x, y));
  });
  EXPECT_ERROR_AT(here, Pipeline("p", out),
                  R"(HERE: error: 'out' reads 'table' at a computed index without a border
  computed table x
  help: say what is outside: table.border(Border::clamp()) or another mode)");
}

TEST(Access, CropOutsideTheImage) {
  Image<float> in("in");
  const auto middle = in.crop({in.width() / 2, in.height() / 2}, in.size() / 2 * 2);
  const std::string here = NEXT_LINE();
  Stage out = convolve("out", middle.border(Border::clamp()), Mask{{1, 1, 1}});
  EXPECT_ERROR_AT(here, Pipeline("p", out),
                  R"(HERE: error: 'out' reads a crop of 'in' that is not inside it for every size
  crop    in x in [w/2, 3*(w/2) - 1]
  defined in x in [0, w - 1]
  help: derive the crop from the source's size(), or fix the size of the image: Image<T>("in", {640, 480}))");
}

// ---- programs that are right ----

TEST(Access, PairsOfAHalvedImage) {
  Image<float> in("in");
  Pipeline("p", stage("half", in.size() / 2,
                      [&](Var x, Var y) { return in(2 * x, y) + in(2 * x + 1, 2 * y + 1); }));
}

TEST(Access, GuardedByACase) {
  Image<float> in("in");
  Pipeline("p", stage("left", in.size(),
                      [&](Var x, Var y) { return cases().when(x >= 1, in(x - 1, y)).otherwise(in(x, y)); }));
  Pipeline("q", stage("left", in.size(), [&](Var x, Var y) {
             return cases().when(x < 1 || y < 1, 0.f).otherwise(in(x - 1, y - 1));
           }));
}

TEST(Access, GuardedByACaseThatDependsOnPixels) {
  Image<float> in("in");
  Pipeline("p", stage("left", in.size(), [&](Var x, Var y) {
             return cases().when(x >= 1 && in(x, y) > 0.f, in(x - 1, y)).otherwise(in(x, y));
           }));
}

TEST(Access, ShrinkingByTheWindow) {
  Image<float> in("in");
  const Mask box{{1, 1, 1}, {1, 1, 1}, {1, 1, 1}};
  Stage once = convolve("once", in.valid(), box);
  Pipeline("p", convolve("twice", once.valid(), box));
}

TEST(Access, ChainsOfHalves) {
  Image<float> in("in");
  Stage level = point("level0", in * 1.f);
  for (int i = 1; i < 8; ++i) {
    level = stage("level" + std::to_string(i), level.size() / 2,
                  [&](Var x, Var y) { return level(2 * x, 2 * y) + level(2 * x + 1, 2 * y + 1); });
  }
  Pipeline("p", level);
}

TEST(Access, UpAgainFromRoundedUpHalves) {
  Image<float> in("in");
  const Extents half_size{(in.width() + 1) / 2, (in.height() + 1) / 2};
  Stage half = stage("half", half_size, [&](Var x, Var y) { return in(2 * x, 2 * y); });
  Pipeline("p", stage("up", in.size(), [&](Var x, Var y) { return half(x / 2, y / 2); }));
}

TEST(Access, Mirrored) {
  Image<float> in("in");
  Pipeline("p", stage("flip", in.size(), [&](Var x, Var y) { return in(in.width() - 1 - x, y); }));
}

TEST(Access, ParityByModulo) {
  Image<float> in("in");
  Pipeline("p",
           stage("pairs", in.size() / 2 * 2, [&](Var x, Var y) { return in(x - x % 2 + (1 - x % 2), y); }));
}

TEST(Access, FixedSizes) {
  Image<float> table("table", {16});
  Pipeline("p", stage("reversed", table.size(), [&](Var x) { return table(15 - x); }));
}
