#include "plan/split_traffic.h"

#include <algorithm>
#include <vector>

namespace weft::plan {
namespace {

using Extents = std::vector<double>;  // along the split dimensions

double volume(const Extents& extents) {
  double pixels = 1;
  for (const double extent : extents) pixels *= std::max(0.0, extent);
  return pixels;
}

double face(Extents extents, std::size_t d) {
  extents[d] = 1;
  return volume(extents);
}

/// Tiles of a colour, which are inverted along the dimensions of its bits.
class Colour {
 public:
  Colour(const SplitTiles& tiles, std::size_t field, unsigned inverted)
      : tiles_(tiles), field_(field), inverted_(inverted) {}

  double read() const {
    double pixels = with_sides(at(0), 0U);
    for (int step = 1; step < tiles_.steps; ++step)
      pixels += with_sides(at(step), 0U) - with_sides(both(at(step), at(step - 1)), inverted_);
    return pixels;
  }

  double written() const {
    double pixels = volume(at(tiles_.steps - 1));
    for (int step = 0; step + 1 < tiles_.steps; ++step) {
      Extents own = at(step);  // which no other tile reads
      pixels += volume(own);
      for (std::size_t d = 0; d < own.size(); ++d) own[d] -= is_inverted(d) ? 0 : 2 * reach(d);
      pixels -= volume(own);
    }
    return pixels;
  }

 private:
  bool is_inverted(std::size_t d) const { return (inverted_ >> d & 1U) != 0; }

  double lean(std::size_t d) const {
    return static_cast<double>(tiles_.dims[d].left + tiles_.dims[d].right) / tiles_.unit;
  }
  /// Pixels beside a tile that a step reads, at both ends.
  double reach(std::size_t d) const { return tiles_.levels * lean(d); }

  Extents at(int step) const {
    const int to_top = tiles_.levels_of_band() - 1 - (tiles_.levels * step + tiles_.level[field_]);
    Extents extents;
    for (std::size_t d = 0; d < tiles_.dims.size(); ++d) {
      const double upright = tiles_.dims[d].top + lean(d) * to_top;
      extents.push_back(is_inverted(d) ? tiles_.dims[d].pitch - upright : upright);
    }
    return extents;
  }

  /// The pixels, and those beside them along all dimensions but some.
  double with_sides(const Extents& extents, unsigned but) const {
    if (volume(extents) == 0) return 0;
    double pixels = volume(extents);
    for (std::size_t d = 0; d < extents.size(); ++d)
      pixels += (but >> d & 1U) != 0 ? 0 : reach(d) * face(extents, d);
    return pixels;
  }

  static Extents both(Extents a, const Extents& b) {
    for (std::size_t d = 0; d < a.size(); ++d) a[d] = std::min(a[d], b[d]);
    return a;
  }

  const SplitTiles& tiles_;
  const std::size_t field_;
  const unsigned inverted_;
};

}  // namespace

PixelsOfBand pixels_of_band(const SplitTiles& tiles, std::size_t field) {
  PixelsOfBand pixels;
  double period = 1;  // pixels of one tile of each colour
  for (const SplitDimension& d : tiles.dims) period *= d.pitch;
  for (unsigned inverted = 0; inverted < 1U << tiles.dims.size(); ++inverted) {
    const Colour colour(tiles, field, inverted);
    pixels.read += colour.read() / period, pixels.written += colour.written() / period;
  }
  return pixels;
}

Traffic traffic_of_split(const KernelPlan& plan, const ir::Sizes& sizes) {
  const SplitTiles& split = *plan.split;
  Traffic traffic;
  const auto bytes = [&](const ImageUse& i) { return pixels_of(box_of(i.box, sizes)) * size_of(i.type); };
  for (std::size_t f = 0; f < plan.written.size(); ++f) {
    const PixelsOfBand of_band = pixels_of_band(split, f);
    traffic.read += bytes(plan.written[f]) * of_band.read;
    traffic.written += bytes(plan.written[f]) * of_band.written;
  }
  for (const ImageUse& image : plan.images) {
    const bool is_field = std::any_of(plan.written.begin(), plan.written.end(),
                                      [&](const ImageUse& field) { return field.box == image.box; });
    if (!is_field) traffic.read += bytes(image) * launches_of(split);
  }
  return traffic;
}

}  // namespace weft::plan
