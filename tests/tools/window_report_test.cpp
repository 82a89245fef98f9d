#include "tools/window_report.h"

#include <gtest/gtest.h>
#include <weft/weft.hpp>

namespace weft::tools {
namespace {

/// "17x17 of s becomes in pieces: ..." of each window.
std::string windows(const Outputs& outputs, target::Processor processor = target::Processor::Cpu) {
  std::string text;
  for (const WindowReport& w :
       windows_of(Pipeline("test", outputs).ir(), rewrite::Preparation::Usual, processor, {}))
    text += w.window + " of " + w.stage + " becomes " + w.form + ": " + w.why + "\n";
  return text;
}

class WindowReports : public testing::Test {
 protected:
  const Image<float> in{"in"};
  const Accessor src = in.border(Border::clamp());
};

TEST_F(WindowReports, NameTheStagesOfSeparatedOnes) {
  EXPECT_EQ(windows(local("s", src, Domain(17, 19), Local::Max)),
            "17x19 of s becomes separated, in pieces: a box, whose lines are pieces that neighbours share: "
            "s_column_parts, s_columns, s_row_parts, s\n");
  EXPECT_EQ(windows(local("s", src, Domain(1, 31), Local::Sum)),
            "1x31 of s becomes in pieces: equal weights: pieces that neighbours share: s_parts, s\n");
  const Mask tent = Mask::outer({1, 2, 3, 4, 5, 4, 3, 2, 1}, {1, 2, 3, 4, 5, 4, 3, 2, 1});
  EXPECT_EQ(windows(convolve("s", src, tent / 625.f), target::Processor::Gpu),
            "9x9 of s becomes separated: a column times a row: s_columns, s\n");
}

TEST_F(WindowReports, SayWhyOthersAreNotSeparated) {
  const Outputs strict = Outputs{local("s", src, Domain(31, 31), Local::Sum)}.strict();
  EXPECT_EQ(
      windows(strict),
      "31x31 of s becomes tap by tap: 2883 operations: straight-line code of more than 1200 would compile "
      "for long; not separated: strict floats keep their order\n");
  EXPECT_EQ(windows(local("s", src, Domain::disc(15), Local::Sum)),
            "709 taps of s becomes tap by tap: 2127 operations: straight-line code of more than 1200 would "
            "compile for long; not separated: it is no rectangle\n");
}

TEST_F(WindowReports, ListEachWindowOfAStage) {
  EXPECT_EQ(
      windows(stage("s", in.size(),
                    [&](Var x, Var y) {
                      const auto at = [&](Tap t) { return src(x + t.x, y + t.y); };
                      return product(Domain(2, 2), at) - maximum(Domain(5, 5), at);
                    })),
      "2x2 of s becomes unrolled: 12 operations; up to 1200 are straight-line code\n"
      "5x5 of s becomes columns: a column times a row: neighbours in a strip of pixels share columns\n");
}

}  // namespace
}  // namespace weft::tools
