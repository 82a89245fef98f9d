// README.md shows an application, what Weft emits for it, and a program. Each line of those has to be there.
#include <gtest/gtest.h>
#include <weft/weft.hpp>

#include "emit/cpp.h"
#include "runtime/cpu_program.h"
#include "tests/docs/page.h"

namespace {

/// The program, but for its name.
void example() {
  using namespace weft;
  Image<std::uint8_t> in("in");
  const Pipeline pipeline("dilate", local("dilate", in.border(Border::clamp()), Domain(5, 5), Local::Max));
  const Program dilate = pipeline.compile();

  std::vector<std::uint8_t> pixels(640 * 480);
  Buffer result = dilate(Buffer::view(pixels, {640, 480}));  // owned by `result`

  std::vector<std::uint8_t> space(320 * 200), small(320 * 200);
  Arguments arguments;
  arguments.images["in"] = Buffer::view(small, {320, 200});
  arguments.outputs["dilate"] = Buffer::view(space, {320, 200});  // written in place
  dilate.run(arguments);
}

}  // namespace

namespace weft::testing_support {
namespace {

TEST(Readme, ShowsWhatIsThere) {
  std::string there = text_of(WEFT_SOURCE_DIR "/apps/sobel.cpp") +
                      text_of(WEFT_SOURCE_DIR "/tests/docs/readme_test.cpp") + "int main() {";
  const Pipeline sobel = build(applications().at("sobel")).pipeline;
  for (const auto& [name, text] : emit::emit_for_users(compile::lowered(sobel.ir()))) there += text;
  there = squeezed(there);
  for (const std::string& snippet : snippets_of(text_of(WEFT_SOURCE_DIR "/README.md"))) {
    std::istringstream lines(snippet);
    for (std::string line; std::getline(lines, line);)
      EXPECT_NE(there.find(squeezed(line)), std::string::npos) << line;
  }
}

TEST(Readme, ShowsAProgramThatRuns) { EXPECT_NO_THROW(example()); }

}  // namespace
}  // namespace weft::testing_support
