#include "analysis/row_reach.h"

#include <algorithm>
#include <map>

#include "analysis/footprint.h"
#include "ir/visit.h"

namespace weft::analysis {
namespace {

/// The rows of a pipeline whose images have this number of dimensions.
class Rows {
 public:
  explicit Rows(int rank) : last_(rank - 1) {}

  /// All of an image's. Other stages are tables, which are the same for all parts.
  bool has_rows(const ir::Stage& stage) const {
    if (stage.rank() != last_ + 1 || last_ < 1) return false;
    const ir::Range& rows = stage.box[last_];
    const auto& terms = rows.extent.terms();
    return rows.min.is_constant(0) && rows.extent.constant() == 0 && terms.size() == 1 &&
           terms[0].factor == 1 && is_number_of_rows(terms[0].atom);
  }

  /// Empty if parts of the stage's rows are like the whole.
  std::string why_not(const ir::Stage& stage) const {
    if (!std::holds_alternative<ir::Pure>(stage.definition))
      return spelt(stage) + " is made of all rows at once";
    for (int d = 0; d < stage.rank(); ++d) {
      const ir::Range& range = stage.box[d];
      const bool is_row = d == last_ && has_rows(stage);
      if (!is_row && (depends_on_rows(range.min) || depends_on_rows(range.extent)))
        return spelt(stage) + " has other rows than the images";
    }
    std::string why;
    ir::visit(ir::expressions(stage), [&](const ir::Expr& e) {
      if (!why.empty()) return;
      const auto* quantity = std::get_if<ir::Quantity>(&e->op);
      if (quantity && depends_on_rows(quantity->value))
        why = spelt(stage) + " depends on the number of its row, or of all rows";
      if (const auto* read = std::get_if<ir::Read>(&e->op)) why = why_not(*read, stage);
    });
    return why;
  }

  /// Widens what is needed of a stage's sources, where it is known what is needed of itself.
  void widen_sources(const ir::Stage& stage, std::map<const ir::Stage*, RowReach>& needed) const {
    const RowReach own = needed[&stage];
    for (const ir::Expr& e : ir::reads(stage)) {
      const auto& read = std::get<ir::Read>(e->op);
      if (!has_rows(*read.source)) continue;
      const Along along = footprint(read)[last_];
      RowReach& source = needed[read.source.get()];
      source = {std::max(source.above, own.above - along.min), std::max(source.below, own.below + along.max)};
    }
  }

 private:
  static std::string spelt(const ir::Stage& stage) { return "'" + stage.name + "'"; }

  bool is_number_of_rows(const ir::Atom& atom) const {
    const auto* size = std::get_if<ir::Size>(&atom);
    return size && size->dim == last_;
  }
  /// Whether it may differ between a part and the whole.
  bool depends_on_rows(const ir::Affine& form) const {
    return form.mentions([&](const ir::Atom& atom) {
      const auto* coord = std::get_if<ir::Coord>(&atom);
      return is_number_of_rows(atom) || (coord && coord->dim == last_);
    });
  }

  std::string why_not(const ir::Read& read, const ir::Stage& stage) const {
    const ir::Stage& source = *read.source;
    const std::string reads = spelt(stage) + " reads " + spelt(source);
    for (int d = 0; d < source.rank(); ++d) {
      const auto* form = std::get_if<ir::Affine>(&read.indices[d]);
      const bool is_row = d == last_ && has_rows(source);
      if (!is_row && form && depends_on_rows(*form)) return reads + " at a place that depends on the row";
    }
    if (!has_rows(source)) return "";
    const Along along = footprint(read)[last_];
    if (!has_rows(stage) || !along.is_unit(last_) || read.region[last_] != source.box[last_])
      return reads + " at other rows than around its own";
    const bool wraps = read.border && read.border->mode == ir::BorderMode::Repeat;
    return wraps && (along.min < 0 || along.max > 0) ? reads + " around its ends" : "";
  }

  int last_;
};

}  // namespace

RowReachOrWhy row_reach(const ir::Pipeline& pipeline) {
  if (pipeline.inputs.empty()) return {{}, "there is no image"};
  const Rows rows(pipeline.inputs[0]->rank());
  for (const auto* images : {&pipeline.inputs, &pipeline.outputs}) {
    for (const ir::StagePtr& image : *images) {
      if (!rows.has_rows(*image)) return {{}, "'" + image->name + "' has other rows than the images"};
    }
  }
  for (const ir::StagePtr& stage : pipeline.stages) {
    if (std::string why = rows.why_not(*stage); !why.empty()) return {{}, std::move(why)};
  }
  std::map<const ir::Stage*, RowReach> needed;
  for (auto stage = pipeline.stages.rbegin(); stage != pipeline.stages.rend(); ++stage)
    rows.widen_sources(**stage, needed);
  RowReach most;  // of stages that read no image, too: their rows end with the part's
  for (const auto& [stage, reach] : needed)
    most = {std::max(most.above, reach.above), std::max(most.below, reach.below)};
  return {most};
}

}  // namespace weft::analysis
