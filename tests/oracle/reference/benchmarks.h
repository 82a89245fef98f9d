// The six benchmarks of the warp-tiling paper and local Laplacian filters as plain loops, for comparison with Weft's applications. They
// are written from the published definitions and use nothing of Weft.
//
// Coordinates are the paper's: x is the row, y the column, c the channel. Images begin at (0, 0) and have
// values of 0 to 1 unless said. Arithmetic is in double, so that a difference is Weft's rounding.
#pragma once

#include <cstdint>

#include "tests/oracle/reference/grid.h"

namespace weft::oracle::reference {

/// Three channels, zeros around: where a channel differs from its 5x5 binomial blur by `threshold` or more,
/// it becomes (1 + weight) in - weight blur.
Image unsharp_mask(const Image& in, double threshold, double weight);
/// Halide's: the luminance is sharpened by a 7x7 Gaussian of sigma 1.5, and all channels are scaled alike.
Image unsharp_mask_halide(const Image& in);

/// One channel: det - 0.04 trace^2 of the sums over 3x3 of the products of slopes; 0 in a frame of 2.
Image harris_corner(const Image& in);
/// .299 R + .587 G + .114 B.
Image luminance(const Image& rgb);

/// One channel. Halide's: cells of 8x8 pixels around the grid's points, bins rounded to the nearest.
Image bilateral_grid_h(const Image& in);
/// Of the published C++ of 2015: cells of 9x9 pixels, which overlap.
Image bilateral_grid_a(const Image& in);
/// Of the published DSL source of 2016: cells of 8x8 pixels that begin at the grid's points, bins rounded
/// down.
Image bilateral_grid_d(const Image& in);

/// Four channels, the last one alpha, to three. Alpha counts squared, as published, or once.
Image multiscale_interp(const Image& in, int levels, bool squared);

struct CameraSettings {
  double temperature = 3700;  // kelvin
  double gamma = 2, contrast = 50;
  double sharpen = 0;
};
/// Raw values of 0 to 1023, GRBG, of at least 49 rows and 65 columns; the channels of the result are B, G, R.
Grid<std::uint8_t> camera_pipe(const Grid<std::int16_t>& raw, const CameraSettings& settings);
/// The tone curve of the 16-bit value v.
std::uint8_t tone_curve(int v, double gamma, double contrast);

/// A where the mask, of one channel, is 1, and B where it is 0; 4 levels.
Image pyramid_blend(const Image& A, const Image& B, const Image& mask);

struct LocalLaplacianSettings {
  int levels = 8, curves = 8;
  double alpha = 1, beta = 1;
};
/// Three channels: details are strengthened by alpha, contrasts by beta.
Image local_laplacian(const Image& in, const LocalLaplacianSettings& settings);

}  // namespace weft::oracle::reference
