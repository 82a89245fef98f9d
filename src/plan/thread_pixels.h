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

/// Whether the pixels are a volume of few planes, and half of what they read is the same in each.
bool has_planes_in_common(const StageReads& stage);
/// Whether the pixels of few planes read several planes of a volume, each at its own x and y: a thread with the pixels of all
/// planes finds most of them in its first-level cache, and knows by number where the volume ends.
bool shares_planes(const Loop& loop, int pixels);

/// A thread that computes where pixels are has results in several rows, so that more loads are under way: in 4 rows, if each
/// result takes up to 8 such pixels, and in 2 rows for up to 16.
int rows_of_thread(const StageReads& stage);

}  // namespace weft::plan
