// In how many portions emitted code hands out its rows.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <weft/weft.hpp>

#include <cstdint>
#include <utility>
#include <vector>

#include "compile/native_compiler.h"
#include "compile/scheduling.h"
#include "emit/cpp.h"
#include "runtime/emitted_host.h"

namespace weft::runtime {
namespace {

using Parts = std::vector<std::pair<std::int64_t, std::int64_t>>;

/// Runs loops in this thread, whole, and notes how many iterations they have.
struct Noting {
  std::vector<std::int64_t> counts;

  EmittedHost host(std::int64_t least_portion) {
    return {this, nullptr, nullptr, &Noting::parallel_for, least_portion};
  }

  static void parallel_for(void* context, std::int64_t count,
                           void (*body)(const void* frame, std::int64_t first, std::int64_t last),
                           const void* frame) {
    static_cast<Noting*>(context)->counts.push_back(count);
    for (std::int64_t i = 0; i < count; ++i) body(frame, i, i + 1);
  }
};

class Portions : public ::testing::Test {
 public:
  /// How many there are for an image of w x h; every pixel has to be computed.
  std::int64_t portions(std::int64_t w, std::int64_t h, std::int64_t least_portion = 0) {
    std::vector<std::int32_t> in(static_cast<std::size_t>(w * h), 1), out(in.size(), 0);
    void* const arrays[] = {in.data(), out.data()};
    const std::int64_t integers[] = {w, h, w, w};
    Noting noting;
    const EmittedHost host = noting.host(least_portion);
    EXPECT_EQ(entry_(arrays, integers, nullptr, &host), 0);
    EXPECT_EQ(out, std::vector<std::int32_t>(in.size(), 2)) << w << "x" << h;
    EXPECT_EQ(noting.counts.size(), 1u);
    return noting.counts.at(0);
  }

 private:
  static compile::SharedObject compiled() {
    const Pipeline pipeline("twice", point("out", Image<std::int32_t>("in") * 2));
    return compile::compile_shared(emit::emit_for_loading(compile::lowered(pipeline.ir())), {{"-O0"}},
                                   compile::ContentCache());
  }

  compile::SharedObject object_ = compiled();
  Entry entry_ = reinterpret_cast<Entry>(object_.symbol("weft_entry"));
};

TEST_F(Portions, SmallImagesAreOne) {
  EXPECT_EQ(portions(1, 1), 1);
  EXPECT_EQ(portions(64, 64), 1);
  EXPECT_EQ(portions(100, 3), 1);
}

TEST_F(Portions, ThereAreMoreTheMoreThereIsToDo) {
  const std::int64_t small = portions(512, 256), large = portions(512, 1024), wide = portions(1024, 512);
  EXPECT_GT(small, 1);
  EXPECT_NEAR(static_cast<double>(large), static_cast<double>(4 * small), 4);
  EXPECT_NEAR(static_cast<double>(wide), static_cast<double>(large), 8);
}

TEST_F(Portions, ARowIsTheLeast) {
  EXPECT_EQ(portions(1 << 20, 3), 3);
  EXPECT_EQ(portions(7, 5, 1), 1) << "seven pixels take less than a nanosecond";
}

/// Of three, two threads would do one and two.
TEST_F(Portions, AFewAreAnEvenNumber) {
  for (std::int64_t h = 64; h < 640; h += 7) {
    const std::int64_t count = portions(128, h, 1000);
    if (count < 8) EXPECT_TRUE(count == 1 || count % 2 == 0) << h << " rows";
  }
}

TEST_F(Portions, AHostSaysWhatAPartIsWorth) {
  EXPECT_GT(portions(512, 512, 1000), portions(512, 512));
  EXPECT_LT(portions(512, 512, 10000), portions(512, 512));
  EXPECT_EQ(portions(512, 512, 1000000), 1);
}

TEST_F(Portions, AnImageWithoutRowsHasNone) {
  EXPECT_EQ(portions(5, 0), 0);
  EXPECT_EQ(portions(0, 5), 1);
}

TEST_F(Portions, NoRowIsLeftOut) {
  for (std::int64_t h = 1; h < 40; ++h) EXPECT_LE(portions(4096, h, 1 + h % 7 * 100), h);
}

}  // namespace
}  // namespace weft::runtime
