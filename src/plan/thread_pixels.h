// What a thread of a GPU computes of a stage whose threads have nothing to keep for one another.
#pragma once

#include <optional>

#include "plan/group.h"

namespace weft::plan {

/// Neighbouring pixels that a thread takes at a time, so that one access moves them all: 4 of float. With a single
/// pixel of 4 bytes, a multiprocessor has too few loads in flight to use its share of the bandwidth.
int pixels_of_access(Type type);

/// A read at the stage's own x, inside the source along it, in a row that the other coordinates alone say, for all pixels of
/// the stage: neighbours read neighbours, and a thread may load those of its pixels at once.
bool is_along_rows(const ir::Read& read, const ir::Stage& stage);

/// Of a coarser image, so that neighbours read the same pixels; those beyond the end of a row, too, by the border.
bool is_of_coarser_image(const ir::Read& read);

/// The pixels of one access, for the widest type that is read or written; fewer if they read coarser images, and much is
/// computed. Nothing if other columns than its own are read otherwise, or much is computed: then a thread computes one pixel
/// at a time, with borders.
std::optional<int> pixels_of_thread(const Loop& loop);

/// Whether pixels above each other read the same rows of a source, as far as is known.
bool reads_shared_rows(const StageReads& reads);

}  // namespace weft::plan
