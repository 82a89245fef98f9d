#include "plan/march.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <weft/weft.hpp>

#include "ir/visit.h"
#include "pipelines.h"
#include "plan/core_strip.h"
#include "plan/passes.h"
#include "rewrite/prepare.h"
#include "schedule/groups.h"
#include "schedule/schedule.h"

namespace weft::schedule::marching_test {
namespace {

/// "in [-1, 1] 3 rows, 1 ahead; half 1x1 of 2x2 [0, 0] 1 rows, 0 ahead": what is kept, its rate unless that
/// is the result's, the columns that are needed of it, its rows, and how far it is ahead.
std::string march_text(const Outputs& outputs) {
  const ir::Pipeline pipeline = Pipeline("test", outputs).ir();
  const MarchOrWhy found = march_of(reads_of_stages(pipeline));
  if (!found.march) return found.why;
  std::string text;
  for (const RollingRows& r : found.march->rolling) {
    const auto& step = found.march->step;
    text += (text.empty() ? "" : "; ") + r.source().name;
    if (r.rate != step) text += fmt::format(" {}x{} of {}x{}", r.rate[0], r.rate[1], step[0], step[1]);
    text += " [" + std::to_string(r.x().min) + ", " + std::to_string(r.x().max) + "] " +
            std::to_string(r.rows) + " rows, " + std::to_string(r.ahead) + " ahead";
  }
  return text;
}

const Mask cross{{0.f, 1.f, 0.f}, {1.f, 1.f, 1.f}, {0.f, 1.f, 0.f}};

TEST(Marching, HalosAddUp) {
  const Image<float> in("in");
  Stage a = convolve("a", in.border(Border::clamp()), cross);
  Stage b = convolve("b", a.border(Border::clamp()), cross);
  EXPECT_EQ(march_text({b}), "in [-2, 2] 3 rows, 2 ahead; a [-1, 1] 3 rows, 1 ahead");
}

TEST(Marching, WhatIsReadLateIsKept) {
  const Image<float> in("in");
  Stage a = convolve("a", in.border(Border::clamp()), cross);
  Stage b = convolve("b", a.border(Border::clamp()), cross);
  Stage c = stage("c", in.size(),
                  [&](Var x, Var y) { return in.border(Border::clamp())(x, y - 1) - a(x, y) - b(x, y); });
  EXPECT_EQ(march_text({c}),
            "in [-2, 2] 4 rows, 2 ahead; a [-1, 1] 3 rows, 1 ahead; b [0, 0] 1 rows, 0 ahead");
}

TEST(Marching, BordersFindPixelsOnTheOtherSide) {
  const Image<float> in("in");
  const auto shifted = [&](const Border& border) {
    Stage a = point("a", in + 1.f);
    return stage("b", in.size(), [&](Var x, Var y) { return a.border(border)(x + 1, y - 2); });
  };
  EXPECT_EQ(march_text({shifted(Border::clamp())}), "a [0, 1] 3 rows, 0 ahead");
  EXPECT_EQ(march_text({shifted(Border::mirror())}), "a [-1, 1] 5 rows, 2 ahead");
  EXPECT_EQ(march_text({shifted(Border::constant(0.f))}), "a [1, 1] 1 rows, -2 ahead");
}

TEST(Marching, OtherResolutionsGoAtOtherRates) {
  const Image<float> in("in");
  Stage a = point("a", in + 1.f);
  const Extents half{(in.width() + 1) / 2, (in.height() + 1) / 2};
  const Accessor fine = a.border(Border::clamp());
  Stage down =
      stage("down", half, [&](Var x, Var y) { return fine(2 * x, 2 * y) + fine(2 * x + 1, 2 * y + 1); });
  EXPECT_EQ(march_text({down}), "a 2x2 of 1x1 [0, 0] 2 rows, 0 ahead");

  const Accessor edge = down.border(Border::clamp());
  Stage up = stage("up", in.size(), [&](Var x, Var y) { return edge((x + 1) / 2, y / 2 - 1) - a(x, y); });
  EXPECT_EQ(march_text({up}), "a [-2, 2] 2 rows, 0 ahead; down 1x1 of 2x2 [-1, 1] 2 rows, 0 ahead");
}

TEST(Marching, OneRateForAllReads) {
  const Image<float> in("in");
  Stage a = stage("a", {2 * in.width(), in.height()}, [&](Var x, Var y) { return in(x / 2, y); });
  const auto of = [&](const auto& f) { return march_text({stage("b", in.size(), f)}); };
  EXPECT_EQ(of([&](Var x, Var y) { return a(2 * x, y) + a(x, y); }), "'a' is needed at two scales");
  a = point("a", in + 1.f);
  EXPECT_EQ(of([&](Var x, Var y) { return a(x / 3, y); }),
            "'a' is needed at a scale that is no power of two up to 4");
}

TEST(Marching, NeedsPixelsForBordersToFind) {
  const Image<float> in("in");
  const auto narrow = [&](const Index& extent) {
    return stage("a", {extent, in.height()}, [&](Var x, Var y) { return in(x, y); });
  };
  const auto doubled = [&](const Stage& a, const Border& border) {
    return stage("b", in.size(), [&](Var x, Var y) { return a.border(border)(x / 2, y); });
  };
  const Index half = in.width() / 2;
  EXPECT_EQ(march_text({doubled(narrow(half), Border::clamp())}),
            "'b' reads 'a' with a border, and may find it empty; never_empty() would say that it is not");
  EXPECT_EQ(march_text({doubled(never_empty(narrow(half)), Border::clamp())}),
            "in 1x1 of 2x1 [-1, 0] 1 rows, 0 ahead; a 1x1 of 2x1 [-1, 0] 1 rows, 0 ahead");
  EXPECT_EQ(march_text({doubled(narrow(half), Border::constant(0.f))}),
            "in 1x1 of 2x1 [0, 0] 1 rows, 0 ahead; a 1x1 of 2x1 [0, 0] 1 rows, 0 ahead");
}

TEST(Marching, RepeatsAreComputedBeyondTheEnds) {
  const Image<float> in("in");
  const auto repeated = [&](const Stage& a) {
    return march_text(
        {stage("b", in.size(), [&](Var x, Var y) { return a.border(Border::repeat())(x + 1, y - 2); })});
  };
  EXPECT_EQ(repeated(point("a", in + 1.f)), "in [1, 1] 1 rows, -2 ahead; a [1, 1] 1 rows, -2 ahead");
  EXPECT_EQ(repeated(convolve("a", in.border(Border::repeat()), cross)),
            "in [0, 2] 3 rows, -1 ahead; a [1, 1] 1 rows, -2 ahead");
  EXPECT_EQ(repeated(convolve("a", in.border(Border::clamp()), cross)),
            "'a' reads 'in' without repeating it, and is itself read with the border repeat");
  EXPECT_EQ(repeated(stage("a", in.size(), [&](Var x, Var y) { return in(x, y) * cast<float>(y); })),
            "'a' is read with the border repeat, and depends on where its pixels are");
}

TEST(Marching, StripsAreAsWideAsTheirRowsFitACache) {
  const Image<float> in("in");
  const auto march_of_blurs = [&](int count) {
    Stage last = point("s0", in + 1.f);
    for (int s = 1; s < count; ++s) {
      const Accessor before = last.border(Border::clamp());
      last = stage("s" + std::to_string(s), in.size(),
                   [&](Var x, Var y) { return before(x, y - 2) + before(x, y + 2); });
    }
    const ir::Pipeline pipeline = Pipeline("test", last).ir();
    std::vector<StageReads> members;
    for (const ir::StagePtr& stage : pipeline.stages) members.push_back(reads_of(*stage));
    return march_of(members).march.value();
  };
  const auto bytes = [](const March& march, int width) {
    int rows = 0;
    for (const RollingRows& r : march.rolling) rows += room_for_rows(r);
    return rows * width * 4;
  };
  const March few = march_of_blurs(4), many = march_of_blurs(12);
  EXPECT_EQ(strip_width(few), 320);
  EXPECT_LE(bytes(few, 320), 32 * 1024);
  ASSERT_GT(bytes(many, 128), 32 * 1024) << "narrow ones do not fit the first level";
  EXPECT_EQ(strip_width(many), 448);
  EXPECT_LE(bytes(many, 448), 160 * 1024);
}

TEST(Marching, EndsInAReductionOfRows) {
  const Image<float> in("in");
  Stage a = convolve("a", in.border(Border::clamp()), cross);
  const Accessor src = a.border(Border::clamp());
  const auto sum = [&](const auto& f) { return reduce("sum", in.size(), f, Reduce::sum()); };
  EXPECT_EQ(march_text({sum([&](Var x, Var y) { return src(x - 1, y) - src(x, y + 1); })}),
            "in [-2, 1] 3 rows, 2 ahead; a [-1, 0] 2 rows, 1 ahead");
  const ir::Pipeline pipeline = Pipeline("test", {sum([&](Var x, Var y) { return a(x, y); })}).ir();
  const March march = march_of({reads_of(*pipeline.stages[0]), reads_of(*pipeline.stages[1])}).march.value();
  EXPECT_EQ(strip_width(march), part_pixels) << "whole parts";
  const Image<float> row("row", 1);
  Stage b = point("b", row * 2.f);
  EXPECT_EQ(march_text({reduce("sum", b, Reduce::sum())}), "'sum' has no rows of columns");
  EXPECT_EQ(march_text({point("out", a - reduce("sum", in, Reduce::sum()))}),
            "'sum' is no function of one pixel's place");
}

TEST(Marching, ToAReductionIsInStepWithItsParts) {
  const Image<float> in("in");
  Stage half = stage("half", in.size(), [&](Var x, Var y) { return in(x, y); });
  const Accessor coarse = half.border(Border::constant(0.f));
  const auto sum = [&](int x0, int y0) {
    return march_text({reduce(
        "sum", BoxAt{{x0, y0}, in.size()}, [&](Var x, Var y) { return coarse(x / 2, y / 2); },
        Reduce::sum())});
  };
  EXPECT_EQ(sum(0, 2), "half 1x1 of 2x2 [0, 0] 1 rows, 0 ahead");
  EXPECT_EQ(sum(1, 0), "'sum' begins at a coordinate that its steps of 2 columns do not divide");
  EXPECT_EQ(sum(0, -1), "'sum' begins at a coordinate that its steps of 2 rows do not divide");
}

TEST(Marching, ToAReductionKeepsRowsThatASecondCacheHolds) {
  const auto why = [](int rows) {
    const Image<float> in("in");
    Stage a = point("a", in + 1.f);
    const Stage sum = reduce(
        "sum", in.size(),
        [&](Var x, Var y) { return a.border(Border::constant(0.f))(x, y - rows) + a(x, y); }, Reduce::sum());
    return schedule_of_groups(Pipeline("test", {sum}).ir(), {{{"a", "sum"}}, {}}, Tiling::March).why;
  };
  EXPECT_EQ(why(15), "") << "no more than 256 KB";
  EXPECT_EQ(why(16), "'sum' takes strips of 4096 columns, whose rows are 512 KB: more than 256");
}

TEST(Marching, IsRefusedWithAReason) {
  const Image<float> in("in");
  Stage a = point("a", in + 1.f);
  const auto of = [&](const auto& f) { return march_text({stage("b", in.size(), f)}); };
  EXPECT_EQ(of([&](Var x, Var y) { return a.border(Border::clamp())(2 * x, y); }),
            "'b' reads 'a' from more than 128 pixels outside");
  EXPECT_EQ(of([&](Var x, Var y) { return a.border(Border::clamp())(x - 129, y); }),
            "'b' reads 'a' from more than 128 pixels outside");
  EXPECT_EQ(of([&](Var x, Var y) { return a.border(Border::clamp())(x * x / 99, y); }),
            "'b' reads 'a' not at distances that are the same for all pixels");
  EXPECT_EQ(of([&](Var x, Var y) {
              return a.border(Border::clamp())(x - 1, y) + a.border(Border::mirror())(x, y - 1);
            }),
            "'a' is read with different borders");
  EXPECT_EQ(of([&](Var x, Var y) {
              return a.border(Border::repeat())(x - 1, y) + in.border(Border::mirror())(x, y - 1);
            }),
            "'in' is read with different borders");
}

TEST(Marching, TakesAllStagesThatOneResultNeeds) {
  const ir::Pipeline pipeline = rewrite::prepare(build(applications().at("harris")).pipeline.ir());
  const Schedule schedule = choose(pipeline, Tiling::March);
  for (const StagePlan& plan : schedule.stages) EXPECT_EQ(plan.stored, plan.stage == "hc") << plan.stage;
  EXPECT_EQ(schedule.of("sx").where(), "in rows of hc");
  EXPECT_EQ(schedule.of("sx").why,
            "computed 1 row ahead of 'hc', which needs 3 of its rows at a time: no store, no load");
  EXPECT_EQ(schedule.of("dx").where(), "computed in hc");
  EXPECT_EQ(schedule.of("dx").why, "sx, sxy read it at the same pixel, in one loop: no store, no load");
  EXPECT_EQ(schedule.of("gx").where(), "computed in hc");
}

/// "a b | c": the stages of each pass; those in parentheses are values of its loop.
std::string passes_text(const Outputs& outputs) {
  const ir::Pipeline pipeline = Pipeline("test", outputs).ir();
  std::vector<StageReads> members;
  std::set<const ir::Stage*> candidates;
  for (const ir::StagePtr& stage : pipeline.stages) {
    members.push_back(reads_of(*stage));
    candidates.insert(stage.get());
  }
  for (const StageReads& m : members) {
    for (const ir::Read* read : m.reads) {
      if (!ir::reads_current_pixel(*read, m.stage->domain())) candidates.erase(read->source.get());
    }
  }
  candidates.erase(members.back().stage);
  const March march = march_of(members).march.value();
  const auto values = values_of_passes(members, march, candidates);
  std::string text;
  for (const StagePass& pass : passes_of(members, march, values)) {
    text += text.empty() ? "" : " |";
    for (const ir::Stage* stage : pass)
      text += std::string(text.empty() ? "" : " ") +
              (values.count(stage) ? "(" + stage->name + ")" : stage->name);
  }
  return text;
}

TEST(Marching, StagesOfTheSameColumnsAreComputedByOneLoop) {
  const Image<float> in("in");
  const Border edge = Border::clamp();
  Stage dx = convolve("dx", in.border(edge), Mask{{-1.f, 0.f, 1.f}});
  Stage dy = convolve("dy", in.border(edge), Mask{{-1.f}, {0.f}, {1.f}});
  Stage xx = point("xx", dx * dx), xy = point("xy", dx * dy), yy = point("yy", dy * dy);
  const auto blurred = [&](const char* name, const Stage& s) {
    return convolve(name, s.border(edge), cross);
  };
  Stage sum = point("sum", blurred("gxx", xx) + blurred("gxy", xy) + blurred("gyy", yy));
  EXPECT_EQ(passes_text({sum}), "(dx) xx (dy) xy yy | (gxx) (gxy) (gyy) sum");
}

TEST(Marching, WhatIsReadLaterIsNoValueOfALoop) {
  const Image<float> in("in");
  Stage a = point("a", in + 1.f), b = point("b", a * 2.f);
  Stage c = convolve("c", b.border(Border::clamp()), cross);
  Stage d = point("d", c + a);
  EXPECT_EQ(passes_text({d}), "a | b | (c) d");
}

TEST(Marching, RowsOutsideAreOfConstantsForAllStagesOfALoopOrNone) {
  const Image<float> in("in");
  Stage a = point("a", in + 1.f), b = point("b", in - 1.f), c = point("c", in * 2.f);
  Stage x = convolve("x", a.border(Border::clamp()), cross);
  Stage y = convolve("y", b.border(Border::constant(0.f)), cross);
  Stage z = convolve("z", c.border(Border::mirror()), cross);
  EXPECT_EQ(passes_text({point("out", x + y + z)}), "b | a c | (x) (y) (z) out");
}

TEST(Marching, LeavesWhatTakesLongerThanMemory) {
  const Image<float> in("in");
  Stage a = stage("a", in.size(), [&](Var x, Var y) {
    Expr sum = 0.f;
    for (int i = 0; i < 12; ++i) sum = sum + exp(in(x, y) * float(i));
    return sum;
  });
  Stage b = convolve("b", a.border(Border::clamp()), cross);
  const Schedule schedule = choose(Pipeline("test", {b}).ir(), Tiling::March);
  EXPECT_EQ(
      schedule.of("a").why,
      "'b' reads it at other pixels than its own; it is not computed with 'b', since 120 operations a pixel "
      "take longer than 8 bytes to memory and back");
}

TEST(Marching, LeavesWhatIsNeededElsewhere) {
  const Image<float> in("in");
  Stage a = convolve("a", in.border(Border::clamp()), cross);
  Stage b = convolve("b", a.border(Border::clamp()), cross);
  Stage c = convolve("c", a.border(Border::clamp()), cross);
  const Schedule two = choose(Pipeline("test", {b, c}).ir(), Tiling::March);
  EXPECT_TRUE(two.of("a").stored);
  const Schedule output = choose(Pipeline("test", {a, b}).ir(), Tiling::March);
  EXPECT_TRUE(output.of("a").stored);
}

}  // namespace
}  // namespace weft::schedule::marching_test
