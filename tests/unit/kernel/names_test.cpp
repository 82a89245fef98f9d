#include <gtest/gtest.h>

#include "kernel/names.h"

namespace weft::kernel {
namespace {

TEST(Names, AreKeptIfTheyCanBe) {
  Names names;
  EXPECT_EQ(names.claim("dx"), "dx");
  EXPECT_EQ(names.claim("_a_2"), "_a_2");
}

TEST(Names, AreUnique) {
  Names names;
  EXPECT_EQ(names.claim("a"), "a");
  EXPECT_EQ(names.claim("a"), "a_2");
  EXPECT_EQ(names.claim("a"), "a_3");
  EXPECT_EQ(names.claim("a_2"), "a_2_2");
}

TEST(Names, AreSafeIdentifiers) {
  Names names;
  EXPECT_EQ(names.claim("a b"), "a_b");
  EXPECT_EQ(names.claim("a-b"), "a_b_2");
  EXPECT_EQ(names.claim("INT8_MAX"), "INT8_MAX_");
}

TEST(Names, AreClaimedWithTheirPrefixes) {
  Names names;
  EXPECT_EQ(names.claim("no_b"), "no_b");
  EXPECT_EQ(names.claim("a", {"no_"}), "a");
  EXPECT_EQ(names.claim("no_a"), "no_a_2");
  EXPECT_EQ(names.claim("b", {"no_"}), "b_2");
}

TEST(Names, OfACopyDoNotConcernTheOriginal) {
  Names names;
  Names copy = names;
  EXPECT_EQ(copy.claim("a"), "a");
  EXPECT_EQ(names.claim("a"), "a");
}

}  // namespace
}  // namespace weft::kernel
