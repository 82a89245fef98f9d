// What commands show on a terminal while they work.
#include "command.h"

namespace {

class OnTerminal : public CommandTest {
 protected:
  OnTerminal() {
    write("in.png", picture<std::uint8_t>(8, 6, 1, [](int i) { return i; }));
  }
  const std::string overwrite = "\r\033[K";
};

/// The texts follow one another there.
void expect_in_order(const std::string& shown, const std::vector<std::string>& texts) {
  std::size_t from = 0;
  for (const std::string& text : texts) {
    const std::size_t at = shown.find(text, from);
    ASSERT_NE(at, std::string::npos) << text << " is not in " << testing::PrintToString(shown.substr(from));
    from = at + text.size();
  }
}

TEST_F(OnTerminal, RunSaysWhatItDoes) {
  const Outcome outcome = on_terminal({"run", "sobel", "in.png", "-o", "out.pfm"});
  EXPECT_EQ(outcome.exit_code, 0);
  expect_in_order(outcome.err, {overwrite + "reading in.png" + overwrite, overwrite + "compiling sobel",
                                overwrite + "running", overwrite + "writing out.pfm"});
  EXPECT_TRUE(outcome.err.ends_with(overwrite)) << testing::PrintToString(outcome.err);
  EXPECT_TRUE(outcome.out.starts_with("out.pfm: mag, 8x6 f32, computed in ")) << outcome.out;
}

TEST_F(OnTerminal, LinesAreCutRatherThanWrapped) {
  const std::string name = std::string(60, 'l') + ".png";
  write(name, picture<std::uint8_t>(8, 6, 1, [](int i) { return i; }));
  const Outcome outcome = on_terminal({"run", "sobel", name, "-o", name + ".pfm", "--target", "reference"});
  EXPECT_EQ(outcome.exit_code, 0);
  expect_in_order(outcome.err, {overwrite + "reading " + name + overwrite,
                                overwrite + "writing " + (name + ".pfm").substr(0, 79 - 8) + overwrite});
}

TEST_F(OnTerminal, QuietSaysNothing) {
  for (const Arguments& arguments :
       {Arguments{"run", "sobel", "in.png", "-o", "out.pfm", "--target", "reference"},
        Arguments{"draw", "scene", "-o", "scene.png", "--size", "64x48"},
        Arguments{"emit", "sobel", "-o", "code"}}) {
    Arguments quiet = arguments;
    quiet.push_back("--quiet");
    const Outcome outcome = on_terminal(quiet);
    EXPECT_EQ(outcome.exit_code, 0);
    EXPECT_EQ(outcome.err, "");
    EXPECT_EQ(outcome.out, "");
    EXPECT_NE(on_terminal(arguments).err, "") << arguments[0];
  }
}

TEST_F(OnTerminal, MistakesComeAfterTheLine) {
  const Outcome outcome = on_terminal({"run", "sobel", "none.png", "-o", "out.pfm"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_EQ(outcome.err, overwrite + "reading none.png" + overwrite +
                             "weft: cannot read 'none.png': there is no such file\r\n");
}

}  // namespace
