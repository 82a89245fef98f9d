// What a stage reads for one pixel, and what that makes of the stage.
//
//     half(x, y) = (src(2*x, y) + src(2*x + 1, y)) / 2      Scaled; src: x = 2*x + [0, 1], y = y + [0, 0]
#pragma once

#include <string>
#include <vector>

#include "analysis/operations.h"
#include "ir/stage_ir.h"

namespace weft::analysis {

/// The indices read along one dimension: floor((scale * c + base + k) / divisor) for k in [min, max], where c
/// is a coordinate of the consumer. Bounds contain every tap of a window, sparse ones too.
struct Along {
  bool gather = false;  ///< Computed, or no such form; the rest is then meaningless.
  int coordinate = -1;  ///< Of the consumer; -1 for an index that is the same for all pixels (scale is 0).
  std::int64_t scale = 0, divisor = 1;
  ir::Affine base;  ///< Of sizes, without a constant: 0 in most reads.
  std::int64_t min = 0, max = 0;

  bool is_unit(int dim) const;  ///< The consumer's own coordinate `dim`, but for [min, max].
  bool operator==(const Along&) const = default;
};
using Footprint = std::vector<Along>;  ///< Per dimension of the source, x first.

Footprint footprint(const ir::Read& read);
/// Both together; along dimensions whose forms differ in more than [min, max] the result is a gather.
Footprint merged(const Footprint& a, const Footprint& b);
std::string window(const Footprint& footprint);   ///< Extents: "3x3"; "?" along a gather.
std::string offsets(const Footprint& footprint);  ///< "[-1, 1]x[-1, 1]", "2*x + [0, 1] x [0, 0]"

/// The last that applies. Point: the same pixel of every source. Local: a window around it. Scaled: another
/// coordinate, scale or origin. Gather: a computed or irregular place. Global: a reduction. Scatter: writes
/// to computed places. Time: steps.
enum class Pattern { Point, Local, Scaled, Gather, Global, Scatter, Time };
Pattern pattern(const Footprint& footprint);
std::string name_of(Pattern pattern);

struct SourceSummary {
  std::string name;
  Footprint footprint;  ///< All reads together.
  Pattern pattern = Pattern::Point;
  std::vector<ir::BorderMode> borders;  ///< Modes used, each once.
  bool without_border = false;          ///< Some reads have none.
  int reads = 0;                        ///< Read expressions; a read inside a loop is one.
};

struct StageSummary {
  std::string name;
  Type type;
  std::string box;
  Pattern pattern = Pattern::Point;
  std::vector<SourceSummary> sources;  ///< In order of first use.
  Operations operations;
};

/// Of an evolution: all its updates together, per step.
StageSummary summarize(const ir::Stage& stage);
/// Every stage but the inputs, producers first.
std::vector<StageSummary> summarize(const ir::Pipeline& pipeline);

}  // namespace weft::analysis
