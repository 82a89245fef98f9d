// Sets of integer points by formula, over isl.
//
//     IntegerSets sets;
//     sets.least_point("{ [w, x] : w >= 1 and 0 <= x < w and not (x >= 1) }", 2)   // (1, 0)
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace weft::analysis {

/// One isl context. What isl refuses is a mistake of Weft's and throws InternalError with the formula.
class IntegerSets {
 public:
  IntegerSets();
  ~IntegerSets();
  IntegerSets(const IntegerSets&) = delete;
  IntegerSets& operator=(const IntegerSets&) = delete;

  bool is_empty(const std::string& set);
  /// The lexicographically least point of a set without parameters, or nothing if the set is empty.
  std::optional<std::vector<std::int64_t>> least_point(const std::string& set, int rank);

  /// constant + the sum of factors[i] * the parameter i.
  struct Linear {
    std::vector<std::int64_t> factors;
    std::int64_t constant;
  };
  struct Bounds {
    Linear min, max;
  };
  /// The least and greatest element of a set of one dimension and `parameters` parameters, if each is one
  /// linear form of the parameters wherever the set is not empty.
  std::optional<Bounds> bounds(const std::string& set, int parameters);

 private:
  struct Context;
  std::unique_ptr<Context> context_;
};

}  // namespace weft::analysis
