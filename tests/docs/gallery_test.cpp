// docs/gallery.md shows every application, or says why it has no picture; scripts/gallery makes it.
#include <gtest/gtest.h>
#include <weft/weft.hpp>

#include <filesystem>
#include <set>

#include "tests/docs/page.h"

namespace weft::testing_support {
namespace {

const std::filesystem::path pictures = WEFT_SOURCE_DIR "/docs/gallery";

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(Gallery, HasEveryApplication) {
  const std::string page = text_of(WEFT_SOURCE_DIR "/docs/gallery.md");
  std::set<std::string> shown;
  for (const auto& [name, application] : applications()) {
    if (!std::filesystem::exists(pictures / (name + ".jpg"))) {
      EXPECT_TRUE(has(page, "`" + name + "`")) << name << ": add it to scripts/gallery";
      continue;
    }
    EXPECT_TRUE(has(page, "\n### " + name + "\n")) << name;
    EXPECT_TRUE(has(page, "](gallery/" + name + ".jpg)")) << name;
    EXPECT_TRUE(has(page, "\nweft run " + name + " ")) << name;
    shown.insert(name + ".jpg");
  }
  for (const auto& file : std::filesystem::directory_iterator(pictures)) {
    EXPECT_TRUE(shown.contains(file.path().filename().string())) << file.path() << " is of no application";
    EXPECT_LE(file.file_size(), 40'000) << file.path();
  }
}

}  // namespace
}  // namespace weft::testing_support
