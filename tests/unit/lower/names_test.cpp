#include <gtest/gtest.h>

#include "lower/layout.h"

namespace weft::lower {
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

TEST(Names, AreIdentifiers) {
  Names names;
  EXPECT_EQ(names.claim("a b"), "a_b");
  EXPECT_EQ(names.claim("a-b"), "a_b_2");
  EXPECT_EQ(names.claim("3rd"), "_3rd");
  EXPECT_EQ(names.claim(""), "_");
}

TEST(Names, AvoidTheLanguageAndWhatEmittedCodeUses) {
  Names names;
  for (const char* word : {"int", "double", "x", "frame", "int64_t", "expf", "exp", "clamp_index", "min_f32",
                           "saturate_u8_f32", "std", "static_cast"}) {
    EXPECT_EQ(names.claim(word), std::string(word) + "_");
  }
}

TEST(Names, OfACopyDoNotConcernTheOriginal) {
  Names names;
  Names copy = names;
  EXPECT_EQ(copy.claim("a"), "a");
  EXPECT_EQ(names.claim("a"), "a");
}

}  // namespace
}  // namespace weft::lower
