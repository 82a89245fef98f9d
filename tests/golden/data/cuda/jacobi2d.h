// Pipeline 'jacobi2d', emitted by Weft.
#pragma once

#include <cuda_runtime.h>
#include <stddef.h>
#include <stdint.h>

namespace jacobi2d {

// input  in: in_w x in_h pixels; in_pitch counts floats from row to row
// output jacobi2d: in_w x in_h pixels; jacobi2d_pitch counts floats from row to row
// Images lie in device memory. The work is queued on the stream; errors of launches are returned.
cudaError_t run_jacobi2d(const float* in, int64_t in_pitch, int64_t in_w, int64_t in_h, int32_t steps, float* jacobi2d, int64_t jacobi2d_pitch, cudaStream_t stream = nullptr);

// Images lie in host memory, and results are there when the function returns.
cudaError_t run_jacobi2d_on_host(const float* in, int64_t in_pitch, int64_t in_w, int64_t in_h, int32_t steps, float* jacobi2d, int64_t jacobi2d_pitch);

}  // namespace jacobi2d
