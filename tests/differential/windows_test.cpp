// Local operators: windows of all shapes, folds in folds, medians, accumulators.
#include <gtest/gtest.h>

#include "compile/scheduling.h"
#include "emit/cpp.h"
#include "runtime/cpu_program.h"
#include "tests/support/differential.h"

namespace weft::testing_support {
namespace {

Buffer small_integers(const std::vector<std::int64_t>& extents, std::uint64_t seed) {
  return noise(type_of<std::int16_t>(), extents, seed);
}

class Windows : public testing::Test {
 protected:
  const Image<std::int16_t> in{"in"};
  const Accessor src = in.border(Border::mirror101());

  template <class F>
  Stage out(const std::string& name, F f) {
    return stage(name, in.size(), f);
  }
  static void agree(const Outputs& outputs) { expect_agreement(outputs, small_integers({45, 23}, 51)); }
};

TEST_F(Windows, EveryLocalOperator) {
  const Domain domain(3, 5);
  agree({local("sum", src, domain, Local::Sum), local("min", src, domain, Local::Min),
         local("max", src, domain, Local::Max), local("product", src, domain, Local::Product),
         local("median", src, domain, Local::Median), local("mean", src, domain, Local::Mean)});
}

/// Sums of columns that one loop computes and another reads: a tile keeps their rows, or vectors of them where both are inside.
TEST(ColumnsOfTiles, OfEveryWidth) {
  const Image<float> in("in");
  const Accessor src = in.border(Border::clamp());
  const Stage slope =
      stage("slope", in.size(), [&](Var x, Var y) { return src(x + 1, y) - src(x - 1, y) * .5f; });
  const Stage square = stage("square", in.size(), [&](Var x, Var y) { return slope(x, y) * slope(x, y); });
  const auto framed = [&](const Border& border, int frame) {
    const Stage sums = local("sums", slope.border(border), Domain(3, 3), Local::Sum);
    const Stage squares = local("squares", square.border(border), Domain(3, 3), Local::Sum);
    const Stage value = point("value", squares - sums * sums * .04f);
    return Pipeline("framed", stage("out", in.size(), [&](Var x, Var y) {
                      const Expr is_inside =
                          x >= frame && x < in.width() - frame && y >= frame && y < in.height() - frame;
                      return cases().when(is_inside, value(x, y)).otherwise(0.f);
                    }));
  };
  for (const Pipeline& pipeline : {framed(Border::clamp(), 2), framed(Border::clamp(), 1),
                                   framed(Border::mirror(), 0), framed(Border::constant(3.f), 0)}) {
    const Program program = pipeline.compile(compile_options());
    for (const std::int64_t w :
         {1, 5, 35, 36, 37, 40, 47, 48, 49, 52, 53, 63, 64, 65, 67, 68, 69, 100, 321, 400, 700}) {
      SCOPED_TRACE(testing::Message() << w << " pixels");
      expect_agreement(program, pipeline,
                       {{{"in", noise(type_of<float>(), {w, 37}, static_cast<std::uint64_t>(w))}}, {}, {}},
                       Bound{1});
    }
  }
}

TEST_F(Windows, SparseAndRound) {
  const Domain ring{{0, -3}, {-4, 0}, {0, 0}, {4, 1}, {0, 5}};
  agree({local("ring_sum", src, ring, Local::Sum), local("ring_median", src, ring, Local::Median),
         local("disc_max", src, Domain::disc(8), Local::Max),
         local("disc_sum", src, Domain::disc(8), Local::Sum),
         local("from_mask", src, Domain(Mask{{0, 1, 0}, {1, 0, 1}, {0, 1, 0}}), Local::Min)});
}

TEST_F(Windows, EvenExtents) {
  agree({local("even", src, Domain(2, 4), Local::Sum),
         convolve("mask", src, Mask{{1, 2, 3, 4}, {5, 6, 7, 8}})});
}

TEST_F(Windows, FoldInsideFold) {
  agree(out("nested", [&](Var x, Var y) {
    Accum<int> outer = 1;
    for_each(Domain(3, 3), [&](Tap t) {
      Accum<int> inner = 0;
      for_each(Domain(3, 1), [&](Tap s) { inner += src(x + t.x + s.x, y + t.y) * (Expr(s.x) + 2); });
      outer = outer * 3 + inner;
    });
    return outer;
  }));
}

TEST_F(Windows, FoldInsideLargeFold) {
  agree(out("nested", [&](Var x, Var y) {
    Accum<int> outer = 1;
    for_each(Domain(13, 13), [&](Tap t) {
      Accum<int> inner = 0;
      for_each(Domain(5, 5), [&](Tap s) { inner += src(x + t.x + s.x, y + t.y + s.y); });
      outer = outer * 3 + inner;
    });
    return outer;
  }));
}

TEST_F(Windows, InnerLoopAddsToWhatTheOuterHas) {
  for (const int size : {3, 11}) {
    SCOPED_TRACE(size);
    agree(out("nested", [&](Var x, Var y) {
      Accum<int> outer = 0;
      for_each(Domain(3, 3), [&](Tap) {
        Accum<int> inner = 0;
        for_each(Domain(size, size), [&](Tap s) { inner = outer + src(x + s.x, y + s.y); });
        outer = inner;
      });
      return outer;
    }));
  }
}

TEST_F(Windows, InnerAccumulatorLivesOn) {
  agree(out("nested", [&](Var x, Var y) {
    Accum<int> total = 0, count = 0;
    for_each(Domain(3, 3), [&](Tap t) {
      for_each(Domain(1, 3), [&](Tap s) {
        total += src(x + t.x, y + s.y) * count;
        count += 1;
      });
      total = total ^ count;
    });
    return total - count;
  }));
}

TEST_F(Windows, FoldUsesAnotherFoldsResult) {
  for (const int size : {3, 11}) {
    SCOPED_TRACE(size);
    agree(out("variance", [&](Var x, Var y) {
      const Expr mean = sum(Domain(size, size), [&](Tap t) { return src(x + t.x, y + t.y); }) / (size * size);
      Accum<int> spread = mean;
      for_each(Domain(size, size), [&](Tap t) { spread += abs(src(x + t.x, y + t.y) - mean); });
      return spread;
    }));
  }
}

TEST_F(Windows, AccumulatorsThatReadEachOther) {
  for (const int size : {3, 19}) {
    SCOPED_TRACE(size);
    agree(out("fibonacci", [&](Var x, Var y) {
      Accum<int> a = 0, b = 1;
      for_each(Domain(size, size), [&](Tap t) {
        const Expr old = a;
        a = b + src(x + t.x, y + t.y);
        b = old - a * 3;
      });
      return a ^ b;
    }));
  }
}

/// Unrolled, GCC would write out 2^36 factors. Found by: weft verify --random 1 --seed 6030702
TEST_F(Windows, SquaresOfSquares) {
  const Stage power = out("power", [&](Var x, Var y) {
    Accum<float> power = src(x, y) / 32768.f;
    for_each(Domain(36, 1), [&](Tap) { power = power * power; });
    return power;
  });
  expect_agreement(Pipeline("p", power), {{{"in", small_integers({45, 23}, 52)}}, {}, {}}, exactly);
}

TEST_F(Windows, AccumulatorsThatSwap) {
  agree(out("swapped", [&](Var x, Var y) {
    Accum<int> a = 5, b = src(x, y);
    for_each(Domain(3, 1), [&](Tap) {
      const Expr old = a;
      a = b;
      b = old;
    });
    return a * 7 + b;
  }));
}

TEST_F(Windows, OneLoopAfterAnother) {
  agree(out("two_loops", [&](Var x, Var y) {
    Accum<int> a = 0;
    for_each(Domain(3, 3), [&](Tap t) { a += src(x + t.x, y + t.y); });
    for_each(Domain(15, 15), [&](Tap t) { a = max(a, src(x + t.x, y + t.y)) - 1; });
    return a;
  }));
}

TEST_F(Windows, TapsAsValuesAndInConditions) {
  agree(out("conditional", [&](Var x, Var y) {
    return sum(Domain(5, 5), [&](Tap t) {
      return select(Expr(t.x) * Expr(t.y) > 0, src(x + t.x, y - t.y), Expr(t.y) * 2 + Expr(x));
    });
  }));
}

TEST_F(Windows, DilatedByAFactor) {
  agree(out("spaced", [&](Var x, Var y) {
    return sum(Domain(3, 3), [&](Tap t) { return src(x + 5 * t.x, y - 4 * t.y) * (Expr(t.x) + 3); });
  }));
}

TEST_F(Windows, MasksAtTaps) {
  const Mask row = Mask::from(21, 15, [](int dx, int dy) { return dx * dy + 1; });
  agree({convolve("large", src, row), out("twice", [&](Var x, Var y) {
           return sum(Domain(21, 15), [&](Tap t) { return row(t) * src(x + t.x, y + t.y) + row(t); });
         })});
}

TEST_F(Windows, MediansOfManyPoints) {
  for (const auto& [width, height] : {std::pair{5, 5}, {7, 7}, {11, 11}, {2, 3}, {1, 1}}) {
    SCOPED_TRACE(testing::Message() << width << "x" << height);
    agree(local("median", src, Domain(width, height), Local::Median));
  }
}

TEST_F(Windows, MedianOfComputedValues) {
  agree({out("of_differences",
             [&](Var x, Var y) {
               return median(Domain(3, 3), [&](Tap t) { return abs(src(x + t.x, y + t.y) - src(x, y)); }) + 1;
             }),
         out("of_sums",
             [&](Var x, Var y) {
               return median(Domain(3, 3), [&](Tap t) {
                 return sum(Domain(3, 1), [&](Tap s) { return src(x + t.x + s.x, y + t.y); });
               });
             }),
         out("of_medians",
             [&](Var x, Var y) {
               return median(Domain(3, 1), [&](Tap t) {
                 return median(Domain(1, 3), [&](Tap s) { return src(x + t.x, y + s.y); });
               });
             }),
         out("in_a_fold", [&](Var x, Var y) {
           return sum(Domain(3, 1), [&](Tap t) {
             return median(Domain(1, 3), [&](Tap s) { return src(x + t.x, y + s.y); });
           });
         })});
}

TEST_F(Windows, MedianOfFloatsAndUnsigned) {
  const Image<float> floats("in");
  expect_agreement(local("median", floats.border(Border::clamp()), Domain(5, 5), Local::Median),
                   noise(floats.type(), {45, 23}, 52));
  const Image<std::uint64_t> longs("in");
  expect_agreement(local("median", longs.border(Border::clamp()), Domain(3, 3), Local::Median),
                   noise(longs.type(), {45, 23}, 53));
}

/// Each tap of the inner window reads the accumulator: its formula must not be written out for every one of
/// them.
TEST_F(Windows, FoldThatAnInnerWindowReads) {
  const Stage nested = out("nested", [&](Var x, Var y) {
    Accum<int> a = 0;
    for_each(Domain(2, 2), [&](Tap t) {
      a = minimum(Domain(3, 3), [&](Tap s) { return a * 5 - src(x + s.x + t.x, y + s.y); });
    });
    return a;
  });
  const std::string text = emit::emit_for_loading(compile::lowered(Pipeline("nested", nested).ir()));
  EXPECT_LT(text.size(), 40'000u);
  agree(nested);
}

/// The identity that a window starts from is a value like any other: max(-inf, NaN) is -inf, and 0 + -0 is 0.
TEST_F(Windows, StrictWindowsBeginWithTheirIdentity) {
  const Image<float> floats("in");
  const Accessor src_ = floats.border(Border::clamp());
  const Expr one = 1.f;
  expect_agreement(
      {local("least", src_, Domain(1, 1), Local::Min), local("greatest", src_, Domain(1, 2), Local::Max),
       local("sign", src_, Domain(1, 1), Local::Sum, [&](Expr e) { return one / e; }),
       local("least_of_many", src_, Domain(5, 4), Local::Min, [&](Expr e) { return one / e; }),
       local("greatest_of_many", src_, Domain(3, 6), Local::Max, [&](Expr e) { return one / e; })},
      extreme_floats(floats.type(), {45, 23}, 58));
}

TEST_F(Windows, SeveralLanes) {
  const Image<Vec<std::uint8_t, 4>> rgba("in");
  const Accessor pixels = rgba.border(Border::clamp());
  const auto lanes = stage("fold", rgba.size(), [&](Var x, Var y) {
    Accum<Vec<int, 4>> total(0);
    Accum<int> greys = 1;
    for_each(Domain(13, 13), [&](Tap t) {
      const Expr p = pixels(x + t.x, y + t.y);
      total += p * greys;
      greys = greys + p.lane(0) - p.lane(3);
    });
    return total + greys;
  });
  expect_agreement({lanes, local("median", pixels, Domain(3, 3), Local::Median)},
                   noise(rgba.type(), {45, 23}, 54));
}

/// One or two coefficients that differ are summed apart from the box that is left.
TEST_F(Windows, MasksThatAreEvenButForAFewPoints) {
  const Mask centre = Mask::from(5, 5, [](int x, int y) { return x == 0 && y == 0 ? -24 : 1; });
  const Mask corners = Mask::from(3, 3, [](int x, int y) { return x == y && x != 0 ? 5 * x : -2; });
  for (const Border& border : {Border::clamp(), Border::repeat(), Border::constant(9)}) {
    expect_agreement(
        {convolve("centre", in.border(border), centre), convolve("corners", in.border(border), corners)},
        small_integers({45, 23}, 58));
  }
}

TEST_F(Windows, ValidShrinksTheResult) {
  const Image<std::int16_t> image("in");
  const Stage once = convolve("once", image.valid(), Mask{{1, 2, 1}, {0, 1, 0}});
  const Stage twice = local("twice", once.valid(), Domain(5, 3), Local::Max);
  expect_agreement({twice, once}, small_integers({45, 23}, 55));
  expect_agreement(twice, small_integers({6, 4}, 56));
}

/// A fold of many taps is computed strip by strip along the row: every remainder of a strip occurs here.
TEST_F(Windows, LargeFoldsOverRowsOfAnyWidth) {
  const auto stage_of = [&](const Accessor& read) {
    return stage("large", in.size(), [&](Var x, Var y) {
      Accum<int> total = 0;
      for_each(Domain(13, 13), [&](Tap t) { total = total * 3 + read(x + t.x, y + t.y); });
      return total - read(x, y);
    });
  };
  for (const Border& border : {Border::clamp(), Border::constant(9)}) {
    const Pipeline pipeline("strips", stage_of(in.border(border)));
    const Program program = pipeline.compile(compile_options());
    for (std::int64_t width = 1; width <= 300; width += width < 150 ? 1 : 7) {
      SCOPED_TRACE(width);
      expect_agreement(program, pipeline, {{{"in", small_integers({width, 2}, 57)}}, {}, {}});
    }
  }
}

/// Lanes that share an exp are computed strip by strip, too, with borders and without.
TEST_F(Windows, LanesThatShareAFunctionOverRowsOfAnyWidth) {
  const Image<Vec<float, 3>> rgb("in");
  const auto near = rgb.border(Border::clamp());
  const Pipeline pipeline("lanes", stage("shared", rgb.size(), [&](Var x, Var y) {
                            const Expr here = near(x, y), next = near(x + 1, y);
                            return here * exp(-abs(here.lane(0) - next.lane(2)) * .01f) + next;
                          }));
  const Program program = pipeline.compile(compile_options());
  for (const std::int64_t width : {1, 2, 15, 16, 17, 33, 1023, 1024, 1025, 1026, 2049}) {
    SCOPED_TRACE(width);
    expect_agreement(program, pipeline, {{{"in", noise(rgb.type(), {width, 3}, 58)}}, {}, {}}, {1e-4});
  }
}

/// Passes over a strip make several taps of a window that is no box; the first pass makes those left over.
TEST_F(Windows, LargeFoldsOverTapsInOrder) {
  for (const int radius : {6, 7, 8}) {  // 113, 149, 197 taps
    SCOPED_TRACE(radius);
    const Accessor read = in.border(Border::clamp());
    const Pipeline pipeline("disc", stage("large", in.size(), [&](Var x, Var y) {
                              Accum<int> total = 0;
                              for_each(Domain::disc(radius), [&](Tap t) {
                                total = total * 3 + read(x + t.x, y + t.y) + Expr(t.x) * 5;
                              });
                              return total - read(x, y);
                            }));
    expect_agreement(pipeline.compile(compile_options()), pipeline,
                     {{{"in", small_integers({90, 3}, 58)}}, {}, {}});
  }
}

// Found by: weft verify --random 1 --seed 50010261. GCC 12 loses a pixel where it makes vectors of the taps.
TEST(BorderPixels, AreSumsOfTheirTaps) {
  const Image<Vec<std::uint16_t, 3>> in("in");
  const Pipeline pipeline("sums", local("sums", in.border(Border::constant(0)), Domain(8, 1), Local::Sum));
  for (const std::vector<std::int64_t>& size : {std::vector<std::int64_t>{1, 1}, {5, 2}, {19, 3}})
    expect_agreement(pipeline, {{{"in", noise(in.type(), size, 61)}}, {}, {}});
}

/// Loops over taps, pixels one after the other and selected medians, where usual code is straight.
TEST(Code, IsAsShortAsAFileWantsIt) {
  const Image<float> in("in"), coarse("coarse");
  const Accessor src = in.border(Border::mirror()), half = coarse.border(Border::clamp());
  const Stage sharp = local("sharp", src, Domain(3, 3), Local::Median);
  const Accessor s = sharp.border(Border::clamp());
  const Stage out = stage("out", in.size(), [&](Var x, Var y) {
    return sum(Domain(5, 5), [&](Tap t) { return s(x + t.x, y + t.y) * s(x - t.x, y); }) + half(x / 2, y);
  });
  const Pipeline pipeline("brief", Outputs(out).strict());
  const auto text_with = [&](const std::string& code) {
    const std::string kernel = R"({"code": )" + code + "}";
    CompileOptions options = compile_options();
    options.schedule = R"({"groups": [], "kernels": {"sharp": )" + kernel + R"(, "out": )" + kernel + "}}";
    expect_agreement(
        pipeline.compile(options), pipeline,
        {{{"in", noise(in.type(), {37, 19}, 5)}, {"coarse", noise(in.type(), {19, 19}, 6)}}, {}, {}});
    compile::Scheduling scheduling{.groups = options.schedule};
    return emit::emit_for_users(compile::lowered(pipeline.ir(), target::Processor::Cpu, scheduling))
        .at("brief.cpp");
  };
  const std::string usual = text_with("{}");
  EXPECT_NE(text_with(R"({"window": 1, "pass": 1})"), usual);
  EXPECT_NE(text_with(R"({"phases": 1})"), usual);
  EXPECT_NE(text_with(R"({"network": 1})"), usual);
}

/// A window that reads a coarser image at its own pixel beside what it has accumulated. Found by: weft verify --random 1
/// --seed 990024
TEST_F(Windows, ThatReadBetweenPixels) {
  Image<int> in("in");
  const Extents one(1, 1, 1);
  const Stage coarse = stage("coarse", BoxAt{{0, 0, 0}, one}, [](Var, Var, Var) { return Expr(1); });
  const Stage out = stage("out", BoxAt{{0, 0, 0}, one}, [&](Var x, Var y, Var) {
    Accum<int> pixel{Expr(1)}, sum{Expr(1)};
    for_each(Domain(Mask(1, 1, {1})), [&](Tap t) {
      pixel = in(Index(0), y + t[1]);
      sum = coarse(x / 2, y, Index(0)) + Expr(pixel);
    });
    return pack(Expr(1), Expr(sum), Expr(3));
  });
  expect_agreement(out, picture(type_of<int>(), {13, 5}, 1));
}

}  // namespace
}  // namespace weft::testing_support
