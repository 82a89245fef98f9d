// A stage as its loops along x compute it: its lanes flat where that can be, over the memory of the original.
#pragma once

#include "lower/layout.h"
#include "rewrite/flat_lanes.h"

namespace weft::lower {

class PlacedLanes {
 public:
  /// While it lives the layout has the views of flat lanes, too. None are flat where lanes lie apart
  /// or borders find pixels.
  PlacedLanes(const ir::Stage& stage, Layout& layout, bool as_pixels = false);
  ~PlacedLanes();
  PlacedLanes(const PlacedLanes&) = delete;
  PlacedLanes& operator=(const PlacedLanes&) = delete;

  const ir::Stage& stage() const { return flat_ ? flat_->stage : original_; }
  /// What the stage reads in place of a source of the original.
  const ir::Stage& view(const ir::Stage& source) const;
  /// Pixels of the stage for each of the original.
  int per_pixel() const { return flat_ ? original_.type.lanes : 1; }

 private:
  void place(const ir::Stage& view, const ir::Stage& original);

  const ir::Stage& original_;
  Layout& layout_;
  const std::optional<rewrite::FlatLanes> flat_;
};

}  // namespace weft::lower
