#include <gtest/gtest.h>

#include <set>

#include "kernel/names.h"

namespace weft::kernel {
namespace {

TEST(Names, AreKeptIfTheyCanBe) {
  Names names;
  EXPECT_EQ(names.claim("dx").spelling(), "dx");
  EXPECT_EQ(names.claim("_a_2").spelling(), "_a_2");
}

TEST(Names, AreUnique) {
  Names names;
  EXPECT_EQ(names.claim("a").spelling(), "a");
  EXPECT_EQ(names.claim("a").spelling(), "a_2");
  EXPECT_EQ(names.claim("a").spelling(), "a_3");
  EXPECT_EQ(names.claim("a_2").spelling(), "a_2_2");
}

TEST(Names, AreSafeIdentifiers) {
  Names names;
  EXPECT_EQ(names.claim("a b").spelling(), "a_b");
  EXPECT_EQ(names.claim("a-b").spelling(), "a_b_2");
  EXPECT_EQ(names.claim("INT8_MAX").spelling(), "INT8_MAX_");
}

TEST(Names, AreClaimedWithTheirPrefixes) {
  Names names;
  EXPECT_EQ(names.claim("no_b").spelling(), "no_b");
  EXPECT_EQ(names.claim("a", {"no_"}).spelling(), "a");
  EXPECT_EQ(names.claim("no_a").spelling(), "no_a_2");
  EXPECT_EQ(names.claim("b", {"no_"}).spelling(), "b_2");
}

TEST(Names, OfVariablesAreTheirOwn) {
  Names names;
  const Symbol i = names.local("i"), other = names.local("i");  // claim() would make i_ of it
  EXPECT_EQ(i.spelling(), "i");
  EXPECT_EQ(other.spelling(), "i");
  EXPECT_NE(i, other);
  names.claim("aligned");
  EXPECT_EQ(names.local("aligned").spelling(), "aligned_2");
}

TEST(Names, OfACopyDoNotConcernTheOriginal) {
  Names names;
  Names copy = names;
  EXPECT_EQ(copy.claim("a").spelling(), "a");
  EXPECT_EQ(names.claim("a").spelling(), "a");
}

TEST(Symbols, AreWhatTheyAreCopiesOf) {
  Names names, others;
  const Symbol a = names.claim("a"), same = a, b = names.claim("b");
  EXPECT_EQ(a, same);
  EXPECT_NE(a, b);
  EXPECT_NE(a, others.claim("a"));
  EXPECT_NE(a, Symbol());
  EXPECT_EQ(Symbol(), Symbol());
  EXPECT_TRUE(a && !Symbol());
}

TEST(Symbols, AreOrderedBySpellingThenByAge) {
  Names names;
  Names copy = names;
  const Symbol first = copy.claim("b"), second = names.claim("b"), a = names.claim("a");
  EXPECT_LT(first, second);
  EXPECT_LT(a, first);
  EXPECT_LT(Symbol(), a);
  EXPECT_EQ(first <=> Symbol(first), std::strong_ordering::equal);
  Names others;  // of another module: different, in whichever order
  EXPECT_EQ((std::set<Symbol>{first, second, a, others.claim("b"), others.claim("b")}).size(), 5u);
}

}  // namespace
}  // namespace weft::kernel
