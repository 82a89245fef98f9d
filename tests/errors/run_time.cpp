// Images that do not fit the pipeline they are given to.
#include <cmath>

#include "ir/interpret.h"
#include "tests/errors/expect_error.h"

using namespace weft;

namespace {

Buffer image(std::vector<std::int64_t> extents, Type type = type_of<float>()) {
  return Buffer::allocate(type, std::move(extents));
}

void run(const Pipeline& pipeline, const std::map<std::string, Buffer>& images) {
  ir::interpret(pipeline.ir(), {images, {}});
}

}  // namespace

TEST(RunTime, ImagesOfAPipeline) {
  const std::string here = NEXT_LINE();
  Image<float> in("in");
  const Pipeline pipeline("p", point("out", in + 1.f));
  EXPECT_ERROR_AT(here, run(pipeline, {}), "HERE: error: pipeline 'p' needs image 'in'");
  EXPECT_ERROR_AT(here, run(pipeline, {{"in", image({4, 4}, type_of<std::uint8_t>())}}),
                  "HERE: error: image 'in' is 2-D u8, the pipeline declares it 2-D f32");
  EXPECT_ERROR_AT(here, run(pipeline, {{"in", image({4, 4, 3})}}),
                  "HERE: error: image 'in' is 3-D f32, the pipeline declares it 2-D f32");
  EXPECT_ERROR_AT(here, run(pipeline, {{"in", image({4, 4})}, {"mask", image({4, 4})}}),
                  "pipeline 'p' has 'in'; 'mask' is not one of its images");
  EXPECT_ERROR_AT(here, run(pipeline, {{"inn", image({4, 4})}}),
                  "pipeline 'p' has 'in'; 'inn' is not one of its images");
}

TEST(RunTime, NamesThatAreNear) {
  Image<float> left("left"), right("right", left.size());
  Param<float> scale("scale", 1.f);
  const Pipeline pipeline("p", point("out", (left - right) * scale));
  const std::map<std::string, Buffer> images = {{"left", image({4, 4})}, {"right", image({4, 4})}};
  EXPECT_ERROR(run(pipeline, {{"left", image({4, 4})}, {"rihgt", image({4, 4})}}),
               "pipeline 'p' has 'left' and 'right'; 'rihgt' is not one of its images; did you mean right?");
  EXPECT_ERROR(ir::interpret(pipeline.ir(), {images, {{"scal", ir::Value::real(type_of<float>(), 2)}}}),
               "pipeline 'p' has no parameter 'scal'; did you mean scale?\n  parameters scale");
}

TEST(RunTime, ParametersOfAPipeline) {
  Image<float> in("in");
  Param<float> k("k", 1.f);
  const Pipeline pipeline("p", point("out", in * k));
  EXPECT_ERROR(
      ir::interpret(pipeline.ir(), {{{"in", image({4, 4})}}, {{"q", ir::Value::real(type_of<float>(), 2)}}}),
      "pipeline 'p' has no parameter 'q'\n  parameters k");
}

TEST(RunTime, ParametersOutOfTheirRange) {
  Image<float> in("in");
  const std::string here = NEXT_LINE();
  Param<int> steps("steps", 1, at_least(0));
  Param<float> share("share", 0.5f, between(0, 1));
  const Pipeline pipeline("p", point("out", in * steps * share));
  const auto run = [&](Target target, const std::map<std::string, double>& params) {
    pipeline.compile({target, 1, {}}).run({{{"in", image({4, 4})}}, params, {}});
  };
  for (const Target target : {Target::Cpu, Target::Reference}) {
    run(target, {{"steps", 0}, {"share", 1}});
    EXPECT_ERROR_AT(here, run(target, {{"steps", -3}}),
                    "HERE: error: parameter 'steps' is -3, and has to be at least 0");
  }
  EXPECT_THROW(run(Target::Reference, {{"share", 1.001}}), Error);
  EXPECT_THROW(run(Target::Reference, {{"share", std::nan("")}}), Error);
  EXPECT_ERROR(Param<int>("half", 3, at_most(2)),
               "HERE: error: parameter 'half' is 3, and has to be at most 2");
}

TEST(RunTime, OptionsOutOfTheirRange) {
  const Application application{"ramp",
                                {},
                                [] {
                                  return Outputs(stage("out", {Option<int>("n", 4, at_least(1)).value()},
                                                       [](Var x) { return Expr(x); }));
                                },
                                ""};
  build(application, {{{"n", "1"}}, {}});
  EXPECT_ERROR(build(application, {{{"n", "0"}}, {}}), "option n=0 has to be at least 1");
  EXPECT_ERROR(Option<int>("n", 0, at_least(1)), "option n=0 has to be at least 1");
}

TEST(RunTime, SizesThatDisagree) {
  Image<float> a("a");
  const std::string here = NEXT_LINE();
  Image<float> b("b", a.size());
  const Pipeline pipeline("p", point("out", a + b));
  run(pipeline, {{"a", image({4, 4})}, {"b", image({4, 4})}});
  EXPECT_ERROR_AT(here, run(pipeline, {{"a", image({4, 4})}, {"b", image({4, 5})}}),
                  R"(HERE: error: image 'b' has the wrong size
  given y: 5
  needs y: a.h = 4)");
}

TEST(RunTime, WindowLargerThanTheImage) {
  Image<float> in("in");
  const std::string here = NEXT_LINE();
  Stage out = convolve("out", in.valid(), Mask{{1, 1, 1, 1, 1}});
  const Pipeline pipeline("p", out);
  run(pipeline, {{"in", image({4, 4})}});  // no pixel left
  EXPECT_ERROR_AT(here, run(pipeline, {{"in", image({3, 4})}}),
                  R"(HERE: error: stage 'out' would have a negative size for these images
  extent x: in.w - 4 = -1
  help: give a larger image)");
}

TEST(RunTime, WindowAsLargeAsTheImage) {
  Image<float> in("in");
  const std::string here = NEXT_LINE();
  Stage shrunk = convolve("out", in.valid(), Mask{{1, 1, 1, 1, 1}});
  const Pipeline pipeline("p", never_empty(shrunk, "give an image that is at least 5 wide"));
  run(pipeline, {{"in", image({5, 1})}});
  const std::string rest = "\n  help: give an image that is at least 5 wide";
  const std::string empty = R"(HERE: error: stage 'out' would be empty for these images
  extent x: in.w - 4 = 0)";
  EXPECT_ERROR_AT(here, run(pipeline, {{"in", image({4, 4})}}), empty + rest);
  EXPECT_ERROR_AT(here, pipeline.compile()(image({4, 4})), empty + rest);
  EXPECT_ERROR_AT(here, run(pipeline, {{"in", image({3, 4})}}),
                  R"(HERE: error: stage 'out' would have a negative size for these images
  extent x: in.w - 4 = -1)" +
                      rest);
}
