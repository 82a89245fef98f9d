// Kernels that are the same but for their arrays: which become layers of one.
#include <gtest/gtest.h>
#include <weft/weft.hpp>

#include "emit/gpu.h"
#include "kernel/build.h"
#include "kernel/visit.h"
#include "runtime/cpu_program.h"

namespace weft::lower::layers_test {
namespace {

kernel::Module lowered(const Outputs& outputs) {
  compile::Scheduling apart;
  apart.fuse = Fuse::None;
  return compile::lowered(Pipeline("frames", Outputs(outputs).strict()).ir(), target::Processor::Gpu, apart);
}
/// "a_kernel x 2, b_kernel x 1": kernels in the order of their launches, and their layers.
std::string kernels(const Outputs& outputs) {
  std::string text;
  const kernel::Module module = lowered(outputs);
  for (const kernel::Launch* launch : kernel::launches_of(module)) {
    text += (text.empty() ? "" : ", ") + launch->function.spelling();
    if (launch->grid->layers > 1) text += " x " + std::to_string(launch->grid->layers);
  }
  EXPECT_EQ(kernel::launches_of(module).size(), module.functions.size());
  return text;
}

/// Sums of neighbours in a row.
Stage row_of(const std::string& name, const Image<float>& image, float factor = 1) {
  const Accessor at = image.border(Border::clamp());
  return stage(name, image.size(), [&](Var x, Var y) { return at(x - 1, y) + factor * at(x + 1, y); });
}
/// Of another stage's columns.
Stage column_of(const std::string& name, const Stage& source) {
  const Accessor at = source.border(Border::clamp());
  return stage(name, source.size(), [&](Var x, Var y) { return at(x, y - 1) - at(x, y + 1); });
}

struct Frames {
  Image<float> a{"a"}, b{"b", a.size()}, c{"c", a.size()}, other{"other"};
};

TEST(Layers, AreKernelsThatAreAlike) {
  const Frames in;
  EXPECT_EQ(kernels(Outputs{row_of("ra", in.a), row_of("rb", in.b), row_of("rc", in.c)}), "ra_kernel x 3");
  EXPECT_EQ(kernels(Outputs{column_of("ca", row_of("ra", in.a)), column_of("cb", row_of("rb", in.b))}),
            "ra_kernel x 2, ca_kernel x 2");
}

TEST(Layers, NeedTheSameSizesNumbersAndTypes) {
  const Frames in;
  EXPECT_EQ(kernels(Outputs{row_of("ra", in.a), row_of("ro", in.other)}), "ra_kernel, ro_kernel");
  EXPECT_EQ(kernels(Outputs{row_of("ra", in.a), row_of("rb", in.b, 2)}), "ra_kernel, rb_kernel");
  const Image<double> wide("wide", in.a.size());
  const Stage plain = point("plain", in.a + 0.f), rounded = point("rounded", cast<float>(wide) + 0.f);
  EXPECT_EQ(kernels(Outputs{plain, rounded}), "plain_kernel, rounded_kernel");
}

TEST(Layers, DoNotReadEachOther) {
  const Frames in;
  const Stage early = row_of("early", in.a);
  const Accessor at = early.border(Border::clamp());
  const Stage second =
      stage("second", in.a.size(), [&](Var x, Var y) { return at(x - 1, y) + 1.f * at(x + 1, y); });
  EXPECT_EQ(kernels(Outputs{second}), "early_kernel, second_kernel");
  // Nor is one of them put before what it reads, here the sums of the row that all depends on.
  const Stage sums = column_of("sums", early);
  const Stage late = stage("late", in.a.size(), [&](Var x, Var y) {
    return sums.border(Border::clamp())(x - 1, y) + 1.f * sums.border(Border::clamp())(x + 1, y);
  });
  EXPECT_EQ(kernels(Outputs{late, row_of("rb", in.b)}), "early_kernel x 2, sums_kernel, late_kernel");
}

TEST(Layers, HaveDifferentArrays) {
  const Frames in;
  const auto both = [](const std::string& name, const Image<float>& p, const Image<float>& q) {
    const Accessor left = p.border(Border::clamp()), right = q.border(Border::clamp());
    return stage(name, p.size(), [&](Var x, Var y) { return left(x - 1, y) + right(x + 1, y); });
  };
  EXPECT_EQ(kernels(Outputs{both("ab", in.a, in.b), both("ba", in.b, in.a)}), "ab_kernel x 2");
  EXPECT_EQ(kernels(Outputs{both("ab", in.a, in.b), both("aa", in.a, in.a)}), "ab_kernel, aa_kernel");
  EXPECT_EQ(kernels(Outputs{both("ab", in.a, in.b), both("ac", in.a, in.c)}), "ab_kernel x 2")
      << "but for one";
}

TEST(Layers, ShareTablesThatAreEqual) {
  const Frames in;
  const auto weighted = [](const std::string& name, const Image<float>& image, double middle) {
    std::vector<Mask::Coefficient> weights(41 * 41, 1.);
    weights[840] = middle;
    return convolve(name, image.border(Border::clamp()), Mask(41, 41, weights));
  };
  const auto tables = [&](double middle) {
    return lowered(Outputs{weighted("wa", in.a, 3), weighted("wb", in.b, middle)}).tables.size();
  };
  EXPECT_EQ(tables(3), 1);
  EXPECT_EQ(tables(4), 2);
}

TEST(Layers, AreChosenByTheThirdDimension) {
  const Frames in;
  const kernel::Module module = lowered(Outputs{row_of("ra", in.a), row_of("rb", in.b), row_of("rc", in.c)});
  const std::string text = emit::emit_cuda_kernels(module);
  for (const char* line :
       {"const int32_t layer = blockIdx.z;", "const float* layer_a = (layer == 1) ? b : a;",
        "const float* layer_a_2 = (layer == 2) ? c : layer_a;", "float* layer_ra = (layer == 1) ? rb : ra;",
        "const int64_t layer_a_pitch = layer == 1 ? b_pitch : a_pitch;"})
    EXPECT_NE(text.find(line), std::string::npos) << line << " in:\n" << text;
}

}  // namespace
}  // namespace weft::lower::layers_test
