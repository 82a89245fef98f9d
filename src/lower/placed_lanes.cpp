#include "lower/placed_lanes.h"

namespace weft::lower {

PlacedLanes::PlacedLanes(const ir::Stage& stage, Layout& layout, bool as_pixels)
    : original_(stage), layout_(layout), flat_(as_pixels ? std::nullopt : rewrite::flat_lanes(stage)) {
  if (!flat_) return;
  place(flat_->stage, original_);
  for (const auto& [original, view] : flat_->views) place(*view, *original);
}

PlacedLanes::~PlacedLanes() {
  if (!flat_) return;
  layout_.arrays.erase(&flat_->stage);
  for (const auto& [original, view] : flat_->views) layout_.arrays.erase(view.get());
}

const ir::Stage& PlacedLanes::view(const ir::Stage& source) const {
  if (!flat_) return source;
  const auto found = flat_->views.find(&source);
  return found == flat_->views.end() ? source : *found->second;
}

/// An array may have a larger box than its stage.
void PlacedLanes::place(const ir::Stage& view, const ir::Stage& original) {
  ArrayLayout array = layout_.arrays.at(&original);
  const int lanes = array.type.lanes;
  array.type = view.type;
  array.box[0] = {array.box[0].min * lanes, array.box[0].extent * lanes};
  layout_.arrays[&view] = std::move(array);
}

}  // namespace weft::lower
