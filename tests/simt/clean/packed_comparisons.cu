// Comparisons of packed numbers, as masks and as ones, and products of bytes with signs.
#include "../harness.cuh"

__global__ void compute(unsigned a, unsigned b, unsigned* out) {
  const unsigned results[] = {__vcmpgtu4(a, b), __vcmpgts4(a, b), __vcmplts4(a, b), __vcmples4(a, b),
                              __vcmpges2(a, b), __vseteq4(a, b),  __vsetne4(a, b),  __vsetgtu4(a, b),
                              __vsetgts4(a, b), __vsetgeu2(a, b), __vsetges4(a, b),
                              static_cast<unsigned>(__dp4a(static_cast<int>(a), static_cast<int>(b), -1))};
  out[threadIdx.x] = results[threadIdx.x];
}

extern "C" int simt_main() {
  unsigned* out = zeros<unsigned>(12);
  // 127 and 1; -128 and 2; -1 and -1; 16 and 48
  LAUNCH(compute, 1, 12, 0, 0, 0x7f80ff10u, 0x0102ff30u, out);
  const unsigned expected[] = {0xffff0000u, 0xff000000u, 0x00ff00ffu, 0x00ffffffu, 0xffff0000u, 0x00000100u,
                               0x01010001u, 0x01010000u, 0x01000000u, 0x00010000u, 0x01000100u,
                               127 - 256 + 1 + 768 - 1};
  return differences(fetch(out, 12), [&](std::size_t i) { return expected[i]; });
}
