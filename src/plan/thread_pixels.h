// What a thread of a GPU computes of a stage whose threads have nothing to keep for one another.
#pragma once

#include <optional>

#include "plan/group.h"

namespace weft::plan {

/// Neighbouring pixels that a thread takes at a time, so that one access moves them all: 4 of float. With a single
/// pixel of 4 bytes, a multiprocessor has too few loads in flight to use its share of the bandwidth.
int pixels_of_access(Type type);

/// A read at the stage's own coordinates, all of them inside the source.
bool is_of_current_pixel(const ir::Read& read, const ir::Stage& stage);

/// Of a coarser image, so that neighbours read the same pixels; those beyond the end of a row, too, by the border.
bool is_of_coarser_image(const ir::Read& read);

/// The pixels of one access, for the widest type that is read or written; fewer if they read coarser images, and much is
/// computed. Nothing if other pixels than its own are read otherwise, or much is computed: then a thread computes one pixel
/// at a time, with borders.
std::optional<int> pixels_of_thread(const Loop& loop);

/// Whether pixels above each other read the same rows of a source, as far as is known.
bool reads_shared_rows(const StageReads& reads);

}  // namespace weft::plan
