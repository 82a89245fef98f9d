#include "lower/aligned.h"

#include "lower/lane_code.h"

namespace weft::lower {

using kernel::Expr;

namespace {

/// The widest access that divides `scalars` scalars evenly, in bytes: as the emitted Pack has it.
int access_bytes(Scalar type, int scalars) {
  const int bytes = scalars * size_of(type);
  return bytes % 16 == 0 ? 16 : bytes % 8 == 0 ? 8 : bytes % 4 == 0 ? 4 : size_of(type);
}

}  // namespace

Expr is_aligned(const ArrayLayout& array, const Expr& column, int scalars, const Layout& layout,
                kernel::Block& block) {
  const int bytes = access_bytes(array.type.scalar, scalars);
  const kernel::Symbol aligned = layout.names.local(array.name.spelling() + "_aligned");
  block.push_back({kernel::IsAligned{aligned, array.name, column, bytes}});
  Expr all = kernel::name(aligned, Scalar::Bool);
  for (const kernel::Symbol& pitch : array.strides) {
    const Expr stride = kernel::mul(kernel::name(pitch),
                                    kernel::literal(static_cast<std::int64_t>(size_of(array.type.scalar))));
    const Expr apart = kernel::binary(ir::BinaryOp::And, stride, kernel::literal(bytes - 1));
    all = kernel::both(all, equal(apart, kernel::literal(0)));
  }
  return all;
}

}  // namespace weft::lower
