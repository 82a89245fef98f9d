// Whatever users call their things, emitted code compiles and means the same.
#include <gtest/gtest.h>

#include "tests/support/differential.h"

namespace weft::testing_support {
namespace {

/// A pipeline in which everything is called what emitted code or C++ might call something itself.
void agree_with_names(const std::string& image, const std::string& parameter, const std::string& middle,
                      const std::string& last, const std::string& pipeline_name = "names", int window = 3) {
  SCOPED_TRACE(image + " " + parameter + " " + middle + " " + last + " " + pipeline_name);
  const Image<float> in(image.c_str());
  const Param<float> k(parameter.c_str(), 2.f);
  const Stage a = convolve(middle, in.border(Border::clamp()), Mask{{1.f, 2.f, 3.f}, {4.f, 5.f, 6.f}});
  const Accessor src = a.border(Border::constant(k));
  const Stage out = stage(last, in.size(), [&](Var x, Var y) {
    Accum<float> total = 0;
    for_each(Domain(window, window), [&](Tap t) { total += src(x + t.x, y + t.y) * Expr(t.x); });
    return total * k + floor(in(x, y));
  });
  const Pipeline pipeline(pipeline_name, Outputs(out).strict());
  expect_agreement(pipeline, {{{image, noise(in.type(), {19, 9}, 101)}}, {}, {}});
}

TEST(Names, OfLocals) {
  agree_with_names("x", "y", "i", "x0", "names", 15);
  agree_with_names("acc", "tx", "count", "left", "names", 15);
  agree_with_names("count", "left", "right", "row");
  agree_with_names("first", "last", "acc", "v");
  agree_with_names("tx", "ty", "window", "next");
}

TEST(Names, OfTheFrame) {
  agree_with_names("frame", "host", "data", "context");
  agree_with_names("in_w", "in_h", "in_stride", "in_y");
  agree_with_names("out", "out_rows", "out_pixel", "out_row");
}

TEST(Names, OfCpp) {
  agree_with_names("int", "class", "template", "new");
  agree_with_names("std", "int64_t", "float", "main");
  agree_with_names("size_t", "bool", "true", "nullptr");
  agree_with_names("weft_host", "weft_entry", "arrays", "integers");
  agree_with_names("floorf", "expf", "clamp_index", "half_t");
}

TEST(Names, ThatAreNoIdentifiers) {
  agree_with_names("my image", "3rd", "a-b", "a_b");
  agree_with_names("größe", "_x", "__y", "%");
}

TEST(Names, OfPipelines) {
  for (const char* name : {"my-pipeline", "3d", "two words", "frame", "in", "out", "double", "größe"})
    agree_with_names("in", "k", "a", "out", name);
}

TEST(Names, ThatDifferInCharactersThatIdentifiersLack) { agree_with_names("a b", "a+b", "a-b", "a.b"); }

}  // namespace
}  // namespace weft::testing_support
