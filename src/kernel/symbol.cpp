#include "kernel/symbol.h"

namespace weft::kernel {

const std::string& Symbol::spelling() const {
  static const std::string none;
  return self_ ? self_->spelling : none;
}

std::strong_ordering Symbol::operator<=>(const Symbol& other) const {
  if (self_ == other.self_ || !self_ || !other.self_) return (self_ != nullptr) <=> (other.self_ != nullptr);
  if (const auto order = self_->spelling <=> other.self_->spelling; order != 0) return order;
  if (const auto order = self_->number <=> other.self_->number; order != 0) return order;
  return std::compare_three_way()(self_.get(), other.self_.get());
}

}  // namespace weft::kernel
