// What tests of pictures in files share: a folder of their own, messages without it, and pictures to write.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>
#include <weft/error.h>
#include <weft/picture.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

namespace weft::io {

namespace fs = std::filesystem;
using Extents = std::vector<std::int64_t>;

/// A folder of its own for every test, gone afterwards; messages name files without it.
class PictureTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "weft-io-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }

  fs::path at(const std::string& name) const { return folder_ / name; }
  fs::path put(const std::string& name, const std::string& bytes) const {
    std::ofstream(at(name), std::ios::binary) << bytes;
    return at(name);
  }
  std::string get(const std::string& name) const {
    std::ifstream in(at(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  std::size_t files() const { return std::distance(fs::directory_iterator(folder_), {}); }

  /// The whole message, with the folder left out.
  template <class Work>
  std::string error_of(Work work) const {
    try {
      work();
    } catch (const Error& error) {
      std::string text = error.what();
      const std::string prefix = folder_.string() + "/";
      for (auto i = text.find(prefix); i != std::string::npos; i = text.find(prefix))
        text.erase(i, prefix.size());
      return text;
    }
    return "no error";
  }
  std::string read_error(const std::string& name) const {
    return error_of([&] { read_picture(at(name)); });
  }
  std::string write_error(const std::string& name, const Buffer& picture) const {
    return error_of([&] { write_picture(at(name), picture); });
  }

  fs::path folder_;
};

inline Buffer random_picture(Type type, Extents extents, unsigned seed = 1) {
  Buffer picture = Buffer::allocate(type, std::move(extents));
  std::mt19937 random(seed);
  auto* bytes = static_cast<std::uint8_t*>(picture.data());
  for (std::int64_t i = 0; i < picture.bytes(); ++i) bytes[i] = static_cast<std::uint8_t>(random());
  return picture;
}

inline void expect_same(const Buffer& a, const Buffer& b) {
  ASSERT_EQ(name_of(a.type()), name_of(b.type()));
  ASSERT_EQ(a.extents(), b.extents());
  ASSERT_TRUE(a.is_dense() && b.is_dense());
  EXPECT_EQ(std::memcmp(a.data(), b.data(), a.bytes()), 0);  // bits: some random floats are NaN
}

template <class T>
std::vector<T> values_of(const Buffer& picture) {
  const auto* data = static_cast<const T*>(picture.data());
  return {data, data + picture.pixels() * picture.type().lanes};
}

}  // namespace weft::io
