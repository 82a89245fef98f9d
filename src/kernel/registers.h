// What a kernel takes of a multiprocessor, before any compiler has seen it.
#pragma once

#include <cstdint>

#include "kernel/ir.h"

namespace weft::kernel {

/// What a thread may be given: rather the most of it than less.
struct RegisterRange {
  int least = 0, most = 0;
  bool operator==(const RegisterRange&) const = default;
};

/// The registers of 32 bits that a thread of the kernel will be given. Counted are the values that are alive
/// at once on the deepest path, all loads of a statement being under way at a time, and those of some
/// iterations of an innermost loop, as compilers unroll it. The count is rounded up to 32, 40, 48, 64, 80,
/// 128 or 255, since it is no better than that, and the range begins after the step before. With these numbers
/// blocks of any power of two fill a register file, and no error of the count prefers one to another.
/// Decision record 0026 compares the result with NVIDIA's assembler's.
RegisterRange estimated_registers(const kernel::Function& kernel);

/// Of the kernel's arrays that a block shares, one behind the other.
std::int64_t shared_bytes(const kernel::Function& kernel);

}  // namespace weft::kernel
