#include "machine/cpu.h"

namespace weft::machine {
namespace {

constexpr Fact of_own_run(double value) { return {value, Source::OwnRun}; }

// Two cores of an Intel Xeon with vectors of 512 bits. Additions in registers reach 266 G/s (bench/all); of
// the operations of stages, the fit below finds about twice as many: compilers fuse some in pairs. An access
// in vectors of 16 values, which mostly lie across two lines of the cache, takes about a clock. The other
// numbers are those that fit the times of 76 schedules of ten applications best (bench/schedules, 2026-11-22;
// least squares of the logarithms of the cores' times, all applications weighing the same). From five of the
// applications alone, bytes, accesses and divisions come out within an eighth of these, and the rank
// correlation over all stays above 0.98; rows and what is exposed can take each other's place, and are less
// certain. So a row is what fits best the times of 96 whole plans, many of them of short rows, of twelve applications
// on an AMD EPYC (bench/schedules, 2026-11-25); that machine's other numbers would be other ones. Waking the cores is
// assumed. A row of a plane: from heat3d on one core of the same (2026-11-24).
constexpr double additions = 266e9;

}  // namespace

const CpuSpeeds& cpu_speeds() {
  static const CpuSpeeds speeds{.bytes = of_own_run(31e9),
                                .operations = of_own_run(2 * additions),
                                .accesses = of_own_run(73e9),
                                .divisions = of_own_run(16e9),
                                .row = of_own_run(25e-9),
                                .line = of_own_run(15e-9),
                                .kernel = {30e-6, Source::Assumed},
                                .exposed = of_own_run(0.9),
                                .cores = 2};
  return speeds;
}

}  // namespace weft::machine
