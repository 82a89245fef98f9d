// From pictures, as files hold them, to the images of applications.
//
// What an image can hold as it is stays as it is. Integer pictures become float images scaled so that their
// full range is 0 … the application's range. Grey becomes colour, alpha is dropped or full, and integers of
// one depth become those of another, where an application takes nothing else; what could only be guessed is
// refused.
#pragma once

#include <weft/application.h>
#include <weft/buffer.h>

#include <cstdint>
#include <string>

#include "ir/value.h"

namespace weft::tools {

/// The picture with the image's number of dimensions: a picture of one row is 1-D, one page is a volume of
/// one plane. `label` names it in errors. Throws weft::Error if it has more than that.
Buffer with_rank(const DeclaredImage& image, const Buffer& picture, const std::string& label);

enum class Channels { AsStored, Grey, Rgb };
struct ImageOptions {
  Channels channels = Channels::AsStored;  ///< What images that take several are to have.
  double range = 255;                      ///< Of the application, as its `advice`.
  std::string advice;
};
/// The pixels that `image` has to have to take such a picture. `label` names the picture in errors. Throws
/// weft::Error if it cannot take it.
Type type_for_picture(const DeclaredImage& image, const Buffer& picture, const std::string& label,
                      const ImageOptions& options = {});
/// What people should know of a picture of the first type as an image of the second: "as RGB, in 8 bits
/// instead of 16". Empty if nothing is lost or made up.
std::string conversion_text(Type picture, Type image);
/// The picture as an image of that type. The lanes are converted as type_for_picture allows.
Buffer to_image(const Buffer& picture, Type type, double range);
/// An image of any type from an 8-bit RGB picture, for synthetic inputs.
Buffer synthetic_image(const Buffer& rgb, Type type, double range);

/// "640x427", "256", "1" for a scalar.
std::string size_text(const Buffer& buffer);
/// A lane of pixel number `pixel`, counted x first.
ir::Value lane_value(const Buffer& buffer, std::int64_t pixel, int lane);
/// The same pixels in another box.
Buffer reshaped(const Buffer& buffer, const std::vector<std::int64_t>& extents);

}  // namespace weft::tools
