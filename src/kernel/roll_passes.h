// Passes that follow one another and differ in numbers and arrays alone become a loop.
//
//     float a1[8], a2[8], a3[8], a4[8];               float a[4 * 8];
//     for (x …) a2[x] = a1[x] + a1[x + 3];            for (int64_t pass = 0; pass < 3; ++pass) {
//     for (x …) a3[x] = a2[x] + a2[x + 2];       →      const int64_t ahead = 3 - pass;
//     for (x …) a4[x] = a3[x] + a3[x + 1];              const float* past = a + pass * 8;
//                                                       float* next = a + (pass + 1) * 8;
//                                                       for (x …) next[x] = past[x] + past[x + ahead];
//                                                     }
//
// Many time steps in one kernel are such passes: what is emitted, read and compiled is then that of one.
#pragma once

#include "kernel/ir.h"
#include "kernel/names.h"

namespace weft::kernel {

/// Of a CPU, once all else is decided: whether loops are vectors depends on what arrays are told apart. `names` are those of the
/// module; new ones are none that the function has.
void roll_passes(Function& function, Names names);

}  // namespace weft::kernel
