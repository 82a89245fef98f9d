// AMD's GPUs. HIP has CUDA's language and names; what its runtime calls begin with is its own.
#include "target/dialect.h"

namespace weft::target {
namespace {

/// Minima and maxima of signed 64 bits are of new releases only.
bool has_hip_atomic(ir::BinaryOp op, Scalar type) {
  if (is_float(type)) return op == ir::BinaryOp::Add && type != Scalar::F16;
  if (type == Scalar::I64)
    return op != ir::BinaryOp::Mul && op != ir::BinaryOp::Min && op != ir::BinaryOp::Max;
  return op != ir::BinaryOp::Mul;
}

constexpr Dialect hip_row = {
    .name = "hip",
    .brand = "HIP",
    .needs = "ROCm 5.2 or later",
    .suffix = "hip",
    .header = "hip/hip_runtime.h",
    .runtime = "hip",
    .launch_bounds = "__launch_bounds__({})",  // a second number would count waves, not blocks
    .kernel_address = "(const void*)kernel",
    .multiprocessor_count = "hipDeviceAttributeMultiprocessorCount",
    .most_blocks = {4194303, 65535, 65535},  // along x fewer than 2^32 threads, of blocks of up to 1024
    .ignoring = "(void)",
    .truncation = "",
    .shuffle = "__shfl{}(",
    .shuffle_ends = ", 32)",
    .warp_barrier =
        "__builtin_amdgcn_fence(__ATOMIC_ACQ_REL, \"wavefront\"), __builtin_amdgcn_wave_barrier();",
    .has_atomic = has_hip_atomic,
    .compiler = "hipcc",
    .architecture_option = "--offload-arch=",
    .strict_options = "-ffp-contract=off",
    .fast_options = "-fgpu-flush-denormals-to-zero",
    .cmake_requires = "cmake_minimum_required(VERSION 3.21)  # which knows HIP\n",
    .cmake_language = "HIP",
    .cmake_package = "hip",
    .cmake_library = "hip::host",
    .usual_architecture = "gfx90a",
    .architecture_prefix = "gfx",
    .cmake_architecture_prefix = "gfx",
    .architecture = machine::amd_architecture,
};

}  // namespace

const Dialect& hip() { return hip_row; }

}  // namespace weft::target
