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

TEST(RunTime, ImagesWithoutPixels) {
  const std::string here = NEXT_LINE();
  Image<float> in("in");
  const Pipeline pipeline("p", point("out", in + 1.f));
  const std::string null = "HERE: error: image 'in' is null: its buffer points to no memory";
  EXPECT_ERROR_AT(here, run(pipeline, {{"in", Buffer(nullptr, type_of<float>(), {4, 4}, {1, 4})}}), null);
  EXPECT_ERROR_AT(here, run(pipeline, {{"in", Buffer()}}), null);
  EXPECT_ERROR_AT(here, run(pipeline, {{"in", image({0, 4})}}), "HERE: error: image 'in' is empty");
  EXPECT_ERROR_AT(here, run(pipeline, {{"in", Buffer(nullptr, type_of<float>(), {4, 0}, {1, 4})}}),
                  "HERE: error: image 'in' is empty");
}

TEST(RunTime, OutputsThatCannotBeWritten) {
  Image<std::uint8_t> in("in");
  const Pipeline bytes("p", {point("a", in), point("b", cast<std::uint8_t>(~in))});
  const Buffer pixels = image({64, 48}, type_of<std::uint8_t>());
  auto* memory = static_cast<std::uint8_t*>(pixels.data());
  const auto view = [&](std::int64_t at, std::vector<std::int64_t> strides) {
    return Buffer(memory + at, type_of<std::uint8_t>(), {8, 6}, std::move(strides));
  };
  const Buffer in_buffer = image({8, 6}, type_of<std::uint8_t>());
  for (const Target target : {Target::Cpu, Target::Reference}) {
    const Program program = bytes.compile({target, 1, {}});
    const auto into = [&](const std::map<std::string, Buffer>& outputs) {
      program.run({{{"in", in_buffer}}, {}, outputs});
    };
    EXPECT_ERROR(into({{"a", Buffer(nullptr, type_of<std::uint8_t>(), {8, 6}, {1, 8})}}),
                 "the buffer for output 'a' is null: it points to no memory");
    EXPECT_ERROR(into({{"b", Buffer()}}), "the buffer for output 'b' is null: it points to no memory");
    EXPECT_ERROR(into({{"a", view(0, {1, 5})}}), R"(the buffer for output 'a' has pixels that share memory
  size    8x6
  strides 1, 5
  help: strides count scalars; without gaps they would be 1, 8)");
    EXPECT_ERROR(into({{"a", view(0, {1, 16})}, {"b", view(36, {1, 16})}}),
                 "the buffers for outputs 'a' and 'b' share memory\n  help: give each memory of its own");
    into({{"a", view(0, {1, 16})}, {"b", view(8, {1, 16})}});  // side by side
    EXPECT_EQ(memory[16 + 8], 255);
    EXPECT_EQ(memory[16], 0);
    into({{"a", view(0, {2, 16})}, {"b", view(1, {2, 16})}});  // lanes of one picture
    EXPECT_EQ(memory[16 + 13], 255);
    EXPECT_EQ(memory[16 + 12], 0);
  }
}

TEST(RunTime, ThreadsThatNoMachineHas) {
  Image<float> in("in");
  const Pipeline pipeline("p", point("out", in + 1.f));
  EXPECT_ERROR(pipeline.compile({Target::Cpu, -1, {}}),
               "-1 threads are asked for; there can be 1 to 4096\n  help: 0 takes all cores");
  EXPECT_ERROR(pipeline.compile({Target::Reference, 1 << 30, {}}),
               "1073741824 threads are asked for; there can be 1 to 4096\n  help: 0 takes all cores");
}

TEST(RunTime, ParametersThatDoNotFitTheirTypes) {
  Image<std::int32_t> in("in");
  Param<std::uint8_t> byte("byte", 1);
  Param<std::int32_t> whole("whole", 1);
  Param<std::int64_t> wide("wide", 1);
  Param<bool> flag("flag", true);
  Param<half> small("small", half(1.f));
  Param<float> real("real", 1.f);
  const Pipeline pipeline("p", point("out", select(flag, in + byte + whole + wide, 0) * small * real));
  const auto complaint = [&](const char* name, double value) {
    try {
      pipeline.compile({Target::Reference, 1, {}})
          .run({{{"in", image({2, 2}, type_of<std::int32_t>())}}, {{name, value}}, {}});
      return std::string();
    } catch (const Error& error) {
      return error.message();
    }
  };
  EXPECT_EQ(complaint("whole", 2.5), "parameter 'whole' is 2.5, which is not a whole number");
  EXPECT_EQ(complaint("whole", std::nan("")), "parameter 'whole' is nan, which is not a whole number");
  EXPECT_EQ(complaint("whole", INFINITY), "parameter 'whole' is inf, which is not a whole number");
  EXPECT_EQ(complaint("whole", 3e10), "parameter 'whole' is 3e+10, which does not fit in its type, i32");
  EXPECT_EQ(complaint("byte", 300), "parameter 'byte' is 300, which does not fit in its type, u8");
  EXPECT_EQ(complaint("byte", -1), "parameter 'byte' is -1, which does not fit in its type, u8");
  EXPECT_EQ(complaint("wide", 0x1p63),
            "parameter 'wide' is 9223372036854775808, which does not fit in its type, i64");
  EXPECT_EQ(complaint("flag", 2), "parameter 'flag' is 2, which is neither 0 nor 1");
  EXPECT_EQ(complaint("small", 65520), "parameter 'small' is 65520, which does not fit in its type, f16");
  EXPECT_EQ(complaint("real", 1e300), "parameter 'real' is 1e+300, which does not fit in its type, f32");
  for (const auto& [name, value] : std::vector<std::pair<const char*, double>>{{"whole", -2147483648.0},
                                                                               {"whole", 2147483647},
                                                                               {"byte", 255},
                                                                               {"wide", -0x1p63},
                                                                               {"flag", 0},
                                                                               {"small", 65519},
                                                                               {"real", INFINITY},
                                                                               {"real", std::nan("")}})
    EXPECT_EQ(complaint(name, value), "") << value;
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
