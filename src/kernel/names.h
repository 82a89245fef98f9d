// Makes symbols, which no two of one scope spell alike.
#pragma once

#include <atomic>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "kernel/symbol.h"

namespace weft::kernel {

/// A scope: what a copy claims is not taken in the original. Symbols of all copies are different.
class Names {
 public:
  using Prefixes = std::vector<const char*>;

  /// Spelt as `wanted`, made an identifier that is valid in C++ and CUDA, with a number appended if it is taken. With each
  /// of the prefixes before it, the spelling is taken, too.
  Symbol claim(const std::string& wanted, const Prefixes& prefixes = {});
  /// A variable of a function's own, spelt as a word that emitted code keeps for itself (ir/identifiers.h), or as another
  /// that is not taken. Nor is it afterwards: each function, and each loop of one, may have such a variable.
  Symbol local(const std::string& word) const;
  /// A symbol of another scope keeps its spelling to itself here, too.
  void avoid(const Symbol& symbol) { taken_.insert(symbol.spelling()); }

 private:
  bool is_free(const std::string& name, const Prefixes& prefixes) const;
  std::string unique(const std::string& name, const Prefixes& prefixes) const;
  Symbol make(std::string spelling) const;

  std::set<std::string> taken_;
  std::shared_ptr<std::atomic<std::uint64_t>> made_ = std::make_shared<std::atomic<std::uint64_t>>(0);
};

/// What functions of the host put before the spelling of an array, or of one of its strides, for variables of their own:
/// its copy on the device, what stands in for it when it is empty, and what it was before another array stood in for it.
/// Whoever claims an array claims these texts with it; emitters spell them.
constexpr const char* on_device = "device_";
constexpr const char* when_empty = "no_";
constexpr const char* before_stand_in = "own_";

}  // namespace weft::kernel
