#include "analysis/phases.h"

#include <algorithm>

#include "analysis/interior.h"

namespace weft::analysis {
namespace {

/// Whether the coordinate decides nothing but by what pixels compute: such a read is gathered in any case.
bool is_computed(const ir::Read& read, int dim) {
  return std::none_of(read.indices.begin(), read.indices.end(), [dim](const ir::Index& index) {
    const auto* affine = std::get_if<ir::Affine>(&index);
    return affine && ir::mentions_coord(*affine, dim);
  });
}

bool divides(const ir::Affine& a, int dim) {
  return std::any_of(a.terms().begin(), a.terms().end(), [dim](const ir::Affine::Term& term) {
    const auto* floor = std::get_if<ir::FloorDiv>(&term.atom);
    return floor && ir::mentions_coord(*floor->numerator, dim);
  });
}

/// Null of a read at a computed index along the dimension.
const ir::Affine* index_of(const ir::Read& read, int dim) {
  return dim < std::ssize(read.indices)
             ? std::get_if<ir::Affine>(&read.indices[static_cast<std::size_t>(dim)])
             : nullptr;
}

}  // namespace

ir::Affine in_steps(const ir::Affine& a, const std::vector<InSteps>& steps) {
  return a.substitute([&](const ir::Atom& atom) {
    const auto* coord = std::get_if<ir::Coord>(&atom);
    if (!coord || coord->dim >= std::ssize(steps)) return ir::Affine(atom);
    const InSteps& step = steps[static_cast<std::size_t>(coord->dim)];
    return ir::Affine(atom) * step.rate + step.first;
  });
}

int phase_count(const std::vector<const ir::Read*>& reads, int most, int dim) {
  std::int64_t count = 1;
  for (const ir::Read* read : reads) {
    if (read->indices.empty() || is_computed(*read, dim)) continue;
    const ir::Affine* index = index_of(*read, dim);
    if (!index || access_of(*read) != Access::Direct) return 1;
    const ir::Affine at_tap = at_extreme_tap(*index, false);
    const auto in_phases = [&] {
      std::vector<InSteps> steps(static_cast<std::size_t>(dim), InSteps{1, 0});
      steps.push_back({count, 0});
      return in_steps(at_tap, steps);
    };
    while (divides(in_phases(), dim)) {
      count *= 2;
      if (count > most) return 1;
    }
  }
  return static_cast<int>(count);
}

bool divides_x(const std::vector<const ir::Read*>& reads) {
  return std::any_of(reads.begin(), reads.end(), [](const ir::Read* read) {
    const ir::Affine* column = index_of(*read, 0);
    return column && divides(*column, 0);
  });
}

}  // namespace weft::analysis
