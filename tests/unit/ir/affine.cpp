#include "ir/affine.h"

#include <gtest/gtest.h>

#include <random>

namespace weft::ir {
namespace {

const Affine x{Atom(Coord{0})}, y{Atom(Coord{1})}, w{Atom(Size{"in", 0})};

std::int64_t at(const Affine& a, std::int64_t x_value, std::int64_t y_value, std::int64_t w_value) {
  return a.evaluate([&](const Atom& atom) {
    if (const auto* c = std::get_if<Coord>(&atom)) return c->dim == 0 ? x_value : y_value;
    return w_value;
  });
}

/// A random form together with what it computes, written without Affine.
struct Sample {
  Affine form;
  std::function<std::int64_t(std::int64_t, std::int64_t, std::int64_t)> meaning;
};

Sample random_form(std::mt19937& random, int depth) {
  const auto pick = [&](int low, int high) { return std::uniform_int_distribution(low, high)(random); };
  if (depth == 0) {
    switch (pick(0, 3)) {
      case 0: return {x, [](auto a, auto, auto) { return a; }};
      case 1: return {y, [](auto, auto b, auto) { return b; }};
      case 2: return {w, [](auto, auto, auto c) { return c; }};
    }
    const int constant = pick(-5, 5);
    return {constant, [=](auto, auto, auto) { return constant; }};
  }
  const Sample a = random_form(random, depth - 1);
  if (pick(0, 2) == 0) {
    const int divisor = pick(1, 6);
    return {a.form.floor_div(divisor), [=](auto i, auto j, auto k) {
              const std::int64_t n = a.meaning(i, j, k), r = ((n % divisor) + divisor) % divisor;
              return (n - r) / divisor;
            }};
  }
  const Sample b = random_form(random, depth - 1);
  const int p = pick(-4, 4), q = pick(-4, 4);
  return {a.form * p + b.form * q,
          [=](auto i, auto j, auto k) { return p * a.meaning(i, j, k) + q * b.meaning(i, j, k); }};
}

}  // namespace

TEST(Affine, CollectsTerms) {
  EXPECT_EQ((x * 2 + y - x * 2).to_string(), "y");
  EXPECT_EQ((x * 2 + 3 - y).to_string(), "2*x - y + 3");
  EXPECT_EQ((x - x).to_string(), "0");
  EXPECT_TRUE((x - x).is_constant(0));
  EXPECT_EQ((w - 1).to_string(), "in.w - 1");
  EXPECT_EQ((w.floor_div(2) * -1 + x).to_string(), "-(in.w/2) + x");
  EXPECT_EQ(x + y, y + x);
  Affine doubled = x;
  doubled += doubled;
  EXPECT_EQ(doubled, x * 2);
}

TEST(Affine, FloorDivisionSimplifies) {
  EXPECT_EQ((x * 2 + 3).floor_div(2), x + 1);
  EXPECT_EQ((x * 4 + 2).floor_div(6), (x * 2 + 1).floor_div(3));
  EXPECT_EQ(w.floor_div(2).floor_div(2), w.floor_div(4));
  EXPECT_EQ((w.floor_div(2) + 1).floor_div(3), (w + 2).floor_div(6));
  EXPECT_EQ(x.floor_div(1), x);
  EXPECT_EQ(Affine(-7).floor_div(2), Affine(-4));
  EXPECT_EQ((x - 1).floor_div(2).to_string(), "(x + 1)/2 - 1");
}

TEST(Affine, FloorOfNegatives) {
  EXPECT_EQ(floor_div(-1, 2), -1);
  EXPECT_EQ(floor_div(-2, 2), -1);
  EXPECT_EQ(floor_div(-3, 2), -2);
  EXPECT_EQ(floor_div(3, 2), 1);
  EXPECT_EQ(at(x.floor_div(3), -4, 0, 0), -2);
}

TEST(Affine, RandomFormsMeanWhatTheyWereMadeFrom) {
  std::mt19937 random(7);
  for (int i = 0; i < 3000; ++i) {
    const Sample sample = random_form(random, 4);
    for (int j = 0; j < 10; ++j) {
      std::uniform_int_distribution<std::int64_t> value(-40, 40);
      const std::int64_t a = value(random), b = value(random), c = value(random);
      ASSERT_EQ(at(sample.form, a, b, c), sample.meaning(a, b, c)) << sample.form.to_string();
    }
  }
}

TEST(Affine, ScaledFormsMeanTheSame) {
  std::mt19937 random(11);
  int scaled_forms = 0;
  for (int i = 0; i < 3000; ++i) {
    const Affine form = random_form(random, 3).form;
    Scaled scaled;
    if (!as_scaled(form, 0, &scaled)) continue;
    ++scaled_forms;
    ASSERT_FALSE(mentions_coord(scaled.rest, 0));
    for (std::int64_t a = -9; a <= 9; ++a) {
      const std::int64_t expected = floor_div(scaled.scale * a + at(scaled.rest, a, 3, 5), scaled.divisor);
      ASSERT_EQ(at(form, a, 3, 5), expected) << form.to_string();
    }
  }
  EXPECT_GT(scaled_forms, 1000);
}

TEST(Affine, Scaled) {
  Scaled s;
  ASSERT_TRUE(as_scaled((x * 3 + y).floor_div(2) + 4, 0, &s));
  EXPECT_EQ(s.scale, 3);
  EXPECT_EQ(s.rest, y + 8);
  EXPECT_EQ(s.divisor, 2);
  EXPECT_FALSE(as_scaled(x - x.floor_div(2) * 2, 0, &s));
  EXPECT_FALSE(as_scaled(x.floor_div(2) + x.floor_div(3), 0, &s));
  ASSERT_TRUE(as_scaled(y, 0, &s));
  EXPECT_EQ(s.scale, 0);
}

TEST(Affine, Substitution) {
  const auto x_is_2y = [&](const Atom& a) { return Affine(a) == x ? y * 2 : Affine(a); };
  EXPECT_EQ((x + 1).floor_div(2).substitute(x_is_2y), y);
  EXPECT_EQ((x + w).substitute(x_is_2y), y * 2 + w);
}

TEST(Affine, MentionsLooksInsideFloors) {
  EXPECT_TRUE(mentions_coord((x + 1).floor_div(2) + y, 0));
  EXPECT_FALSE(mentions_coord((y + 1).floor_div(2), 0));
  EXPECT_TRUE(is_coord(x, 0));
  EXPECT_FALSE(is_coord(x + 1, 0));
  EXPECT_FALSE(is_coord(x, 1));
}

}  // namespace weft::ir
