// Pipeline 'enhance', emitted by Weft.
#pragma once

#include <cuda_runtime.h>
#include <stddef.h>
#include <stdint.h>

// input  in: in_w x in_h pixels; in_pitch counts floats from row to row
// output gamma: in_w x in_h pixels; gamma_pitch counts floats from row to row
// Images lie in device memory. The work is queued on the stream; errors of launches are returned.
cudaError_t run_enhance(const float* in, int64_t in_pitch, int64_t in_w, int64_t in_h, float gain, float* gamma, int64_t gamma_pitch, cudaStream_t stream = nullptr);

// Images lie in host memory, and results are there when the function returns.
cudaError_t run_enhance_on_host(const float* in, int64_t in_pitch, int64_t in_w, int64_t in_h, float gain, float* gamma, int64_t gamma_pitch);
