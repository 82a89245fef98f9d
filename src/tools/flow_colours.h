// A field of offsets as a picture: the direction of a pixel is its hue, and the length its saturation, so
// that a field that moves one way has one colour, and what rests is white.
#pragma once

#include <weft/buffer.h>

#include <string>

namespace weft::tools {

/// Two lanes, dx and dy, as RGB of `scalar` (u8 or u16). Right is red, left is cyan; colours are full from
/// the length `longest` on. What is not a number is black.
Buffer flow_colours(const Buffer& offsets, Scalar scalar, double longest);
/// The lengths of all offsets, as a row.
Buffer lengths_of(const Buffer& offsets);
/// "direction as hue (right is red, left cyan), length as colour (full from 7.6 on)"
std::string flow_legend(double longest);

}  // namespace weft::tools
