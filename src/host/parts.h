// Into which parts a run on a GPU divides the rows of images that lie in the host's memory: while kernels compute one, the
// next is copied to the GPU, and the one before back.
//
//     100 rows, reach {1, 2}, 2 parts:   rows 0 to 50 of the results from rows 0 to 52 of the images,
//                                        rows 50 to 100 from rows 49 to 100
#pragma once

#include <cstdint>
#include <vector>

#include "host/plan.h"

namespace weft::host {

/// Rows [first, last) of the results, from the rows [from, to) of the images.
struct Part {
  std::int64_t first, last, from, to;
  bool operator==(const Part&) const = default;
};
/// The rows [first, last) of a result of the part alone, as many as the whole has from part.first on.
struct KeptRows {
  std::int64_t first, last;
};
/// Of a result of `rows` rows; the last of all `parts` keeps them to their end, however many the images have.
KeptRows kept_rows(const Part& part, const std::vector<Part>& parts, std::int64_t rows);

/// The number of parts that should take least time, or `wanted` if that is not 0, for images and results whose rows have
/// `bytes_of_row` bytes together. One part if the plan's reach is not known.
std::vector<Part> parts_of(const Plan& plan, std::int64_t rows, std::int64_t bytes_of_row,
                           std::int64_t wanted = 0);

}  // namespace weft::host
