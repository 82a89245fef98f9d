#include <weft/pyramid.h>

#include <fmt/format.h>

#include "dsl/sampled.h"
#include "dsl/stage_parts.h"
#include "ir/affine.h"
#include "ir/stage_ir.h"

namespace weft {
namespace {

constexpr int most_levels = 30;  // of images that fit into memory

void check_levels(const std::string& name, int levels, const Where& where) {
  if (levels >= 1 && levels <= most_levels) return;
  throw Error(fmt::format("pyramid '{}' cannot have {} levels", name, levels), where)
      .note("needs", fmt::format("1 to {}", most_levels));
}

std::string level_name(const std::string& name, int level) { return name + std::to_string(level); }

}  // namespace

Pyramid::Pyramid(const std::string& name, const Source& base, int levels, const Reduce& reduce,
                 std::source_location here) {
  check_levels(name, levels, here);
  ir::Need need{fmt::format("pyramid '{}' of {} levels", name, levels),
                {},
                std::int64_t{1} << (levels - 1),
                here,
                "give a larger image, or build fewer levels"};
  for (int d = 0; d < base.rank(); ++d) need.extents.push_back(base.size()[d].affine());
  levels_.push_back(base);
  for (int l = 1; l < levels; ++l)
    levels_.push_back(dsl::with_need(reduce(level_name(name, l), levels_.back()), need));
}

Pyramid::Pyramid(const std::string& name, int levels, const Level& level, std::source_location here) {
  check_levels(name, levels, here);
  for (int l = 0; l < levels; ++l) levels_.push_back(level(level_name(name, l), l));
}

const Source& Pyramid::operator[](int level) const {
  if (level < 0 || level >= levels()) {
    throw Error(fmt::format("a pyramid of {} levels has no level {}", levels(), level))
        .note("needs", fmt::format("0, the finest, to {}", levels() - 1));
  }
  return levels_[level];
}

Stage Pyramid::collapse(const std::string& name, const Expand& expand, std::source_location here) const {
  if (levels() == 1) return point(level_name(name, 0), levels_[0], here);
  Source coarser = levels_.back();
  for (int l = levels() - 2; l > 0; --l) coarser = expand(level_name(name, l), levels_[l], coarser);
  return expand(level_name(name, 0), levels_[0], coarser);
}

Stage traverse(const Source& image, int levels, const Traversal& operations, std::source_location here) {
  if (!operations.reduce || !operations.expand)
    throw Error("a traversal needs the operations reduce and expand", here);
  const Pyramid g("g", image, levels, operations.reduce, here);
  if (!operations.filter) return g.collapse("out", operations.expand, here);
  const Pyramid filtered(
      "f", levels, [&](const std::string& name, int l) { return operations.filter(name, g, l); }, here);
  return filtered.collapse("out", operations.expand, here);
}

// ---- one level to the next -------------------------------------------------------------------------------

namespace {

/// A sample along one dimension of what is read, at an index there and the current pixel's other coordinates.
using Along = std::function<Expr(const Index&)>;

void check_source(const std::string& name, const Accessor& source, const Where& where) {
  const std::string& of = source.source().name();
  if (source.rank() < 1 || source.rank() > 3) {
    throw Error(fmt::format("stage '{}' is a level of a pyramid, but '{}' is {}-D", name, of, source.rank()),
                where)
        .note("needs", "one to three dimensions");
  }
  if (!source.border_mode()) {
    throw Error(fmt::format("stage '{}' reads its neighbour level '{}' without a border", name, of), where)
        .help(fmt::format("say what is outside: {}.border(Border::mirror()) or another mode", of));
  }
}

/// The stage whose pixel x along dimension `dim` is value(samples, x); the other extents are those of
/// `source`.
Stage along_dimension(const std::string& name, const Accessor& source, int dim, const Index& extent,
                      const std::function<Expr(const Along&, const Var& x)>& value,
                      const std::source_location& here) {
  std::vector<Index> box;
  for (int d = 0; d < source.rank(); ++d) box.push_back(d == dim ? extent : source.size()[d]);
  return detail::make_stage(
      name, {{}, Extents(box)},
      [&](const std::vector<Var>& v) {
        const auto samples = [&](const Index& i) {
          std::vector<At> at(v.begin(), v.end());
          at[dim] = At(i, here);
          return dsl::read_at(source, at);
        };
        return detail::as_cases(value(samples, v[dim]));
      },
      here);
}

Expr reduced(const Along& f, const Var& x) {
  return .0625f * (f(2 * x - 2) + f(2 * x + 2)) + .25f * (f(2 * x - 1) + f(2 * x + 1)) + .375f * f(2 * x);
}

/// Even and odd pixels share what they can, so that a select is cheap.
Expr expanded(const Along& f, const Var& x) {
  const Expr before = f(x / 2 - 1), here = f(x / 2), after = f(x / 2 + 1);
  return .5f * here + select(Expr(x % 2) == 0, .125f * (before + after) + .25f * here, .5f * after);
}

}  // namespace

Stage reduce_level(const std::string& name, const Accessor& finer, std::source_location here) {
  check_source(name, finer, here);
  Accessor current = dsl::from_zero(finer);
  // x comes last, when there is least to read with a step of 2.
  for (int d = finer.rank() - 1; d > 0; --d) {
    const Stage stage =
        along_dimension(name + "_" + ir::dim_name(d), current, d, current.size()[d] / 2, reduced, here);
    current = stage.border(*finer.border_mode());
  }
  return along_dimension(name, current, 0, current.size()[0] / 2, reduced, here);
}

Stage expand_level(const std::string& name, const Accessor& coarser, const Extents& extents,
                   std::source_location here) {
  check_source(name, coarser, here);
  const int rank = coarser.rank();
  if (extents.rank() != rank) {
    throw Error(
        fmt::format("stage '{}' expands '{}' to {} extents", name, coarser.source().name(), extents.rank()),
        here)
        .note("needs", fmt::format("{}, one per dimension", rank));
  }
  Accessor current = dsl::from_zero(coarser);
  // x comes first, while there is least to read at two pixels each.
  for (int d = 0; d + 1 < rank; ++d) {
    const Stage stage = along_dimension(name + "_" + ir::dim_name(d), current, d, extents[d], expanded, here);
    current = stage.border(*coarser.border_mode());
  }
  return along_dimension(name, current, rank - 1, extents[rank - 1], expanded, here);
}

Pyramid::Reduce binomial_reduce(const Border& border, std::source_location here) {
  return [border, here](const std::string& name, const Source& finer) {
    return reduce_level(name, finer.border(border), here);
  };
}

Pyramid::Expand expand_and_add(const Border& border, std::source_location here) {
  return [border, here](const std::string& name, const Source& level, const Source& coarser) {
    const Stage up = expand_level(name + "_up", coarser.border(border), level.size(), here);
    return point(name, Operand(level, here) + up, here);
  };
}

}  // namespace weft
