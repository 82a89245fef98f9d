// ICC profiles, which say what the numbers of a colour mean. Weft passes them on and does not interpret them.
#pragma once

#include "io/codec.h"

namespace weft::io {

/// Whether a profile goes with pixels of `lanes` lanes: one of grey with 1 or 2, one of RGB with 3 or 4.
inline bool profile_fits(Bytes icc, int lanes) {
  constexpr std::size_t header = 128, colour_space = 16;
  if (icc.size() < header) return false;
  return starts_with(icc.subspan(colour_space), lanes <= 2 ? "GRAY" : "RGB ");
}

}  // namespace weft::io
