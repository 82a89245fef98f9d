// The strip or tile that a core of a CPU goes through, and how many rows it has room for: those that are kept
// fit its caches.
//
//     in: 5 rows are needed at a time, of float, and gx: 3        rooms of 8 and 4 rows, strips 640 columns
//     wide
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "plan/choices.h"
#include "plan/march.h"

namespace weft::plan {

/// Strips are as tall as possible while there are 64 of them, so that each core has some: tall strips compute little twice at
/// their ends.
constexpr int enough_strips = 64, height_step = 16, most_height = 256;
/// Of the strips of a march: 4 times as many rows as members begin above each, or much would be computed twice; and 64 at most, or
/// small images would be too few strips for many cores.
int least_height(const March& march);

/// A core combines the elements of a reduction in parts of this size at most: a piece of a row, or several whole rows. Blocks
/// of threads have parts of their own (block_strip.h).
constexpr int part_pixels = 4096;  // enough to pay for handing out a part

/// Of the rows of a tile: part of a second-level cache, and of a thread's stack.
constexpr int most_kept_bytes = 512 * 1024;

constexpr int line_bytes = 64;  ///< Of a cache, and of the longest vectors.

/// Columns that a kept row has room for, at least `needed`. Rows that a strip writes, and each lane of them, begin with a
/// cache line: then no vector of a pass that reads and writes the same columns is in two lines, which costs an access
/// more.
std::int64_t columns_in_lines(std::int64_t needed, const RollingRows& rows);

/// Rows of a source that a strip needs at a time, if a pass computes `rows_of_pass` rows of the result.
int rows_needed(const RollingRows& rows, int rows_of_pass);
/// How many it has room for: a power of two, so that rows take each other's place.
int room_for_rows(const RollingRows& rows, int rows_of_pass = 1);
/// So many rows of a source a static tile of that height has room for.
int room_for_rows(const RollingRows& rows, const March& march, int height);
constexpr const char* no_lines = "a tile of an image has no extent between its columns and its rows";
/// Rows that a tile of `lines` rows keeps of each plane of a volume; 1 of an image.
int room_for_lines(const RollingRows& rows, int lines);
/// Columns of a strip of the result, so that all rows that it keeps fit a first-level cache, or, where that would leave few,
/// a part of a second-level one; or those of a part of a reduction. Of a volume's tile, see lines_of_tile().
int strip_width(const March& march, int rows_of_pass = 1);
/// Of a strip that takes several steps of an evolution: so that its rows fit a second-level cache.
int strip_width_of_steps(const March& march, int rows_of_pass = 1);
/// Rows of each plane in a volume's tile, for its width and, if it is static, its height: the most with which its planes
/// stay in a second-level cache. 1 for an image.
int lines_of_tile(const March& march, const Tile& tile);

/// Why no core marches so, since the rows of whole parts are too many for its caches: a clause, or nothing.
std::optional<std::string> why_not_in_caches(const March& march, const ir::Stage& result);
/// Why no processor can march in such tiles: a clause, or nothing.
std::optional<std::string> why_not_in_steps(const Choices& asked, const March& march);
/// Why a core cannot compute such tiles: a clause, or nothing.
std::optional<std::string> why_not_in_cores(const Choices& asked, const March& march);

}  // namespace weft::plan
