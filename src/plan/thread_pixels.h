// What a thread of a GPU computes of a stage whose threads have nothing to keep for one another.
#pragma once

#include <optional>

#include "plan/code_limits.h"
#include "plan/group.h"

namespace weft::plan {

/// Neighbouring pixels that a thread takes at a time, so that one access moves them all: 4 of float. With a single
/// pixel of 4 bytes, a multiprocessor has too few loads in flight to use its share of the bandwidth.
int pixels_of_access(Type type);

/// Whether `pixels` pixels take a thread more than 400 operations, where a function such as exp counts as 8: then computing hides
/// what loading takes, and more pixels would only make the code longer.
bool computes_much(const analysis::Operations& operations, int pixels);

struct ThreadPixels {
  int pixels;
  std::int64_t columns_beside;  ///< That a thread loads one by one.
};
/// The pixels of one access, for the widest type that is read or written; fewer if they read coarser images or columns beside
/// their own, and much is computed. Nothing if what is read lies along no row, or much is computed: then a thread computes one
/// pixel at a time, with borders.
std::optional<ThreadPixels> thread_pixels(const Loop& loop, const CodeLimits& limits);

/// Whether pixels above each other read the same rows of a source, as far as is known.
bool reads_shared_rows(const StageReads& reads);

}  // namespace weft::plan
