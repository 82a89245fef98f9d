// Two streams, ordered by events; buffers allocated and released in streams.
#include "../harness.cuh"

__global__ void add(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a[i] + b[i];
}

extern "C" int simt_main() {
  constexpr int n = 200;
  std::vector<float> values(n);
  for (int i = 0; i < n; ++i) values[i] = i;
  cudaStream_t a, b;
  cudaEvent_t uploaded, doubled, added;
  cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
  for (cudaEvent_t* event : {&uploaded, &doubled, &added}) cudaEventCreateWithFlags(event, cudaEventDisableTiming);

  float *in, *twice, *thrice, *out, *result;
  cudaMallocHost(&result, n * sizeof(float));
  for (float** buffer : {&in, &twice, &thrice, &out}) cudaMallocAsync(buffer, n * sizeof(float), a);
  cudaMemcpyAsync(in, values.data(), n * sizeof(float), cudaMemcpyHostToDevice, a);
  cudaEventRecord(uploaded, a);
  cudaStreamWaitEvent(b, uploaded);
  LAUNCH(add, 2, 128, 0, a, in, in, twice, n);
  cudaEventRecord(doubled, a);
  cudaStreamWaitEvent(b, doubled);
  LAUNCH(add, 2, 128, 0, b, in, twice, thrice, n);
  LAUNCH(add, 2, 128, 0, a, twice, twice, out, n);
  cudaEventRecord(added, b);
  cudaStreamWaitEvent(a, added);
  LAUNCH(add, 2, 128, 0, a, out, thrice, out, n);
  cudaMemcpyAsync(result, out, n * sizeof(float), cudaMemcpyDeviceToHost, a);
  for (float* buffer : {in, twice, thrice, out}) cudaFreeAsync(buffer, a);
  cudaStreamSynchronize(a);
  const std::vector<float> values_out(result, result + n);
  cudaFreeHost(result);
  cudaStreamDestroy(a);
  cudaStreamDestroy(b);
  return differences(values_out, [](int i) { return 7 * i; });
}
