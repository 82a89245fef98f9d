// Pipeline 'harris', emitted by Weft.
#pragma once

#include <cuda_runtime.h>
#include <stddef.h>
#include <stdint.h>

namespace harris {

// input  in: in_w x in_h pixels; in_pitch counts floats from row to row
// output hc: in_w x in_h pixels; hc_pitch counts floats from row to row
// Images lie in device memory. The work is queued on the stream; errors of launches are returned.
cudaError_t run_harris(const float* in, int64_t in_pitch, int64_t in_w, int64_t in_h, float k, float* hc, int64_t hc_pitch, cudaStream_t stream = nullptr);

// Images lie in host memory, and results are there when the function returns.
cudaError_t run_harris_on_host(const float* in, int64_t in_pitch, int64_t in_w, int64_t in_h, float k, float* hc, int64_t hc_pitch);

}  // namespace harris
