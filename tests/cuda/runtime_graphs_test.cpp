// Runs that Weft itself makes CUDA graphs of: which calls, in which order they may run, and what becomes of refusals.
#include <string>
#include <vector>

#include "fuzz/build.h"
#include "fuzz/generate.h"
#include "fuzz/images.h"
#include "runtime/cuda_graph.h"
#include "runtime/executable.h"
#include "tests/cuda/fake/gpu_test.h"
#include "tests/support/differential.h"

namespace weft::testing_support::runtime_graphs_test {
namespace {

using Calls = std::vector<std::string>;

const Mask row{{1, 2, 1}}, column{{1}, {2}, {1}};

/// Two branches that meet.
Pipeline diamond() {
  Image<float> in("in");
  const Stage wide = convolve("wide", in.border(Border::clamp()), row);
  const Stage tall = convolve("tall", in.border(Border::clamp()), column);
  const Stage both = stage("both", in.size(), [&](Var x, Var y) {
    return wide.border(Border::clamp())(x + 1, y) - tall.border(Border::clamp())(x, y + 1);
  });
  return Pipeline("diamond", Outputs(both).strict());
}

const std::vector<std::int64_t> size = {33, 31};
Buffer image(std::uint64_t seed, const std::vector<std::int64_t>& extents = size) {
  return picture(type_of<float>(), extents, seed);
}

/// Memory is numbered; a call reads and writes that.
runtime::CudaCall call(const std::vector<int>& reads, const std::vector<int>& writes,
                       void* function = nullptr) {
  static const char memory[8] = {};
  runtime::CudaCall made{runtime::KernelCall{function, {}, {}, {}}, {}, {}, ""};
  for (const int read : reads) made.reads.push_back(memory + read);
  for (const int written : writes) made.writes.push_back(memory + written);
  return made;
}

TEST(CallsOfAGraph, FollowThoseWhoseMemoryTheyShare) {
  using Orders = std::vector<std::vector<std::size_t>>;
  EXPECT_EQ(runtime::orders_of({call({0}, {1}), call({0}, {2}), call({1, 2}, {3})}),
            (Orders{{}, {}, {1, 0}}));
  EXPECT_EQ(runtime::orders_of({call({0}, {1}), call({1}, {2}), call({1, 2}, {3})}), (Orders{{}, {0}, {1}}));
  EXPECT_EQ(runtime::orders_of({call({0}, {1}), call({2}, {0})}), (Orders{{}, {0}})) << "it was read before";
  EXPECT_EQ(runtime::orders_of({call({0}, {1}), call({2}, {1})}), (Orders{{}, {0}})) << "the last one stays";
  // Two fields in turn: the first reads both, the second itself alone.
  EXPECT_EQ(runtime::orders_of({call({0, 1}, {2}), call({1}, {3}), call({2, 3}, {0}), call({3}, {1})}),
            (Orders{{}, {}, {1, 0}, {1, 0}}));
}

TEST(CallsOfAGraph, HaveAShapeWhereverTheirMemoryLies) {
  EXPECT_EQ(runtime::shape_of({call({0}, {1}), call({1}, {2})}),
            runtime::shape_of({call({7}, {3}), call({3}, {5})}));
  EXPECT_EQ(runtime::shape_of({call({0, 1}, {2})}), runtime::shape_of({call({1, 0}, {2})}));
  EXPECT_NE(runtime::shape_of({call({0}, {1}), call({1}, {2})}),
            runtime::shape_of({call({0}, {1}), call({0}, {2})}));
  EXPECT_NE(runtime::shape_of({call({0, 1}, {2})}), runtime::shape_of({call({0}, {1, 2})}));
  int function = 0;
  EXPECT_NE(runtime::shape_of({call({0}, {1}, &function)}), runtime::shape_of({call({0}, {1})}));
}

class RuntimeGraphs : public GpuTest {
 protected:
  RuntimeGraphs() { cuda.find_races(); }

  Program program() { return on_fake_gpu(diamond(), Tile::None); }
  /// Of images on the GPU, and the output that Weft allocates there.
  void expect_agreement_on_gpu(const Program& program, const Buffer& in) {
    const Buffer wanted = interpreted(diamond(), {{{"in", in}}, {}, {}}).at("both");
    EXPECT_EQ(difference(wanted, on_host(program(on_gpu(in)))), "");
  }
};

TEST_F(RuntimeGraphs, AreMadeByTheSecondRunOfAKind) {
  const Program program = this->program();
  const Buffer in = on_gpu(image(1)), out = on_gpu(image(2));
  const auto run = [&] {
    cuda.forget_calls();
    program.run({{{"in", in}}, {}, {{"both", out}}});
    return calls({"cuLaunchKernel", "cuGraph"});
  };
  EXPECT_EQ(run(), (Calls{"cuLaunchKernel wide_kernel_ 2x11x1 s1", "cuLaunchKernel tall_kernel 2x8x1 s1",
                          "cuLaunchKernel both_kernel 1x8x1 s1"}));
  EXPECT_EQ(run(), (Calls{"cuGraphCreate g1", "cuGraphAddKernelNode g1 wide_kernel_ 2x11x1",
                          "cuGraphAddKernelNode g1 tall_kernel 2x8x1",
                          "cuGraphAddKernelNode g1 both_kernel 1x8x1 after 1 0",
                          "cuGraphInstantiateWithFlags x1 g1", "cuGraphLaunch x1 s1"}));
  EXPECT_EQ(run(), Calls{"cuGraphLaunch x1 s1"});
  EXPECT_EQ(difference(interpreted(diamond(), {{{"in", image(1)}}, {}, {}}).at("both"), on_host(out)), "");
}

TEST_F(RuntimeGraphs, AreLaunchedWhereTheStreamHasOtherWork) {
  const Program program = this->program();
  cuda.set_idle(true);
  for (std::uint64_t seed = 1; seed < 4; ++seed) expect_agreement_on_gpu(program, image(seed));
  EXPECT_EQ(calls({"cuGraph"}), Calls{});
  cuda.set_idle(false);
  expect_agreement_on_gpu(program, image(4));
  EXPECT_EQ(calls({"cuGraphLaunch"}).size(), 1u);
}

TEST_F(RuntimeGraphs, ExchangeImagesAndSizes) {
  const Program program = this->program();
  for (std::uint64_t seed = 1; seed < 4; ++seed) expect_agreement_on_gpu(program, image(seed));
  EXPECT_EQ(calls({"cuGraphExecKernelNodeSetParams x1"}).size(), 3u);
  expect_agreement_on_gpu(program, image(4, {70, 9}));
  expect_agreement_on_gpu(program, image(5, {1, 1}));
  EXPECT_EQ(calls({"cuGraphLaunch"}).size(), 4u);
  EXPECT_EQ(calls({"cuGraphInstantiate"}).size(), 1u);
}

/// As a camera's buffers do.
TEST_F(RuntimeGraphs, ExchangeImagesThatTakeTurns) {
  const Program program = this->program();
  const Buffer in[] = {on_gpu(image(1)), on_gpu(image(2))}, out = on_gpu(image(3));
  for (const int turn : {0, 0, 1, 0, 1}) {
    program.run({{{"in", in[turn]}}, {}, {{"both", out}}});
    const Buffer wanted = interpreted(diamond(), {{{"in", image(turn + 1)}}, {}, {}}).at("both");
    EXPECT_EQ(difference(wanted, on_host(out)), "");
  }
}

/// All of the image's height takes part, and the fills.
TEST_F(RuntimeGraphs, ExchangeWhatIsFilled) {
  Image<std::uint8_t> in("in");
  const Pipeline pipeline("counts", scatter("count", {16}, 0, in, [&](Var x, Var y) {
                            return add({cast<int>(in(x, y)) / 16}, 1);
                          }));
  const Program program = on_fake_gpu(pipeline);
  for (std::uint64_t seed = 1; seed < 5; ++seed) {
    const Buffer pixels = picture(type_of<std::uint8_t>(), {50, 40 + static_cast<std::int64_t>(seed)}, seed);
    EXPECT_EQ(difference(interpreted(pipeline, {{{"in", pixels}}, {}, {}}).at("count"),
                         on_host(program(on_gpu(pixels)))),
              "");
  }
  EXPECT_GE(std::ssize(calls({"cuGraphLaunch"})), 3);
}

/// A launch does not see what later runs exchange.
TEST_F(RuntimeGraphs, AreLaunchedAgainBeforeTheyAreDone) {
  const Program program = this->program();
  void* const streams[] = {cuda.stream(), cuda.stream()};
  std::vector<Buffer> results;
  for (int run = 0; run < 8; ++run) {
    const Buffer in = on_gpu(image(static_cast<std::uint64_t>(run)));
    results.push_back(program.run_on(streams[run % 2], {{{"in", in}}, {}, {}}).at("both"));
  }
  for (void* stream : streams) cuda.synchronize(stream);
  EXPECT_EQ(calls({"cuGraphLaunch"}).size(), 6u);
  EXPECT_EQ(calls({"cuGraphInstantiate"}).size(), 2u) << "one of each stream, so that runs may overlap";
  for (int run = 0; run < 8; ++run) {
    const Buffer in = image(static_cast<std::uint64_t>(run));
    EXPECT_EQ(difference(interpreted(diamond(), {{{"in", in}}, {}, {}}).at("both"),
                         on_host(results[static_cast<std::size_t>(run)])),
              "")
        << run;
  }
}

TEST_F(RuntimeGraphs, AreGivenUpWhereTheDriverRefusesThem) {
  for (const char* function : {"cuGraphCreate", "cuGraphAddKernelNode", "cuGraphInstantiateWithFlags",
                               "cuGraphLaunch", "cuGraphExecKernelNodeSetParams"}) {
    SCOPED_TRACE(function);
    const Program program = this->program();
    cuda.forget_calls();
    cuda.fail(function, 1, 801);
    for (std::uint64_t seed = 1; seed < 6; ++seed) expect_agreement_on_gpu(program, image(seed));
    EXPECT_GE(std::ssize(calls({"cuLaunchKernel"})), 12);
    EXPECT_EQ(calls({"cuGraphCreate"}).size(), calls({"cuGraphDestroy"}).size());
  }
}

/// 8192 bytes for each intermediate image: a graph keeps both until it ends.
TEST_F(RuntimeGraphs, AreGivenUpWhereTheyTakeTooMuchMemory) {
  Image<float> in("in");
  const Stage once = convolve("once", in.border(Border::clamp()), row);
  const Stage twice = convolve("twice", once.border(Border::clamp()), row);
  const Stage thrice = convolve("thrice", twice.border(Border::clamp()), row);
  const Pipeline pipeline("blurs", Outputs(convolve("last", thrice.border(Border::clamp()), row)).strict());
  const Program program = on_fake_gpu(pipeline, Tile::None);
  const Buffer pixels = on_gpu(image(1)), out = on_gpu(image(2));
  const auto run = [&] { program.run({{{"in", pixels}}, {}, {{"last", out}}}); };
  for (int fails = 0; fails < 4; ++fails) cuda.fail("cuMemAllocAsync", 3, 2);
  run();
  EXPECT_EQ(calls({"cuLaunchKernel"}).size(), 4u);
  EXPECT_EQ(difference(interpreted(pipeline, {{{"in", image(1)}}, {}, {}}).at("last"), on_host(out)), "");
}

/// With images that lie elsewhere each time, and in orders that the checker draws.
TEST_F(RuntimeGraphs, OfRandomPipelinesGiveWhatTheirFirstRunsGive) {
  constexpr std::uint64_t first = 99'000, seeds = 18;
  int graphs = 0;
  for (std::uint64_t seed = first; seed < first + seeds; ++seed) {
    SCOPED_TRACE(seed);
    fuzz::Recipe recipe = fuzz::random_recipe(seed);
    const Pipeline pipeline = fuzz::build(recipe);
    const Program program = on_fake_gpu(pipeline);
    fuzz::Random random(seed);
    std::map<std::string, Buffer> on_host_images;
    for (int i = 0; i < recipe.first_stage(); ++i) {
      const std::string name = fuzz::image_name(i);
      const auto is_it = [&](const ir::StagePtr& input) { return input->name == name; };
      if (std::none_of(pipeline.ir().inputs.begin(), pipeline.ir().inputs.end(), is_it)) continue;
      on_host_images[name] = fuzz::random_pixels(recipe.images[i], recipe.runs.at(0).extents[i], random);
    }
    std::map<std::string, Buffer> wanted;
    cuda.forget_calls();
    for (int run = 0; run < 4; ++run) {
      Arguments arguments;
      for (const auto& [name, image] : on_host_images) arguments.images[name] = on_gpu(image);
      std::map<std::string, Buffer> results;
      try {
        results = program.run(arguments);
      } catch (const Error&) {
        break;  // a size that the pipeline cannot have
      }
      for (auto& [name, result] : results) result = on_host(result);
      if (run == 0) wanted = results;
      for (const auto& [name, result] : results) EXPECT_EQ(difference(wanted.at(name), result), "") << name;
    }
    graphs += !calls({"cuGraphLaunch"}).empty();
  }
  EXPECT_GE(graphs, 6) << "the others have one kernel, or none";
}

TEST_F(RuntimeGraphs, AreNotMadeWhereKernelsAreWantedOneByOne) {
  const Buffer in = image(1);
  for (const char* variable : {"WEFT_CUDA_DEBUG", "WEFT_CUDA_GRAPHS"}) {
    const Variable set(variable, std::string(variable) == "WEFT_CUDA_DEBUG" ? "1" : "0");
    const Program program = this->program();
    for (int run = 0; run < 3; ++run) expect_agreement_on_gpu(program, in);
  }
  RunProgress progress;
  CompileOptions options;
  options.target = Target::Cuda;
  const Program watched = runtime::compile_watched(diamond(), options, &progress);
  for (int run = 0; run < 3; ++run) expect_agreement_on_gpu(watched, in);
  const Program of_host = this->program();
  for (int run = 0; run < 3; ++run) of_host(in);
  EXPECT_EQ(calls({"cuGraph"}), Calls{});
}

}  // namespace
}  // namespace weft::testing_support::runtime_graphs_test
