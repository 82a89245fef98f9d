// Pipeline 'reduce_sum', emitted by Weft.
#pragma once

#include <cuda_runtime.h>
#include <stddef.h>
#include <stdint.h>

namespace reduce_sum {

// input  in: in_w x in_h pixels; in_pitch counts floats from row to row
// output sum: one pixels
// Images lie in device memory. The work is queued on the stream; errors of launches are returned.
cudaError_t run_reduce_sum(const float* in, int64_t in_pitch, int64_t in_w, int64_t in_h, float* sum, cudaStream_t stream = nullptr);

// Images lie in host memory, and results are there when the function returns.
cudaError_t run_reduce_sum_on_host(const float* in, int64_t in_pitch, int64_t in_w, int64_t in_h, float* sum);

}  // namespace reduce_sum
