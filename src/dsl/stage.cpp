#include <weft/stage.h>

#include <fmt/format.h>

#include <algorithm>

#include "base/cpp_names.h"
#include "dsl/builder.h"
#include "dsl/check_scopes.h"
#include "dsl/stage_parts.h"
#include "ir/build.h"
#include "ir/visit.h"

namespace weft::dsl {
namespace {

/// Throws for a size that is no size: one that depends on a coordinate or a tap.
void check_size(const std::string& what, const ir::Affine& size, const Where& where) {
  size.mentions([&](const ir::Atom& atom) {
    if (std::holds_alternative<ir::Size>(atom)) return false;
    throw Error(fmt::format("the box of {} depends on the coordinate {}", what, ir::name_of(atom)), where)
        .help("a box is made of the sizes of images and of integers");
  });
}

}  // namespace

ir::Affine coordinate(int dim) { return ir::Affine(ir::Atom(ir::Coord{dim})); }

std::vector<Var> coordinates(int rank) {
  std::vector<Var> result;
  for (int d = 0; d < rank; ++d) result.emplace_back(coordinate(d));
  return result;
}

ir::Box box_of(const std::string& what, const BoxAt& box, const Where& where) {
  if (!box.min.empty() && static_cast<int>(box.min.size()) != box.extents.rank()) {
    throw Error(fmt::format("the box of {} has {} extents but {} origin{}", what, box.extents.rank(),
                            box.min.size(), box.min.size() == 1 ? "" : "s"),
                where);
  }
  ir::Box result;
  for (int d = 0; d < box.extents.rank(); ++d) {
    result.push_back({box.min.empty() ? ir::Affine(0) : box.min[d].affine(), box.extents[d].affine()});
    check_size(what, result.back().min, where);
    check_size(what, result.back().extent, where);
  }
  return result;
}

ir::Box visible_box(const std::shared_ptr<const ir::Stage>& source) {
  ir::Box box = source->box;
  if (!source->is_input()) return box;
  const auto with_owner = [&](const ir::Atom& atom) {
    const auto& size = std::get<ir::Size>(atom);
    return ir::Affine(ir::Atom(ir::Size{size.image, size.dim, size.input ? size.input : source}));
  };
  for (ir::Range& range : box)
    range = {range.min.substitute(with_owner), range.extent.substitute(with_owner)};
  return box;
}

ir::Expr converted(Type type, const ir::Expr& value) {
  const ir::Expr scalars = ir::cast(ir::CastMode::Convert, type.lane(), value);
  return scalars->type.lanes == 1 && type.lanes > 1 ? ir::pack(std::vector(type.lanes, scalars)) : scalars;
}

namespace {

/// The digits that a type keeps exactly, without the sign.
int digits(Scalar s) {
  if (s == Scalar::Bool) return 1;
  if (is_float(s)) return s == Scalar::F16 ? 11 : s == Scalar::F32 ? 24 : 53;
  return 8 * size_of(s) - (is_signed(s) ? 1 : 0);
}

bool has_same_value(const ir::Value& value, Scalar to) {
  const Scalar from = value.type.scalar;
  for (int l = 0; l < value.type.lanes; ++l) {
    const ir::Number there = ir::convert(ir::CastMode::Convert, from, to, value.lane[l]);
    const ir::Number back = ir::convert(ir::CastMode::Convert, to, from, there);
    if (is_float(from) ? back.f != value.lane[l].f : back.i != value.lane[l].i) return false;
  }
  return true;
}

}  // namespace

bool keeps_values(const ir::Expr& value, Scalar to) {
  const auto* constant = std::get_if<ir::Const>(&value->op);
  return (constant != nullptr && has_same_value(constant->value, to)) || keeps_values(value->type.scalar, to);
}
bool keeps_values(Scalar from, Scalar to) {
  if (is_float(from) && !is_float(to)) return false;
  return digits(from) <= digits(to) && (is_signed(to) || !is_signed(from));
}

std::string how_to_fit(Scalar from, Scalar to) {
  const std::string type = cpp_name(to);
  if (is_float(to))
    return fmt::format("write cast<{}>(…), which rounds{}", type,
                       from == Scalar::F64 ? "; 0.5 is a double, 0.5f a float" : "");
  return fmt::format("say how it is to fit: saturate<{0}>(…) rounds and clamps, cast<{0}>(…) {1}", type,
                     is_float(from) ? "cuts off the fraction" : "wraps");
}

std::shared_ptr<const ir::Stage> checked(ir::Stage stage) {
  if (stage.name.empty()) throw Error("a stage needs a name", stage.where);
  check_scopes(stage);
  return std::make_shared<const ir::Stage>(std::move(stage));
}

std::shared_ptr<const ir::Stage> define_stage(const std::string& name, const ir::Box& box, const Cases& cases,
                                              const Where& where) {
  if (cases.list().empty()) throw Error(fmt::format("stage '{}' has no cases", name), where);
  ir::Pure pure;
  Type type = cases.list()[0].value.type();
  for (const Cases::Case& c : cases.list()) {
    if (c.value.type() != type) type = ir::common_type(type, c.value.type());
  }
  for (const Cases::Case& c : cases.list()) {
    pure.cases.push_back({c.condition ? c.condition->node() : nullptr, converted(type, c.value.node())});
  }
  return checked({name, type, box, std::move(pure), where});
}

Stage with_need(const Stage& stage, const ir::Need& need) {
  ir::Stage copy = *stage.node();
  copy.need = std::make_shared<const ir::Need>(need);
  return Stage(std::make_shared<const ir::Stage>(std::move(copy)));
}

Stage placed(const std::string& name, const Where& where, const std::function<Stage()>& define) {
  try {
    return define();
  } catch (const Error& e) {
    throw e.within(fmt::format("stage '{}'", name), where);
  }
}

}  // namespace weft::dsl

namespace weft {

using dsl::coordinate;

namespace {

std::shared_ptr<const ir::Stage> input_stage(const std::string& name, Type type, const ir::Box& box,
                                             const Where& where) {
  auto stage = std::make_shared<const ir::Stage>(ir::Stage{name, type, box, ir::Input{}, where});
  if (auto* builder = dsl::Builder::current()) builder->inputs.push_back(stage);
  return stage;
}

ir::Box whole_image(const std::string& name, int rank) {
  ir::Box box;
  for (int d = 0; d < rank; ++d) box.push_back({0, ir::Affine(ir::Atom(ir::Size{name, d}))});
  return box;
}

void check_rank(const Source& source, std::size_t given, const Where& where) {
  if (source.rank() != static_cast<int>(given)) {
    throw Error(fmt::format("'{}' is read with {} ind{}", source.name(), given, given == 1 ? "ex" : "ices"),
                where)
        .note("needs", fmt::format("{}, one per dimension", source.rank()));
  }
}

ir::Index index_of(const At& at, const Source& source) {
  if (at.affine) return at.affine->affine();
  if (const Type type = at.computed->type(); type.lanes > 1) {
    throw Error(fmt::format("'{}' is read at an index of type {}", source.name(), name_of(type)), at.where)
        .help("an index is a scalar; take one lane of the pixel with .lane(i)");
  }
  if (const Type type = at.computed->type(); is_float(type.scalar)) {
    throw Error(fmt::format("'{}' is read at an index of type {}", source.name(), name_of(type)), at.where)
        .help(
            "an index is an integer: cast<int>(v) rounds towards 0, cast<int>(floor(v)) down; "
            ".interpolate(Interpolation::Bilinear) reads between the pixels");
  }
  return at.computed->node();
}

ir::Border border_of(const Border& border, const Source& source, const Where& where) {
  ir::Border result{static_cast<ir::BorderMode>(border.mode()), nullptr};
  if (border.mode() != Border::Mode::Constant) return result;
  result.constant = dsl::converted(source.type(), border.value().node());
  if (result.constant->type == source.type()) return result;
  throw Error(fmt::format("the border of '{}' is {} but its pixels are {}", source.name(),
                          name_of(border.value().type()), name_of(source.type())),
              where)
      .help("give as many lanes as the pixels have, or one for all of them");
}

std::vector<At> current_pixel(int rank) {
  std::vector<At> indices;
  for (int d = 0; d < rank; ++d) {
    indices.emplace_back(Index(coordinate(d)));
    indices.back().where = {};
  }
  return indices;
}

}  // namespace

// ---- borders, boxes, indices -----------------------------------------------------------------------------

Border Border::named(const std::string& mode, const Expr& value, std::source_location here) {
  if (mode == "clamp") return clamp();
  if (mode == "mirror") return mirror();
  if (mode == "mirror101") return mirror101();
  if (mode == "repeat") return repeat();
  if (mode == "constant") return constant(value);
  throw Error(fmt::format("'{}' is no border mode", mode), here)
      .note("modes", "clamp, mirror, mirror101, repeat, constant");
}

Extents Extents::operator/(std::int64_t divisor) const {
  std::vector<Index> result;
  for (const Index& e : extents_) result.push_back(e / divisor);
  return result;
}
Extents Extents::operator*(std::int64_t factor) const {
  std::vector<Index> result;
  for (const Index& e : extents_) result.push_back(e * factor);
  return result;
}

At::At(const Index& index, std::source_location here) : affine(index), where(here) {}

// ---- sources and accessors -------------------------------------------------------------------------------

Source::operator Expr() const { return Accessor(*this); }
Expr Source::operator()(At x) const { return Accessor(*this)(x); }
Expr Source::operator()(At x, At y) const { return Accessor(*this)(x, y); }
Expr Source::operator()(At x, At y, At z) const { return Accessor(*this)(x, y, z); }
Expr Source::operator()(At x, At y, At z, At w) const { return Accessor(*this)(x, y, z, w); }

Accessor Source::border(const Border& border) const { return Accessor(*this).border(border); }
Accessor Source::valid() const { return Accessor(*this).valid(); }
Accessor Source::crop(const std::vector<Index>& min, const Extents& extents,
                      std::source_location here) const {
  if (static_cast<int>(min.size()) != rank() || extents.rank() != rank()) {
    throw Error(fmt::format("a crop of '{}' needs {} coordinates and extents", name(), rank()), here);
  }
  Accessor result(*this);
  result.origin_ = min;
  result.extents_ = extents;
  return result;
}

Expr Source::pixel(const std::source_location& here) const {
  node(here);
  return *this;
}

const std::shared_ptr<const ir::Stage>& Source::node(const Where& reader) const {
  if (node_) return node_;
  Error error("a stage is read that is not defined yet", reader);
  // Where a container of the standard library made it says nothing.
  const Where declared = declared_;
  if (declared.file.find("/c++/") == std::string::npos)
    error.note("declared", fmt::format("{}:{}", declared.file, declared.line));
  throw error.help(
      "define it first. Stages cannot read each other in a cycle; what an earlier step has computed is read "
      "in "
      "evolve()");
}
const std::string& Source::name() const { return node()->name; }
Type Source::type() const { return node()->type; }
int Source::rank() const { return node()->rank(); }
Extents Source::size() const {
  std::vector<Index> extents;
  for (const ir::Range& range : dsl::visible_box(node())) extents.emplace_back(Index(range.extent));
  return extents;
}

Accessor::Accessor(const Source& source) : source_(source) {}

Accessor Accessor::border(const Border& border) const {
  Accessor result = *this;
  result.border_ = border;
  return result;
}

Accessor Accessor::valid() const {
  Accessor result = *this;
  result.valid_ = true;
  return result;
}

Extents Accessor::size() const { return extents_ ? *extents_ : source_.size(); }

Expr Accessor::read(const std::vector<At>& indices) const {
  const Where& where = indices.empty() ? Where{} : indices[0].where;
  source_.node(where);
  check_rank(source_, indices.size(), where);
  ir::Read read{source_.node(), {}, std::nullopt, source_.node()->box, where};
  for (std::size_t d = 0; d < indices.size(); ++d) {
    ir::Index index = index_of(indices[d], source_);
    if (!origin_.empty()) {
      const ir::Affine& origin = origin_[d].affine();
      read.region[d] = {origin, (*extents_)[static_cast<int>(d)].affine()};
      if (auto* affine = std::get_if<ir::Affine>(&index))
        *affine += origin;
      else
        index = ir::binary(ir::BinaryOp::Add, std::get<ir::Expr>(index), ir::quantity(origin));
    }
    read.indices.push_back(std::move(index));
  }
  if (border_) read.border = border_of(*border_, source_, where);
  return Expr(ir::read(std::move(read)));
}

Accessor::operator Expr() const { return read(current_pixel(rank())); }
Expr Accessor::operator()(At x) const { return read({x}); }
Expr Accessor::operator()(At x, At y) const { return read({x, y}); }
Expr Accessor::operator()(At x, At y, At z) const { return read({x, y, z}); }
Expr Accessor::operator()(At x, At y, At z, At w) const { return read({x, y, z, w}); }
Expr Accessor::operator()(const Tap& tap) const {
  std::vector<At> indices = current_pixel(rank());
  for (int d = 0; d < std::min(rank(), tap.rank()); ++d) indices[d].affine = *indices[d].affine + tap[d];
  return read(indices);
}

// ---- images ----------------------------------------------------------------------------------------------

AnyImage::AnyImage(const char* name, const std::vector<Scalar>& scalars, const std::vector<int>& lanes,
                   std::source_location here)
    : Source([&] {
        auto* builder = dsl::Builder::current();
        const Type type =
            builder ? builder->image_type(name, scalars, lanes, 2) : Type{scalars.at(0), lanes.at(0)};
        return input_stage(name, type, whole_image(name, 2), here);
      }()) {}

AnyImage::AnyImage(const char* name, Type type, int rank, const Where& where)
    : Source(input_stage(name, type, whole_image(name, rank), where)) {
  if (auto* builder = dsl::Builder::current()) builder->image_type(name, {type.scalar}, {type.lanes}, rank);
}

AnyImage::AnyImage(const char* name, Type type, const Extents& extents, const Where& where)
    : Source(input_stage(name, type, dsl::box_of(fmt::format("image '{}'", name), {{}, extents}, where),
                         where)) {
  if (auto* builder = dsl::Builder::current())
    builder->image_type(name, {type.scalar}, {type.lanes}, extents.rank());
}

// ---- stages ----------------------------------------------------------------------------------------------

Cases& Cases::when(const Expr& condition, const Expr& value, std::source_location here) {
  if (const Type type = condition.type(); type.lanes > 1) {
    throw Error(fmt::format("the condition of a case has type {}", name_of(type)), here)
        .help("a condition is one bool; to choose lane by lane, use select");
  }
  list_.push_back({Expr(ir::is_true(condition.node())), value});
  return *this;
}
Cases& Cases::otherwise(const Expr& value) {
  list_.push_back({std::nullopt, value});
  return *this;
}

namespace detail {

Cases as_cases(const Expr& value) { return Cases().otherwise(value); }

BoxAt box_from_zero(const Extents& extents) { return {{}, extents}; }

void check_arity(const std::string& name, int arity, int rank, const Where& where) {
  if (arity == rank) return;
  std::string signature;
  for (int d = 0; d < rank; ++d) signature += (d == 0 ? "Var " : ", Var ") + ir::dim_name(d);
  throw Error(fmt::format("the body of '{}' takes {} coordinate{} but runs over {} dimension{}", name, arity,
                          arity == 1 ? "" : "s", rank, rank == 1 ? "" : "s"),
              where)
      .help(fmt::format("give one coordinate per dimension: [&]({}) {{ … }}", signature));
}

Stage make_stage(const std::string& name, const BoxAt& box, const Body& body, const Where& where) {
  return dsl::placed(name, where, [&] {
    const ir::Box checked = dsl::box_of(fmt::format("stage '{}'", name), box, where);
    return Stage(dsl::define_stage(name, checked, body(dsl::coordinates(box.extents.rank())), where));
  });
}

}  // namespace detail

namespace {

/// The part of [a.min, a.min + a.extent) inside b, if the two differ by constants.
std::optional<ir::Range> intersection(const ir::Range& a, const ir::Range& b) {
  const ir::Affine low = a.min - b.min, high = a.min + a.extent - b.min - b.extent;
  if (!low.is_constant() || !high.is_constant()) return std::nullopt;
  const ir::Affine min = low.constant() >= 0 ? a.min : b.min;
  const ir::Affine end = high.constant() <= 0 ? a.min + a.extent : b.min + b.extent;
  return ir::Range{min, end - min};
}

/// Where the current pixel of what is read lies in coordinates of the reader: the source's box, or a crop's,
/// which begins at 0. Nothing for a read of another pixel.
std::optional<ir::Box> box_at_current_pixel(const ir::Read& read) {
  bool at_pixel = true, in_crop = true;
  ir::Box crop;
  for (std::size_t d = 0; d < read.indices.size(); ++d) {
    const auto* index = std::get_if<ir::Affine>(&read.indices[d]);
    if (!index) return std::nullopt;
    const ir::Affine shift = *index - coordinate(static_cast<int>(d));
    at_pixel &= shift.is_constant(0);
    in_crop &= shift == read.region[d].min;
    crop.push_back({0, read.region[d].extent});
  }
  if (!at_pixel) return in_crop ? std::optional(crop) : std::nullopt;
  return read.region == read.source->box ? dsl::visible_box(read.source) : read.region;
}

/// "2-D, x extent in.w": as much as the message about a difference in dimension d needs.
std::string spelt(const ir::Box& box, std::size_t d) {
  std::string text = fmt::format("{}-D", box.size());
  if (d < box.size())
    text += fmt::format(", {} extent {}", ir::dim_name(static_cast<int>(d)), box[d].extent.to_string());
  return text;
}

}  // namespace

ir::Box dsl::common_box(const std::string& name, const ir::Expr& value, const std::string& general_form,
                        const Where& where) {
  const ir::Read* first = nullptr;
  bool reads_scalars = false;
  ir::Box box;
  ir::visit(value, [&](const ir::Expr& e) {
    const auto* read = std::get_if<ir::Read>(&e->op);
    if (!read) return;
    reads_scalars |= read->indices.empty();
    if (read->indices.empty()) return;
    const std::optional<ir::Box> more = box_at_current_pixel(*read);
    if (!more) return;
    if (!first) {
      first = read;
      box = *more;
      return;
    }
    for (std::size_t d = 0; d < std::max(box.size(), more->size()); ++d) {
      std::optional<ir::Range> both;
      if (box.size() == more->size()) both = intersection(box[d], (*more)[d]);
      if (!both) {
        throw Error(fmt::format("stage '{}' reads '{}' and '{}' at the same pixel, but their boxes differ",
                                name, first->source->name, read->source->name),
                    where)
            .note(first->source->name, spelt(box, d))
            .note(read->source->name, spelt(*more, d))
            .help("declare one image with the other's size, or write " + general_form);
      }
      box[d] = *both;
    }
  });
  if (!first && !reads_scalars) {
    throw Error(fmt::format("stage '{}' reads nothing at the current pixel, so its size is unknown", name),
                where)
        .help("write " + general_form);
  }
  return box;
}

namespace {

/// The box of a local operator: the source's, or what the window leaves of it.
BoxAt local_box(const Accessor& source, const ir::Domain& domain) {
  BoxAt box{{}, source.size()};
  const ir::Box whole = dsl::visible_box(source.source().node());
  const bool cropped = !source.origin().empty();
  if (!source.is_valid_only()) {
    if (cropped) return box;
    for (const ir::Range& range : whole) box.min.emplace_back(Index(range.min));
    return box;
  }
  std::vector<Index> extents;
  for (int d = 0; d < source.rank(); ++d) {
    int low = 0, high = 0;
    for (const auto& p : domain.points) {
      if (d < domain.rank) low = std::min(low, p[d]), high = std::max(high, p[d]);
    }
    const Index start = cropped ? Index(0) : Index(whole[d].min);
    box.min.push_back(start - low);
    extents.push_back(source.size()[d] + low - high);
  }
  box.extents = extents;
  return box;
}

Stage local_stage(const std::string& name, const Accessor& source, const ir::Domain& domain,
                  const std::function<Expr()>& value, const Post& post, const Where& where) {
  return dsl::placed(name, where, [&] {
    return detail::make_stage(
        name, local_box(source, domain),
        [&](const std::vector<Var>&) { return detail::as_cases(post ? post(value()) : value()); }, where);
  });
}

}  // namespace

Stage never_empty(const Stage& stage, const std::string& remedy) {
  return dsl::with_need(stage, {stage.name(), {}, 1, stage.node()->where, remedy});
}

Stage point(const std::string& name, const Expr& value, std::source_location here) {
  return dsl::placed(name, here, [&] {
    const std::string general_form =
        fmt::format("stage(\"{}\", size, [&](Var x, Var y) {{ return …; }})", name);
    const ir::Box box = dsl::common_box(name, value.node(), general_form, here);
    return Stage(dsl::define_stage(name, box, detail::as_cases(value), here));
  });
}

Stage convolve(const std::string& name, const Accessor& source, const Mask& mask, std::source_location here) {
  return convolve(name, source, mask, Post(), here);
}

Stage convolve(const std::string& name, const Accessor& source, const Mask& mask, const Post& post,
               std::source_location here) {
  const Domain domain(mask, here);
  return local_stage(
      name, source, domain.node(), [&] { return sum(domain, [&](Tap t) { return mask(t) * source(t); }); },
      post, here);
}

Stage local(const std::string& name, const Accessor& source, const Domain& domain, Local op,
            std::source_location here) {
  return local(name, source, domain, op, Post(), here);
}

Stage local(const std::string& name, const Accessor& source, const Domain& domain, Local op, const Post& post,
            std::source_location here) {
  const auto value = [&](Tap t) { return source(t); };
  const auto apply = [&]() -> Expr {
    switch (op) {
      case Local::Sum: return sum(domain, value);
      case Local::Min: return minimum(domain, value);
      case Local::Max: return maximum(domain, value);
      case Local::Product: return product(domain, value);
      case Local::Median: return median(domain, value);
      case Local::Mean: break;
    }
    const auto count = static_cast<int>(domain.node().points.size());
    const Expr total = sum(domain, value);
    return is_float(total.type().scalar) ? total / cast(total.type().lane(), count)
                                         : cast<float>(total) / static_cast<float>(count);
  };
  return local_stage(name, source, domain.node(), apply, post, here);
}

}  // namespace weft
