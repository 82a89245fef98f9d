#include "lower/phase_loop.h"

#include <bit>

namespace weft::lower {

namespace {

std::unordered_map<const ir::Node*, std::string> names_of(const std::vector<Phases>& stages) {
  std::unordered_map<const ir::Node*, std::string> names;
  for (const Phases& phases : stages) names.insert(phases.names.begin(), phases.names.end());
  return names;
}

std::vector<Expr> at_step(std::vector<Expr> coords, const Expr& step) {
  coords[0] = step;
  return coords;
}

}  // namespace

PhaseLoop::PhaseLoop(const KernelContext& kernel, Place place, std::vector<Phases> stages,
                     std::vector<Expr> coords, const Expr& first)
    : layout_(kernel.layout),
      stages_(std::move(stages)),
      names_(names_of(stages_)),
      expressions_(kernel, stages_.front().stages.front(), place,
                   at_step(std::move(coords), kernel::add(first, kernel::name(layout_.variables.i))),
                   &names_) {
  std::vector<const ir::Stage*> others;
  for (const Phases& phases : stages_) {
    for (const ir::Stage& phase : phases.stages) {
      layout_.arrays[&phase] = {};  // nobody asks where they are stored
      if (&phase != &stages_.front().stages.front()) others.push_back(&phase);
    }
  }
  expressions_.share_with(others);
}

PhaseLoop::~PhaseLoop() {
  for (const Phases& phases : stages_) {
    for (const ir::Stage& phase : phases.stages) layout_.arrays.erase(&phase);
  }
}

kernel::For PhaseLoop::pixels(const Expr& from, const Expr& to,
                              const std::function<StripTarget(std::size_t stage, const Expr& x)>& target_of) {
  const int count = stages_.front().count();
  const kernel::Symbol& step = layout_.variables.i;
  const int shift = std::countr_zero(static_cast<unsigned>(count));
  const auto step_of = [&](const Expr& x) {
    const auto number = kernel::literal_value(x);
    return number ? literal(*number >> shift) : kernel::binary(BinaryOp::Shr, x, literal(shift));
  };
  For loop{LoopKind::Vector, step, step_of(from), step_of(to), {}};
  expressions_.open(loop.body);
  for (std::size_t s = 0; s < stages_.size(); ++s) {
    for (int p = 0; p < count; ++p) {
      const ir::Case& only = std::get<ir::Pure>(stages_[s].stages[p].definition).cases[0];
      const Lanes value = expressions_.lower(only.value);
      const Expr x = kernel::add(kernel::mul(kernel::name(step), literal(count)), literal(p));
      const StripTarget target = target_of(s, x);
      for (std::size_t l = 0; l < value.size(); ++l) {
        const Expr lane = literal(static_cast<std::int64_t>(l) * target.lane_pitch);
        loop.body.push_back({kernel::Store{target.array, kernel::add(target.offset, lane), value[l]}});
      }
    }
  }
  expressions_.close();
  return loop;
}

}  // namespace weft::lower
