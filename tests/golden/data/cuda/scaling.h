// Pipeline 'scaling', emitted by Weft.
#pragma once

#include <cuda_runtime.h>
#include <stddef.h>
#include <stdint.h>

namespace scaling {

// input  in: in_w x in_h pixels; in_pitch counts floats from row to row
// output scaling: (in_w + 1) / 2 x (in_h + 1) / 2 pixels; scaling_pitch counts floats from row to row
// Images lie in device memory. The work is queued on the stream; errors of launches are returned.
cudaError_t run_scaling(const float* in, int64_t in_pitch, int64_t in_w, int64_t in_h, float* scaling, int64_t scaling_pitch, cudaStream_t stream = nullptr);

// Images lie in host memory, and results are there when the function returns.
cudaError_t run_scaling_on_host(const float* in, int64_t in_pitch, int64_t in_w, int64_t in_h, float* scaling, int64_t scaling_pitch);

}  // namespace scaling
