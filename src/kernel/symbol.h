// What a variable, an array, a pointer, a field, a table or a function of the kernel IR is known by.
//
//     const Symbol a = names.claim("v"), b = names.claim("v");      a reads "v", b reads "v_2"
//     Let{a, …}, Name{a}                                             a use means the declaration that has the same symbol
#pragma once

#include <compare>
#include <cstdint>
#include <memory>
#include <string>

namespace weft::kernel {

/// An identity: two symbols are equal if one is a copy of the other, however they are spelt. `Names` makes them.
class Symbol {
 public:
  Symbol() = default;  ///< None: equal to all others that are none.

  const std::string& spelling() const;  ///< In emitted code and in messages. "" of none.
  explicit operator bool() const { return self_ != nullptr; }

  bool operator==(const Symbol& other) const { return self_ == other.self_; }
  /// By spelling, then by age: the same in every run. Symbols of different modules that are alike in both differ, too, in
  /// some order; they do not meet in what is printed.
  std::strong_ordering operator<=>(const Symbol& other) const;

 private:
  friend class Names;
  struct Self {
    std::string spelling;
    std::uint64_t number;  ///< Of those of a module, in the order in which they were made.
  };
  explicit Symbol(std::shared_ptr<const Self> self) : self_(std::move(self)) {}

  std::shared_ptr<const Self> self_;
};

}  // namespace weft::kernel
