// Atomic operations on integers and floats.
#include "../harness.cuh"

__global__ void change(int* i, unsigned* u, float* f, double* d, unsigned long long* l) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(&i[0], t);
  atomicMin(&i[1], -t);
  atomicMax(&i[2], t);
  atomicSub(&i[3], 1);
  atomicAnd(&u[0], ~(1u << (t % 32)));
  atomicOr(&u[1], 1u << (t % 32));
  atomicXor(&u[2], 1u);
  atomicExch(&u[3], 7u);
  atomicAdd(f, 0.5f);
  atomicAdd(d, 0.25);
  atomicAdd(l, 1ull << 33);
  int seen = i[4 + t], assumed;
  do {
    assumed = seen;
    seen = atomicCAS(&i[4 + t], assumed, assumed + t);
  } while (seen != assumed);
}

extern "C" int simt_main() {
  int* i = zeros<int>(4 + 96);
  unsigned* u = zeros<unsigned>(4);
  cudaMemset(u, 0xff, sizeof(unsigned));
  float* f = zeros<float>(1);
  double* d = zeros<double>(1);
  unsigned long long* l = zeros<unsigned long long>(1);
  LAUNCH(change, 2, 48, 0, 0, i, u, f, d, l);
  int wrong = differences(fetch(i, 4), [](int k) { return k == 0 ? 95 * 48 : k == 1 ? -95 : k == 2 ? 95 : -96; });
  wrong += differences(fetch(i + 4, 96), [](int k) { return k; });
  wrong += differences(fetch(u, 4), [](int k) { return k == 0 ? 0u : k == 1 ? ~0u : k == 2 ? 0u : 7u; });
  wrong += differences(fetch(f, 1), [](int) { return 48; });
  wrong += differences(fetch(d, 1), [](int) { return 24; });
  wrong += differences(fetch(l, 1), [](int) { return 96ull << 33; });
  return wrong;
}
