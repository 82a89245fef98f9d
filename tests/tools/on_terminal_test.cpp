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

// ---- --show -----------------------------------------------------------------------------------------------

class Show : public OnTerminal {
 protected:
  Show() { is("xterm-256color"); }
  /// Of this name, and nothing else is known of it.
  void is(const std::string& term) {
    environment["TERM"] = term;
    environment["TERM_PROGRAM"] = environment["KITTY_WINDOW_ID"] = "";
  }
  Outcome shown(const Arguments& arguments, const std::string& answer = "") const {
    Arguments all = arguments;
    all.insert(all.end(), {"--show", "--quiet"});
    return on_terminal(all, Streams::All, answer);
  }
  const Arguments run = {"run", "sobel", "in.png", "--target", "reference"};
};

TEST_F(Show, InKittysWay) {
  is("xterm-kitty");
  const Outcome outcome = shown(run);
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_TRUE(outcome.err.starts_with("\033_Ga=T,f=24,s=8,v=6,q=2,m=0;"))
      << testing::PrintToString(outcome.err);
  EXPECT_TRUE(outcome.err.ends_with("\033\\\r\n")) << testing::PrintToString(outcome.err);
  EXPECT_EQ(files(), (std::vector<std::string>{"in.png"}));

  is("xterm-256color");
  environment["KITTY_WINDOW_ID"] = "1";
  EXPECT_EQ(shown(run).err, outcome.err);
}

TEST_F(Show, AsSixelIfTheTerminalSaysSo) {
  for (const char* answer : {"\033[?62;4;22c", "\033[?4c", "\033[?62;4c"}) {
    const Outcome outcome = shown(run, answer);
    EXPECT_EQ(outcome.exit_code, 0);
    EXPECT_TRUE(outcome.err.starts_with("\033[c\033P0;1q\"1;1;8;6#")) << testing::PrintToString(outcome.err);
  }
  is("foot");
  EXPECT_TRUE(shown(run).err.starts_with("\033P0;1q\"1;1;8;6#"));
}

TEST_F(Show, NowhereElse) {
  const std::string refusal =
      "weft: --show: this terminal shows no pictures, neither as sixel nor in kitty's way\r\n"
      "  help: -o FILE writes the picture\r\n";
  for (const char* answer : {"\033[?62;22c", "\033[?64;44c", "c"}) {
    const Outcome outcome = shown(run, answer);
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_EQ(outcome.err, "\033[c" + refusal);
  }
  is("dumb");
  EXPECT_EQ(shown(run).err, refusal);
  EXPECT_EQ(shown({"draw", "scene"}).err, refusal);
  is("xterm-kitty");
  expect_refusal({"run", "sobel", "in.png", "--show"},
                 "--show: the standard output is no terminal\n  help: -o FILE writes the picture");
  expect_refusal({"run", "sobel", "in.png", "--show", "--json"},
                 "--show and --json cannot share the standard output\n  help: leave out one of them");
  expect_refusal({"draw", "scene"}, "say where the picture goes: -o FILE, or --show");
  // What is to be written is written all the same.
  const Outcome written = weft({"draw", "scene", "-o", "scene.png", "--size", "64x48", "--show"});
  EXPECT_EQ(written.exit_code, 0);
  EXPECT_EQ(written.err, "weft: --show: the standard output is no terminal\n");
  EXPECT_EQ(files(), (std::vector<std::string>{"in.png", "scene.png"}));
}

TEST_F(Show, WhatIsWrittenAndFits) {
  is("xterm-kitty");
  // 640 x 384 pixels, of 24 lines, with 4 left to text.
  EXPECT_TRUE(shown({"draw", "scene", "--size", "1280x400"}).err.starts_with("\033_Ga=T,f=24,s=640,v=200,"));
  EXPECT_TRUE(
      shown({"draw", "scene", "--size", "400x640", "--grey"}).err.starts_with("\033_Ga=T,f=24,s=200,v=320,"));
  Arguments arguments = run;
  arguments.insert(arguments.end(), {"-o", "dx=dx.pfm", "dy=dy.pfm"});
  const std::string both = shown(arguments).err;
  const std::size_t first = both.find("\033_Ga=T"), second = both.find("\033_Ga=T", first + 1);
  EXPECT_EQ(first, 0U);
  EXPECT_NE(second, std::string::npos);
  EXPECT_EQ(both.find("\033_Ga=T", second + 1), std::string::npos);
}

}  // namespace
