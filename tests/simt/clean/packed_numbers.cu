// Four bytes, or two numbers of 16 bits, in one word.
#include "../harness.cuh"

__global__ void compute(unsigned a, unsigned b, unsigned* out) {
  const unsigned results[] = {__vadd4(a, b),     __vsub4(a, b),     __vaddus4(a, b), __vsubus4(a, b), __vaddss4(a, b),
                              __vminu4(a, b),    __vmaxu4(a, b),    __vmins4(a, b),  __vmaxs4(a, b),  __vavgu4(a, b),
                              __vhaddu4(a, b),   __vabsdiffu4(a, b), __vcmpgtu4(a, b), __vadd2(a, b),  __vminu2(a, b),
                              __vmaxs2(a, b),    __vsubss2(a, b),   __vsadu4(a, b),  __dp4a(a, b, 7u),
                              __byte_perm(a, b, 0x6240)};
  out[threadIdx.x] = results[threadIdx.x];
}

extern "C" int simt_main() {
  unsigned* out = zeros<unsigned>(20);
  LAUNCH(compute, 1, 20, 0, 0, 0x80ff1003u, 0x7f02f005u, out);
  const unsigned expected[] = {0xff010008u, 0x01fd20feu, 0xffffff08u, 0x01fd0000u, 0xff010008u,
                               0x7f021003u, 0x80fff005u, 0x80fff003u, 0x7f021005u, 0x80818004u,
                               0x7f808004u, 0x01fde002u, 0xffff0000u, 0x00010008u, 0x7f021003u,
                               0x7f021003u, 0x80001ffeu, 0x01u + 0xfdu + 0xe0u + 0x02u,
                               7 + 0x80 * 0x7f + 0xff * 0x02 + 0x10 * 0xf0 + 0x03 * 0x05, 0x02ff0503u};
  return differences(fetch(out, 20), [&](std::size_t i) { return expected[i]; });
}
