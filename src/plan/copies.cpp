#include "plan/copies.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace weft::plan {
namespace {

// Of cores. More copies feed more cores, but each is cleared and added: large results have two.
constexpr std::int64_t most_copies = 16, least_copies = 2, pixels_of_all_copies = 1 << 20;
// Small results have copies for each place, as long as all of it stays in the first-level cache.
constexpr int most_places = 8, places_without_copies = 4;
constexpr std::int64_t bytes_of_places = 16384;

// Of blocks.
constexpr std::int64_t most_bytes_of_block = 16384;  // leaves room for several blocks on every architecture
constexpr std::int64_t points_per_block = 16384;     // many for each copy that is cleared and added

/// If the size of no image decides it.
std::optional<std::int64_t> pixels_of(const ir::Stage& stage) {
  std::int64_t pixels = 1;
  for (const ir::Range& range : stage.box) {
    if (!range.extent.is_constant()) return std::nullopt;
    pixels *= range.extent.constant();
  }
  return pixels;
}

}  // namespace

Copies copies_of(const ir::Stage& scatter, const Memory& memory) {
  const bool has_rows = !std::get<ir::Scatter>(scatter.definition).over.empty();
  const std::optional<std::int64_t> pixels = pixels_of(scatter);
  const auto fits = [&](std::int64_t copies, std::int64_t bytes) {
    return pixels && std::max<std::int64_t>(*pixels, 1) * size_of(scatter.type) * copies <= bytes;
  };
  Copies copies;
  if (memory.is_of_blocks()) {
    if (has_rows && fits(1, most_bytes_of_block))
      copies.shared_scalars = *pixels * scatter.type.lanes, copies.points = points_per_block;
    return copies;
  }
  copies.least = least_copies, copies.most = most_copies, copies.pixels = pixels_of_all_copies;
  if (!has_rows) return copies;
  copies.are_of_places = fits(most_places, bytes_of_places);
  copies.places = copies.are_of_places ? most_places : places_without_copies;
  return copies;
}

std::string to_string(const Copies& copies) {
  if (copies.most == 0) {
    return copies.shared_scalars == 0
               ? "none: threads change the result itself"
               : fmt::format("one of each block, {} scalars in shared memory, of {} points",
                             copies.shared_scalars, copies.points);
  }
  std::string text = fmt::format("{} to {}, {} pixels in all", copies.least, copies.most, copies.pixels);
  if (copies.places > 1)
    text += fmt::format("; {} places of a row in turn{}", copies.places,
                        copies.are_of_places ? ", with a copy each" : "");
  return text;
}

}  // namespace weft::plan
