// What the system protects and takes back memory by.
#pragma once

#include <cstddef>

namespace simt {

inline constexpr std::size_t page_size = 4096;

}  // namespace simt
