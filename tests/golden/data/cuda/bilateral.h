// Pipeline 'bilateral', emitted by Weft.
#pragma once

#include <cuda_runtime.h>
#include <stddef.h>
#include <stdint.h>

namespace bilateral {

// input  in: in_w x in_h pixels; in_pitch counts floats from row to row
// output bilateral: in_w x in_h pixels; bilateral_pitch counts floats from row to row
// Images lie in device memory. The work is queued on the stream; errors of launches are returned.
cudaError_t run_bilateral(const float* in, int64_t in_pitch, int64_t in_w, int64_t in_h, float sigma_r, float* bilateral, int64_t bilateral_pitch, cudaStream_t stream = nullptr);

// Images lie in host memory, and results are there when the function returns.
cudaError_t run_bilateral_on_host(const float* in, int64_t in_pitch, int64_t in_w, int64_t in_h, float sigma_r, float* bilateral, int64_t bilateral_pitch);

}  // namespace bilateral
