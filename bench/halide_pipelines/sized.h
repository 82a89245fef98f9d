// What the generators share: messages, the size that the schedule is made for, and borders.
#pragma once

#include <Halide.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

/// Prints what is wrong. Halide would throw, and exceptions do not get out of its autoschedulers.
class Reporter : public Halide::CompileTimeErrorReporter {
 public:
  void warning(const char*) override {}
  [[noreturn]] void error(const char* message) override {
    std::fputs(message, stderr);
    std::exit(1);
  }
};
inline Reporter reporter;
inline const bool reporting = [] {
  Halide::set_custom_compile_time_error_reporter(&reporter);
  return true;
}();

/// A generator of a pipeline whose inputs and outputs are planar: (x, y) or (x, y, channel).
template <class Pipeline>
class Sized : public Halide::Generator<Pipeline> {
 protected:
  Halide::GeneratorParam<int> width{"width", 2048}, height{"height", 2048};  ///< Of the inputs.
  Halide::Var x{"x"}, y{"y"}, c{"c"};

  /// What a scheduler should expect of an image: its extents, `less_x` and `less_y` smaller than the inputs.
  /// The number of channels is certain, those of the images are only likely.
  template <class Image>
  void expect(Image& image, int channels = 1, int less_x = 0, int less_y = 0) {
    image.dim(0).set_estimate(0, width - less_x);
    image.dim(1).set_estimate(0, height - less_y);
    if (channels == 1) return;
    image.dim(2).set_bounds(0, channels);
    image.dim(2).set_estimate(0, channels);
  }
};

/// The rows and columns of a function of x, y and maybe a channel, for Halide's borders. Channels have none.
inline Halide::Region rows_and_columns(const Halide::Func& f, const Halide::Expr& width,
                                       const Halide::Expr& height) {
  Halide::Region bounds = {{0, width}, {0, height}};
  bounds.resize(static_cast<std::size_t>(f.dimensions()));  // undefined: without a border
  return bounds;
}

/// The value of the nearest pixel of the image.
inline Halide::Func edge(const Halide::Func& f, const Halide::Expr& width, const Halide::Expr& height) {
  return Halide::BoundaryConditions::repeat_edge(f, rows_and_columns(f, width, height));
}

/// 0 outside of the image.
inline Halide::Func zero(const Halide::Func& f, const Halide::Expr& width, const Halide::Expr& height) {
  return Halide::BoundaryConditions::constant_exterior(f, 0.f, rows_and_columns(f, width, height));
}
