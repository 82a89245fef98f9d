#include "shadow.h"

#include <algorithm>
#include <cstdlib>
#include <new>

namespace simt {
namespace {

/// Whether an access happened before this one.
bool known(const Stamp& stamp, const Accessor& accessor) {
  if (stamp.operation != accessor.stamp.operation)
    return accessor.timeline.is_before_running(stamp.operation);
  return !accessor.lane || accessor.clocks.knows(*accessor.lane, stamp);
}

bool write_is_known(const Cell& cell, const Accessor& accessor, const void* address) {
  const Stamp& write = cell.write;
  if (!write.operation) return true;
  const bool same_operation = write.operation == accessor.stamp.operation;
  if (same_operation && write.is_atomic && accessor.stamp.is_atomic) return true;
  if (same_operation && accessor.lane && write.is_atomic && write.shared_by == several_blocks) {
    return accessor.clocks.knows_all_atomics(*accessor.lane, address);
  }
  return known(write, accessor);
}

/// Whether all reads since the last write happened before this write.
bool reads_are_known(const Cell& cell, const Accessor& accessor) {
  const Stamp& read = cell.read;
  if (!read.operation) return true;
  if (read.operation != accessor.stamp.operation) return accessor.timeline.is_before_running(read.operation);
  if (!accessor.lane) return true;
  const Lane& lane = *accessor.lane;
  if (read.shared_by == several_blocks) return false;
  if (read.block != accessor.clocks.block()) return accessor.clocks.knows(lane, read);
  if (read.epoch < accessor.clocks.epoch()) return true;
  if (read.shared_by == several_warps) return false;
  if (read.thread / warp_size != lane.warp) return accessor.clocks.knows(lane, read);
  for (std::uint32_t rest = cell.readers & ~(1u << lane.lane); rest; rest &= rest - 1) {
    if (read.clock > accessor.clocks.known_clock(lane, static_cast<unsigned>(std::countr_zero(rest))))
      return false;
  }
  return true;
}

void begin_readers(Cell& cell, const Accessor& accessor) {
  cell.read = accessor.stamp;
  cell.readers = accessor.lane ? 1u << accessor.lane->lane : 1u;
}

void add_reader_of_warp(Cell& cell, const Accessor& accessor) {
  const Lane& lane = *accessor.lane;
  bool all_known = true;
  for (std::uint32_t rest = cell.readers & ~(1u << lane.lane); rest; rest &= rest - 1) {
    const auto other = static_cast<unsigned>(std::countr_zero(rest));
    all_known &= cell.read.clock <= accessor.clocks.known_clock(lane, other);
  }
  if (all_known) {
    begin_readers(cell, accessor);
  } else {
    cell.readers |= 1u << lane.lane;
    cell.read.clock = std::max(cell.read.clock, accessor.stamp.clock);
  }
}

void add_reader(Cell& cell, const Accessor& accessor) {
  const Stamp& read = cell.read;
  if (read.operation != accessor.stamp.operation || !accessor.lane) {
    if (read.operation && !accessor.timeline.is_before_running(read.operation)) {
      cell.other_read = read.operation;
      cell.other_read_place = read.place;
    }
    begin_readers(cell, accessor);
  } else if (read.shared_by == several_blocks) {
    return;
  } else if (read.block != accessor.stamp.block) {
    cell.read.shared_by = several_blocks;
  } else if (read.epoch != accessor.stamp.epoch) {
    begin_readers(cell, accessor);
  } else if (read.thread / warp_size != accessor.lane->warp) {
    cell.read.shared_by = several_warps;
  } else if (read.shared_by == one_warp) {
    add_reader_of_warp(cell, accessor);
  }
}

}  // namespace

std::optional<Conflict> note_read(Cell& cell, const Accessor& accessor, const void* address) {
  std::optional<Conflict> conflict;
  if (!write_is_known(cell, accessor, address)) conflict = {cell.write, true};
  // Volatile reads may be changed atomically under their hands. Plain writes may not, but only those before
  // them are noticed.
  if (!accessor.stamp.is_atomic) add_reader(cell, accessor);
  return conflict;
}

std::optional<Conflict> note_write(Cell& cell, const Accessor& accessor, const void* address) {
  std::optional<Conflict> conflict;
  if (!write_is_known(cell, accessor, address)) {
    conflict = {cell.write, true};
  } else if (!reads_are_known(cell, accessor)) {
    conflict = {cell.read, false};
  } else if (cell.other_read && !accessor.timeline.is_before_running(cell.other_read)) {
    conflict = {Stamp{}, false};
    conflict->earlier.operation = cell.other_read;
    conflict->earlier.place = cell.other_read_place;
  }
  const bool more_atomics =
      accessor.stamp.is_atomic && cell.write.is_atomic && cell.write.operation == accessor.stamp.operation;
  const bool other_block = more_atomics && cell.write.block != accessor.stamp.block;
  const std::uint8_t shared_by = more_atomics ? cell.write.shared_by : std::uint8_t{one_warp};
  cell = Cell{};
  cell.write = accessor.stamp;
  cell.write.shared_by = other_block ? std::uint8_t{several_blocks} : shared_by;
  return conflict;
}

// Zero is an empty cell, and memory of zeros costs nothing until it is used.
void create(Shadow& shadow, std::size_t bytes) {
  const std::size_t count = (bytes >> shadow.shift) + 1;
  auto* cells = static_cast<Cell*>(std::calloc(count, sizeof(Cell)));
  if (!cells) throw std::bad_alloc();
  shadow.cells.reset(cells);
}

void refine(Shadow& shadow, std::size_t bytes) {
  Shadow fine;
  fine.shift = 0;
  create(fine, bytes);
  for (std::size_t i = 0; i < bytes; ++i) {
    const Cell& word = shadow.cells[i >> shadow.shift];
    if (word.write.operation || word.read.operation) fine.cells[i] = word;
  }
  shadow = std::move(fine);
}

}  // namespace simt
