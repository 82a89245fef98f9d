#include <weft/buffer.h>

#include <gtest/gtest.h>

#include <cstdint>

namespace weft {
namespace {

TEST(Buffer, OwnedMemoryIsAlignedForVectorsAndForHugePages) {
  const auto address = [](const Buffer& b) { return reinterpret_cast<std::uintptr_t>(b.data()); };
  EXPECT_EQ(address(Buffer::allocate({Scalar::U8}, {65})) % 64, 0u);
  EXPECT_EQ(address(Buffer::allocate({Scalar::U8}, {4 << 20})) % (2 << 20), 0u);
}

}  // namespace
}  // namespace weft
