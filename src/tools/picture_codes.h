// Pictures as text for terminals that show them: the codes of kitty's graphics protocol, and sixel, which
// VT340s had and many terminals understand.
//
// Both are small enough to be our own: libsixel would bring its loaders of pictures and a palette search
// that photographs of a terminal's size do not need.
#pragma once

#include <weft/buffer.h>

#include <cstdint>
#include <string>

namespace weft::tools {

/// A picture of 8 or 16 bits and 1 to 4 lanes as RGB of 8 bits: of a volume, the page in the middle; grey and
/// alpha, or RGB and alpha, without the alpha.
Buffer as_rgb(const Buffer& picture);
/// An RGB picture made smaller, by the means of its pixels, if it does not fit; its shape is kept.
Buffer shrunk(const Buffer& rgb, std::int64_t most_width, std::int64_t most_height);

std::string kitty_code(const Buffer& rgb);  ///< All colours as they are.
/// Greys in 101 levels; colours in 252, dithered.
std::string sixel_code(const Buffer& rgb);

}  // namespace weft::tools
