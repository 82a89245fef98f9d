#include "plan/fetch.h"

#include <algorithm>

namespace weft::plan {
namespace {

constexpr int bytes_of_portion = 256;  // a loop over less is not worth it

/// The row of an image in portions. Those of the images before it come first.
struct Portions {
  const Kept& image;
  int columns;  ///< In each portion.
  int before, count;
};

std::vector<Portions> portions_of(const KernelPlan& plan) {
  std::vector<Portions> all;
  int before = 0;
  for (const Kept& kept : plan.kept) {
    if (kept.is_member || !plan.fetches_ahead(kept.stage)) continue;
    const int columns = std::max(bytes_of_portion / size_of(kept.type), 1);
    const int count = (kept.pitch / kept.type.lanes + columns - 1) / columns;
    all.push_back({kept, columns, before, count});
    before += count;
  }
  return all;
}

}  // namespace

std::vector<FetchedColumns> fetched_with(const KernelPlan& plan, std::size_t pass) {
  std::vector<FetchedColumns> fetched;
  const std::vector<Portions> images = portions_of(plan);
  if (!plan.fetches_with_passes() || images.empty()) return fetched;
  const int all = images.back().before + images.back().count;
  const auto begin_of = [&](std::size_t p) {
    return static_cast<int>(all * static_cast<std::int64_t>(p) / std::ssize(plan.passes));
  };
  for (const Portions& portions : images) {
    const auto within = [&](int portion) { return std::clamp(portion - portions.before, 0, portions.count); };
    const int from = within(begin_of(pass)), until = within(begin_of(pass + 1));
    if (from < until)
      fetched.push_back(
          {portions.image.stage, from * portions.columns, until * portions.columns, until == portions.count});
  }
  return fetched;
}

}  // namespace weft::plan
