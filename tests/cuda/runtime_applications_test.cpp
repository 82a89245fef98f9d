// Applications on the fake GPU equal the interpreter: kernels, and all that the host does for them.
#include <string>

#include "ir/stage_ir.h"
#include "tests/cuda/fake/gpu_test.h"
#include "tests/support/differential.h"

namespace weft::testing_support {
namespace {

struct Case {
  const char* application;
  Bound bound = exactly;
  std::int64_t least = 1;  ///< The smallest width and height.
  Tile tile = Tile::Auto;
};

/// Every kind of stage and of step, pixels of several lanes, several images and outputs, and stages that
/// march.
const std::vector<Case> cases = {
    {"sobel", {1e-3}},  {"harris", {2e3}},      {"unsharp", {1, .01}}, {"median"},
    {"histogram"},      {"normalize", {1e-5}},  {"heat2d", {1e-3}},    {"life"},
    {"fdtd2d", {1e-3}}, {"pyramid", {1e-3}, 8}, {"equalize"},          {"shitomasi", {.1}, 1, Tile::March},
};

/// Pictures of that size; of volumes 5 planes.
Arguments pictures_for(const Pipeline& pipeline, const std::vector<std::int64_t>& size) {
  Arguments arguments;
  for (const ir::StagePtr& input : pipeline.ir().inputs) {
    std::vector<std::int64_t> extents = size;
    extents.resize(input->box.size(), 5);
    arguments.images[input->name] = picture(input->type, extents, 7);
  }
  return arguments;
}

class OnTheFakeGpu : public GpuTest, public testing::WithParamInterface<Case> {
 protected:
  /// Captured into a graph, which runs twice.
  void expect_agreement_of_graph(const Program& program, const Pipeline& pipeline,
                                 const Arguments& on_host_only) {
    const std::map<std::string, Buffer> wanted = interpreted(pipeline, on_host_only);
    Arguments arguments = on_host_only;
    for (auto& [name, image] : arguments.images) image = on_gpu(image);
    for (const auto& [name, output] : wanted)
      arguments.outputs[name] = on_gpu(Buffer::allocate(output.type(), output.extents()));
    void* const stream = cuda.stream();
    cuda.begin_capture(stream);
    program.run_on(stream, arguments);
    void* const graph = cuda.end_capture();
    ASSERT_NE(graph, nullptr) << "a call that no capture allows";
    for (int run = 0; run < 2; ++run) {
      cuda.launch_graph(graph, stream);
      cuda.synchronize(stream);
      for (const auto& [name, output] : wanted)
        EXPECT_EQ(difference(output, on_host(arguments.outputs.at(name)), GetParam().bound), "") << name;
    }
  }
};

TEST_P(OnTheFakeGpu, EqualsTheInterpreter) {
  const Pipeline pipeline = build(applications().at(GetParam().application)).pipeline;
  const Program program = on_fake_gpu(pipeline, GetParam().tile);
  ASSERT_EQ(program.target(), Target::Cuda);
  const std::int64_t least = GetParam().least;
  for (const std::vector<std::int64_t>& size :
       std::vector<std::vector<std::int64_t>>{{least, least}, {33, 31}}) {
    const Arguments arguments = pictures_for(pipeline, size);
    SCOPED_TRACE(size[0]);
    expect_agreement(program, pipeline, arguments, GetParam().bound);
    expect_agreement_of_graph(program, pipeline, arguments);
  }
}

/// By a graph of Weft's own, in any order that its edges allow, with races looked for.
TEST_P(OnTheFakeGpu, EqualsTheInterpreterAgainAndAgain) {
  const Pipeline pipeline = build(applications().at(GetParam().application)).pipeline;
  cuda.find_races();
  const Program program = on_fake_gpu(pipeline, GetParam().tile);
  for (const std::int64_t width : {33, 33, 33, 70}) {
    const Arguments arguments = pictures_for(pipeline, {width, 31});
    Arguments of_gpu = arguments;
    for (auto& [name, image] : of_gpu.images) image = on_gpu(image);
    const std::map<std::string, Buffer> results = program.run(of_gpu);
    for (const auto& [name, wanted] : interpreted(pipeline, arguments))
      EXPECT_EQ(difference(wanted, on_host(results.at(name)), GetParam().bound), "") << name;
  }
}

struct PartsCase {
  const char* application;
  std::vector<std::int64_t> size = {33, 41};
};
/// With rows above and below that are read, at the ends of the images and between them.
class InParts : public GpuTest, public testing::WithParamInterface<PartsCase> {};

TEST_P(InParts, EqualTheWhole) {
  const Pipeline pipeline = build(applications().at(GetParam().application)).pipeline;
  cuda.find_races();
  const Program program = on_fake_gpu(pipeline);
  const Arguments arguments = pictures_for(pipeline, GetParam().size);
  const auto run_in = [&](const char* number) {
    const Variable parts("WEFT_CUDA_PARTS", number);
    return program.run(arguments);
  };
  const std::map<std::string, Buffer> whole = run_in("1");
  for (const char* number : {"2", "3", "100"}) {
    SCOPED_TRACE(number);
    cuda.forget_calls();
    const std::map<std::string, Buffer> results = run_in(number);
    for (const auto& [name, wanted] : whole) EXPECT_EQ(difference(wanted, results.at(name)), "") << name;
    EXPECT_GE(std::ssize(calls({"cuStreamSynchronize"})), 2) << "they moved whole";
  }
}

// With a frame, steps of two rows, other rows than the images have, and pyramids.
INSTANTIATE_TEST_SUITE_P(Applications, InParts,
                         testing::Values(PartsCase{"sobel"}, PartsCase{"harris"}, PartsCase{"unsharp"},
                                         PartsCase{"median"}, PartsCase{"unsharp_mask"}, PartsCase{"night"},
                                         PartsCase{"optical_flow"}, PartsCase{"scatter_pipes"},
                                         PartsCase{"harris_corner"}, PartsCase{"bayer_mosaic"},
                                         PartsCase{"camera_pipe", {80, 201}}, PartsCase{"pyramid", {40, 201}},
                                         PartsCase{"laplacian", {40, 202}},
                                         PartsCase{"pyramid_blend", {40, 203}}),
                         [](const auto& info) { return std::string(info.param.application); });

INSTANTIATE_TEST_SUITE_P(Applications, OnTheFakeGpu, testing::ValuesIn(cases),
                         [](const auto& info) { return std::string(info.param.application); });

}  // namespace
}  // namespace weft::testing_support
