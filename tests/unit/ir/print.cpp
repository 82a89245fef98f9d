#include "ir/print.h"

#include <gtest/gtest.h>
#include <weft/weft.hpp>

namespace weft {
namespace {

std::string text_of(const Outputs& outputs) { return "\n" + ir::to_string(Pipeline("p", outputs).ir()); }
std::string spelt(const Expr& e) { return ir::to_string(e.node()); }

}  // namespace

TEST(Print, HarrisCorners) {
  Image<float> in("in");
  Param<float> k("k", 0.04f);
  const auto clamp = Border::clamp();
  Stage dx = convolve("dx", in.border(clamp), Mask{{-1, 0, 1}}),
        dy = convolve("dy", in.border(clamp), Mask{{-1}, {0}, {1}});
  const Mask b3 = Mask{{1, 2, 1}, {2, 4, 2}, {1, 2, 1}} / 16.f;
  Stage sx = point("sx", dx * dx), sxy = point("sxy", dx * dy), sy = point("sy", dy * dy);
  Stage gx = convolve("gx", sx.border(clamp), b3), gxy = convolve("gxy", sxy.border(clamp), b3),
        gy = convolve("gy", sy.border(clamp), b3);
  EXPECT_EQ(text_of(point("hc", gx * gy - gxy * gxy - k * (gx + gy) * (gx + gy))), R"(
pipeline p(in: f32 [in.w, in.h]; k: f32 = 0.04) -> hc
m0 = -1  0  1
m1 = 0.0625  0.125 0.0625
      0.125   0.25  0.125
     0.0625  0.125 0.0625
m2 = -1
      0
      1
dx: f32 [in.w, in.h] = sum(t in {(-1, 0), (1, 0)}: f32(m0(t)) * in[clamp](x + t.x, y + t.y))
sx: f32 [in.w, in.h] = dx(x, y) * dx(x, y)
gx: f32 [in.w, in.h] = sum(t in 3x3: m1(t) * sx[clamp](x + t.x, y + t.y))
dy: f32 [in.w, in.h] = sum(t in {(0, -1), (0, 1)}: f32(m2(t)) * in[clamp](x + t.x, y + t.y))
sy: f32 [in.w, in.h] = dy(x, y) * dy(x, y)
gy: f32 [in.w, in.h] = sum(t in 3x3: m1(t) * sy[clamp](x + t.x, y + t.y))
sxy: f32 [in.w, in.h] = dx(x, y) * dy(x, y)
gxy: f32 [in.w, in.h] = sum(t in 3x3: m1(t) * sxy[clamp](x + t.x, y + t.y))
hc: f32 [in.w, in.h] = gx(x, y) * gy(x, y) - gxy(x, y) * gxy(x, y) - k * (gx(x, y) + gy(x, y)) * (gx(x, y) + gy(x, y))
)");
}

TEST(Print, BilateralFilterAndHalving) {
  Image<std::uint8_t> in("in");
  const auto src = in.border(Border::mirror());
  Stage smooth = stage("smooth", in.size(), [&](Var x, Var y) {
    Accum<float> d = 0.f, p = 0.f;
    for_each(Domain(13, 13), [&](Tap t) {
      const Expr v = cast<float>(src(x + t.x, y + t.y)), diff = v - cast<float>(src(x, y));
      const Expr w = exp(-0.5f * diff * diff);
      d += w;
      p += w * v;
    });
    return saturate<std::uint8_t>(Expr(p) / Expr(d));
  });
  Stage half = stage("half", in.size() / 2,
                     [&](Var x, Var y) { return (smooth(2 * x, 2 * y) + smooth(2 * x + 1, 2 * y)) / 2; });
  EXPECT_EQ(text_of(Outputs{half, smooth}.strict()), R"(
strict pipeline p(in: u8 [in.w, in.h]) -> half, smooth
smooth: u8 [in.w, in.h]
  fold t in 13x13 {
    acc0 = 0.0; acc1 = 0.0
    v0 = f32(in[mirror](x + t.x, y + t.y))
    v1 = v0 - f32(in[mirror](x, y))
    v2 = exp(-0.5 * v1 * v1)
    acc0 = acc0 + v2
    acc1 = acc1 + v2 * v0
  }
  = saturate<u8>(acc1 / acc0)
half: i32 [in.w/2, in.h/2] = (i32(smooth(2*x, 2*y)) + i32(smooth(2*x + 1, 2*y))) / 2
)");
}

TEST(Print, CasesCropsGathersAndBoxes) {
  Image<Vec<float, 3>> rgb("rgb");
  Image<int> table("table", 1);
  const auto crop = rgb.crop({rgb.width() / 4, rgb.height() / 4}, rgb.size() / 2).border(Border::constant(0));
  Stage grey = stage("grey", rgb.size(), [&](Var x, Var y) {
    const Expr p = crop(x, y);
    return cases()
        .when(x >= 1 && !(p.lane(0) > 0.5f), (p.lane(0) + p.lane(1) + p.lane(2)) / 3.f)
        .otherwise(cast<float>(table.border(Border::clamp())(cast<std::int64_t>(p.lane(0) * 255.f))));
  });
  Stage inner =
      stage("inner", BoxAt{{rgb.width() * 0 + 1, rgb.height() * 0}, {rgb.width() - 2, rgb.height()}},
            [&](Var x, Var y) { return pack(grey(x - 1, y), grey(x + 1, y), cast<float>(x % 2)); });
  EXPECT_EQ(text_of(inner), R"(
pipeline p(rgb: f32x3 [rgb.w, rgb.h], table: i32 [table.w]) -> inner
grey: f32 [rgb.w, rgb.h]
  v0 = rgb[constant splat3(0.0) within [rgb.w/4 .. rgb.w/4 + rgb.w/2 - 1, rgb.h/4 .. rgb.h/4 + rgb.h/2 - 1]](x + rgb.w/4, y + rgb.h/4)
  when 1 <= x && !(0.5 < v0[0]): (v0[0] + v0[1] + v0[2]) / 3.0
  otherwise: f32(table[clamp](i64(v0[0] * 255.0)))
inner: f32x3 [1 .. rgb.w - 2, rgb.h] = (grey(x - 1, y), grey(x + 1, y), f32(x - 2*(x/2)))
)");
}

TEST(Print, AccumulatorsThatAdvanceTogether) {
  Image<int> in("in");
  Stage out = stage("out", in.size(), [&](Var x, Var y) {
    Accum<int> a = 0, b = in(x, y);
    for_each(Domain(5, 1), [&](Tap) {
      const Expr sum = Expr(a) + Expr(b);
      a = Expr(b);
      b = sum;
    });
    return Expr(b);
  });
  EXPECT_EQ(text_of(out), R"(
pipeline p(in: i32 [in.w, in.h]) -> out
out: i32 [in.w, in.h]
  fold t in 5x1 {
    acc0 = 0; acc1 = in(x, y)
    (acc0, acc1) = (acc1, acc0 + acc1)
  }
  = acc1
)");
}

TEST(Print, LoopsInLoops) {
  Image<float> in("in");
  const auto src = in.border(Border::repeat());
  Stage out = stage("out", in.size(), [&](Var x, Var y) {
    const Expr centre = sqrt(src(x, y));
    const Expr closest = minimum(Domain({{-1, 0}, {1, 0}}), [&](Tap t) {
      const Expr d = median(Domain(3, 3), [&](Tap u) { return src(x + t.x + u.x, y + u.y); }) - centre;
      return d * d;
    });
    return select(closest < centre, centre, -closest);
  });
  EXPECT_EQ(text_of(out), R"(
pipeline p(in: f32 [in.w, in.h]) -> out
out: f32 [in.w, in.h]
  v0 = sqrt(in[repeat](x, y))
  v2 = min t in {(-1, 0), (1, 0)} {
    v1 = median(t1 in 3x3: in[repeat](x + t.x + t1.x, y + t1.y)) - v0
    v1 * v1
  }
  = select(v2 < v0, v0, -v2)
)");
}

TEST(Print, ParenthesesOnlyWhereNeeded) {
  Image<float> in("in");
  const Expr a = Param<float>("a", 1), b = Param<float>("b", 1), c = Param<int>("c", 1),
             d = Param<int>("d", 1);
  EXPECT_EQ(spelt(a - (b - a)), "a - (b - a)");
  EXPECT_EQ(spelt(a - b - a), "a - b - a");
  EXPECT_EQ(spelt((a + b) * a / b), "(a + b) * a / b");
  EXPECT_EQ(spelt(-(a * b)), "-(a * b)");
  EXPECT_EQ(spelt(-(-a)), "-(-a)");
  EXPECT_EQ(spelt(a * -2.f), "a * -2.0");
  EXPECT_EQ(spelt(a - -2.5f), "a - -2.5");
  EXPECT_EQ(spelt((c & d) == 0), "(c & d) == 0");
  EXPECT_EQ(spelt(c << (d + 1) | 1), "c << d + 1 | 1");
  EXPECT_EQ(spelt((a < b && c == d) || !(c != d)), "a < b && c == d || !(c != d)");
  EXPECT_EQ(spelt(a < b && (c == d || c < d)), "a < b && (c == d || c < d)");
  EXPECT_EQ(spelt(min(a, b) + pow(a, 2.f)), "min(a, b) + pow(a, 2.0)");
  EXPECT_EQ(spelt(pack(a, b).lane(0) * pack(a, a)), "splat2(a) * splat2(a)");
  EXPECT_EQ(spelt(saturate<std::uint8_t>(a + cast<float>(c))), "saturate<u8>(a + f32(c))");
}

TEST(Print, Domains) {
  EXPECT_EQ(ir::to_string(Domain(3, 5).node()), "3x5");
  EXPECT_EQ(ir::to_string(Domain(4, 1, 2).node()), "4x1x2");
  EXPECT_EQ(ir::to_string(Domain({{0, -1}, {1, 0}}).node()), "{(0, -1), (1, 0)}");
  EXPECT_EQ(ir::to_string(Domain::disc(3).node()), "29 points of [-3 .. 3, -3 .. 3]");
}

}  // namespace weft
