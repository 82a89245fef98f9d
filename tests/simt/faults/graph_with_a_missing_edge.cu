// Two branches of a captured graph meet in one buffer before they are joined.
// race: race
#include "../harness.cuh"

__global__ void write(float* data, float value) {
  data[threadIdx.x] = value;  // <-- here
}

extern "C" int simt_main() {
  float* data = zeros<float>(64);
  cudaStream_t a, b;
  cudaEvent_t fork, join;
  cudaStreamCreate(&a);
  cudaStreamCreate(&b);
  cudaEventCreate(&fork);
  cudaEventCreate(&join);
  cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal);
  cudaEventRecord(fork, a);
  cudaStreamWaitEvent(b, fork);
  LAUNCH(write, 1, 64, 0, a, data, 1.0f);
  LAUNCH(write, 1, 64, 0, b, data, 2.0f);
  cudaEventRecord(join, b);
  cudaStreamWaitEvent(a, join);
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  cudaStreamEndCapture(a, &graph);
  cudaGraphInstantiate(&executable, graph);
  cudaGraphLaunch(executable, a);
  cudaDeviceSynchronize();
  return 0;
}
