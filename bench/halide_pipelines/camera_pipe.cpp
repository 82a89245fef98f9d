#include "sized.h"

#include <array>
#include <cmath>
#include <string>

using namespace Halide;
using namespace Halide::ConciseCasts;

// (j, i) are column and row at half the resolution. All values between the stages are 16 bits.
class CameraPipe : public Sized<CameraPipe> {
 public:
  Input<Buffer<int16_t, 2>> raw{"raw"};
  Output<Buffer<uint8_t, 3>> processed{"processed"};

  void generate() {
    Func denoised("denoised");
    const Expr left = raw(x - 2, y), right = raw(x + 2, y), up = raw(x, y - 2), down = raw(x, y + 2);
    denoised(x, y) =
        clamp(raw(x, y), min(min(left, right), min(up, down)), max(max(left, right), max(up, down)));

    Func corrected = correct(demosaic(denoised)), curve = tone_curve();
    processed(x, y, c) = curve(i32(clamp(corrected(x + left_margin, y + top_margin, c), i16(0), i16(1024))));
    expect(raw), expect(processed, 3, 64, 48);
    if (!using_autoscheduler()) schedule_by_hand(denoised, corrected, curve);
  }

 private:
  static constexpr int left_margin = 16, top_margin = 12;
  Var i{"i"}, j{"j"}, v{"v"};

  static Expr avg(const Expr& a, const Expr& b) { return (a + b) / 2; }
  static Expr dif(const Expr& a, const Expr& b) { return i16(absd(a, b)); }

  /// Green at another colour's pixel: of the rows i + up and i + up + 1 of `v`, or of the columns j + left
  /// and j + left + 1 of `h`, where they differ less.
  Func green_between(const char* name, Func v, int up, Func h, int left) {
    Func green(name);
    const Expr above = v(j, i + up), below = v(j, i + up + 1);
    const Expr before = h(j + left, i), after = h(j + left + 1, i);
    green(j, i) = select(dif(before, after) < dif(above, below), avg(before, after), avg(above, below));
    return green;
  }

  /// Red or blue, and green at the pixels that measure it.
  struct Measured {
    Func colour, green;

    Expr at(const Expr& here, const Expr& j0, const Expr& i0, const Expr& j1, const Expr& i1) const {
      return here - avg(green(j0, i0), green(j1, i1)) + avg(colour(j0, i0), colour(j1, i1));
    }
  };

  Func beside(const char* name, Func green, const Measured& measured, int dj, int di) {
    Func colour(name);
    colour(j, i) = measured.at(green(j, i), j, i, j + dj, i + di);
    return colour;
  }

  Func diagonal(const char* name, Func green, const Measured& measured, int dj, int di) {
    Func colour(name), from = measured.colour;
    colour(j, i) = select(dif(from(j, i), from(j + dj, i + di)) < dif(from(j, i + di), from(j + dj, i)),
                          measured.at(green(j, i), j, i, j + dj, i + di),
                          measured.at(green(j, i), j, i + di, j + dj, i));
    return colour;
  }

  /// Full resolution from the four kinds of pixels: `gr` and `r` alternate in even rows, `b` and `gb` in odd
  /// ones.
  Func interleaved(const std::string& name, Func gr, Func r, Func b, Func gb) {
    Func x1(name + "_x1"), x2(name + "_x2"), all(name);
    x1(x, i) = select(x % 2 == 0, gr(x / 2, i), r(x / 2, i));
    x2(x, i) = select(x % 2 == 0, b(x / 2, i), gb(x / 2, i));
    all(x, y) = select(y % 2 == 0, x1(x, y / 2), x2(x, y / 2));
    full.push_back(all);
    return all;
  }

  struct Colours {
    Func red, green, blue;
  };

  /// Two rows at a time, so that it is known which kind each pixel is of, by strips which keep rows of what windows read.
  void schedule_by_hand(Func denoised, Func corrected, Func curve) {
    const int vec = natural_vector_size<int16_t>();
    Var yo("yo"), yi("yi"), xi("xi");
    curve.compute_root();
    processed.bound(c, 0, 3)
        .split(y, yo, y, 32)
        .tile(x, y, xi, yi, 4 * vec, 2)
        .reorder(xi, yi, c, x, y, yo)
        .unroll(yi)
        .unroll(c)
        .vectorize(xi, vec)
        .unroll(xi)
        .parallel(yo);
    corrected.compute_at(processed, x).reorder(c, x, y).unroll(c).vectorize(x, vec).unroll(x).unroll(y);
    for (Func& colour : full)
      colour.compute_at(processed, x)
          .align_bounds(x, 2)
          .align_bounds(y, 2)
          .vectorize(x, 2 * vec)
          .unroll(y, 2);
    denoised.store_at(processed, yo).compute_at(processed, y).fold_storage(y, 16).vectorize(x, vec);
    for (Func& quarter : quarters)
      quarter.store_at(processed, yo).compute_at(processed, y).fold_storage(i, 8).vectorize(j, vec);
    for (Func& green : between)
      green.store_at(processed, yo).compute_at(processed, y).fold_storage(i, 8).vectorize(j, vec);
  }

  std::vector<Func> quarters, between, full;

  Colours demosaic(Func denoised) {
    Func g_gr("g_gr"), r_r("r_r"), b_b("b_b"), g_gb("g_gb");
    g_gr(j, i) = denoised(2 * j, 2 * i);
    r_r(j, i) = denoised(2 * j + 1, 2 * i);
    b_b(j, i) = denoised(2 * j, 2 * i + 1);
    g_gb(j, i) = denoised(2 * j + 1, 2 * i + 1);
    quarters = {g_gr, r_r, b_b, g_gb};
    const Measured red{r_r, green_between("g_r", g_gb, -1, g_gr, 0)};
    const Measured blue{b_b, green_between("g_b", g_gr, 0, g_gb, -1)};
    between = {red.green, blue.green};
    Func r_gr = beside("r_gr", g_gr, red, -1, 0), b_gr = beside("b_gr", g_gr, blue, 0, -1);
    Func r_gb = beside("r_gb", g_gb, red, 0, 1), b_gb = beside("b_gb", g_gb, blue, 1, 0);
    Func r_b = diagonal("r_b", blue.green, red, -1, 1), b_r = diagonal("b_r", red.green, blue, 1, -1);
    return {interleaved("red", r_gr, r_r, r_b, r_gb), interleaved("green", g_gr, red.green, blue.green, g_gb),
            interleaved("blue", b_gr, b_r, b_b, b_gb)};
  }

  /// The result is stored as blue, green, red. The rounding of negative values does not matter: the curve is
  /// 0.
  Func correct(const Colours& colours) {
    const auto m = colour_matrix(3700);
    Func corrected("corrected");
    const Expr red = i32(colours.red(x, y)), green = i32(colours.green(x, y)), blue = i32(colours.blue(x, y));
    const auto row = [&](int k) {
      return i16((m[k][0] * red + m[k][1] * green + m[k][2] * blue + m[k][3]) / 256);
    };
    corrected(x, y, c) = mux(c, {row(2), row(1), row(0)});
    return corrected;
  }

  /// From the sensor's colours to those of a screen, in 1/256: between two calibrations, by the inverse of
  /// the light's temperature in kelvin.
  static std::array<std::array<int, 4>, 3> colour_matrix(double temperature) {
    const double at_3200[3][4] = {{1.6697, -0.2693, -0.4004, -42.4346},
                                  {-0.3576, 1.0615, 1.5949, -37.1158},
                                  {-0.2175, -1.8751, 6.9640, -26.6970}};
    const double at_7000[3][4] = {{2.2997, -0.4478, 0.1706, -39.0923},
                                  {-0.3826, 1.5906, -0.2080, -25.4311},
                                  {-0.0888, -0.7344, 2.2832, -20.0826}};
    const double alpha = (1 / temperature - 1.0 / 3200) / (1.0 / 7000 - 1.0 / 3200);
    std::array<std::array<int, 4>, 3> m{};
    for (int row = 0; row < 3; ++row) {
      for (int column = 0; column < 4; ++column)
        m[row][column] =
            static_cast<int>((at_3200[row][column] * alpha + at_7000[row][column] * (1 - alpha)) * 256);
    }
    return m;
  }

  /// The 8-bit value of 0 to 1024.
  Func tone_curve() {
    const double gamma = 2, contrast = 50;
    const Expr b(2 - std::pow(2, contrast / 100)), a = 2 - 2 * b;
    Func curve("curve");
    const Expr g = pow(f64(v) / 1024, Expr(1 / gamma)), rest = 1 - g;
    const Expr z = select(g > Expr(0.5), 1 - (a * rest * rest + b * rest), a * g * g + b * g);
    curve(v) = u8(clamp(256 * z, f64(0), f64(255)));
    return curve;
  }
};
HALIDE_REGISTER_GENERATOR(CameraPipe, camera_pipe)
