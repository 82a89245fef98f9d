// How often each loop of a kernel runs for one piece of the result, away from the borders: what a count of
// instructions is multiplied with. The integers that decide it are evaluated, for images of a size that is given;
// nothing is known of pixels.
//
//     block of 256 threads, tile of 64 rows     `for (y = …; …; ++y)` runs 64 times in each of 256 lanes
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "kernel/evaluate.h"
#include "kernel/ir.h"

namespace weft::kernel {

struct LoopTrips {
  const For* loop = nullptr;
  int parent = -1;  ///< The loop around it; -1: none.
  /// By number of iterations: how often it begins with that number, in threads. Warps go together, so a thread counts if
  /// another of its warp has an iteration.
  std::map<std::int64_t, double> entries = {};
  /// Bytes that one iteration stores in memory, shared memory included; not in loops inside, but for unrolled ones.
  std::int64_t stored = 0;
  int loads = 0;  ///< Places in the text of one iteration that load.
};

struct KernelTrips {
  std::vector<LoopTrips> loops;  ///< In the order of the text, without unrolled ones.
  double threads = 0;            ///< That this is of: those of a block that has work in common, else one.
  double pixels = 0;  ///< That they store in the array that takes most, or update, there or in copies.
};

/// Images of `extent` pixels along each dimension, devices with the room that is expected, and bands of steps that are
/// whole.
FieldValues nominal_fields(const Module& module, std::int64_t extent);

/// Of a block or thread in the middle, or near it where there are more pixels, of images whose rows are aligned. Conditions
/// that nothing is known about are taken to hold.
KernelTrips trips_of(const Module& module, const Function& function, const Grid& grid,
                     const FieldValues& fields);

}  // namespace weft::kernel
