#include "host/parts.h"

#include <algorithm>
#include <cmath>

namespace weft::host {
namespace {

// Of PCI Express 4 with 16 lanes, each way; and of a call of the driver that queues something.
constexpr double bytes_per_second = 25e9;
constexpr double seconds_of_call = 5e-6;

/// Copies and launches that a run of the plan queues. Plans with a reach repeat nothing.
double calls_of(const Plan& plan) {
  const auto is_call = [](const Node& node) {
    return std::holds_alternative<Copy>(node.what) || std::holds_alternative<Launch>(node.what);
  };
  return static_cast<double>(std::count_if(plan.nodes.begin(), plan.nodes.end(), is_call));
}

/// In n parts, all but 1/n of the copies meet other copies, or kernels, and each part takes its calls and copies the rows
/// around it again: moving / n + n * extra is least at the root of moving / extra.
std::int64_t best_number(const Plan& plan, double rows, double bytes_of_row) {
  const double around = static_cast<double>(plan.rows.reach->above + plan.rows.reach->below);
  const double moving = rows * bytes_of_row / bytes_per_second;
  const double extra = calls_of(plan) * seconds_of_call + around * bytes_of_row / bytes_per_second;
  return static_cast<std::int64_t>(std::sqrt(moving / extra));
}

}  // namespace

KeptRows kept_rows(const Part& part, const std::vector<Part>& parts, std::int64_t rows) {
  const std::int64_t first = part.first - part.from;
  return {std::min(first, rows), part == parts.back() ? rows : std::min(part.last - part.from, rows)};
}

std::vector<Part> parts_of(const Plan& plan, std::int64_t rows, std::int64_t bytes_of_row,
                           std::int64_t wanted) {
  if (!plan.rows.reach || rows < 1) return {{0, rows, 0, rows}};
  const auto [above, below, step] = *plan.rows.reach;
  const std::int64_t steps = rows / step + (rows % step > 0);
  // A border finds rows of its own part: parts are higher than windows reach.
  const std::int64_t most = steps / (std::max(above, below) / step + 1);
  const std::int64_t best =
      wanted > 0 ? wanted : best_number(plan, static_cast<double>(rows), static_cast<double>(bytes_of_row));
  const std::int64_t number = std::clamp<std::int64_t>(best, 1, std::max<std::int64_t>(most, 1));
  // The first ones have a step more, where some are left over.
  const std::int64_t height = steps / number, higher = steps % number;
  std::vector<Part> parts;
  for (std::int64_t first = 0; first < rows;) {
    const std::int64_t last = first + (height + (std::ssize(parts) < higher ? 1 : 0)) * step;
    const std::int64_t from = std::max<std::int64_t>(first - above, 0) / step * step;
    parts.push_back({first, std::min(last, rows), from, std::min(last + below, rows)});
    first = last;
  }
  return parts;
}

}  // namespace weft::host
