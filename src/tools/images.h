// Between pictures (as files hold them) and the images and results of applications.
//
// Integer pictures become float images scaled so that their full range is 0 … the application's range; float
// results become integer pictures likewise. What a file or an image can hold as it is stays as it is.
#pragma once

#include <weft/application.h>
#include <weft/buffer.h>

#include <cstdint>
#include <filesystem>
#include <string>

#include "ir/value.h"

namespace weft::tools {

/// The picture with the image's number of dimensions: a picture of one row is 1-D, one page is a volume of
/// one plane. `label` names it in errors. Throws weft::Error if it has more than that.
Buffer with_rank(const DeclaredImage& image, const Buffer& picture, const std::string& label);
/// The pixels that `image` has to have to take such a picture. `label` names the picture in errors; with
/// `grey`, colour may become luminance. Throws weft::Error if it cannot take it.
Type type_for_picture(const DeclaredImage& image, const Buffer& picture, const std::string& label, bool grey);
/// The picture as an image of that type: converted, and reduced to luminance if `type` has one lane.
Buffer to_image(const Buffer& picture, Type type, double range);
/// An image of any type from an 8-bit RGB picture, for synthetic inputs.
Buffer synthetic_image(const Buffer& rgb, Type type, double range);

struct PictureOptions {
  double range = 255;
  bool normalize = false;  ///< The least value becomes black, the largest white.
  bool bgr = false;        ///< The result's first lane is blue; the file's is red.
};
/// Whether the file can hold the result of that type and rank, converted. Throws weft::Error if not.
void check_result(const std::filesystem::path& file, const std::string& output, Type type, int rank,
                  const PictureOptions& options);
/// Dense, and of 2 dimensions at least, as files have them: a single value is 1x1, a row Wx1.
Buffer as_picture(const Buffer& result);
struct ResultPicture {
  Buffer buffer;
  std::int64_t clamped = 0;  ///< Lanes that the picture cannot express: outside its range, or not a number.
};
/// The result as a picture that the file can hold.
ResultPicture to_picture(const Buffer& result, const std::filesystem::path& file,
                         const PictureOptions& options);

/// "640x427", "256", "1" for a scalar.
std::string size_text(const Buffer& buffer);
/// A lane of pixel number `pixel`, counted x first.
ir::Value lane_value(const Buffer& buffer, std::int64_t pixel, int lane);

}  // namespace weft::tools
