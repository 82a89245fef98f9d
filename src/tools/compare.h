// Compares what a target computed with what the interpreter says, on every pixel.
#pragma once

#include <weft/buffer.h>
#include <weft/pipeline.h>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ir/stage_ir.h"

namespace weft::tools {

struct Tolerance {
  /// Floats: |found - expected| <= relative * (1 + |expected| + largest / 100), where largest is the largest
  /// |expected| of the output: what remains when large values cancel cannot be more exact than they are.
  double relative = 1e-4;
  /// Floats that are this close are equal, too.
  double absolute = 0;
  /// Integers that a pipeline makes from floats: this share of the pixels may differ by 1, and as many more
  /// as chance explains. With 0 none may.
  double rounded_share = 1e-3;
};

/// What was found about one output.
struct Comparison {
  std::string output;
  bool equal = true;  ///< Within the tolerance.
  std::int64_t pixels = 0;
  std::int64_t wrong = 0;       ///< Pixels beyond the tolerance.
  std::int64_t off_by_one = 0;  ///< Pixels that rounding explains; too many of them make the result unequal.
  std::int64_t explained = 0;   ///< Pixels beyond the tolerance, but no further off than roundings explain.
  double worst = 0;             ///< Floats: the least `relative` that would do for the others.
  std::string first;            ///< "(3, 0): expected 7, found 9", of the first wrong pixel.

  std::string text() const;  ///< One line.
};

/// Whether integers of the pipeline come from floats, so that a rounding may fall on either side.
bool rounds_floats(const ir::Pipeline& pipeline);

/// `shaken` are results of the interpreter with roundings that are a little off: beyond the tolerance, a
/// float may be a few times as far from what is expected as the furthest of them.
Comparison compare(const std::string& output, const Buffer& expected, const Buffer& found,
                   const Tolerance& tolerance, bool rounded, const std::vector<Buffer>& shaken = {});
/// Equal, or floats with no more than one wrong pixel in a million. A pipeline that compares floats,
/// such as unsharp_mask with its threshold, jumps where two roundings of the same value fall on either side:
/// about once in ten million of random pixels.
bool agree_but_for_jumps(const Comparison& found, Type type);
/// What the interpreter says: the outputs, or why it refuses the arguments.
struct Expected {
  std::optional<std::map<std::string, Buffer>> outputs;
  std::string refusal;
};
Expected expected(const ir::Pipeline& pipeline, const Arguments& arguments);

/// The tolerance of an output, by its name.
using ToleranceOf = std::function<Tolerance(const std::string& output)>;
/// Compares what was found for the arguments with the outputs that are expected.
std::vector<Comparison> compare(const ir::Pipeline& pipeline, const std::map<std::string, Buffer>& found,
                                const Arguments& arguments, const std::map<std::string, Buffer>& expected,
                                const ToleranceOf& tolerance);
/// Runs the program on the arguments. If it refuses them like the interpreter, that is agreement.
std::vector<Comparison> verify(const ir::Pipeline& pipeline, const Program& program,
                               const Arguments& arguments, const Expected& expected,
                               const ToleranceOf& tolerance);
/// Runs the program and the interpreter on the arguments. If both refuse them, that is agreement.
std::vector<Comparison> verify(const ir::Pipeline& pipeline, const Program& program,
                               const Arguments& arguments, const Tolerance& tolerance = {});
/// Likewise, with a tolerance for each output.
std::vector<Comparison> verify(const ir::Pipeline& pipeline, const Program& program,
                               const Arguments& arguments, const ToleranceOf& tolerance);

}  // namespace weft::tools
