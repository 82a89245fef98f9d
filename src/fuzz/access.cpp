// How random pipelines read: indices that stay inside a box, and any others with a border.
#include <cmath>

#include "fuzz/terms.h"

namespace weft::fuzz {

Size divided(const Size& size, int k) {
  if (size.image < 0) return {.offset = size.offset >= 0 ? size.offset / k : -((-size.offset + k - 1) / k)};
  return {size.image, size.dim, size.scale, size.inner + size.offset * size.divisor, size.divisor * k, 0};
}

std::optional<Size> multiplied(const Size& size, int k) {
  if (size.image < 0) return Size{.offset = size.offset * k};
  if (size.divisor != 1 || size.inner != 0 || size.scale * k > 4) return std::nullopt;
  return Size{size.image, size.dim, size.scale * k, 0, 1, size.offset * k};
}

bool is_zero(const Size& size) { return size == Size(); }

namespace {

Index along(int coordinate, int offset = 0) {
  return {.coordinate = coordinate, .offset = {.offset = offset}};
}

/// The last index of a range.
Size last(const Range& range) {
  Size result = range.extent;
  result.offset += range.min.offset - 1;
  return result;
}

}  // namespace

/// An index that stays inside the source's range for all of the reader's.
std::optional<Index> Terms::safe_index(const Range& reader, int coordinate, const Range& source,
                                       bool is_image, const Context& context) {
  std::vector<Index> all;
  if (reader.like(source)) {
    const int low = source.min.offset - reader.min.offset,
              high = low + source.extent.offset - reader.extent.offset;
    if (low <= high) all.push_back(along(coordinate, dice_.between(low, high)));
    if (!context.loops.empty()) {
      Index tap = along(coordinate);
      add_tap(tap, coordinate, context);
      if (tap.loop >= 0 && tap.tap_scale == 1) {
        const Window& window = context.loops.back().second;
        const int least = low - window.least(tap.tap), greatest = high - window.greatest(tap.tap);
        tap.offset.offset = least;
        if (tap.loop == context.loops.back().first && least <= greatest) all.push_back(tap);
      }
    }
  }
  const bool from_zero = is_zero(reader.min) && is_zero(source.min);
  if (from_zero && reader.extent.like(source.extent) && reader.extent.offset <= source.extent.offset) {
    all.push_back({.coordinate = coordinate, .scale = -1, .offset = last(source)});
    all.push_back({.coordinate = coordinate, .divisor = dice_.between(2, 3)});
    all.push_back({.coordinate = coordinate, .scale = 2, .divisor = 3});
  }
  for (int k : {2, 3}) {
    if (!from_zero) break;
    if (divided(source.extent, k) == reader.extent)
      all.push_back({.coordinate = coordinate, .scale = k, .offset = {.offset = dice_.below(k)}});
    if (multiplied(source.extent, k) == reader.extent)
      all.push_back({.coordinate = coordinate, .divisor = k});
  }
  const bool has_first = is_image || (source.extent.image < 0 && source.extent.offset > 0);
  if (source.min.image < 0 && has_first && (all.empty() || dice_.chance(0.1))) {
    all.push_back({.offset = dice_.chance(0.5) ? last(source) : source.min});
  }
  if (all.empty()) return std::nullopt;
  return dice_.one_of(all);
}

std::optional<Index> Terms::safe_index(int source, int dim, const Context& context) {
  const Range range = recipe_.box_of(source)[dim];
  const int rank = static_cast<int>(context.box.size());
  const int coordinate = dim < rank && dice_.chance(0.9) ? dim : dice_.below(rank);
  return safe_index(context.box[coordinate], coordinate, range, recipe_.is_image(source), context);
}

void Terms::add_tap(Index& index, int dim, const Context& context) {
  const auto& [loop, window] = dice_.chance(0.8) ? context.loops.back() : dice_.one_of(context.loops);
  const int rank = window.depth > 0 ? 3 : 2;
  if (dim >= rank) return;
  index.loop = loop;
  index.tap = dice_.chance(0.9) ? dim : dice_.below(rank);
  index.tap_scale = dice_.chance(0.8) ? 1 : dice_.one_of<int>({-1, 2, 3});
}

Index Terms::any_index(int source, int dim, const Context& context) {
  if (context.depth > 0 && dice_.chance(0.08)) {
    Index gather;
    Context inner = context.deeper();
    inner.lanes = 1;
    gather.computed = {integer(inner)};
    return gather;
  }
  Index index;
  const int rank = static_cast<int>(context.box.size());
  if (dice_.chance(0.95)) index.coordinate = dim < rank && dice_.chance(0.9) ? dim : dice_.below(rank);
  if (dice_.chance(0.05)) index.other = dice_.below(rank);
  if (index.coordinate >= 0 && dice_.chance(0.25)) index.scale = dice_.one_of<int>({2, 3, -1, -2});
  if (!context.loops.empty() && dice_.chance(0.85)) add_tap(index, dim, context);
  if (dice_.chance(0.08)) index.offset = recipe_.box_of(source)[dim].extent;
  if (dice_.chance(0.5)) index.offset.offset += dice_.between(-3, 3);
  if (dice_.chance(0.03)) index.offset.offset += dice_.between(-1000, 1000);
  if (dice_.chance(0.2)) index.divisor = dice_.between(2, 3);
  if (dice_.chance(0.07)) index.modulo = dice_.between(2, 5);
  return index;
}

Box Terms::crop(int source) {
  Box box;
  for (const Range& range : recipe_.box_of(source)) {
    switch (dice_.below(3)) {
      case 0: box.push_back(range); break;
      case 1: box.push_back({{}, divided(range.extent, 2)}); break;
      default: box.push_back({divided(range.extent, 4), divided(range.extent, 2)});
    }
  }
  return box;
}

Access Terms::bordered(int source, const Context& context) {
  Access access{.source = source};
  access.border = static_cast<Border::Mode>(dice_.below(5));
  if (access.border == Border::Mode::Constant) {
    const Type type = recipe_.type_of(source);
    access.constant = {literal(dice_.chance(0.6) ? type.scalar : dice_.scalar())};
    if (context.in_body() && context.depth > 0 && dice_.chance(0.2)) {
      Context inner = context.deeper();
      inner.lanes = type.lanes;
      access.constant = {term(inner)};
    }
  }
  const Box box = recipe_.box_of(source);
  const bool from_zero = std::all_of(box.begin(), box.end(), [](const Range& r) { return is_zero(r.min); });
  if (from_zero && !box.empty() && dice_.chance(0.1)) access.crop = crop(source);
  return access;
}

/// The past of a field in an update. Without a border, pixels of its neighbourhood: what cannot reach them is
/// frozen.
Access Terms::field_access(const Context& context) {
  const int field = dice_.chance(0.6) ? context.field : dice_.below(context.fields);
  const int source = context.first_field + field, own = context.first_field + context.field;
  const Box box = recipe_.box_of(source);
  const bool has_border = box != recipe_.box_of(own) || dice_.chance(0.5);
  Access access = has_border ? bordered(source, context) : Access{.source = source};
  access.crop.clear();
  const bool is_recent = dice_.chance(context.marches ? 0.9 : 0.7);
  access.age = field < context.field && dice_.chance(0.5) ? 0 : is_recent ? 1 : dice_.between(1, 3);
  for (int d = 0; d < static_cast<int>(box.size()); ++d) {
    if (has_border && !context.marches) {
      access.indices.push_back(any_index(source, d, context));
    } else {
      Index index = along(d, dice_.chance(0.5) ? 0 : dice_.between(-2, 2));
      if (!context.loops.empty()) add_tap(index, d, context);
      access.indices.push_back(index);
    }
  }
  return access;
}

Type Terms::type_of(Interpolation kernel, Type pixel) {
  if (kernel == Interpolation::Nearest) return pixel;
  return {size_of(pixel.scalar) == 8 ? Scalar::F64 : Scalar::F32, pixel.lanes};
}

/// Most often at multiples of 1/8.
std::optional<Term> Terms::interpolated(int source, const Context& context) {
  const int rank = static_cast<int>(recipe_.box_of(source).size());
  constexpr int samples[] = {1, 2, 4, 6};
  const int kernel = dice_.below(4);
  const double taps = context.taps * std::pow(samples[kernel], rank);
  if (rank < 1 || rank > 3 || taps > most_taps) return std::nullopt;
  Term result{.kind = Term::Kind::Interpolated};
  result.interpolation = static_cast<Interpolation>(kernel);
  result.access = bordered(source, context);
  result.type = type_of(result.interpolation, recipe_.type_of(source));
  for (int d = 0; d < rank; ++d) {
    Context inner = context.deeper();
    inner.lanes = 1;
    if (context.depth > 0 && dice_.chance(0.2)) {
      result.operands.push_back(term(inner));
      continue;
    }
    Term eighths{.kind = Term::Kind::Literal, .type = {Scalar::F32, 1}};
    eighths.literal = ir::Value::real(eighths.type, dice_.between(1, 16) / 8.);
    Term at{.kind = Term::Kind::Position, .type = {Scalar::I64, 1}};
    at.position.coordinate = std::min(d, static_cast<int>(context.box.size()) - 1);
    at.position.offset.offset = dice_.between(-3, 3);
    result.operands.push_back(operation(Op::Mul, {at, eighths}));
  }
  if (!is_legal(result)) return std::nullopt;
  return result;
}

Term Terms::read(const Context& context) {
  Term result{.kind = Term::Kind::Read};
  if (context.in_update() && (context.sources.empty() || dice_.chance(context.marches ? 0.95 : 0.7))) {
    result.access = field_access(context);
    result.type = recipe_.type_of(result.access.source);
    return is_legal(result) ? result : literal(dice_.scalar());
  }
  const bool free = context.in_body() && !context.sources.empty();
  if (!free) {
    if (context.at_pixel.empty()) return literal(dice_.scalar());
    result.access.source = dice_.one_of(context.at_pixel);
  } else {
    const int source = dice_.one_of(context.sources);
    if (dice_.chance(0.07)) {
      const std::optional<Term> between = interpolated(source, context);
      if (between) return *between;
    }
    const int rank = static_cast<int>(recipe_.box_of(source).size());
    result.access.source = source;
    bool is_safe = dice_.chance(0.4);
    for (int d = 0; d < rank && is_safe; ++d) {
      const auto index = safe_index(source, d, context);
      if (index) result.access.indices.push_back(*index);
      is_safe = index.has_value();
    }
    if (!is_safe) {
      result.access = bordered(source, context);
      for (int d = 0; d < rank; ++d) result.access.indices.push_back(any_index(source, d, context));
    }
  }
  result.type = recipe_.type_of(result.access.source);
  return is_legal(result) ? result : literal(dice_.scalar());
}

}  // namespace weft::fuzz
