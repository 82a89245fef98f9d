// Graphs of stages: cases, several outputs, several sizes, stages that are read and written out.
#include <gtest/gtest.h>

#include "tests/support/differential.h"

namespace weft::testing_support {
namespace {

class Graph : public testing::Test {
 protected:
  const Image<std::int32_t> in{"in"};

  static void agree(const Outputs& outputs, const std::vector<std::int64_t>& extents = {45, 23}) {
    expect_agreement(outputs, noise(type_of<std::int32_t>(), extents, 61));
  }
};

TEST_F(Graph, TwoCases) {
  agree(stage("out", in.size(),
              [&](Var x, Var y) { return cases().when(Expr(x) < 5, in(x, y)).otherwise(in(x - 5, y) * 2); }));
}

TEST_F(Graph, ThreeCasesAtTheEdges) {
  agree(stage("out", in.size(), [&](Var x, Var y) {
    return cases()
        .when(Expr(x) == 0, in(x, y))
        .when(Expr(x) == Expr(in.width()) - 1, -in(x, y))
        .otherwise(in(x - 1, y) + in(x + 1, y));
  }));
}

TEST_F(Graph, CasesInBoxes) {
  const auto framed = [&](const std::string& name, const auto& a, const auto& inside) {
    return stage(name, in.size(), [&](Var x, Var y) {
      const Expr sum = a(x, y) - a(x - 1, y) + a(x, y + 2);
      return cases().when(inside(Expr(x), Expr(y)), sum).otherwise(a(x, y) * 3);
    });
  };
  const Index w = in.width(), h = in.height();
  const auto frame = [&](const Expr& x, const Expr& y) { return x >= 2 && y > 3 && x < w - 2 && 5 + y < h; };
  const auto corner = [&](const Expr& x, const Expr& y) { return 7 > x && y + x * 0 <= 4; };
  const auto beyond = [&](const Expr& x, const Expr& y) { return x >= -5 && x < w / 2 + 1000 && y >= h - 1; };
  const auto nowhere = [&](const Expr& x, const Expr& y) { return x >= w && y >= 0; };
  for (const std::vector<std::int64_t>& extents :
       {std::vector<std::int64_t>{45, 23}, {4, 9}, {3, 3}, {1, 1}, {600, 8}}) {
    const Accessor source = in.border(Border::clamp());
    agree(framed("frame", source, frame), extents);
    agree(framed("corner", source, corner), extents);
    agree(framed("beyond", source, beyond), extents);
    agree(framed("nowhere", source, nowhere), extents);
    Stage first = framed("first", source, frame);
    agree(framed("second", first.border(Border::mirror()), beyond), extents);
  }
}

TEST_F(Graph, CasesThatDependOnValues) {
  agree(stage("out", in.size(), [&](Var x, Var y) {
    const Accessor src = in.border(Border::mirror());
    return cases()
        .when(in(x, y) % 3 == 0 && Expr(x) * Expr(y) % 5 != 2, src(x - 3, y))
        .when(in(x, y) > 0, sum(Domain(3, 3), [&](Tap t) { return src(x + t.x, y + t.y); }))
        .otherwise(median(Domain(3, 3), [&](Tap t) { return src(x + t.x, y + t.y); }));
  }));
}

TEST_F(Graph, CasesWithLargeFolds) {
  agree(stage("out", in.size(), [&](Var x, Var y) {
    const Accessor src = in.border(Border::constant(3));
    const auto window = [&](int size) {
      return sum(Domain(size, size), [&](Tap t) { return src(x + t.x, y + t.y); });
    };
    return cases().when(Expr(y) % 2 == 0, window(25)).otherwise(window(3));
  }));
}

/// GCC 12 makes masked loads of conditional reads, and mixes up the masks of lanes that are interleaved.
TEST_F(Graph, ChoicesLaneByLane) {
  const Image<Vec<std::int32_t, 3>> a("a"), b("b", a.size());
  const Pipeline pipeline("lanes", point("out", select(a % 2 == 0, 1, b)));
  const Program program = pipeline.compile(compile_options());
  for (const std::int64_t width : {1, 2, 5, 8, 15, 16, 17, 31, 32, 33, 100}) {
    SCOPED_TRACE(width);
    expect_agreement(
        program, pipeline,
        {{{"a", noise(a.type(), {width, 3}, 62)}, {"b", noise(b.type(), {width, 3}, 63)}}, {}, {}}, exactly);
  }
}

/// Found by: weft verify --random 1 --seed 5002393
TEST_F(Graph, ChoicesOfComputedPixelsLaneByLane) {
  const Image<Vec<float, 4>> a("a");
  const Accessor far = a.border(Border::clamp());
  const Stage folds = stage("folds", a.size(), [&](Var x, Var y) {
    const Expr least = minimum(Domain(1, 1), [&](Tap t) { return far(x, 3 * y - t.y); });
    return select(cast<std::int8_t>(far(x, y + 1)) | cast<std::int8_t>(a(x, y)), 1.f, least);
  });
  const Stage conditions = stage("conditions", a.size(), [&](Var x, Var y) {
    return select(a(x, y) < .3f && far(x, 2 * y) < .6f, 1, 2);
  });
  const Pipeline pipeline("lanes", Outputs{folds, conditions}.strict());
  const Program program = pipeline.compile(compile_options());
  for (const std::int64_t width : {1, 8, 17, 33, 100})
    expect_agreement(program, pipeline, {{{"a", noise(a.type(), {width, 8}, 65)}}, {}, {}}, exactly);
}

/// Found by: weft verify --random 1 --seed 4021381
TEST_F(Graph, CasesLaneByLane) {
  const Image<Vec<std::int32_t, 2>> a("a", 1);
  const Pipeline pipeline(
      "lanes", stage("out", a.size(), [&](Var x) { return cases().when(x < 1, 1).otherwise(a(x)); }));
  const Program program = pipeline.compile(compile_options());
  for (const std::int64_t width : {1, 2, 5, 8, 15, 16, 17, 31, 32, 33, 65, 1000}) {
    SCOPED_TRACE(width);
    expect_agreement(program, pipeline, {{{"a", noise(a.type(), {width}, 64)}}, {}, {}}, exactly);
  }
}

TEST_F(Graph, CoordinatesAsValues) {
  agree({stage("coordinates", in.size(), [&](Var x, Var y) { return Expr(x) * 1000 + Expr(y) + in(x, y); }),
         stage("sizes", in.size(),
               [&](Var x, Var y) { return Expr(in.width() - x) * Expr(in.height() / 2 - y); }),
         stage("pure", in.size(), [&](Var x, Var y) { return Expr(x / 3) - Expr((y - 7) % 4); }),
         stage("real", in.size(),
               [&](Var x, Var y) { return cast<float>(Expr(x)) / (cast<float>(Expr(y)) + .5f); })});
}

TEST_F(Graph, SeveralOutputsAndOneThatIsReadByOthers) {
  const Stage doubled = point("doubled", in * 2);
  const Stage blurred = convolve("blurred", doubled.border(Border::repeat()), Mask{{1, 2, 1}});
  agree({blurred, doubled, point("difference", blurred - doubled)});
}

TEST_F(Graph, Diamonds) {
  const Stage a = point("a", in + 1), b = point("b", a * 3), c = point("c", a - 5);
  const Stage d = point("d", b ^ c), e = convolve("e", d.border(Border::clamp()), Mask{{1, 1, 1}});
  agree(point("out", e + d + a));
}

TEST_F(Graph, ChainsOfPointStages) {
  Stage last = point("p0", in + 1);
  for (int i = 1; i < 12; ++i) last = point("p" + std::to_string(i), last * last - i);
  agree(last);
}

TEST_F(Graph, SharedExpressions) {
  Expr e = in;
  for (int i = 0; i < 25; ++i) e = e * e + e;  // 2^25 operations unless each is named once
  agree(point("out", e));
}

TEST_F(Graph, PointStageReadTwiceBySameConsumer) {
  const Stage a = point("a", in * in);
  agree(stage("out", in.size(), [&](Var x, Var y) { return a(x, y) + a(x, y) * 2; }));
}

TEST_F(Graph, PyramidByHand) {
  const Accessor src = in.border(Border::clamp());
  const Stage half = stage("half", in.size() / 2,
                           [&](Var x, Var y) { return src(2 * x, 2 * y) + in(2 * x + 1, 2 * y + 1); });
  const Accessor halves = half.border(Border::clamp());
  const Stage quarter =
      stage("quarter", half.size() / 2, [&](Var x, Var y) { return halves(2 * x, 2 * y + 1); });
  const Accessor quarters = quarter.border(Border::mirror());
  const Stage up = stage("up", in.size(),
                         [&](Var x, Var y) { return quarters(x / 4, y / 4) - halves((x + 1) / 2, y / 2); });
  for (const auto& extents : {std::vector<std::int64_t>{45, 23}, {4, 4}, {7, 5}})
    agree({up, quarter}, extents);
}

TEST_F(Graph, ImagesOfDifferentSizes) {
  const Image<std::int32_t> other("other");
  const Accessor src = other.border(Border::repeat());
  const Pipeline pipeline("sizes",
                          {stage("out", in.size(), [&](Var x, Var y) { return in(x, y) + src(x, y); }),
                           stage("wide", Extents{in.width() + other.width(), other.height()},
                                 [&](Var x, Var y) { return src(x, y) * 2; })});
  expect_agreement(
      pipeline, {{{"in", noise(in.type(), {31, 17}, 62)}, {"other", noise(in.type(), {7, 40}, 63)}}, {}, {}});
}

TEST_F(Graph, AnOutputThatReadsNoImage) {
  const Pipeline pipeline(
      "ramp", {stage("ramp", Extents{in.width(), 9}, [](Var x, Var y) { return Expr(x) - Expr(y); }),
               point("copy", in)});
  expect_agreement(pipeline, {{{"in", noise(in.type(), {31, 17}, 64)}}, {}, {}});
}

}  // namespace
}  // namespace weft::testing_support
