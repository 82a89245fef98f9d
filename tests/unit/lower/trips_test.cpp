#include "kernel/trips.h"

#include <gtest/gtest.h>
#include <weft/weft.hpp>

#include "compile/scheduling.h"
#include "host/plan.h"
#include "kernel/visit.h"

namespace weft::kernel::trips_test {
namespace {

Module blurred_twice() {
  Image<float> in("in");
  const auto blurred = [&](const char* name, const Accessor& of) {
    return stage(name, in.size(), [&](Var x, Var y) { return of(x - 1, y - 1) + of(x + 1, y + 1); });
  };
  const Stage once = blurred("once", in.border(Border::clamp()));
  const Stage twice = blurred("twice", once.border(Border::clamp()));
  return compile::lowered(Pipeline("blurred_twice", twice).ir(), target::Processor::Gpu,
                          {.tile = Tile::March});
}

/// Iterations of all loops down the image, by warps, for each pixel that the tile in the middle stores.
double iterations(const Module& module, std::int64_t room) {
  FieldValues fields = nominal_fields(module, 1024);
  for (const Launch* launch : launches_with_room(module)) fields[launch->grid->room->field] = {.i = room};
  const Function& function = module.functions.at(0);
  const KernelTrips trips = trips_of(module, function, *host::launch_of(module, function).grid, fields);
  double sum = 0;
  for (const LoopTrips& loop : trips.loops)
    for (const auto& [count, entries] : loop.entries) sum += static_cast<double>(count) * entries;
  return sum / trips.pixels;
}

TEST(Trips, OfShortStripsComputeMoreRowsTwice) {
  const Module module = blurred_twice();
  ASSERT_EQ(launches_with_room(module).size(), 1U);
  const double tall = iterations(module, 1), short_ones = iterations(module, 1 << 16);
  EXPECT_GT(short_ones, 1.5 * tall) << "of two rows, with two more above and below, against 1,024";
}

TEST(Trips, AreThoseOfTheWiderOfTwoTiles) {
  const Module module = blurred_twice();
  const Function& function = module.functions.at(0);
  const KernelTrips trips =
      trips_of(module, function, *host::launch_of(module, function).grid, nominal_fields(module, 130));
  EXPECT_EQ(trips.pixels, 2 * 120) << "two rows of 120 columns, not of the ten that are left";
}

}  // namespace
}  // namespace weft::kernel::trips_test
