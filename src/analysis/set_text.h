// Affine forms, boxes and conditions of a stage as text that isl reads, and as text for the user.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/stage_ir.h"

namespace weft::analysis {

/// Spells formulas over one stage's coordinates, taps and the sizes of the pipeline's inputs. Sizes become
/// s0, s1, …, coordinates x0, x1, … and taps t0, t1, …; those that formulas mention are collected on the way.
class SetText {
 public:
  SetText(const ir::Pipeline& pipeline, const ir::Stage& stage);

  std::string operator()(const ir::Affine& form);
  /// Every point of the stage's box, for all sizes that a run admits: inputs are never empty.
  std::string box();
  std::string tap_bounds() const;  ///< Of the taps mentioned so far.
  /// A formula that holds wherever `condition` has the value `sense`; exact unless `*exact` is cleared.
  /// Nothing if no part of the condition is affine.
  std::optional<std::string> condition(const ir::Expr& condition, bool sense, bool* exact);

  /// "{ [s0, s1, x0, x1, t0] : formula }".
  std::string set(const std::string& formula) const;
  /// "[s0, s1] -> { [i] : exists x0, x1, t0: formula }".
  std::string set_of_index(const std::string& formula) const;

  const std::vector<ir::Size>& sizes() const { return sizes_; }
  int rank() const;  ///< Dimensions of set().

 private:
  std::string variables(const char* prefix, std::size_t count) const;
  std::optional<std::string> comparison(const ir::Binary& node, bool sense);

  const ir::Pipeline& pipeline_;
  const ir::Stage& stage_;
  std::vector<ir::Size> sizes_;
  std::vector<ir::TapCoord> taps_;
};

/// The affine form that an integer expression computes, if it is one.
std::optional<ir::Affine> as_affine(const ir::Expr& e);

/// Spells sizes for messages: w and h in a pipeline of one input, else in.w and in.h.
class SizeNames {
 public:
  explicit SizeNames(const ir::Pipeline& pipeline);
  std::string operator()(const ir::Affine& form) const;

 private:
  bool short_names_;
};

}  // namespace weft::analysis
