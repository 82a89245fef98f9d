// Reads that leave their source, by any distance and in every mode.
#include <gtest/gtest.h>

#include "tests/support/differential.h"

namespace weft::testing_support {
namespace {

using Size = std::vector<std::int64_t>;

/// Sizes smaller and larger than the windows below, odd and even, and lines.
const std::vector<Size> border_sizes = {{1, 1}, {2, 1}, {1, 2}, {2, 3}, {5, 4}, {9, 7}, {40, 31}};

class Borders : public testing::TestWithParam<std::string> {
 protected:
  Border border() const { return Border::named(GetParam(), -7); }

  static void agree(const Outputs& outputs) {
    const Pipeline pipeline("borders", Outputs(outputs).strict());
    const Program program = pipeline.compile(compile_options());
    std::uint64_t seed = 31;
    for (const auto& extents : border_sizes) {
      SCOPED_TRACE(testing::Message() << extents[0] << "x" << extents[1] << ", seed " << seed);
      expect_agreement(program, pipeline,
                       {{{"in", noise(type_of<std::int16_t>(), extents, seed++)}}, {}, {}});
    }
  }
};

TEST_P(Borders, OffsetsAndScales) {
  const Image<std::int16_t> in("in");
  const Accessor src = in.border(border());
  const auto out = [&](const char* name, auto f) { return stage(name, in.size(), f); };
  agree({out("near_by", [&](Var x, Var y) { return src(x - 2, y + 3) + src(x + 1, y - 1); }),
         out("far_away", [&](Var x, Var y) { return src(x + 1000, y - 12345); }),
         out("twice", [&](Var x, Var y) { return src(2 * x, 2 * y) - src(2 * x + 1, y); }),
         out("half", [&](Var x, Var y) { return src(x / 2, y / 2) + src((x - 1) / 2, (y - 3) / 2); }),
         out("thrice", [&](Var x, Var y) { return src(3 * x + 1, 3 * y - 4); }),
         out("two_thirds", [&](Var x, Var y) { return src((2 * x + 1) / 3, (2 * y - 5) / 3); }),
         out("mirrored", [&](Var x, Var y) { return src(in.width() - 1 - x, y) + src(x, in.height() - y); }),
         out("transposed", [&](Var x, Var y) { return src(y, x); }),
         out("diagonal", [&](Var x, Var y) { return src(x + y, x - y); }),
         out("column", [&](Var, Var y) { return src(2, y); }),
         out("row", [&](Var x, Var) { return src(x, -1); }),
         out("remainder", [&](Var x, Var y) { return src(x % 3, y % 2 - 1); })});
}

/// Emitted C++ spells out the vectors of such loops, those at the ends of rows included. Rows are shorter than a vector, as long,
/// and longer by any number of pixels.
template <class T>
void rows_in_vectors_agree(const Border& border) {
  const Image<T> in("in");
  const Accessor src = in.border(border);
  const auto out = [&](const char* name, auto f) { return stage(name, in.size(), f); };
  const Pipeline pipeline(
      "rows",
      Outputs{out("next", [&](Var x, Var y) { return src(x - 1, y) - src(x + 1, y) * 2; }),
              out("far", [&](Var x, Var y) { return src(x - 3, y - 1) + src(x + 2, y + 1) * src(x, y); }),
              out("left", [&](Var x, Var y) { return src(x - 2, y) + src(x, y); }),
              out("some", [&](Var x, Var y) { return src(x - 1, y) + src(x, y + 1) + src(x + 5, y); })}
          .strict());
  CompileOptions past_caches = compile_options();
  past_caches.compiler_flags.push_back("-DWEFT_CACHE_BYTES=0");  // so that small results go past them
  const std::vector<Program> programs = {pipeline.compile(compile_options()), pipeline.compile(past_caches)};
  for (std::int64_t w = 1; w < 72; w += w < 40 ? 1 : 5) {
    SCOPED_TRACE(testing::Message() << w << " pixels");
    expect_agreement(programs, pipeline,
                     {{{"in", noise(type_of<T>(), {w, 3}, static_cast<std::uint64_t>(w))}}, {}, {}});
  }
}

TEST_P(Borders, RowsInVectorsOfFloats) { rows_in_vectors_agree<float>(border()); }
TEST_P(Borders, RowsInVectorsOfDoubles) { rows_in_vectors_agree<double>(border()); }
TEST_P(Borders, RowsInVectorsOfColours) { rows_in_vectors_agree<Vec<float, 3>>(border()); }

/// Emitted C++ keeps the columns that neighbours share in vectors. Rows are as above; one window is two pixels to the left, and one
/// to the right.
template <class T>
void rows_of_columns_agree(const Border& border, std::int64_t in_vector, const Bound& bound = exactly) {
  const Image<T> in("in");
  const Accessor src = in.border(border);
  const Domain window(4, 5);
  const Mask weights{{1, 2, 1}, {2, 4, 2}, {1, 2, 1}};
  const auto total = [&](Var x, Var y) { return sum(window, [&](Tap t) { return src(x + t.x, y + t.y); }); };
  const Type type = type_of<T>().lane();
  const auto out = [&](const char* name, auto f) { return stage(name, in.size(), f); };
  const Pipeline pipeline(
      "columns",
      {convolve("weighted", src, weights), local("greatest", src, window, Local::Max),
       local("least", src, Domain(5, 3), Local::Min),
       out("mean", [&](Var x, Var y) { return cast(type, (total(x, y) + 10) / 20); }),
       out("edges", [&](Var x, Var y) { return saturate(type, total(x, y) - 19 * src(x, y) + 128); })});
  CompileOptions past_caches = compile_options();
  past_caches.compiler_flags.push_back("-DWEFT_CACHE_BYTES=0");
  const std::vector<Program> programs = {pipeline.compile(compile_options()), pipeline.compile(past_caches)};
  for (std::int64_t w = 1; w < 3 * in_vector; w += w < in_vector + 8 ? 1 : 5) {
    SCOPED_TRACE(testing::Message() << w << " pixels");
    expect_agreement(programs, pipeline,
                     {{{"in", noise(type_of<T>(), {w, 3}, static_cast<std::uint64_t>(w))}}, {}, {}}, bound);
  }
}

TEST_P(Borders, RowsOfColumnsOfBytes) { rows_of_columns_agree<std::uint8_t>(border(), 64); }
TEST_P(Borders, RowsOfColumnsOfShorts) { rows_of_columns_agree<std::int16_t>(border(), 32); }
TEST_P(Borders, RowsOfColumnsOfFloats) { rows_of_columns_agree<float>(border(), 16, Bound{1}); }
TEST_P(Borders, RowsOfColumnsOfColours) { rows_of_columns_agree<Vec<std::uint8_t, 3>>(border(), 22); }

TEST(BorderConstant, IsAnyValue) {
  const Image<std::int32_t> in("in");
  Param<int> edge("edge", 9);
  Stage total = reduce("total", in, Reduce::sum());
  const auto out = [&](const char* name, const Expr& value) {
    const Accessor src = in.border(Border::constant(value));
    return stage(name, in.size(),
                 [&](Var x, Var y) { return src(x - 2, y + 1) + 2 * src(x, y + in(x, y) % 9); });
  };
  Stage offset = stage("of_coordinates", in.size(), [&](Var x, Var y) {
    return in.border(Border::constant(x * 10 + in(x, y)))(x + 3, y - 1);
  });
  const Outputs outputs{out("of_a_parameter", edge), out("of_a_reduction", total), out("of_the_pixel", in),
                        offset};
  for (const auto& extents : border_sizes) expect_agreement(outputs, noise(in.type(), extents, 51));
}

TEST_P(Borders, Gathers) {
  const Image<std::int16_t> in("in");
  const Accessor src = in.border(border());
  const auto out = [&](const char* name, auto f) { return stage(name, in.size(), f); };
  agree({out("by_value", [&](Var x, Var y) { return src(cast<std::int64_t>(in(x, y)), y); }),
         out("by_product", [&](Var x, Var y) { return src(Expr(x) * Expr(y) - 20, Expr(y) - Expr(x) * 2); }),
         out("in_row", [&](Var x, Var y) { return src(x, cast<std::int64_t>(in(x, y)) / 1000); }),
         out("in_window", [&](Var x, Var y) {
           return sum(Domain(3, 3),
                      [&](Tap t) { return src(x + t.x, cast<std::int64_t>(in(x, y)) % 5 + t.y); });
         })});
}

TEST_P(Borders, WindowsLargerThanTheImage) {
  const Image<std::int16_t> in("in");
  const Accessor src = in.border(border());
  const Mask mask = Mask::from(11, 9, [](int dx, int dy) { return dx * 3 - dy * 5 + 1; });
  agree({convolve("weighted", src, mask), local("greatest", src, Domain(15, 3), Local::Max),
         local("median", src, Domain(3, 5), Local::Median)});
}

TEST_P(Borders, OfCrops) {
  const Image<std::int16_t> in("in");
  const Stage copy = stage("copy", in.size(), [&](Var x, Var y) { return in(x, y) * 3; });
  // the middle: from a quarter to three quarters
  const std::vector<Index> min = {in.width() / 4, in.height() / 4};
  const Extents half{(in.width() + 1) / 2, (in.height() + 1) / 2};
  const Accessor of_image = in.crop(min, half).border(border()),
                 of_stage = copy.crop(min, half).border(border());
  agree({stage("crop", half, [&](Var x, Var y) { return of_image(x - 3, y + 2) + of_image(x + 4, y); }),
         stage("crop_of_stage", in.size(),
               [&](Var x, Var y) { return of_stage(2 * x - 5, y) - of_stage(x, y); }),
         copy});
}

/// Half of one pixel is none.
TEST_P(Borders, OfEmptyCrops) {
  const Image<std::int16_t> in("in");
  const Accessor half = in.crop({in.width() / 4, in.height() / 4}, in.size() / 2).border(border()),
                 end = in.crop({in.width(), 0}, {Index(0), in.height()}).border(border());
  agree({stage("half", in.size(), [&](Var x, Var y) { return half(x, y) + half(2 * x, y - 1); }),
         stage("one", {1, 1}, [&](Var x, Var y) { return half(x, y); }),
         stage("end", in.size(), [&](Var x, Var y) { return end(x - 1, y); })});
}

/// A stage that is computed where it is read is read by its crop's border, too.
/// Found by: weft verify --random 1 --seed 4001486
TEST_P(Borders, OfCropsOfAPointAtItsOwnPixel) {
  const Image<std::int16_t> in("in");
  const Accessor half = point("doubled", in * 2).crop({0, 0}, in.size() / 2).border(border());
  agree(stage("half", in.size(), [&](Var x, Var y) { return half(x, y); }));
}

TEST_P(Borders, TwoConsumersDiffer) {
  const Image<std::int16_t> in("in");
  const Stage doubled = point("doubled", in * 2);
  const Accessor one = doubled.border(border()), other = doubled.border(Border::mirror());
  agree({stage("one", in.size(), [&](Var x, Var y) { return one(x - 4, y - 4) + other(x - 4, y - 4); }),
         stage("other", in.size(), [&](Var x, Var y) { return other(x + 4, y + 4) - one(x, y + 1); })});
}

TEST_P(Borders, ChainsOfStages) {
  const Image<std::int16_t> in("in");
  const Mask mask{{1, -2, 1}, {3, 0, -1}, {1, 1, 2}};
  Stage last = convolve("a", in.border(border()), mask);
  for (const char* name : {"b", "c"}) last = convolve(name, last.border(border()), mask);
  agree(last);
}

TEST_P(Borders, OfEmptyStages) {
  const Image<std::int16_t> in("in");
  const Stage half = stage("half", in.size() / 2, [&](Var x, Var y) { return in(2 * x + 1, 2 * y + 1); });
  const Stage quarter = stage("quarter", half.size() / 2, [&](Var x, Var y) { return half(2 * x, 2 * y); });
  const Accessor halves = half.border(border()), quarters = quarter.border(border());
  agree(
      {stage("back", in.size(),
             [&](Var x, Var y) { return halves(x / 2, y / 2) + quarters((x + 1) / 4, y / 4); }),
       stage("gathered", in.size(), [&](Var x, Var y) { return quarters(cast<std::int64_t>(in(x, y)), y); }),
       quarter});
}

INSTANTIATE_TEST_SUITE_P(Modes, Borders,
                         testing::Values("clamp", "mirror", "mirror101", "repeat", "constant"),
                         [](const auto& info) { return info.param; });

TEST(ConstantBorders, MayBeComputed) {
  const Image<std::int16_t> in("in");
  const Param<int> k("k", 5);
  const Accessor src = in.border(Border::constant(k * 100));
  const Pipeline pipeline("computed",
                          stage("out", in.size(), [&](Var x, Var y) { return src(x - 1, y + 1); }));
  expect_agreement(pipeline, {{{"in", noise(in.type(), {9, 7}, 41)}}, {{"k", 3}}, {}});
}

TEST(ConstantBorders, OfSeveralLanes) {
  const Image<Vec<std::uint8_t, 3>> in("in");
  const Expr red = pack(cast<std::uint8_t>(255), cast<std::uint8_t>(0), cast<std::uint8_t>(1));
  const Accessor src = in.border(Border::constant(red));
  expect_agreement(stage("out", in.size(), [&](Var x, Var y) { return src(x - 2, y + 1); }),
                   noise(in.type(), {9, 7}, 42));
}

/// Of a volume of few planes many rows are beyond some of what they read, each with all of its pixels.
TEST(ConstantBorders, OfFewPlanes) {
  const Image<std::int16_t> in("in");
  const Image<Vec<float, 2>> pairs("pairs", in.size());
  const auto volume = [&](const std::string& name, const AnyImage& image) {
    return stage(name, {in.width(), in.height(), 5},
                 [&](Var x, Var y, Var z) { return image(x, y) * (z + 1); });
  };
  const Accessor a = volume("a", in).border(Border::constant(9));
  const Accessor b = volume("b", pairs).border(Border::constant(pack(.5f, -3.f)));
  const BoxAt more{{0, -1, -2}, {in.width(), in.height() + 3, 9}};
  const Outputs outputs = {
      stage("along", more,
            [&](Var x, Var y, Var z) { return a(x, y, z - 2) - 3 * a(x, y, z) + a(x, y, z + 1); }),
      stage("across", more, [&](Var x, Var y, Var z) { return b(x, y + 1, z) + 2.f * b(x, y - 1, z + 1); }),
      stage("lanes", more, [&](Var x, Var y, Var z) { return b(x, y, z - 1).lane(1) * b(x, y, z).lane(0); }),
      stage("around", more, [&](Var x, Var y, Var z) { return a(x - 1, y, z) + a(x + 1, y, z + 2); })};
  const Pipeline pipeline("planes", Outputs(outputs).strict());
  const Program program = pipeline.compile(compile_options());
  for (const Size& extents : {Size{1, 1}, {2, 3}, {70, 4}})
    expect_agreement(
        program, pipeline,
        {{{"in", noise(in.type(), extents, 43)}, {"pairs", noise(pairs.type(), extents, 44)}}, {}, {}});
}

}  // namespace
}  // namespace weft::testing_support
