// WebP, written without loss. It has colours only: grey is written as equal red, green and blue.
#include "io/claim.h"
#include "io/upright.h"

#include <webp/decode.h>
#include <webp/encode.h>
#include <webp/mux.h>

#include <memory>

namespace weft::io {
namespace webp {
namespace {

using Mux = std::unique_ptr<WebPMux, decltype(&WebPMuxDelete)>;

bool recognizes(Bytes file) {
  return starts_with(file, "RIFF") && (file.size() < 12 || starts_with(file.subspan(8), "WEBP"));
}

Fault fault_of(VP8StatusCode status) {
  switch (status) {
    case VP8_STATUS_OUT_OF_MEMORY: return {"there is not enough memory"};
    case VP8_STATUS_NOT_ENOUGH_DATA: return {"the WebP is truncated"};
    case VP8_STATUS_UNSUPPORTED_FEATURE: return {"libwebp does not know a part of the WebP"};
    default: return {"the WebP is damaged"};
  }
}

/// A RIFF says how long it is.
void check_length(Bytes file) {
  std::size_t length = 0;
  for (std::size_t b = 4; b < 8 && b < file.size(); ++b) length |= std::size_t{file[b]} << 8 * (b - 4);
  if (file.size() < 12 || file.size() - 8 < length) throw fault_of(VP8_STATUS_NOT_ENOUGH_DATA);
}

Bytes chunk_of(const Mux& mux, const char* name) {
  WebPData data{};
  if (!mux || WebPMuxGetChunk(mux.get(), name, &data) != WEBP_MUX_OK) return {};
  return {data.bytes, data.size};
}

Decoded read(const Source& source) {
  const Bytes file = source.bytes;
  check_length(file);
  WebPDecoderConfig config;
  WebPInitDecoderConfig(&config);
  const VP8StatusCode status = WebPGetFeatures(file.data(), file.size(), &config.input);
  if (status != VP8_STATUS_OK) throw fault_of(status);
  if (config.input.has_animation) throw Fault{"the WebP is an animation", "save one picture of it"};

  const Type type{Scalar::U8, config.input.has_alpha ? 4 : 3};
  const Buffer picture = allocate_claimed(source, type, {config.input.width, config.input.height}, 0);
  config.output.colorspace = type.lanes == 4 ? MODE_RGBA : MODE_RGB;
  config.output.is_external_memory = 1;
  config.output.u.RGBA = {row_of(picture, 0), config.input.width * type.lanes,
                          static_cast<std::size_t>(picture.bytes())};
  const VP8StatusCode decoded = WebPDecode(file.data(), file.size(), &config);
  if (decoded != VP8_STATUS_OK) throw fault_of(decoded);

  const WebPData all{file.data(), file.size()};
  const Mux mux(WebPMuxCreate(&all, 0), WebPMuxDelete);
  const Bytes icc = chunk_of(mux, "ICCP");
  return {picture, {icc.begin(), icc.end()}, orientation_of_exif(chunk_of(mux, "EXIF"))};
}

// ---- Writing --------------------------------------------------------------------------------------------

struct Image {
  WebPPicture picture;
  WebPMemoryWriter out;
  Image() {
    WebPPictureInit(&picture);
    WebPMemoryWriterInit(&out);
    picture.use_argb = 1;
    picture.writer = WebPMemoryWrite;
    picture.custom_ptr = &out;
  }
  Image(const Image&) = delete;
  Image& operator=(const Image&) = delete;
  ~Image() {
    WebPPictureFree(&picture);
    WebPMemoryWriterClear(&out);
  }
};

/// Pixels of 3 lanes, or 4 with alpha.
Buffer colours_of(const Buffer& picture) {
  const int lanes = picture.type().lanes;
  if (lanes >= 3) return picture;
  const Buffer colours = Buffer::allocate({Scalar::U8, lanes + 2}, picture.extents());
  const std::uint8_t* from = row_of(picture, 0);
  std::uint8_t* to = row_of(colours, 0);
  for (std::int64_t i = 0; i < picture.pixels(); ++i, from += lanes) {
    for (int l = 0; l < 3; ++l) *to++ = from[0];
    if (lanes == 2) *to++ = from[1];
  }
  return colours;
}

void encode(const Buffer& picture, Image& image) {
  WebPConfig config;
  WebPConfigInit(&config);
  config.lossless = 1;
  config.exact = 1;  // colours below a transparent pixel, too
  image.picture.width = static_cast<int>(picture.extent(0));
  image.picture.height = static_cast<int>(picture.extent(1));
  const Buffer colours = colours_of(picture);
  const int row = image.picture.width * colours.type().lanes;
  const auto import = colours.type().lanes == 4 ? WebPPictureImportRGBA : WebPPictureImportRGB;
  if (import(&image.picture, row_of(colours, 0), row) && WebPEncode(&config, &image.picture)) return;
  if (image.picture.error_code == VP8_ENC_ERROR_OUT_OF_MEMORY) throw Fault{"there is not enough memory"};
  throw Fault{"libwebp fails with error " + std::to_string(image.picture.error_code)};
}

void write_with_profile(std::FILE* file, Bytes pixels, Bytes icc) {
  const Mux mux(WebPMuxNew(), WebPMuxDelete);
  const WebPData image{pixels.data(), pixels.size()}, profile{icc.data(), icc.size()};
  WebPData all{};
  const bool good = mux && WebPMuxSetImage(mux.get(), &image, 0) == WEBP_MUX_OK &&
                    WebPMuxSetChunk(mux.get(), "ICCP", &profile, 0) == WEBP_MUX_OK &&
                    WebPMuxAssemble(mux.get(), &all) == WEBP_MUX_OK;
  const std::unique_ptr<WebPData, decltype(&WebPDataClear)> owner(&all, WebPDataClear);
  if (!good) throw Fault{"libwebp cannot add the ICC profile"};
  put(file, all.bytes, all.size);
}

void write(std::FILE* file, const Buffer& picture, Bytes icc) {
  if (picture.extent(0) > WEBP_MAX_DIMENSION || picture.extent(1) > WEBP_MAX_DIMENSION) {
    throw Fault{"a WebP has at most " + std::to_string(WEBP_MAX_DIMENSION) + " rows and columns",
                "write .png or .tif"};
  }
  Image image;
  encode(picture, image);
  if (!icc.empty()) return write_with_profile(file, {image.out.mem, image.out.size}, icc);
  put(file, image.out.mem, image.out.size);
}

}  // namespace
}  // namespace webp

const Codec& webp_codec() {
  static const Codec codec{.name = "WebP",
                           .extensions = {".webp"},
                           .scalars = {Scalar::U8},
                           .lanes = {1, 2, 3, 4},
                           .recognizes = webp::recognizes,
                           .read = webp::read,
                           .write = webp::write};
  return codec;
}

}  // namespace weft::io
