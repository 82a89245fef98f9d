// A captured graph of two branches, launched several times.
#include "../harness.cuh"

__global__ void step(const float* from, float* to, float factor) { to[threadIdx.x] = from[threadIdx.x] * factor; }
__global__ void join(const float* a, const float* b, float* to) { to[threadIdx.x] = a[threadIdx.x] + b[threadIdx.x]; }

extern "C" int simt_main() {
  float *in = ramp<float>(64), *left = zeros<float>(64), *right = zeros<float>(64), *out = zeros<float>(64);
  cudaDeviceSynchronize();
  cudaStream_t a, b;
  cudaEvent_t forked, joined;
  cudaStreamCreate(&a);
  cudaStreamCreate(&b);
  cudaEventCreate(&forked);
  cudaEventCreate(&joined);
  cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal);
  cudaEventRecord(forked, a);
  cudaStreamWaitEvent(b, forked);
  LAUNCH(step, 1, 64, 0, a, in, left, 2.0f);
  LAUNCH(step, 1, 64, 0, b, in, right, 3.0f);
  cudaEventRecord(joined, b);
  cudaStreamWaitEvent(a, joined);
  LAUNCH(join, 1, 64, 0, a, left, right, out);
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  if (cudaStreamEndCapture(a, &graph) != cudaSuccess) return 1;
  cudaGraphInstantiate(&executable, graph);
  for (int i = 0; i < 3; ++i) cudaGraphLaunch(executable, a);
  cudaStreamSynchronize(a);
  cudaGraphExecDestroy(executable);
  cudaGraphDestroy(graph);
  return differences(fetch(out, 64), [](int i) { return 5 * i; });
}
