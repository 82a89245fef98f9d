#include "runtime/overlap.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace weft::runtime {
namespace {

/// A number from low to high, times the stride, which is not negative.
struct Term {
  std::int64_t stride, low, high;
};

/// What a dimension adds to a pixel's place, in units of `unit`; subtracted if it is of the other buffer.
Term term_of(std::int64_t extent, std::int64_t stride, std::int64_t unit, bool subtracted) {
  const bool negative = (stride < 0) != subtracted;
  const std::int64_t most = extent - 1;
  return {(stride < 0 ? -stride : stride) * unit, negative ? -most : 0, negative ? 0 : most};
}

void add_terms(std::vector<Term>& terms, const Buffer& b, std::int64_t unit, bool subtracted = false) {
  for (int d = 0; d < b.rank(); ++d) terms.push_back(term_of(b.extent(d), b.stride(d), unit, subtracted));
  terms.push_back(term_of(b.type().lanes, b.lane_stride(), unit, subtracted));
}

/// Finds out whether terms can have a given sum. Strides that are multiples of one another, as those of
/// images are, leave one or two numbers to try for each term.
class Sums {
 public:
  /// Equal strides become one term.
  explicit Sums(std::vector<Term> terms) {
    std::sort(terms.begin(), terms.end(), [](const Term& a, const Term& b) { return a.stride > b.stride; });
    for (const Term& t : terms) {
      if (t.stride == 0 || t.low == t.high) continue;
      if (!terms_.empty() && terms_.back().stride == t.stride)
        terms_.back().low += t.low, terms_.back().high += t.high;
      else
        terms_.push_back(t);
    }
    rest_.resize(terms_.size() + 1);
    for (std::size_t i = terms_.size(); i-- > 0;) {
      const Term& t = terms_[i];
      rest_[i] = {rest_[i + 1].low + t.low * t.stride, rest_[i + 1].high + t.high * t.stride,
                  std::gcd(rest_[i + 1].divisor, t.stride)};
    }
  }

  const std::vector<Term>& terms() const { return terms_; }

  /// Of the terms from one on. After very many attempts, at strides that no image has: no.
  bool can_be(std::int64_t sum, std::size_t from = 0) {
    if (sum < rest_[from].low || sum > rest_[from].high) return false;
    if (from == terms_.size()) return true;
    if (sum % rest_[from].divisor != 0) return false;
    const Term& t = terms_[from];
    const std::int64_t first = std::max(t.low, ceil_div(sum - rest_[from + 1].high, t.stride));
    const std::int64_t last = std::min(t.high, -ceil_div(rest_[from + 1].low - sum, t.stride));
    for (std::int64_t n = first; n <= last; ++n) {
      if (++attempts_ > most_attempts) return false;
      if (can_be(sum - n * t.stride, from + 1)) return true;
    }
    return false;
  }

 private:
  static constexpr int most_attempts = 1 << 20;
  struct Rest {
    std::int64_t low = 0, high = 0, divisor = 0;
  };

  static std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return a / b + (a % b > 0 ? 1 : 0); }

  std::vector<Term> terms_;
  std::vector<Rest> rest_;  ///< Of the terms from one on: their sums' ends, and what divides them.
  int attempts_ = 0;
};

struct Extent {
  const std::byte *begin, *end;
};

Extent extent_of(const Buffer& b) {
  const std::int64_t unit = size_of(b.type().scalar);
  std::int64_t low = 0, high = 0;
  const auto add = [&](const Term& t) { low += t.low * t.stride, high += t.high * t.stride; };
  for (int d = 0; d < b.rank(); ++d) add(term_of(b.extent(d), b.stride(d), unit, false));
  add(term_of(b.type().lanes, b.lane_stride(), unit, false));
  const auto* data = static_cast<const std::byte*>(b.data());
  return {data + low, data + high + size_of(b.type().scalar)};
}

}  // namespace

bool overlaps_itself(const Buffer& buffer) {
  if (buffer.is_dense() || buffer.pixels() == 0) return false;
  std::vector<Term> terms;
  add_terms(terms, buffer, 1);
  for (Term& t : terms) {
    const std::int64_t most = t.high - t.low;
    if (t.stride == 0 && most > 0) return true;
    t = {t.stride, 0, most};
  }
  std::sort(terms.begin(), terms.end(), [](const Term& a, const Term& b) { return a.stride > b.stride; });
  // The difference of two pixels' places is 0. One of its terms is the first that is not; take it positive.
  for (std::size_t first = 0; first < terms.size(); ++first) {
    if (terms[first].high == 0) continue;
    std::vector<Term> difference = {{terms[first].stride, 0, terms[first].high - 1}};
    for (std::size_t i = first + 1; i < terms.size(); ++i)
      difference.push_back({terms[i].stride, -terms[i].high, terms[i].high});
    if (Sums(difference).can_be(-terms[first].stride)) return true;
  }
  return false;
}

bool are_intertwined(const Buffer& a, const Buffer& b) {
  if (a.empty() || b.empty() || a.pixels() == 0 || b.pixels() == 0) return false;
  const Extent p = extent_of(a), q = extent_of(b);
  return p.begin < q.end && q.begin < p.end;
}

bool overlap(const Buffer& a, const Buffer& b) {
  if (!are_intertwined(a, b)) return false;
  const std::int64_t size_a = size_of(a.type().scalar), size_b = size_of(b.type().scalar);
  std::vector<Term> difference = {{1, -(size_b - 1), size_a - 1}};  // of bytes within a scalar
  add_terms(difference, a, size_a);
  add_terms(difference, b, size_b, true);
  return Sums(difference)
      .can_be(static_cast<const std::byte*>(b.data()) - static_cast<const std::byte*>(a.data()));
}

}  // namespace weft::runtime
