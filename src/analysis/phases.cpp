#include "analysis/phases.h"

#include <algorithm>

#include "analysis/interior.h"

namespace weft::analysis {
namespace {

/// Whether x decides nothing but by what pixels compute: such a read is gathered in any case.
bool is_computed(const ir::Read& read) {
  return std::none_of(read.indices.begin(), read.indices.end(), [](const ir::Index& index) {
    const auto* affine = std::get_if<ir::Affine>(&index);
    return affine && ir::mentions_coord(*affine, 0);
  });
}

bool divides_x(const ir::Affine& a) {
  return std::any_of(a.terms().begin(), a.terms().end(), [](const ir::Affine::Term& term) {
    const auto* floor = std::get_if<ir::FloorDiv>(&term.atom);
    return floor && ir::mentions_coord(*floor->numerator, 0);
  });
}

/// Null of a read at a computed index along x.
const ir::Affine* column_of(const ir::Read& read) {
  return read.indices.empty() ? nullptr : std::get_if<ir::Affine>(&read.indices[0]);
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

int phase_count(const std::vector<const ir::Read*>& reads, int most) {
  std::int64_t count = 1;
  for (const ir::Read* read : reads) {
    if (read->indices.empty() || is_computed(*read)) continue;
    if (access_of(*read) != Access::Direct) return 1;
    const ir::Affine x = at_extreme_tap(*column_of(*read), false);
    while (divides_x(in_steps(x, {{count, 0}}))) {
      count *= 2;
      if (count > most) return 1;
    }
  }
  return static_cast<int>(count);
}

bool divides_x(const std::vector<const ir::Read*>& reads) {
  return std::any_of(reads.begin(), reads.end(), [](const ir::Read* read) {
    const ir::Affine* column = column_of(*read);
    return column && divides_x(*column);
  });
}

}  // namespace weft::analysis
