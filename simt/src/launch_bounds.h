// Keeps what kernels say about their blocks: the compiler for CPUs has no attribute that would.
#pragma once

#include <string>

namespace simt {

/// Writes the bounds into the kernel's body, where their names mean what they mean at the kernel's head:
///     __launch_bounds__(A * B) __global__ void blur(…) {   ->   … { SIMT_LAUNCH_BOUNDS(A * B)
/// which cuda/simt/text.h makes a constant of the kernel's own. Lines stay where they are. Bounds of mere
/// declarations, and those that come out of a macro, are not kept.
std::string with_launch_bounds(const std::string& text);

}  // namespace simt
