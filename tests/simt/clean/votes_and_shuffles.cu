// Every vote, shuffle and warp reduction, with partial masks and widths.
#include "../harness.cuh"

__global__ void votes(unsigned* out) {
  const int lane = threadIdx.x;
  const unsigned all = 0xffffffffu, half = lane < 16 ? 0x0000ffffu : 0xffff0000u;
  unsigned* mine = out + lane * 12;
  mine[0] = __ballot_sync(all, lane % 3 == 0);
  mine[1] = __any_sync(half, lane == 3);
  mine[2] = __all_sync(half, lane < 16);
  mine[3] = __shfl_sync(all, lane, 5, 8);
  mine[4] = __shfl_up_sync(half, lane, 2, 16);
  mine[5] = __shfl_down_sync(all, lane, 3);
  mine[6] = __shfl_xor_sync(all, lane, 9);
  mine[7] = __reduce_add_sync(half, static_cast<unsigned>(lane));
  mine[8] = static_cast<unsigned>(__reduce_min_sync(all, lane - 16));
  mine[9] = __match_any_sync(all, lane / 4);
  mine[10] = static_cast<unsigned>(__syncthreads_count(lane < 11));
  mine[11] = static_cast<unsigned>(__shfl_xor_sync(all, static_cast<double>(lane), 1));
}

extern "C" int simt_main() {
  unsigned* out = zeros<unsigned>(32 * 12);
  LAUNCH(votes, 1, 32, 0, 0, out);
  return differences(fetch(out, 32 * 12), [](int i) -> unsigned {
    const int lane = i / 12, part = lane / 16 * 16;
    switch (i % 12) {
      case 0: return 0x49249249u;
      case 1: return lane < 16;
      case 2: return lane < 16;
      case 3: return lane / 8 * 8 + 5;
      case 4: return lane - part < 2 ? lane : lane - 2;
      case 5: return lane + 3 > 31 ? lane : lane + 3;
      case 6: return lane ^ 9;
      case 7: return lane < 16 ? 120 : 376;
      case 8: return static_cast<unsigned>(-16);
      case 9: return 0xfu << (lane / 4 * 4);
      case 10: return 11;
      default: return lane ^ 1;
    }
  });
}
