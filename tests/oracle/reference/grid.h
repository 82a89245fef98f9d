// Functions over integer points, as the references of the benchmarks compute them: one loop, every index
// checked.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

namespace weft::oracle::reference {

/// The integers from first to last, both within; none if last is smaller.
struct Range {
  int first, last;
  int size() const { return last < first ? 0 : last - first + 1; }
  bool contains(int i) const { return first <= i && i <= last; }
};

/// A value for each channel c, row x and column y.
template <class T>
class Grid {
 public:
  Grid(int channels, Range x, Range y)
      : channels_(channels),
        x_(x),
        y_(y),
        values_(static_cast<std::size_t>(channels) * x.size() * y.size()) {}

  /// The grid of value(c, x, y).
  template <class Value>
  static Grid of(int channels, Range x, Range y, Value value) {
    Grid grid(channels, x, y);
    for (int c = 0; c < channels; ++c) {
      for (int i = x.first; i <= x.last; ++i) {
        for (int j = y.first; j <= y.last; ++j) grid(c, i, j) = static_cast<T>(value(c, i, j));
      }
    }
    return grid;
  }

  T& operator()(int c, int x, int y) { return values_[place(c, x, y)]; }
  const T& operator()(int c, int x, int y) const { return values_[place(c, x, y)]; }
  /// `outside` where the grid has no value.
  T get(int c, int x, int y, T outside) const {
    return x_.contains(x) && y_.contains(y) ? (*this)(c, x, y) : outside;
  }

  int channels() const { return channels_; }
  Range x() const { return x_; }
  Range y() const { return y_; }
  int rows() const { return x_.size(); }
  int columns() const { return y_.size(); }

 private:
  std::size_t place(int c, int x, int y) const {
    if (c < 0 || c >= channels_ || !x_.contains(x) || !y_.contains(y))
      throw std::out_of_range("no value at " + std::to_string(c) + ", " + std::to_string(x) + ", " +
                              std::to_string(y));
    return (static_cast<std::size_t>(c) * x_.size() + (x - x_.first)) * y_.size() + (y - y_.first);
  }

  int channels_;
  Range x_, y_;
  std::vector<T> values_;
};

using Image = Grid<double>;

/// `image`, whose indices begin at 0, with `before` and `after` more rows and columns of 0, and indices from
/// 0 again.
inline Image padded_with_zeros(const Image& image, int before, int after) {
  return Image::of(image.channels(), {0, image.rows() + before + after - 1},
                   {0, image.columns() + before + after - 1},
                   [&](int c, int x, int y) { return image.get(c, x - before, y - before, 0); });
}

/// Likewise, with the values of the nearest row and column.
inline Image padded_with_edges(const Image& image, int before, int after) {
  const auto nearest = [](int i, int n) { return i < 0 ? 0 : i < n ? i : n - 1; };
  return Image::of(image.channels(), {0, image.rows() + before + after - 1},
                   {0, image.columns() + before + after - 1}, [&](int c, int x, int y) {
                     return image(c, nearest(x - before, image.rows()), nearest(y - before, image.columns()));
                   });
}

}  // namespace weft::oracle::reference
