// Pictures of other programs, which make_pictures.py wrote, are read as those programs read them.
#include <algorithm>

#include "tests/unit/io/picture_files.h"

namespace weft::io {
namespace {

const fs::path data = WEFT_PICTURES;

TEST(ForeignPictures, AreReadAsTheirProgramsReadThem) {
  int read = 0;
  for (const auto& entry : fs::directory_iterator(data)) {
    const fs::path expected = entry.path().string() + ".npy";
    if (!fs::exists(expected)) continue;
    SCOPED_TRACE(entry.path().filename());
    expect_same(read_picture(expected).buffer, read_picture(entry.path()).buffer);
    ++read;
  }
  EXPECT_EQ(read, 40);
}

std::string refusal(const std::string& name) {
  try {
    read_picture(data / name);
  } catch (const Error& error) {
    const std::string text = error.what(), prefix = "cannot read '" + (data / name).string() + "': ";
    EXPECT_TRUE(text.starts_with(prefix)) << text;
    return text.substr(prefix.size());
  }
  return "no error";
}

TEST(ForeignPictures, ArraysThatAreNoPicturesAreRefused) {
  const std::string reshape =
      "\n  help: write each volume to a file of its own, or reshape the array to 3 dimensions";
  EXPECT_EQ(refusal("refused_shaped.tif"), "it has more than 3 dimensions (3x4x5x6)" + reshape);
  EXPECT_EQ(refusal("refused_imagej.tif"), "it has more than 3 dimensions (4 channels, 3 slices)" + reshape);
  EXPECT_EQ(refusal("refused_truncated.tif"),
            "it has 4 pages and headers of 1\n  help: write it with a header for every page");
  EXPECT_EQ(refusal("refused_complex.npy"),
            "its elements are '<c8'\n"
            "  help: convert them with astype to bool, integers or floats of 16, 32 or 64 bits");
  EXPECT_EQ(refusal("refused_record.npy"),
            "its elements are records\n  help: save one field as an array of its own");
  EXPECT_EQ(refusal("refused_rank.npy"),
            "its shape is (2, 2, 2, 5)\n"
            "  help: a picture has (height, width), a volume (depth, height, width), and an axis of up to 4 "
            "lanes may follow");
  EXPECT_EQ(refusal("refused_number.npy"), "it is a single number, not an array");
}

}  // namespace
}  // namespace weft::io
