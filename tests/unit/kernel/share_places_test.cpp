#include "kernel/share_places.h"

#include <gtest/gtest.h>

#include "emit/c_like.h"
#include "emit/writer.h"
#include "kernel/build.h"
#include "tests/support/symbols.h"

namespace weft::kernel::share_places_test {
namespace {

const Expr x = name("x"_s), y = name("y"_s), pitch = name("pitch"_s), slice = name("slice"_s);

Expr grid(const Expr& across, const Expr& down, const Expr& plane) {
  return load("grid"_s, Scalar::F32, add(add(across, mul(down, pitch)), mul(plane, slice)));
}
Expr more(const Expr& e, std::int64_t by) { return add(e, literal(by)); }
Stmt stored(const std::string& array, const Expr& value) { return {Store{symbol(array), x, value}}; }

/// The C++ of a body after the pass.
std::string shared(Block body) {
  Module module;
  module.arrays = {{"grid"_s, {Scalar::F32, 1}, Array::Role::Input, {"pitch"_s, "slice"_s}, {}}};
  Function function{"f"_s, "", {}, std::move(body)};
  share_places(function, module, {});
  emit::Writer out;
  emit::CLike printer(out, true);
  printer.print(function.body);
  return out.text();
}

TEST(SharePlaces, ThatDifferByStrides) {
  EXPECT_EQ(
      shared({stored("a", grid(x, y, literal(2))), stored("b", grid(more(x, 1), more(y, 1), literal(1)))}),
      "const float* grid_near = grid + x + y * pitch;\n"
      "a[x] = grid_near[slice * 2];\n"
      "b[x] = grid_near[pitch + slice + 1];\n");
}

TEST(SharePlaces, ThatDifferThroughNames) {
  const Expr z = name("z"_s, Scalar::I32), next = name("next"_s, Scalar::I32);
  const auto wide = [](const Expr& e) { return cast(ir::CastMode::Convert, Scalar::I64, e); };
  const auto planes = [&](Scalar type) {
    return shared({{Let{"z"_s, cast(ir::CastMode::Convert, Scalar::I32, load("bins"_s, type, x))}},
                   {Let{"next"_s, binary(ir::BinaryOp::Add, z, constant(Scalar::I32, {.i = 1}))}},
                   stored("a", grid(x, y, wide(z))),
                   stored("b", grid(x, y, wide(next)))});
  };
  EXPECT_EQ(planes(Scalar::U8),
            "const int32_t z = bins[x];\n"
            "const int32_t next = z + 1;\n"
            "const float* grid_near = grid + x + y * pitch + z * slice;\n"
            "a[x] = grid_near[0];\n"
            "b[x] = grid_near[slice];\n");
  EXPECT_EQ(planes(Scalar::I32).find("near"), std::string::npos) << "z + 1 may overflow, and be far away";
}

TEST(SharePlaces, NotOfWhatAnAdditionReaches) {
  const std::string near_by =
      shared({stored("a", grid(x, y, literal(0))), stored("b", grid(more(x, 1), y, literal(0)))});
  EXPECT_EQ(near_by.find("near"), std::string::npos) << near_by;
  const std::string of_columns =
      shared({stored("a", grid(x, literal(0), literal(0))), stored("b", grid(x, literal(1), literal(0)))});
  EXPECT_EQ(of_columns.find("near"), std::string::npos) << of_columns;
}

TEST(SharePlaces, NotWhereTermsChange) {
  const std::string text = shared({{Let{"y"_s, literal(0), true}},
                                   stored("a", grid(x, y, literal(0))),
                                   {Assign{"y"_s, literal(5)}},
                                   stored("b", grid(x, y, literal(1)))});
  EXPECT_EQ(text.find("near"), std::string::npos) << text;
}

/// What a loop inside declares is not known before it.
TEST(SharePlaces, InTheBlockThatLoads) {
  Block body{stored("a", grid(x, y, literal(0))), stored("b", grid(x, y, literal(1)))};
  EXPECT_EQ(shared({{For{LoopKind::Serial, "y"_s, literal(0), literal(9), body}}}),
            "for (int64_t y = 0; y < 9; ++y) {\n"
            "  const float* grid_near = grid + x + y * pitch;\n"
            "  a[x] = grid_near[0];\n"
            "  b[x] = grid_near[slice];\n"
            "}\n");
}

}  // namespace
}  // namespace weft::kernel::share_places_test
