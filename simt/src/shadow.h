// What is remembered of each word of memory: who wrote it last, and who has read it since.
#pragma once

#include "clocks.h"
#include "memory.h"

#include <optional>

namespace simt {

/// How many threads a stamp of reads, or of atomic operations, stands for beyond its own.
enum SharedBy : std::uint8_t { one_warp, several_warps, several_blocks };

struct Cell {
  Stamp write;
  Stamp read;
  std::uint32_t readers = 0;           ///< Lanes of the reading warp.
  OperationId other_read = 0;          ///< A second operation that has read, unordered with the first;
  std::uint32_t other_read_place = 0;  ///< its instruction.
};

/// Two accesses that nothing orders.
struct Conflict {
  Stamp earlier;
  bool earlier_wrote = false;
};

/// What an access of a lane, or of a whole operation (a copy), is checked against.
struct Accessor {
  const Timeline& timeline;
  const Clocks& clocks;
  const Lane* lane;  ///< Null: no kernel, but a copy or a fill.
  Stamp stamp;
};

/// Notes a read, or a write, and says what it conflicts with.
std::optional<Conflict> note_read(Cell& cell, const Accessor& accessor, const void* address);
std::optional<Conflict> note_write(Cell& cell, const Accessor& accessor, const void* address);

/// Makes cells for so many bytes, all of them without any access.
void create(Shadow& shadow, std::size_t bytes);
/// Cells of single bytes instead of words, with the same history.
void refine(Shadow& shadow, std::size_t bytes);

}  // namespace simt
