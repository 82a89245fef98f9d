#include "io/codec.h"
#include "io/draft.h"
#include "io/profile.h"
#include "io/upright.h"

#include <weft/error.h>
#include <weft/picture.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <new>
#include <optional>
#include <system_error>

namespace weft::io {
namespace {

namespace fs = std::filesystem;

const auto& codecs() {
  static const std::array all = {&png_codec(), &jpeg_codec(), &tiff_codec(), &webp_codec(), &bmp_codec(),
                                 &pgm_codec(), &ppm_codec(),  &pnm_codec(),  &pfm_codec(),  &npy_codec()};
  return all;
}

bool contains(const auto& items, const auto& item) {
  return std::find(items.begin(), items.end(), item) != items.end();
}

/// "a, b or c"
std::string one_of(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) text += i + 1 == names.size() ? " or " : ", ";
    text += names[i];
  }
  return text;
}

/// Runs `work`; whatever goes wrong in it becomes one message that starts with "cannot read 'name'".
template <class Work>
auto reporting(const char* verb, const fs::path& file, Work work) {
  const auto error = [&](const std::string& why) {
    return Error(std::string("cannot ") + verb + " '" + file.string() + "': " + why);
  };
  try {
    return work();
  } catch (const Fault& fault) {
    Error whole = error(fault.why);
    if (!fault.remedy.empty()) whole.help(fault.remedy);
    throw whole;
  } catch (const Error& inner) {
    throw error(inner.message());
  } catch (const std::bad_alloc&) {
    throw error("there is not enough memory");
  }
}

// ---- Reading --------------------------------------------------------------------------------------------

std::vector<std::uint8_t> bytes_of(const fs::path& file) {
  std::error_code problem;
  const fs::file_status status = fs::status(file, problem);
  if (status.type() == fs::file_type::not_found) throw Fault{"there is no such file"};
  if (problem) throw Fault{problem.message()};
  if (fs::is_directory(status)) throw Fault{"it is a directory"};
  if (!fs::is_regular_file(status)) throw Fault{"it is not a regular file"};

  const OpenFile in(std::fopen(file.c_str(), "rb"));
  if (!in) throw Fault{system_message(errno)};
  const std::uintmax_t size = fs::file_size(file, problem);
  if (problem) throw Fault{problem.message()};
  if (size == 0) throw Fault{"the file is empty"};
  std::vector<std::uint8_t> bytes(size);
  if (std::fread(bytes.data(), 1, bytes.size(), in.get()) != bytes.size()) {
    throw Fault{std::ferror(in.get()) ? system_message(errno) : "the file shrank while it was read"};
  }
  return bytes;
}

// ---- Writing --------------------------------------------------------------------------------------------

const Codec* codec_for_extension(const fs::path& file) {
  std::string extension = file.extension().string();
  for (char& c : extension) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (const Codec* codec : codecs()) {
    if (contains(codec->extensions, extension)) return codec;
  }
  return nullptr;
}

bool holds(const Codec& codec, Type type, int rank) {
  return contains(codec.scalars, type.scalar) && contains(codec.lanes, type.lanes) && rank >= 2 &&
         rank <= codec.max_rank;
}

std::string remedy_for(Type type, int rank) {
  std::vector<std::string> extensions;
  for (const Codec* codec : codecs()) {
    if (codec->read && holds(*codec, type, rank)) extensions.push_back(codec->extensions.front());
  }
  if (!extensions.empty()) return "write " + one_of(extensions);
  return "write pictures of 2 dimensions, or of 3 as a .tif or .npy";
}

std::string lanes_text(int lanes) { return std::to_string(lanes) + (lanes == 1 ? " lane" : " lanes"); }

/// Why the file cannot hold such a picture, if it cannot.
std::optional<Fault> objection(const fs::path& file, Type type, int rank) {
  const Codec* codec = codec_for_extension(file);
  if (!codec) {
    const std::string extension = file.extension().string();
    return Fault{extension.empty() ? "its name has no extension to tell the format"
                                   : "'" + extension + "' is not a format Weft writes",
                 "write " + one_of(writable_formats())};
  }
  if (holds(*codec, type, rank)) return std::nullopt;

  std::vector<std::string> able;
  std::string unable;
  if (!contains(codec->scalars, type.scalar)) {
    for (Scalar s : codec->scalars) able.push_back(name_of(s));
    unable = name_of(type.scalar);
  } else if (!contains(codec->lanes, type.lanes)) {
    for (int n : codec->lanes) able.push_back(std::to_string(n));
    able.back() += codec->lanes == std::vector{1} ? " lane" : " lanes";
    unable = std::to_string(type.lanes);
  } else {
    able.emplace_back(codec->max_rank == 2 ? "2 dimensions" : "2 or 3 dimensions");
    unable = std::to_string(rank);
  }
  return Fault{"a " + codec->name + " holds " + one_of(able) + ", not " + unable, remedy_for(type, rank)};
}

}  // namespace

bool starts_with(Bytes file, std::string_view magic) {
  return file.size() >= magic.size() && std::memcmp(file.data(), magic.data(), magic.size()) == 0;
}

void put(std::FILE* file, const void* bytes, std::size_t n) {
  if (std::fwrite(bytes, 1, n, file) != n) throw Fault{system_message(errno)};
}

Picture read_picture(const std::filesystem::path& file, const ReadOptions& options) {
  return reporting("read", file, [&] {
    const std::vector<std::uint8_t> bytes = bytes_of(file);
    for (const Codec* codec : codecs()) {
      if (!codec->read || !codec->recognizes(bytes)) continue;
      Decoded decoded = codec->read({bytes, options.max_pixels});
      if (!profile_fits(decoded.icc, decoded.buffer.type().lanes)) decoded.icc.clear();
      return Picture{upright(decoded.buffer, decoded.orientation), codec->name, std::move(decoded.icc)};
    }
    throw Fault{"it is not a picture in a format Weft reads", "convert it to " + one_of(readable_formats())};
  });
}

void write_picture(const std::filesystem::path& file, const Buffer& picture, const WriteOptions& options) {
  reporting("write", file, [&] {
    if (auto fault = objection(file, picture.type(), picture.rank())) throw *fault;
    if (picture.pixels() == 0) throw Fault{"the picture has no pixels"};
    if (!options.icc.empty() && !profile_fits(options.icc, picture.type().lanes))
      throw Fault{"the ICC profile is not one for pixels of " + lanes_text(picture.type().lanes)};
    Draft draft(file);
    codec_for_extension(file)->write(draft.file(), picture.is_dense() ? picture : picture.packed(),
                                     options.icc);
    draft.commit();
  });
}

bool can_write(const std::filesystem::path& file, Type type, int rank, std::string* why,
               std::string* remedy) {
  const auto fault = objection(file, type, rank);
  if (fault && why) *why = fault->why;
  if (fault && remedy) *remedy = fault->remedy;
  return !fault;
}

std::vector<std::string> readable_formats() {
  std::vector<std::string> names;
  for (const Codec* codec : codecs()) {
    if (codec->read) names.push_back(codec->name);
  }
  return names;
}

std::vector<std::string> writable_formats() {
  std::vector<std::string> all;
  for (const Codec* codec : codecs())
    all.insert(all.end(), codec->extensions.begin(), codec->extensions.end());
  return all;
}

}  // namespace weft::io
