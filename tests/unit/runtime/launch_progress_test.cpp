#include "runtime/launch_progress.h"

#include <gtest/gtest.h>
#include <weft/weft.hpp>

#include "compile/scheduling.h"
#include "runtime/executable.h"

namespace weft::runtime {
namespace {

/// A stage that is stored, an evolution of some steps, and its result once more.
Pipeline pipeline_of_steps() {
  Image<float> in("in");
  Param<int> steps("steps", 3);
  Stage twice = stage("twice", in.size(), [&](Var x, Var y) { return 2.f * in(x, y); });
  Field<float> u("u", twice);
  Stage smooth = evolve("smooth", u, steps, [&](Var x, Var y) {
    auto before = u.border(Border::clamp());
    return (before(x - 1, y) + before(x + 1, y)) / 2.f;
  });
  return Pipeline("p", stage("out", in.size(), [&](Var x, Var y) { return smooth(x, y) + 1.f; }));
}

Arguments arguments_of(int steps) {
  Arguments arguments{{{"in", Buffer::allocate(type_of<float>(), {40, 30})}}, {}, {}};
  arguments.params["steps"] = steps;
  return arguments;
}

TEST(LaunchProgress, GoesFromNothingToAll) {
  const Pipeline pipeline = pipeline_of_steps();
  const Arguments arguments = arguments_of(4);
  const kernel::Module module = compile::lowered(pipeline.ir());
  RunProgress progress;
  LaunchProgress launches(module, pipeline.ir(), ir::bound(arguments.images, arguments.params), progress);
  EXPECT_EQ(progress.done, 0);
  std::vector<std::int64_t> steps;
  double before = 0;
  const auto launch = [&] {
    launches.begin(30);
    for (int part = 0; part < 3; ++part) {
      launches.advance(10);
      EXPECT_GT(progress.done, before);
      before = progress.done;
    }
    launches.end();
    EXPECT_NEAR(progress.done, before, 1e-12);
    if (progress.steps > 0) steps.push_back(progress.step);
  };
  for (const kernel::Step& step : module.steps) {
    const auto* repeat = std::get_if<kernel::Repeat>(&step);
    for (std::size_t i = 0; i < (repeat ? 4 * repeat->parts[0].launches.size() : 1); ++i) launch();
  }
  EXPECT_DOUBLE_EQ(progress.done, 1);
  EXPECT_EQ(steps, (std::vector<std::int64_t>{1, 2, 3, 4}));
  launches.begin(1), launches.end();  // one more than there are does no harm
  EXPECT_DOUBLE_EQ(progress.done, 1);
}

TEST(LaunchProgress, OfManySmallLaunchesEachCountsWhole) {
  const Pipeline pipeline = pipeline_of_steps();
  const Arguments arguments = arguments_of(1'000'000'000);
  RunProgress progress;
  LaunchProgress launches(compile::lowered(pipeline.ir()), pipeline.ir(),
                          ir::bound(arguments.images, arguments.params), progress);
  launches.begin(30);
  launches.advance(10);
  EXPECT_EQ(progress.done, 0);
  launches.end();
  EXPECT_GT(progress.done, 0);
}

TEST(LaunchProgress, RunsTell) {
  const Pipeline pipeline = pipeline_of_steps();
  for (const Target target : {Target::Cpu, Target::Reference}) {
    RunProgress progress;
    CompileOptions options;
    options.target = target;
    const Program program = compile_watched(pipeline, options, &progress);
    for (const int steps : {5, 0}) {
      progress.done = -1;
      program.run(arguments_of(steps));
      EXPECT_DOUBLE_EQ(progress.done, 1);
    }
  }
}

}  // namespace
}  // namespace weft::runtime
