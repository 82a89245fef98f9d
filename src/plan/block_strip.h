// The strip that a block of threads goes down on a GPU, a batch of rows at a time, and the rings of rows that
// it keeps in shared memory: those that are still to be read, and those of the batch.
//
//     in: 5 rows are needed at a time, of columns [-2, 2] around each; batches of 4 rows
//     a ring of 8 rows, each of two columns, the strip's and two more, in whole sectors
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ir/stage_ir.h"
#include "plan/choices.h"
#include "plan/extent.h"
#include "plan/march.h"

namespace weft::plan {

constexpr int sector = 32;                // bytes that memory moves at once
constexpr int strip_bytes = 1024;         // of a row of the widest image
constexpr int most_shared_bytes = 40960;  // of the 48 KB that need no asking

/// A block combines the elements of a reduction in parts, if they may be in any order and have rows: up to this number of
/// columns, with an accumulator for each, and at least this number of rows (parts.h). Batches are of 1, 2, 4 or 8 rows.
constexpr int part_columns = 256, least_part_rows = 16;

/// Rows in shared memory: scalar l of the pixel i columns right of the strip's first, in row y, is number
/// (y & (rows - 1)) * pitch + first + i * lanes + l.
struct RowRing {
  Scalar type;
  int lanes;
  int rows;   ///< A power of two; of volumes planes.
  int first;  ///< Scalars of the halo on the left.
  int pitch;

  int lines = 1;  ///< Rows of each plane of a volume.

  int scalars() const { return rows * lines * pitch; }
  int bytes() const { return scalars() * size_of(type); }
};

/// A ring of at least `rows` rows of an image in memory: the `width` pixels of a strip and those that are read
/// around it, loaded in whole sectors.
RowRing ring_of_image(Type pixel, const Reach& x, int width, int rows);
/// The same of what the block computes itself: no more columns than are read.
RowRing ring_of_result(Type pixel, const Reach& x, int width, int rows);

/// The least rows of a source that a ring has room for: those that are needed at a time while batches of `batch` rows of the
/// result are computed.
int rows_of_batch(const RollingRows& rows, const March& march, int batch);

/// How a block goes down, or its warps do.
struct BlockStrip {
  int width = 0;    ///< Columns of the result: whole steps.
  int columns = 0;  ///< With the halo of the widest member, unless of parts: a multiple of 32.
  int lines = 1;    ///< Rows of a volume's planes.
  int batch = 0;    ///< Rows of the result at a time: whole steps; of a static tile all. Of volumes planes.
  int before = 0;   ///< Rows above the first with which batches begin, so that none is of two parts.
  std::vector<RowRing> rings;  ///< In the order of March::rolling.
  std::int64_t bytes = 0;      ///< Of all rows, and of a reduction's accumulators.
  int warps = 0;  ///< Of a block, each with a tile and rows of its own; 0: the tile is the block's.
};

/// The widest strip whose rows fit the shared memory, at least 32 pixels wide; nothing if none does. Its batches are
/// as large as fits, from 2 to 8 rows; a narrower strip is better than batches of less than 4 rows, since each batch
/// costs barriers. Pixels and rows are those of the member that has most of them. Strips and batches are whole
/// steps, and of a reduction whole parts. A batch of a volume is a plane, and a strip has as many rows of it as fit, up
/// to 8. A width, lines or a batch that are asked for are taken. A static tile has all its rows in one batch, or as many
/// as fit of what is asked for; its rows are no powers of two, as none takes another's place.
std::optional<BlockStrip> block_strip(const March& march, const ir::Stage& result, std::int64_t shared_bytes,
                                      const Choices& asked = {});
/// The widest tile whose passes have no more than `columns` columns, halos included, or the narrowest there is.
int width_of_static_tile(const March& march, const ir::Stage& result, int columns);
/// Why no block goes down tiles of what is asked for, however much it could keep: a clause, or nothing.
std::optional<std::string> why_not_asked_of_blocks(const March& march, const ir::Stage& result,
                                                   const Choices& asked);
/// Why block_strip() finds nothing: a clause.
std::string why_rows_do_not_fit(const March& march, std::int64_t shared_bytes, const Choices& asked = {});

/// Rows of a strip of one stage, by how many strips there are: about one for each multiprocessor of a large
/// GPU is enough. Tall strips do little twice at their ends; many keep more of a processor busy.
Extent strip_heights();
/// Of a march that begins `rows_before` rows above a strip: at least twice as tall, so that no more than a third of
/// the rows that it goes through lies above.
Extent strip_heights_of_march(int rows_before);

/// Rows of each plane of a volume that a static tile has at most; 1 of an image.
int most_lines_of_static_tile(const March& march);

/// Why blocks of threads with that much shared memory cannot march with members that a CPU marches with: a clause, or
/// nothing.
std::optional<std::string> why_not_in_blocks(const std::vector<StageReads>& members, const March& march,
                                             std::int64_t shared_bytes);

}  // namespace weft::plan
