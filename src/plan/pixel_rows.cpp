#include "plan/pixel_rows.h"

#include <algorithm>

#include "analysis/footprint.h"
#include "analysis/interior.h"
#include "ir/visit.h"

namespace weft::plan {
namespace {

constexpr std::size_t most_taps_of_rows = 128;

/// The loops around a read whose taps it mentions.
std::vector<std::shared_ptr<const ir::Loop>> loops_of(const ir::Read& read) {
  std::vector<std::shared_ptr<const ir::Loop>> loops;
  for (const ir::Index& index : read.indices) {
    const auto* affine = std::get_if<ir::Affine>(&index);
    if (!affine) continue;
    affine->mentions([&](const ir::Atom& atom) {
      const auto* tap = std::get_if<ir::TapCoord>(&atom);
      if (tap && std::find(loops.begin(), loops.end(), tap->loop) == loops.end()) loops.push_back(tap->loop);
      return false;
    });
  }
  return loops;
}

/// The read at each tap of the windows around it: one of a read outside of windows, none of more than can be straight-line code.
std::vector<ir::Read> at_each_tap(const ir::Read& read) {
  std::vector<ir::Read> reads{read};
  for (const auto& loop : loops_of(read)) {
    std::vector<ir::Read> at_taps;
    if (reads.size() * loop->domain.points.size() > most_taps_of_rows) return {};
    for (const ir::Read& known : reads) {
      for (const std::vector<int>& point : loop->domain.points)
        at_taps.push_back(ir::at_taps(known, [&](const ir::TapCoord& tap) -> std::optional<std::int64_t> {
          return tap.loop == loop ? std::optional<std::int64_t>(point.at(static_cast<std::size_t>(tap.dim)))
                                  : std::nullopt;
        }));
    }
    reads = std::move(at_taps);
  }
  return reads;
}

/// The row that a read says by its other coordinates alone, for all pixels of the stage.
std::optional<PixelRow> along_row(const ir::Read& read, const ir::Stage& stage) {
  if (read.indices.empty() || stage.domain().empty()) return std::nullopt;
  if (read.border && read.border->constant && !ir::is_same_everywhere(read.border->constant))
    return std::nullopt;
  const analysis::Footprint footprint = analysis::footprint(read);
  const auto reads_tap = [](const ir::Index& index) {
    const auto* affine = std::get_if<ir::Affine>(&index);
    return !affine || ir::mentions_tap(*affine);
  };
  const analysis::Along& x = footprint.front();
  if (!x.is_unit(0) || std::any_of(read.indices.begin(), read.indices.end(), reads_tap)) return std::nullopt;
  const auto is_there = [&](std::size_t d) {
    const analysis::Along& along = footprint[d];
    const bool is_own = along.is_unit(static_cast<int>(d)) && along.min == 0 && along.max == 0;
    return (is_own && d < stage.domain().size() && stage.domain()[d] == read.region[d]) ||
           analysis::stays_inside(std::get<ir::Affine>(read.indices[d]), read.region[d], stage.domain());
  };
  // Without a border it may be read where a case says so, and is there only then.
  PixelRow along{read, analysis::hull({Reach{x.min, x.max}}, {Reach{}}).front(), x.min != 0 || !is_there(0)};
  for (std::size_t d = 1; d < footprint.size(); ++d) {
    if (footprint[d].gather || footprint[d].coordinate == 0) return std::nullopt;
    along.may_leave |= !read.border && !is_there(d);
  }
  return along;
}

}  // namespace

bool is_of_coarser_image(const ir::Read& read) {
  if (read.source->box.size() < 2 || !read.border) return false;
  const analysis::Along x = analysis::footprint(read).front();
  return !x.gather && x.coordinate == 0 && x.scale == 1 && x.divisor > 1;
}

bool is_of_table(const ir::Read& read) {
  return read.source->box.size() == 1 && std::holds_alternative<ir::Expr>(read.indices[0]);
}

bool have_the_same_row(const ir::Read& a, const ir::Read& b) {
  if (!ir::read_alike(a, b) || a.indices.size() != b.indices.size()) return false;
  return std::equal(a.indices.begin() + 1, a.indices.end(), b.indices.begin() + 1,
                    [](const auto& i, const auto& j) {
                      const auto *first = std::get_if<ir::Affine>(&i), *second = std::get_if<ir::Affine>(&j);
                      return first && second && *first == *second;
                    });
}

bool PixelRows::may_leave() const {
  return std::any_of(rows.begin(), rows.end(), [](const PixelRow& row) { return row.may_leave; });
}

std::int64_t PixelRows::columns_beside() const {
  std::int64_t columns = 0;
  for (const PixelRow& row : rows) columns += row.beside();
  return columns;
}

PixelRows pixel_rows(const std::vector<const ir::Read*>& reads, const ir::Stage& stage) {
  PixelRows result;
  const auto add = [&](const ir::Read& read) {
    const auto along = along_row(read, stage);
    if (!along) return result.others.push_back(read);
    const auto known = std::find_if(result.rows.begin(), result.rows.end(),
                                    [&](const PixelRow& row) { return have_the_same_row(row.read, read); });
    if (known == result.rows.end()) return result.rows.push_back(*along);
    known->columns = analysis::hull({known->columns}, {along->columns}).front();
    known->may_leave |= along->may_leave;
  };
  for (const ir::Read* read : reads) {
    if (read->source->box.empty()) continue;
    const std::vector<ir::Read> at_taps = at_each_tap(*read);
    if (at_taps.empty()) result.others.push_back(*read);
    for (const ir::Read& each : at_taps) add(each);
  }
  // Of a row that is read another way, too, no pixel is in a pack.
  std::erase_if(result.rows, [&](const PixelRow& row) {
    return std::any_of(result.others.begin(), result.others.end(),
                       [&](const ir::Read& other) { return have_the_same_row(row.read, other); });
  });
  return result;
}

PixelRows pixel_rows(const ir::Stage& stage) {
  const std::vector<ir::Expr> expressions = ir::reads(stage);
  std::vector<const ir::Read*> reads;
  for (const ir::Expr& e : expressions) reads.push_back(&std::get<ir::Read>(e->op));
  return pixel_rows(reads, stage);
}

}  // namespace weft::plan
