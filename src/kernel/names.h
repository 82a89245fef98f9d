// Identifiers of emitted code.
#pragma once

#include <set>
#include <string>
#include <vector>

namespace weft::kernel {

/// Hands out identifiers that are valid in C++ and CUDA and unique within a scope.
class Names {
 public:
  using Prefixes = std::vector<const char*>;

  /// `wanted`, made a valid identifier, with a number appended if it is taken. With each of the prefixes
  /// before it, the name is claimed, too.
  std::string claim(const std::string& wanted, const Prefixes& prefixes = {});

 private:
  bool is_free(const std::string& name, const Prefixes& prefixes) const;

  std::set<std::string> taken_;
};

}  // namespace weft::kernel
