// Names and places: what every input, stored stage, size and parameter is called in the emitted code, and how
// its pixels lie in memory.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "ir/stage_ir.h"
#include "kernel/ir.h"
#include "kernel/names.h"

namespace weft::lower {

struct ArrayLayout {
  std::string name;
  Type type;
  std::vector<std::string> strides;  ///< Fields, for dimensions 1 and up, in scalars.
  ir::Box box;
  /// Weft allocates it and nothing takes its place: it begins at a multiple of the widest access, as all its rows do.
  bool is_own = false;
};

struct Layout {
  kernel::Names names;  ///< Of the module; functions copy it and claim their locals.
  std::unordered_map<const ir::Stage*, ArrayLayout> arrays;
  std::unordered_map<std::string, std::vector<std::string>> sizes;  ///< By image, per dimension.
  std::unordered_map<std::string, std::string> params;
  std::string counter;  ///< Of the evolution that is lowered.
  /// Of a kernel that takes several steps in turn: its variable, an i64, for the step that the counter does not say.
  std::string step_variable = {};

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
