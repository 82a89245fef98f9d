#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "ir/print.h"
#include "plan/plan.h"
#include "plan/split_traffic.h"

namespace weft::plan {
namespace {

std::string text_of(const std::vector<Extent>& extents) {
  std::vector<std::string> texts;
  for (const Extent& extent : extents) texts.push_back(to_string(extent));
  return fmt::format("{}", fmt::join(texts, " x "));
}

/// " [-1, 1] x [0, 2]"
std::string text_of(const Window& window) {
  std::vector<std::string> texts;
  for (const Reach& reach : window) texts.push_back(fmt::format("[{}, {}]", reach.min, reach.max));
  return fmt::format("{}", fmt::join(texts, " x "));
}

std::string text_of(const Kept& kept, const std::string& where) {
  std::string text =
      !kept.is_copied()
          ? "read where it lies"
          : fmt::format("{} of {}, {} scalars each, in {}", name_of(kept.storage),
                        kept.window.size() > 2 ? fmt::format("{} planes of {} rows", kept.rows, kept.lines)
                                               : fmt::format("{} rows", kept.rows),
                        kept.pitch, where);
  if (kept.resident && *kept.resident < kept.rows)
    text += fmt::format(", all but the first {} in shared memory until they are read", *kept.resident);
  if (kept.lane_pitch != 1) text += ", lanes apart";
  if (kept.in_memory && kept.is_copied()) text += ", but for inner tiles";
  text += fmt::format("; {}, {} ahead", text_of(kept.window), kept.ahead);
  if (kept.rate != std::array{1, 1}) text += fmt::format(", rate {}x{}", kept.rate[0], kept.rate[1]);
  if (kept.first_column != 0) text += fmt::format(", lanes from {} on", kept.first_column);
  if (kept.is_stored) text += "; stored, too";
  if (kept.continues)
    text += "; goes on beyond its ends";
  else if (kept.border)
    text += fmt::format("; {}", ir::name_of(kept.border->mode));
  return text;
}

/// "3 rows", "a plane"
std::string text_of_prefetch(const KernelPlan& plan) {
  if (plan.is_of_volume()) return plan.prefetch == 1 ? "a plane" : fmt::format("{} planes", plan.prefetch);
  return fmt::format("{} {}", plan.prefetch, plan.step[1] == 1 && plan.has_one_rate() ? "rows" : "steps");
}

/// "0.31 pixels for each step of one, at least; single steps move 2"
std::string moved_by(const SplitTiles& split) {
  double moved = 0;
  for (std::size_t f = 0; f < split.level.size(); ++f) {
    const PixelsOfBand pixels = pixels_of_band(split, f);
    moved += (pixels.read + pixels.written) / split.steps;
  }
  return fmt::format("{:.2g} pixels for each step of one, at least; single steps move {}", moved,
                     2 * split.level.size());
}

using Line = std::pair<std::string, std::string>;

std::vector<Line> lines_of(const KernelPlan& plan) {
  std::vector<Line> lines;
  for (const Level& level : plan.levels) {
    const std::string extents = text_of(level.extent);
    std::string text = extents + (extents.empty() ? "" : " ") + name_of(level.order);
    if (level.kind == LevelKind::Core && plan.edges > 0)
      text += fmt::format(", copies {} columns at both ends of a row", plan.edges);
    if (level.kind == LevelKind::Warp && plan.is_of_lanes() && plan.is_static())
      text += fmt::format(", {} % of the rows in registers", plan.share);
    if (level.kind == LevelKind::Lane && plan.first_column != 0)
      text += fmt::format(", from {} on", plan.first_column);
    if (level.kind == LevelKind::Core && plan.whole > 1)
      text += fmt::format(", rows in whole {}s", plan.whole);
    lines.emplace_back(name_of(level.kind), std::move(text));
  }
  if (plan.step != std::array{1, 1})
    lines.emplace_back("step", fmt::format("{} x {}", plan.step[0], plan.step[1]));
  if (plan.before > 0)
    lines.emplace_back(
        "begins", fmt::format("{} {} above a tile", plan.before, plan.is_of_volume() ? "planes" : "rows"));
  if (plan.prefetch > 0)
    lines.emplace_back("loads", fmt::format("images {} before they are needed; about {} registers",
                                            text_of_prefetch(plan), plan.registers));
  if (plan.parts)
    lines.emplace_back("parts", fmt::format("{} columns of {} rows, in {} accumulators", plan.parts->columns,
                                            plan.parts->rows, plan.parts->accumulators));
  if (plan.split) {
    lines.emplace_back("split", to_string(*plan.split));
    lines.emplace_back("moves", moved_by(*plan.split));
  }
  if (plan.reads_initial) lines.emplace_back("first", "step reads what fields begin with where it lies");
  if (plan.scatter) lines.push_back(to_text(*plan.scatter));
  const std::string where = plan.moves_rows()     ? "each lane's registers, where they move up"
                            : plan.is_of_lanes()  ? "each lane's registers"
                            : plan.is_of_blocks() ? "shared memory"
                                                  : "caches";
  for (const Kept& kept : plan.kept) lines.emplace_back(kept.stage, text_of(kept, where));
  for (const Computed& c : plan.computed) {
    if (plan.is_of_blocks() || c.shared == analysis::Operations{}) continue;
    lines.emplace_back(
        "shared", fmt::format("by neighbours: {} of the {} operations for a pixel of {}",
                              c.shared.alu + c.shared.sfu, c.operations.alu + c.operations.sfu, c.stage));
  }
  std::vector<std::string> fetched;
  for (const ImageUse& image : plan.images) {
    if (plan.fetches_ahead(image.stage)) fetched.push_back(image.stage);
  }
  if (!fetched.empty())
    lines.emplace_back("fetch", fmt::format("the next rows of {}", fmt::join(fetched, " ")));
  if (const LimitChoices unusual = unusual_of(plan.code, plan.is_of_blocks()); !unusual.empty()) {
    std::vector<std::string> limits;
    for (const auto& [name, value] : unusual) limits.push_back(fmt::format("{} {}", name, value));
    lines.emplace_back("code", fmt::format("{}", fmt::join(limits, ", ")));
  }
  if (plan.passes.size() > 1) {
    std::vector<std::string> passes;
    for (const Pass& pass : plan.passes) passes.push_back(fmt::format("{}", fmt::join(pass, " ")));
    lines.emplace_back("passes", fmt::format("{}", fmt::join(passes, " | ")));
  }
  return lines;
}

}  // namespace

std::string name_of(LevelKind kind) {
  switch (kind) {
    case LevelKind::Grid: return "grid";
    case LevelKind::Core: return "core";
    case LevelKind::Block: return "block";
    case LevelKind::Warp: return "warp";
    case LevelKind::Batch: return "batch";
    case LevelKind::Step: return "step";
    case LevelKind::Row: return "row";
    case LevelKind::Lane: return "lane";
    case LevelKind::Vector: return "vector";
  }
  return "";
}

std::string name_of(Order order) {
  switch (order) {
    case Order::Parallel: return "parallel";
    case Order::March: return "march";
    case Order::Static: return "static";
    case Order::Unrolled: return "unrolled";
  }
  return "";
}

std::string name_of(Storage storage) { return storage == Storage::Ring ? "ring" : "tile"; }

std::string to_text(const KernelPlan& plan) {
  if (!plan.evolves_with.empty())
    return fmt::format("kernel {}; evolves with {}\n", plan.result, plan.evolves_with);
  std::string text = "kernel " + plan.result;
  if (plan.steps > 1) text += fmt::format(" of {} steps", plan.steps);
  if (plan.steps_from > 0) text += fmt::format(" if the field has {} KB", plan.steps_from >> 10);
  std::vector<std::string> members;
  for (const Kept& kept : plan.kept) {
    if (kept.is_member) members.push_back(kept.stage);
  }
  if (!members.empty()) text += fmt::format("; with it {}", fmt::join(members, " "));
  if (!plan.values.empty()) text += fmt::format("; values {}", fmt::join(plan.values, " "));
  text += '\n';
  const std::vector<Line> lines = lines_of(plan);
  std::size_t width = 0;
  for (const auto& [name, what] : lines) width = std::max(width, name.size());
  for (const auto& [name, what] : lines) text += fmt::format("  {:<{}}  {}\n", name, width, what);
  for (const KernelPlan& kernel : plan.several) text += to_text(kernel);
  for (const KernelPlan& update : plan.updates) text += to_text(update);
  return text;
}

}  // namespace weft::plan
