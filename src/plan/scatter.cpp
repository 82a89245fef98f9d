#include "plan/scatter.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "analysis/operations.h"
#include "base/counted.h"
#include "plan/pixel_rows.h"
#include "plan/thread_pixels.h"

namespace weft::plan {
namespace {

// Several for each of many cores, since rows of points may differ in what they take. Each core goes through all rows for
// its columns, a few points at a time.
constexpr std::int64_t most_bands = 128, most_bands_of_columns = 32;
// Points whose places and values lie in the first-level cache.
constexpr int points_at_a_time = 512;

// In shared memory, of a thread that has a column: 32 warps of a multiprocessor have 196,608 bytes.
constexpr std::int64_t most_bytes_of_column = 192;
// As many as fill a multiprocessor by the blocks that it may have, and leave few threads idle at the end of a row of cells.
constexpr int columns_of_block = 64;

// More copies feed more cores, but each is cleared and added: large results have two.
constexpr std::int64_t most_copies = 16, least_copies = 2, pixels_of_all_copies = 1 << 20;
// Small results have copies for each place, as long as all of it stays in the first-level cache.
constexpr int most_places = 8, places_without_copies = 4;
constexpr std::int64_t bytes_of_places = 16384;

constexpr std::int64_t most_bytes_of_block = 16384;  // leaves room for several blocks on every architecture
constexpr std::int64_t points_per_block = 16384;     // many for each copy that is cleared and added
constexpr int most_points_of_thread = 8;

/// If the size of no image decides it.
std::optional<std::int64_t> pixels_of(const ir::Stage& stage) {
  std::int64_t pixels = 1;
  for (const ir::Range& range : stage.box) {
    if (!range.extent.is_constant()) return std::nullopt;
    pixels *= range.extent.constant();
  }
  return pixels;
}

bool has_rows(const ir::Stage& stage) { return !std::get<ir::Scatter>(stage.definition).over.empty(); }

/// Whether copies of the result surely have no more bytes than that.
bool fit(const ir::Stage& stage, std::int64_t copies, std::int64_t bytes) {
  const std::optional<std::int64_t> pixels = pixels_of(stage);
  return pixels && std::max<std::int64_t>(*pixels, 1) * size_of(stage.type) * copies <= bytes;
}

ScatterBands by_bands(const ir::Stage& stage, analysis::Bands bands) {
  const bool joined = bands.along == 0 && std::get<ir::Scatter>(stage.definition).over.size() > 1;
  return {std::move(bands), joined ? most_bands_of_columns : most_bands, joined, points_at_a_time};
}

ScatterCopies by_copies(const ir::Stage& stage, std::string why) {
  ScatterCopies copies{least_copies, most_copies, pixels_of_all_copies, 1, false, std::move(why)};
  if (!has_rows(stage)) return copies;
  copies.are_of_places = fit(stage, most_places, bytes_of_places);
  copies.places = copies.are_of_places ? most_places : places_without_copies;
  return copies;
}

/// As many neighbours as one access has, whose rows a thread loads at once: with a byte of each thread on its way a
/// multiprocessor waits for memory.
int points_of_thread(const ir::Stage& stage) {
  const PixelRows read = pixel_rows(stage);
  if (read.rows.empty() || read.may_leave()) return 1;
  int points = most_points_of_thread;
  for (const PixelRow& row : read.rows) points = std::min(points, pixels_of_access(row.read.source->type));
  while (points > 1 && computes_much(analysis::operations(stage), points)) points /= 2;
  return points;
}

ScatterAtomics by_atomics(const ir::Stage& stage, std::string why) {
  if (!has_rows(stage) || !fit(stage, 1, most_bytes_of_block)) return {0, 0, 1, std::move(why)};
  return {*pixels_of(stage) * stage.type.lanes, points_per_block, points_of_thread(stage), std::move(why)};
}

// ---- as text

std::string text_of(const ScatterBands& division) {
  const analysis::Bands& bands = division.bands;
  std::vector<std::string> forms;
  for (const ir::Affine& form : bands.indices) forms.push_back(form.to_string());
  return fmt::format(
      "at most {} along {}, each from the points whose {} leads there by {}; {} points at a time{}",
      division.most, ir::dim_name(bands.dim), ir::dim_name(bands.along), fmt::join(forms, " or "),
      division.points, division.are_joined ? "; those of a core are joined" : "");
}

std::string text_of(const ScatterColumns& division) {
  const analysis::Columns& columns = division.columns;
  std::vector<std::string> dims;
  for (const analysis::Bands& bands : columns.across) dims.push_back(ir::dim_name(bands.dim));
  return fmt::format("of {} for each {}, a thread's own in shared memory; from {}; {} of a block",
                     counted(columns.pixels, "pixel"), fmt::join(dims, " and "),
                     counted(columns.points, "point"), division.of_block);
}

std::string text_of(const ScatterCopies& copies) {
  std::string text = fmt::format("{} to {}, {} pixels in all", copies.least, copies.most, copies.pixels);
  if (copies.places > 1)
    text += fmt::format("; {} places of a row in turn{}", copies.places,
                        copies.are_of_places ? ", with a copy each" : "");
  return text + ", since " + copies.why;
}

std::string text_of(const ScatterAtomics& atomics) {
  const std::string text = atomics.shared_scalars == 0
                               ? "none: threads change the result itself"
                               : fmt::format("one of each block, {} scalars in shared memory, of {} points",
                                             atomics.shared_scalars, atomics.points);
  const std::string together = atomics.points_of_thread == 1
                                   ? ""
                                   : fmt::format(", {} of a thread at a time", atomics.points_of_thread);
  return text + together + ", since " + atomics.why;
}

}  // namespace

Scatter scatter_of(const ir::Stage& stage, const Memory& memory) {
  if (memory.is_of_blocks()) {
    analysis::ColumnsOrWhy found = analysis::columns_of(stage, most_bytes_of_column);
    if (!found.columns) return by_atomics(stage, std::move(found.why));
    return ScatterColumns{*std::move(found.columns), columns_of_block};
  }
  analysis::BandsOrWhy found = analysis::bands_of(stage);
  if (!found.bands) return by_copies(stage, std::move(found.why));
  return by_bands(stage, *std::move(found.bands));
}

std::pair<std::string, std::string> to_text(const Scatter& scatter) {
  const std::string name = std::visit(ir::overloaded{[](const ScatterBands&) { return "bands"; },
                                                     [](const ScatterColumns&) { return "column"; },
                                                     [](const ScatterCopies&) { return "copies"; },
                                                     [](const ScatterAtomics&) { return "copies"; }},
                                      scatter);
  return {name, std::visit([](const auto& division) { return text_of(division); }, scatter)};
}

}  // namespace weft::plan
