// Pipeline 'gaussian', emitted by Weft.
#pragma once

#include <cuda_runtime.h>
#include <stddef.h>
#include <stdint.h>

namespace gaussian {

// input  in: in_w x in_h pixels; in_pitch counts uint8_ts from row to row
// output gaussian: in_w x in_h pixels; gaussian_pitch counts uint8_ts from row to row
// Images lie in device memory. The work is queued on the stream; errors of launches are returned.
cudaError_t run_gaussian(const uint8_t* in, int64_t in_pitch, int64_t in_w, int64_t in_h, uint8_t* gaussian, int64_t gaussian_pitch, cudaStream_t stream = nullptr);

// Images lie in host memory, and results are there when the function returns.
cudaError_t run_gaussian_on_host(const uint8_t* in, int64_t in_pitch, int64_t in_w, int64_t in_h, uint8_t* gaussian, int64_t gaussian_pitch);

}  // namespace gaussian
