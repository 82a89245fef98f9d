// Pipeline 'histogram', emitted by Weft.
#pragma once

#include <cuda_runtime.h>
#include <stddef.h>
#include <stdint.h>

namespace histogram {

// input  in: in_w x in_h pixels; in_pitch counts uint8_ts from row to row
// output histogram: 256 pixels
// Images lie in device memory. The work is queued on the stream; errors of launches are returned.
cudaError_t run_histogram(const uint8_t* in, int64_t in_pitch, int64_t in_w, int64_t in_h, uint32_t* histogram, cudaStream_t stream = nullptr);

// Images lie in host memory, and results are there when the function returns.
cudaError_t run_histogram_on_host(const uint8_t* in, int64_t in_pitch, int64_t in_w, int64_t in_h, uint32_t* histogram);

}  // namespace histogram
