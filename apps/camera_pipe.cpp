// The fifth benchmark of the warp-tiling paper: from a sensor's raw values to a picture. Its x is the row,
// and (i, j) are row and column at half the resolution. Here the column comes first, as everywhere in Weft:
// (x, y) and (j, i).
#include <weft/weft.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

using namespace weft;

namespace {

/// All values between the stages are 16 bits.
Expr i16(const Expr& value) { return cast<std::int16_t>(value); }
Expr avg(const Expr& a, const Expr& b) { return (a + b) / 2; }
Expr dif(const Expr& a, const Expr& b) { return abs(a - b); }

/// The boxes of the stages, in coordinates of the raw image. Sharpening needs `more` pixels around its
/// result.
struct Crop {
  Index w, h;
  int more;

  BoxAt result() const { return {{16, 12}, {w - 64, h - 48}}; }
  /// Of what sharpening reads; the result itself without it.
  BoxAt picture() const { return {{16 - more, 12 - more}, {w - 64 + 2 * more, h - 48 + 2 * more}}; }
  /// At half the resolution, with `around` pixels on each side of what the interleaving reads.
  BoxAt half(int around) const {
    const int j = 8 - more - around, i = 6 - more - around;
    return {{j, i}, {(w - 48) / 2 + around - j + 1, (h - 36) / 2 + around - i + 1}};
  }
  /// Of all pixels that half(2) is made of.
  BoxAt denoised() const { return {{12 - 2 * more, 8 - 2 * more}, {w - 54 + 2 * more, h - 38 + 2 * more}}; }
};

/// The raw pixel, within the range of its neighbours of the same colour.
Stage denoise(const Crop& frame, const AnyImage& raw) {
  return stage("denoised", frame.denoised(), [&](Var x, Var y) {
    const Expr left = i16(raw(x - 2, y)), right = i16(raw(x + 2, y));
    const Expr up = i16(raw(x, y - 2)), down = i16(raw(x, y + 2));
    const Expr most = max(max(left, right), max(up, down)), least = min(min(left, right), min(up, down));
    return max(least, min(most, i16(raw(x, y))));
  });
}

/// The estimate made of pixels that differ less; the second one of equals.
Expr smoother(const Expr& a, const Expr& a_dif, const Expr& b, const Expr& b_dif) {
  return i16(select(a_dif < b_dif, a, b));
}

/// Green at another colour's pixel: of the rows i + up and i + up + 1 of `v`, or of the columns j + left and
/// j + left + 1 of `h`.
Stage green_between(const char* name, const Crop& frame, const Stage& v, int up, const Stage& h, int left) {
  return stage(name, frame.half(1), [&](Var j, Var i) {
    const Expr above = v(j, i + up), below = v(j, i + up + 1);
    const Expr before = h(j + left, i), after = h(j + left + 1, i);
    return smoother(avg(before, after), dif(before, after), avg(above, below), dif(above, below));
  });
}

/// Red or blue, and green at the pixels that measure it.
struct Measured {
  Stage colour, green;

  /// The colour where green is `here`: green, and by how much the colour differs from it at two neighbours.
  Expr at(const Expr& here, Index j0, Index i0, Index j1, Index i1) const {
    return here - avg(green(j0, i0), green(j1, i1)) + avg(colour(j0, i0), colour(j1, i1));
  }
};

/// Between this pixel of `measured` and the one at (dj, di) from it.
Stage beside(const char* name, const Crop& frame, const Stage& green, const Measured& measured, int dj,
             int di) {
  return stage(name, frame.half(0),
               [&](Var j, Var i) { return i16(measured.at(green(j, i), j, i, j + dj, i + di)); });
}

/// Between four pixels of `measured`: this one, and those up to (dj, di) from it.
Stage diagonal(const char* name, const Crop& frame, const Stage& green, const Measured& measured, int dj,
               int di) {
  return stage(name, frame.half(0), [&](Var j, Var i) {
    const Stage& c = measured.colour;
    return smoother(measured.at(green(j, i), j, i, j + dj, i + di), dif(c(j, i), c(j + dj, i + di)),
                    measured.at(green(j, i), j, i + di, j + dj, i), dif(c(j, i + di), c(j + dj, i)));
  });
}

/// Full resolution from the four kinds of pixels: `gr` and `r` alternate in even rows, `b` and `gb` in odd
/// ones.
Stage interleaved(const std::string& name, const Crop& frame, const Stage& gr, const Stage& r, const Stage& b,
                  const Stage& gb) {
  const BoxAt picture = frame.picture(), half = frame.half(0);
  const BoxAt wide{{picture.min[0], half.min[1]}, {picture.extents[0], half.extents[1]}};
  const auto columns = [&](const char* suffix, const Stage& even, const Stage& odd) {
    return stage(name + suffix, wide,
                 [&](Var x, Var i) { return select(x % 2 == 0, even(x / 2, i), odd(x / 2, i)); });
  };
  Stage x1 = columns("_x1", gr, r), x2 = columns("_x2", b, gb);
  return stage(name, picture, [&](Var x, Var y) { return select(y % 2 == 0, x1(x, y / 2), x2(x, y / 2)); });
}

struct Colours {
  Stage red, green, blue;
};

/// All three colours at each pixel, which measured one. "r_gb" is red at the green pixels beside blue ones.
Colours demosaic(const Crop& frame, const Stage& denoised) {
  Stage deinterleaved = stage("deinterleaved", frame.half(2), [&](Var j, Var i) {
    return pack(denoised(2 * j, 2 * i), denoised(2 * j + 1, 2 * i), denoised(2 * j, 2 * i + 1),
                denoised(2 * j + 1, 2 * i + 1));
  });
  Stage g_gr = point("g_gr", deinterleaved.lane(0)), r_r = point("r_r", deinterleaved.lane(1));
  Stage b_b = point("b_b", deinterleaved.lane(2)), g_gb = point("g_gb", deinterleaved.lane(3));

  const Measured red{r_r, green_between("g_r", frame, g_gb, -1, g_gr, 0)};
  const Measured blue{b_b, green_between("g_b", frame, g_gr, 0, g_gb, -1)};
  Stage r_gr = beside("r_gr", frame, g_gr, red, -1, 0), b_gr = beside("b_gr", frame, g_gr, blue, 0, -1);
  Stage r_gb = beside("r_gb", frame, g_gb, red, 0, 1), b_gb = beside("b_gb", frame, g_gb, blue, 1, 0);
  Stage r_b = diagonal("r_b", frame, blue.green, red, -1, 1);
  Stage b_r = diagonal("b_r", frame, red.green, blue, 1, -1);

  return {interleaved("red", frame, r_gr, r_r, r_b, r_gb),
          interleaved("green", frame, g_gr, red.green, blue.green, g_gb),
          interleaved("blue", frame, b_gr, b_r, b_b, b_gb)};
}

using Matrix = std::array<std::array<int, 4>, 3>;

/// From the sensor's colours to those of a screen, in 1/256: between two calibrations (of the Nokia N900, by
/// FCam), by the inverse of the light's temperature in kelvin.
Matrix colour_matrix(double temperature) {
  using Calibration = std::array<std::array<double, 4>, 3>;
  const Calibration at_3200 = {{{1.6697, -0.2693, -0.4004, -42.4346},  //
                                {-0.3576, 1.0615, 1.5949, -37.1158},
                                {-0.2175, -1.8751, 6.9640, -26.6970}}};
  const Calibration at_7000 = {{{2.2997, -0.4478, 0.1706, -39.0923},  //
                                {-0.3826, 1.5906, -0.2080, -25.4311},
                                {-0.0888, -0.7344, 2.2832, -20.0826}}};
  const double alpha = (1 / temperature - 1.0 / 3200) / (1.0 / 7000 - 1.0 / 3200);
  Matrix m{};
  for (int row = 0; row < 3; ++row) {
    for (int column = 0; column < 4; ++column)
      m[row][column] =
          static_cast<int>((at_3200[row][column] * alpha + at_7000[row][column] * (1 - alpha)) * 256);
  }
  return m;
}

Stage correct(const Colours& colours, const Matrix& m) {
  const auto row = [&](int k) {
    return i16((m[k][0] * colours.red + m[k][1] * colours.green + m[k][2] * colours.blue + m[k][3]) / 256);
  };
  return point("corrected", pack(row(2), row(1), row(0)));
}

/// The 8-bit value of 0 to 1024; it is that of 0 below and that of 1024 above.
Stage tone_curve(double gamma, double contrast) {
  const double b = 2 - std::pow(2, contrast / 100), a = 2 - 2 * b;
  return stage("curve", {1025}, [&](Var v) {
    const Expr g = pow(cast<double>(v) / 1024., 1 / gamma), rest = 1 - g;
    const Expr z = select(g > 0.5, 1 - (a * rest * rest + b * rest), a * g * g + b * g);
    return cast<std::uint8_t>(clamp(256 * z, 0., 255.));
  });
}

/// Adds the difference to a blur, as Halide's camera pipe does.
Stage sharpened(const Crop& frame, const Stage& in, double strength) {
  const auto strength32 = static_cast<int>(std::clamp(strength * 32, 0., 255.));
  const auto blur121 = [](const Expr& a, const Expr& b, const Expr& c) {
    return ((a + c + 1) / 2 + b + 1) / 2;
  };
  const BoxAt result = frame.result(), picture = frame.picture();
  Stage unsharp_y =
      stage("unsharp_y", BoxAt{{picture.min[0], result.min[1]}, {picture.extents[0], result.extents[1]}},
            [&](Var x, Var y) { return cast<std::uint8_t>(blur121(in(x, y - 1), in(x, y), in(x, y + 1))); });
  Stage unsharp = stage("unsharp", result, [&](Var x, Var y) {
    return cast<std::uint8_t>(blur121(unsharp_y(x - 1, y), unsharp_y(x, y), unsharp_y(x + 1, y)));
  });
  Stage mask = stage("mask", result, [&](Var x, Var y) { return i16(in(x, y) - unsharp(x, y)); });
  return stage("sharpened", result, [&](Var x, Var y) {
    return saturate<std::uint8_t>(in(x, y) + ((mask(x, y) * strength32) >> 5));  // rounds down
  });
}

}  // namespace

WEFT_PIPELINE(
    camera_pipe,
    {.summary = "a picture from the raw values of a sensor, 10 bits, GRBG",
     .source = "warp-tiling paper",
     .size = "2592x1968",
     .range = 1023,
     .bgr = true,
     .advice = "give the raw values of a sensor, in 16 bits; bayer_mosaic makes them of a picture"}) {
  AnyImage raw("raw", {Scalar::I16, Scalar::U16});
  const Option<double> temperature("temperature", 3700, at_least(1)), gamma("gamma", 2, at_least(.01));
  const Option<double> contrast("contrast", 50), sharpen("sharpen", 0, at_least(0));
  const Crop frame{raw.width(), raw.height(), sharpen > 0 ? 1 : 0};

  Stage corrected = correct(demosaic(frame, denoise(frame, raw)), colour_matrix(temperature));
  const Accessor curve = tone_curve(gamma, contrast).border(Border::clamp());
  Stage processed = stage("processed", frame.picture(), [&](Var x, Var y) {
    const Expr c = corrected(x, y);
    return pack(curve(c.lane(0)), curve(c.lane(1)), curve(c.lane(2)));
  });
  Stage result = sharpen > 0 ? sharpened(frame, processed, sharpen) : processed;
  return Outputs(never_empty(result, "give an image of at least 65x49")).strict();  // for the curve
}
