// Pyramids: the same image at several sizes, and what is computed from level to level. The definition gives
// the operations of one level; they run for each level when the pipeline is built, and make stages with the
// level's number in their names: g1, g2, band0, out0.
//
//     const Border border = border_option("mirror");
//     Stage out = traverse(in, levels, {
//         .reduce = binomial_reduce(border),
//         .filter = [&](const std::string& name, const Pyramid& g, int level) -> Source {
//           if (level + 1 == g.levels()) return g[level];
//           return point(name, g[level] - expand_level(name + "_up", g[level + 1].border(border),
//           g[level].size()));
//         },
//         .expand = expand_and_add(border)});
#pragma once

#include <weft/stage.h>

#include <functional>
#include <source_location>
#include <string>
#include <vector>

namespace weft {

/// An image or stage per level; level 0 is the finest.
class Pyramid {
 public:
  /// Makes a level, with the given name, from the next finer one.
  using Reduce = std::function<Stage(const std::string& name, const Source& finer)>;
  /// Makes a level with the given name.
  using Level = std::function<Source(const std::string& name, int level)>;
  /// Makes a level of a result, with the given name, from this pyramid's and the next coarser one of the
  /// result.
  using Expand = std::function<Stage(const std::string& name, const Source& level, const Source& coarser)>;

  /// Level 0 is `base`, level l = 1 ... levels - 1 is the stage NAMEl that `reduce` makes of level l - 1.
  /// The pyramid marks that stage, so others have to read it as (*this)[l], not as what `reduce` returned.
  /// A level has at least one pixel: `base` needs 2^(levels - 1) in each direction, or the run is an Error.
  Pyramid(const std::string& name, const Source& base, int levels, const Reduce& reduce,
          std::source_location here = std::source_location::current());
  /// The levels that `level` makes, called with NAME0, 0 to NAMEl, levels - 1.
  Pyramid(const std::string& name, int levels, const Level& level,
          std::source_location here = std::source_location::current());

  int levels() const { return static_cast<int>(levels_.size()); }
  /// Throws weft::Error for a level that is not there.
  const Source& operator[](int level) const;

  /// From the coarsest level, which is kept, to the finest: stages NAMEl that `expand` makes of level l and
  /// of what it made before. Returns NAME0.
  Stage collapse(const std::string& name, const Expand& expand,
                 std::source_location here = std::source_location::current()) const;

 private:
  std::vector<Source> levels_;
};

/// The operations of one level of a traversal.
struct Traversal {
  Pyramid::Reduce reduce;  ///< g1, g2, ...: a level from the next finer one.
  /// f0, f1, ...: what becomes of level `level` of g, which may read the levels beside it. Without it, levels
  /// stay as they are.
  std::function<Source(const std::string& name, const Pyramid& g, int level)> filter;
  Pyramid::Expand
      expand;  ///< out0, out1, ...: a level of the result from the filtered one and the next coarser.
};

/// Reduces `image` level by level, filters every level, and expands back to the finest; returns out0.
Stage traverse(const Source& image, int levels, const Traversal& operations,
               std::source_location here = std::source_location::current());

/// The level of half the size, rounded down: the binomial [1 4 6 4 1] / 16 in each direction, at even
/// coordinates (Burt and Adelson 1983). One to three dimensions; float, or double for a double source.
/// Stages NAME_y and NAME. `finer` needs a border.
Stage reduce_level(const std::string& name, const Accessor& finer,
                   std::source_location here = std::source_location::current());

/// The level of about twice the size, `extents`: in each direction (f(i-1) + 6 f(i) + f(i+1)) / 8 at 2 i and
/// (f(i) + f(i+1)) / 2 at 2 i + 1, which is the transpose of reduce_level, times 2. Types as there. Stages
/// NAME_x and NAME. `coarser` needs a border, which applies to i.
Stage expand_level(const std::string& name, const Accessor& coarser, const Extents& extents,
                   std::source_location here = std::source_location::current());

/// reduce_level through a border mode.
Pyramid::Reduce binomial_reduce(const Border& border,
                                std::source_location here = std::source_location::current());
/// level + expand_level(coarser), through a border mode: stages NAME_up_x, NAME_up and NAME.
Pyramid::Expand expand_and_add(const Border& border,
                               std::source_location here = std::source_location::current());

}  // namespace weft
