// Names and places: what every input, stored stage, size and parameter is called in the emitted code, and how
// its pixels lie in memory.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "ir/stage_ir.h"
#include "kernel/build.h"
#include "kernel/ir.h"
#include "kernel/names.h"
#include "lower/words.h"

namespace weft::lower {

struct ArrayLayout {
  kernel::Symbol name;
  Type type;
  std::vector<kernel::Symbol> strides;  ///< Fields, for dimensions 1 and up, in scalars.
  ir::Box box;
  /// Weft allocates it and nothing takes its place: it begins at a multiple of the widest access, as all its rows do.
  bool is_own = false;
};

/// Variables that many functions have, each for itself.
struct Variables {
  std::vector<kernel::Symbol> coords;  ///< Of a pixel: x, y, z, …
  kernel::Symbol first, last;  ///< The parameters of a core's functions: the part of a launch that they do.
  kernel::Symbol i;            ///< The number of a pixel in a strip.

  kernel::Expr coordinate(int d) const { return kernel::name(coords.at(static_cast<std::size_t>(d))); }
};

struct Layout {
  kernel::Names names;  ///< Of the module; functions copy it and claim their locals.
  Variables variables;
  std::unordered_map<const ir::Stage*, ArrayLayout> arrays;
  std::unordered_map<std::string, std::vector<kernel::Symbol>> sizes;  ///< By image, per dimension.
  std::unordered_map<std::string, kernel::Symbol> params;              ///< By parameter.
  kernel::Symbol counter;                                              ///< Of the evolution that is lowered.
  /// Of a kernel that takes several steps in turn: its variable, an i64, for the step that the counter does not say.
  kernel::Symbol step_variable = {};

  ArrayLayout claim_array(const std::string& name, Type type, const ir::Box& box);
};

Layout layout_of(const ir::Pipeline& pipeline);

/// `a` as a kernel expression. `coords` are the coordinates of the pixel; `taps` those of the open loops.
using Taps = std::unordered_map<const ir::Loop*, std::vector<kernel::Expr>>;
kernel::Expr lower_affine(const ir::Affine& a, const Layout& layout, const std::vector<kernel::Expr>& coords,
                          const Taps& taps);

/// Adds the array to what the module's functions share.
void declare_array(const ArrayLayout& array, kernel::Array::Role role, const Layout& layout,
                   kernel::Module& module);

}  // namespace weft::lower
