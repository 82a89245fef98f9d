#include "tests/support/differential.h"

#include <gtest/gtest.h>

#include "ir/interpret.h"

namespace weft::testing_support {

std::map<std::string, Buffer> interpreted(const Pipeline& pipeline, const Arguments& arguments) {
  ir::Bindings bindings{arguments.images, {}};
  for (const auto& [name, value] : arguments.params)
    bindings.params[name] = ir::Value::real(type_of<double>(), value);
  return ir::interpret(pipeline.ir(), bindings);
}

void expect_agreement(const Program& program, const Pipeline& pipeline, const Arguments& arguments,
                      const Bound& bound) {
  expect_agreement(std::vector{program}, pipeline, arguments, bound);
}

void expect_agreement(const std::vector<Program>& programs, const Pipeline& pipeline,
                      const Arguments& arguments, const Bound& bound) {
  // The interpreter goes first: the outputs given may lie over the inputs.
  const auto expected = interpreted(pipeline, arguments);
  for (std::size_t p = 0; p < programs.size(); ++p) {
    const auto got = programs[p].run(arguments);
    ASSERT_EQ(expected.size(), got.size());
    for (const auto& [name, image] : expected)
      EXPECT_EQ(difference(image, got.at(name), bound), "") << "output '" << name << "' of program " << p;
  }
}

void expect_agreement_on_noise(const std::vector<Program>& programs, const Pipeline& pipeline,
                               const std::vector<std::vector<std::int64_t>>& sizes, std::uint64_t seed) {
  for (const auto& extents : sizes) {
    SCOPED_TRACE(testing::Message() << testing::PrintToString(extents) << ", seed " << seed);
    std::map<std::string, Buffer> images;
    for (const ir::StagePtr& input : pipeline.ir().inputs)
      images[input->name] = noise(input->type, extents, seed++);
    expect_agreement(programs, pipeline, {images, {}, {}});
  }
}

void expect_agreement(const Pipeline& pipeline, const Arguments& arguments, const Bound& bound) {
  expect_agreement(pipeline.compile(compile_options()), pipeline, arguments, bound);
}

void expect_agreement(const Outputs& outputs, const Buffer& in) {
  expect_agreement(Pipeline("test", Outputs(outputs).strict()), {{{"in", in}}, {}, {}});
}

}  // namespace weft::testing_support
