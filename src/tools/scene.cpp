#include "tools/scene.h"

#include <weft/error.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "ir/value.h"
#include "runtime/thread_pool.h"

namespace weft::tools {
namespace {

struct Colour {
  double r = 0, g = 0, b = 0;
  Colour operator*(double f) const { return {r * f, g * f, b * f}; }
  Colour operator+(const Colour& o) const { return {r + o.r, g + o.g, b + o.b}; }
};

Colour mix(const Colour& a, const Colour& b, double t) { return a * (1 - t) + b * t; }
double clamp01(double v) { return std::clamp(v, 0.0, 1.0); }

/// A place in the scene, which is 4 wide and 3 high; y runs down.
struct Point {
  double x, y;
};
constexpr double scene_width = 4, scene_height = 3, horizon = 1.75;

/// 0 … 1 noise that does not depend on the order in which pixels are drawn.
double hash(std::uint64_t seed, std::int64_t x, std::int64_t y) {
  fuzz::Random random(seed * 0x9E3779B97F4A7C15u + static_cast<std::uint64_t>(x) * 0xD1B54A32D192ED03u +
                      static_cast<std::uint64_t>(y) * 0x8CB92BA72F3D8DD7u);
  return random.uniform();
}

Colour sky(Point p) {
  const double low = clamp01(p.y / horizon);
  Colour colour = mix({.20, .36, .62}, {.93, .80, .64}, low * low);
  const double dx = p.x - 3.2, dy = p.y - .62;
  return colour + Colour{.35, .28, .12} * std::exp(-(dx * dx + dy * dy) * 5);  // the glow of the sun
}

/// A checkerboard on the ground, seen in perspective.
Colour ground(Point p) {
  const double depth = 1 / (p.y - horizon + .12);
  const double u = (p.x - 2) * depth * 1.1, v = depth * 2.6;
  const bool dark = ((static_cast<long>(std::floor(u)) + static_cast<long>(std::floor(v))) & 1) != 0;
  const Colour tile = dark ? Colour{.16, .18, .22} : Colour{.88, .85, .78};
  return mix(tile, {.72, .66, .58}, clamp01((depth - 2) / 7));  // haze
}

struct Disc {
  double x, y, radius;
  Colour colour;
};
constexpr std::array discs = {Disc{3.2, .62, .26, {1.0, .93, .70}}, Disc{1.02, 2.30, .34, {.80, .22, .18}},
                              Disc{1.62, 2.52, .20, {.16, .50, .46}}, Disc{2.92, 2.42, .27, {.93, .68, .20}}};

/// Lit like balls, but for the sun, which is flat.
void paint_discs(Point p, Colour& colour) {
  for (const Disc& disc : discs) {
    const double dx = (p.x - disc.x) / disc.radius, dy = (p.y - disc.y) / disc.radius, r2 = dx * dx + dy * dy;
    if (r2 > 1) continue;
    if (&disc == discs.data()) {
      colour = disc.colour;
      continue;
    }
    const double light = (dx * .5 - dy * .62 + std::sqrt(1 - r2) * .6);
    colour =
        disc.colour * (.35 + .65 * clamp01(light)) + Colour{1, 1, 1} * (.8 * std::pow(clamp01(light), 24));
  }
}

struct House {
  double left, top, right;
  Colour wall;
  double window;  ///< The distance between windows.
};
constexpr std::array houses = {
    House{.12, .95, .62, {.42, .30, .30}, .125}, House{.66, 1.22, 1.12, {.55, .46, .38}, .115},
    House{1.20, .62, 1.58, {.30, .34, .42}, .095}, House{1.66, 1.06, 2.36, {.62, .42, .34}, .14},
    House{2.44, 1.32, 2.86, {.40, .44, .36}, .105}};

void paint_houses(Point p, Colour& colour) {
  for (const House& house : houses) {
    if (p.x < house.left || p.x > house.right || p.y < house.top || p.y > horizon + .04) continue;
    colour = house.wall * (1.05 - .25 * (p.x - house.left) / (house.right - house.left));
    const double u = (p.x - house.left) / house.window, v = (p.y - house.top) / house.window;
    const double fu = u - std::floor(u), fv = v - std::floor(v);
    const bool inside = u > .2 && p.x < house.right - .2 * house.window && v > .2;
    if (!inside || fu < .3 || fu > .75 || fv < .3 || fv > .8) continue;
    const bool lit =
        hash(7, static_cast<long>(u) + static_cast<long>(house.left * 100), static_cast<long>(v)) > .55;
    colour = lit ? Colour{.98, .84, .48} : Colour{.12, .15, .20};
  }
}

/// Letters of 5x5 points: "WEFT".
constexpr std::array<std::array<const char*, 5>, 4> letters = {
    {{"#...#", "#...#", "#.#.#", "##.##", "#...#"},
     {"#####", "#....", "####.", "#....", "#####"},
     {"#####", "#....", "####.", "#....", "#...."},
     {"#####", "..#..", "..#..", "..#..", "..#.."}}};

/// A sign with writing on it: strokes of the letters above, and lines of small print below.
void paint_sign(Point p, Colour& colour) {
  constexpr double left = 3.02, top = 1.12, width = .86, height = .62;
  const double x = p.x - left, y = p.y - top;
  if (std::abs(x - width / 2) < .022 && y >= height && p.y < horizon + .22) colour = {.30, .24, .20};
  if (x < 0 || y < 0 || x > width || y > height) return;
  const double edge = std::min({x, y, width - x, height - y});
  colour = edge < .02 ? Colour{.30, .24, .20} : Colour{.96, .94, .88};
  const double column = (x - .085) / .030, row = (y - .06) / .052;
  if (row >= 0 && row < 5 && column >= 0 && column < 23) {
    const int c = static_cast<int>(column);
    if (c % 6 < 5 && letters[c / 6][static_cast<int>(row)][c % 6] == '#') colour = {.12, .12, .16};
  }
  const double line = (y - .36) / .052;
  if (line > 0 && line < 4 && line - std::floor(line) < .42 && x > .08 && x < width - .08) {
    const auto word = static_cast<std::int64_t>((x - .08) / .023);
    if (hash(11, word, static_cast<std::int64_t>(line)) > .28) colour = {.35, .34, .36};
  }
}

Colour scene_at(Point p) {
  Colour colour = p.y < horizon ? sky(p) : ground(p);
  paint_houses(p, colour);
  paint_sign(p, colour);
  paint_discs(p, colour);
  return colour;
}

/// A ball of light of any number of dimensions, as one factor per coordinate and dimension.
struct Blob {
  Colour colour;
  std::vector<std::vector<double>> factors;

  Blob(const Size& size, fuzz::Random& random)
      : colour{random.uniform(), random.uniform(), random.uniform()} {
    for (const std::int64_t extent : size.extents) {
      const double centre = random.uniform(), radius = .08 + .17 * random.uniform();
      auto& along = factors.emplace_back(extent);
      for (std::int64_t i = 0; i < extent; ++i) {
        const double d = ((static_cast<double>(i) + .5) / static_cast<double>(extent) - centre) / radius;
        along[i] = std::exp(-d * d);
      }
    }
  }
  /// At column x of row `row`, counted through all dimensions but the first.
  double at(std::int64_t x, std::int64_t row) const {
    double value = factors[0][x];
    for (std::size_t d = 1; d < factors.size(); ++d) {
      const auto extent = static_cast<std::int64_t>(factors[d].size());
      value *= factors[d][row % extent];
      row /= extent;
    }
    return value;
  }
};

std::uint8_t to_byte(double v) { return static_cast<std::uint8_t>(std::lround(clamp01(v) * 255)); }

/// colour(x, y) for every pixel, rows in parallel; y counts all rows, of all pages.
template <class F>
Buffer draw(const Size& size, F colour) {
  check_memory(size, 3, 1);
  Buffer picture = Buffer::allocate({Scalar::U8, 3}, size.extents);
  const std::int64_t width = size.extents[0], rows = size.pixels() / width;
  runtime::ThreadPool pool;
  pool.parallel_for(0, rows, 8, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t y = first; y < last; ++y) {
      std::uint8_t* to = static_cast<std::uint8_t*>(picture.data()) + y * width * 3;
      for (std::int64_t x = 0; x < width; ++x, to += 3) {
        const Colour c = colour(x, y);
        to[0] = to_byte(c.r), to[1] = to_byte(c.g), to[2] = to_byte(c.b);
      }
    }
  });
  return picture;
}

}  // namespace

Buffer draw_scene(const Size& size, std::uint64_t seed) {
  // The scene fills the picture and keeps its proportions; the seed moves the view a little.
  const auto width = static_cast<double>(size.extents.at(0)),
             height = static_cast<double>(size.extents.at(1));
  const double scale = std::min(scene_width / width, scene_height / height);
  const double left = (scene_width - scale * width) / 2 + .02 * static_cast<double>(seed % 16);
  const double top = (scene_height - scale * height) / 2;
  return draw(size, [=](std::int64_t x, std::int64_t y) {
    Colour sum;
    for (int s = 0; s < 4; ++s) {  // four samples per pixel soften the edges
      sum = sum + scene_at({left + (static_cast<double>(x) + .25 + .5 * (s & 1)) * scale,
                            top + (static_cast<double>(y) + .25 + .5 * (s >> 1)) * scale});
    }
    const double grain = (hash(seed, x, y) - .5) * .03;
    return sum * .25 + Colour{grain, grain, grain};
  });
}

Buffer draw_blobs(const Size& size, std::uint64_t seed) {
  fuzz::Random random(seed);
  std::vector<Blob> blobs;
  for (int i = 0; i < 12; ++i) blobs.emplace_back(size, random);
  return draw(size, [&](std::int64_t x, std::int64_t row) {
    const double grain = (hash(seed, x, row) - .5) * .04;
    Colour sum{.1 + grain, .1 + grain, .1 + grain};
    for (const Blob& blob : blobs) sum = sum + blob.colour * blob.at(x, row);
    return sum;
  });
}

Buffer draw_noise(const Size& size, std::uint64_t seed) {
  return draw(size, [=](std::int64_t x, std::int64_t y) {
    return Colour{hash(3 * seed, x, y), hash(3 * seed + 1, x, y), hash(3 * seed + 2, x, y)};
  });
}

Buffer draw_gradient(const Size& size) {
  const auto along = [](std::int64_t at, std::int64_t extent) {
    return extent < 2 ? 0 : static_cast<double>(at) / static_cast<double>(extent - 1);
  };
  return draw(size, [=](std::int64_t x, std::int64_t y) {
    const double u = along(x, size.extents[0]), v = along(y, size.extents[1]);
    return Colour{u, v, (u + v) / 2};
  });
}

Buffer random_image(Type type, const Size& size, double range, fuzz::Random& random) {
  check_memory(size, size_of(type), 1);
  Buffer image = Buffer::allocate(type, size.extents);
  auto* to = static_cast<std::byte*>(image.data());
  for (std::int64_t i = 0; i < image.pixels() * type.lanes; ++i, to += size_of(type.scalar)) {
    const std::uint64_t bits = random.bits();
    const bool extreme = bits % 16 == 0;
    if (is_float(type.scalar)) {
      const double value = extreme ? range * static_cast<double>(bits >> 63) : range * random.uniform();
      ir::store(type.scalar, to, ir::Value::real(type.lane(), value).lane[0]);
    } else if (type.scalar == Scalar::Bool) {
      ir::store(type.scalar, to, {.i = static_cast<std::int64_t>(bits >> 63)});
    } else if (extreme) {
      ir::store(type.scalar, to, (bits >> 63 ? ir::largest(type.lane()) : ir::least(type.lane())).lane[0]);
    } else {
      ir::store(type.scalar, to,
                ir::Value::integer(type.lane(), static_cast<std::int64_t>(bits >> 4)).lane[0]);
    }
  }
  return image;
}

}  // namespace weft::tools
