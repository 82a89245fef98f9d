#include "plan/passes.h"

#include <algorithm>
#include <map>
#include <optional>

#include "ir/visit.h"

namespace weft::plan {

namespace {

/// What stages have to have in common to be computed by one loop.
struct Shape {
  ir::Box box;
  std::array<int, 2> rate;
  Window window;
  Window continued;                      ///< How far it is computed beyond its ends.
  std::optional<bool> has_rows_outside;  ///< Of constants; it does not matter to those read without a border.

  bool fits(const Shape& other) const {
    return box == other.box && rate == other.rate && window == other.window && continued == other.continued &&
           (!has_rows_outside || !other.has_rows_outside || has_rows_outside == other.has_rows_outside);
  }
};

Shape shape_of(const ir::Stage& stage, const March& march) {
  const RollingRows* rows = march.of(stage);
  const Window at_pixel(stage.domain().size());
  if (!rows) return {stage.domain(), march.step, at_pixel, at_pixel, std::nullopt};  // the result
  const auto border = rows->border();
  Window continued;
  for (int d = 0; d < static_cast<int>(at_pixel.size()); ++d) continued.push_back(rows->continued(d));
  return {stage.box, rows->rate, rows->window, std::move(continued),
          border ? std::optional(border == ir::BorderMode::Constant) : std::nullopt};
}

/// Pixels of several lanes are computed lane by lane, those of several cases in parts of rows, each stage's
/// in its own way; a reduction has none.
bool has_simple_pixels(const ir::Stage& stage) {
  const auto* pure = std::get_if<ir::Pure>(&stage.definition);
  return pure && stage.type.lanes == 1 && pure->cases.size() == 1;
}

/// Puts pixels together, or takes them apart, without computing anything: doing so again costs nothing.
bool only_moves_pixels(const ir::Stage& stage) {
  bool moves = std::get<ir::Pure>(stage.definition).cases.size() == 1;
  ir::visit(ir::expressions(stage), [&](const ir::Expr& e) {
    const auto* read = std::get_if<ir::Read>(&e->op);
    const bool is_in_row = read && footprint_in_image(*read);
    moves &= is_in_row || std::holds_alternative<ir::Pack>(e->op) || std::holds_alternative<ir::Lane>(e->op);
  });
  return moves;
}

}  // namespace

std::vector<StagePass> passes_of(const std::vector<StageReads>& members, const March& march,
                                 const std::set<const ir::Stage*>& values) {
  std::vector<StagePass>
      passes;  // the last first, as late as can be, so that what is read at the pixel is with its readers
  std::vector<Shape> shapes;
  std::map<const ir::Stage*, std::size_t> latest;  // for what has been read
  for (auto m = members.rbegin(); m != members.rend(); ++m) {
    const ir::Stage& stage = *m->stage;
    const Shape shape = shape_of(stage, march);
    const auto takes = [&](std::size_t p) {
      return has_simple_pixels(stage) && has_simple_pixels(*passes[p].front()) && shapes[p].fits(shape);
    };
    std::size_t pass = latest[&stage];
    while (pass < passes.size() && !takes(pass)) ++pass;
    if (pass == passes.size()) {
      passes.emplace_back();
      shapes.push_back(shape);
    }
    passes[pass].push_back(&stage);
    if (shape.has_rows_outside) shapes[pass].has_rows_outside = shape.has_rows_outside;
    for (const ir::Read* read : m->reads) {
      const ir::Stage* source = read->source.get();
      latest[source] = std::max(latest[source], pass + (values.count(source) ? 0 : 1));
    }
    // Pixels of the result go to memory as they are computed, those of others from their rows.
    for (const ir::Read* outcome : m->outcomes)
      latest[outcome->source.get()] = std::max(latest[outcome->source.get()], pass + 1);
  }
  std::reverse(passes.begin(), passes.end());
  for (StagePass& pass : passes) std::reverse(pass.begin(), pass.end());
  return passes;
}

std::set<const ir::Stage*> values_of_passes(const std::vector<StageReads>& members, const March& march,
                                            std::set<const ir::Stage*> candidates) {
  std::set<const ir::Stage*> moving;
  for (const ir::Stage* s : candidates) {
    if (only_moves_pixels(*s)) moving.insert(s);
  }
  std::erase_if(candidates, [](const ir::Stage* s) { return !has_simple_pixels(*s); });
  while (true) {
    const std::size_t before = candidates.size();
    for (const StagePass& pass : passes_of(members, march, candidates)) {
      for (const StageReads& m : members) {
        if (std::count(pass.begin(), pass.end(), m.stage) > 0) continue;
        std::erase_if(candidates, [&](const ir::Stage* s) {
          return std::count(pass.begin(), pass.end(), s) > 0 && reads(m, *s);
        });
      }
    }
    if (candidates.size() < before) continue;
    candidates.merge(moving);
    return candidates;
  }
}

}  // namespace weft::plan
