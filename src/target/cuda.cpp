// NVIDIA's GPUs.
#include "target/dialect.h"

namespace weft::target {
namespace {

bool has_cuda_atomic(ir::BinaryOp op, Scalar type) {
  if (is_float(type)) return op == ir::BinaryOp::Add && type != Scalar::F16;
  return op != ir::BinaryOp::Mul;
}

constexpr Dialect cuda_row = {
    .name = "cuda",
    .brand = "CUDA",
    .needs = "CUDA 11.2 or later",
    .suffix = "cu",
    .header = "cuda_runtime.h",
    .runtime = "cuda",
    // That one block per multiprocessor is enough says that registers need not be saved. Unsaid, the
    // assembler spills some of them for the sake of another block.
    .launch_bounds = "__launch_bounds__({}, {})",
    .kernel_address = "kernel",
    .multiprocessor_count = "cudaDevAttrMultiProcessorCount",
    .most_blocks = {2147483647, 65535, 65535},
    .ignoring = "",
    // The instruction cvt.rzi; the PTX ISA says that it makes NaN 0 and clamps what is out of range.
    .truncation = "__float2{}_rz",
    .shuffle = "__shfl{}_sync(~0u, ",
    .shuffle_ends = ")",
    .warp_barrier = "__syncwarp();",
    .has_atomic = has_cuda_atomic,
    .compiler = "nvcc",
    .architecture_option = "-arch=",
    .strict_options = "-fmad=false",
    .fast_options = "-ftz=true -prec-div=false -prec-sqrt=false",
    .cmake_requires = "",
    .cmake_language = "CUDA",
    .cmake_package = "CUDAToolkit",
    .cmake_library = "CUDA::cudart",
    .usual_architecture = "sm_90",
    .architecture_prefix = "sm_",
    .cmake_architecture_prefix = "",
    .architecture = machine::closest_architecture,
};

}  // namespace

const Dialect& cuda() { return cuda_row; }

}  // namespace weft::target
