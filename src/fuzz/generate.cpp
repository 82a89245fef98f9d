#include "fuzz/generate.h"

#include <functional>

#include "dsl/stage_parts.h"
#include "fuzz/build.h"
#include "fuzz/terms.h"
#include "ir/build.h"

namespace weft::fuzz {
namespace {

constexpr const char* no_stage = "no stage could be drawn";

constexpr std::size_t most_dims = 4;  // coordinates have no more names

class Generator {
 public:
  /// Every fourth recipe is one whose stages are kept to what can march, to a reduction now and then; every eighth ends with
  /// volumes whose planes do not meet.
  explicit Generator(std::uint64_t seed)
      : dice_(seed), marches_(seed % 4 == 1), ends_with_planes_(seed % 8 == 2) {
    recipe_.seed = seed;
  }

  Recipe recipe() {
    recipe_.strict = dice_.chance(0.6);
    for (int i = dice_.between(1, 3); i > 0; --i) recipe_.images.push_back(image());
    for (int p = dice_.below(3); p > 0; --p) recipe_.params.push_back({dice_.scalar(), dice_.below(8)});
    bounds_.emplace(recipe_);
    for (int s = dice_.between(marches_ ? 3 : 1, 6); s > 0; --s) add_stage(&Generator::draw);
    if (marches_ && dice_.chance(0.5)) add_stage(&Generator::reduction_stage);
    const int before_planes = static_cast<int>(recipe_.stages.size());
    if (ends_with_planes_) add_planes();
    const int last = static_cast<int>(recipe_.stages.size()) - 1;
    recipe_.outputs = {last};
    for (int s = 0; s < std::min(last, before_planes); ++s) {
      const bool is_field = recipe_.stages[static_cast<std::size_t>(s)].kind == Stage::Kind::Evolve;
      if (dice_.chance(is_field ? 0.5 : marches_ ? 0.05 : 0.25)) recipe_.outputs.push_back(s);
    }
    for (int r = 0; r < 3; ++r) recipe_.runs.push_back(run(r));
    return recipe_;
  }

 private:
  // ---- images ----

  Image image() {
    Image image{.type = {dice_.scalar(), dice_.chance(0.65) ? 1 : dice_.between(2, 4)}};
    image.extreme = recipe_.strict && dice_.chance(0.3);
    image.special = !recipe_.strict && dice_.chance(0.25);
    image.rank = marches_ || dice_.chance(0.7) ? 2 : dice_.below(5);
    if (!recipe_.images.empty() && dice_.chance(0.4)) {  // as large as another one
      const int other = dice_.below(static_cast<int>(recipe_.images.size()));
      image.rank = recipe_.images[other].rank;
      for (const Range& range : recipe_.box_of(other)) image.extents.push_back(range.extent);
    } else if (dice_.chance(0.1)) {
      for (int d = 0; d < image.rank; ++d) image.extents.push_back({.offset = dice_.between(1, 9)});
    }
    return image;
  }

  Run run(int kind) {
    Run run;
    for (const Image& image : recipe_.images) {
      std::vector<std::int64_t> extents;
      const int along = dice_.below(std::max(1, image.rank));
      const int most = image.rank == 1 ? 300 : image.rank == 2 ? 36 : image.rank == 3 ? 10 : 5;
      for (int d = 0; d < image.rank; ++d) {
        const int line = d == along ? dice_.between(1, 40) : 1;
        extents.push_back(kind == 0 ? dice_.between(1, 3) : kind == 1 ? line : dice_.between(most / 3, most));
      }
      // Wider than strips that keep much of each pixel.
      if (marches_ && kind == 2) {
        extents[0] = dice_.between(most, 12 * most);
        if (image.rank > 1) extents[1] *= 2;
      }
      if (!image.extents.empty()) extents.clear();
      run.extents.push_back(extents);
    }
    return run;
  }

  // ---- stages ----

  int source_count() const { return static_cast<int>(recipe_.images.size() + recipe_.stages.size()); }

  void add_stage(std::optional<Stage> (Generator::*kind)()) {
    for (int attempt = 0; attempt < 50; ++attempt) {
      if (dice_.chance(marches_ ? 0.08 : 0.12) && add_evolution()) return;
      if (add((this->*kind)())) return;
    }
    if (recipe_.stages.empty()) throw InternalError(no_stage);
  }
  bool add(const std::optional<Stage>& stage) {
    const std::optional<Bound> bound = stage ? bounds_->of(*stage) : std::nullopt;
    if (!bound) return false;
    recipe_.stages.push_back(*stage);
    bounds_->add(*bound);
    return true;
  }

  std::optional<Stage> draw() {
    if (marches_) {
      if (dice_.chance(0.15)) return pyramid();
      return dice_.chance(0.4) ? point() : window_stage();
    }
    const int dice = dice_.below(10);
    if (dice < 2) return point();
    if (dice < 5) return window_stage();
    if (dice == 5) return dice_.chance(0.6) ? reduction_stage() : scatter();
    if (dice == 6 && dice_.chance(0.7)) return dice_.chance(0.7) ? resized() : pyramid();
    return body();
  }

  /// The newest source often, so that chains come about.
  int any_source() { return dice_.chance(0.5) ? source_count() - 1 : dice_.below(source_count()); }

  Context context(int lanes, int depth) {
    Context result;
    result.lanes = lanes;
    result.depth = depth;
    return result;
  }

  int any_lanes() { return dice_.chance(0.6) ? 1 : dice_.between(2, 4); }

  std::optional<Stage> point() {
    const int first = any_source();
    const Box box = recipe_.box_of(first);
    if (box.empty()) return std::nullopt;
    Context inside = context(dice_.chance(0.5) ? recipe_.type_of(first).lanes : any_lanes(), 3);
    for (int s = 0; s < source_count(); ++s) {
      const Box other = recipe_.box_of(s);
      const bool fits = std::equal(box.begin(), box.end(), other.begin(), other.end(),
                                   [](const Range& a, const Range& b) { return a.like(b); });
      if (fits || other.empty()) inside.at_pixel.push_back(s);
    }
    Stage stage{.kind = Stage::Kind::Point};
    Terms terms(recipe_, *bounds_, dice_);
    stage.cases = {{{}, terms.term(inside)}};
    stage.type = stage.cases[0].value.type;
    bool has_box = false;
    each_access(stage, [&](Access& access) {
      const Box one = recipe_.box_of(access.source);
      if (one.empty()) return;
      stage.box = has_box ? common(stage.box, one) : one;
      has_box = true;
    });
    if (!has_box) return std::nullopt;
    return stage;
  }

  std::optional<Stage> reduction_stage() {
    using Kind = weft::Reduce::Kind;
    std::optional<Stage> stage = dice_.chance(0.5) ? point() : elements();
    if (!stage) return std::nullopt;
    stage->kind = Stage::Kind::Reduce;
    stage->reduce = dice_.chance(0.3) ? Kind::Custom : static_cast<Kind>(dice_.below(6));
    if (stage->reduce == Kind::Custom) combine_integers(*stage);
    const bool picks_place = stage->reduce == Kind::ArgMin || stage->reduce == Kind::ArgMax;
    if (picks_place && stage->type.lanes > 1) return std::nullopt;
    const Box& over = stage->over.empty() ? stage->box : stage->over;
    stage->type = type_of_reduction(*stage, stage->type, static_cast<int>(over.size()));
    stage->box.clear();
    return stage;
  }

  /// The body of a reduction over a box.
  std::optional<Stage> elements() {
    const Box base = recipe_.box_of(any_source());
    if (base.empty()) return std::nullopt;
    Stage stage;
    for (const Range& one : base) stage.over.push_back(range(&one));
    Context inside = context(any_lanes(), 2);
    for (int s = 0; s < source_count(); ++s) inside.sources.push_back(s);
    inside.box = stage.over;
    stage.cases = {{{}, Terms(recipe_, *bounds_, dice_).term(inside)}};
    stage.type = stage.cases[0].value.type;
    return stage;
  }

  /// Makes the elements integers, or pairs of them.
  void combine_integers(Stage& stage) {
    Term& element = stage.cases.at(0).value;
    const Scalar scalar = dice_.one_of<Scalar>({Scalar::I8, Scalar::I16, Scalar::I32, Scalar::I64, Scalar::U8,
                                                Scalar::U16, Scalar::U32, Scalar::U64});
    element = Terms::cast(Term::Kind::Cast, scalar, element);
    stage.associative = static_cast<Associative>(dice_.below(4));
    if (stage.associative == Associative::Affine) {
      Term lane{.kind = Term::Kind::Lane, .type = element.type.lane(), .id = element.type.lanes - 1};
      lane.operands = {element};
      const Term factor = element.type.lanes == 1 ? element : lane;
      Term shift = Terms::operation(Op::Add, {factor, Terms::cast(Term::Kind::Cast, scalar, one(scalar))});
      element = {.kind = Term::Kind::Pack, .type = {}};
      element.operands = {factor, Terms::cast(Term::Kind::Cast, scalar, shift)};
      element.type = {scalar, 2};
    }
    stage.type = element.type;
  }

  static Term one(Scalar scalar) {
    return {.kind = Term::Kind::Literal, .type = {scalar, 1}, .literal = ir::Value::integer({scalar, 1}, 1)};
  }

  // ---- resampling ----

  std::optional<Stage> resized() {
    Stage stage{.kind = Stage::Kind::Resize};
    const int source = any_source();
    Box box = recipe_.box_of(source);
    if (box.empty() || box.size() > 3) return std::nullopt;
    Terms terms(recipe_, *bounds_, dice_);
    stage.access = terms.bordered(source, context(1, 0));
    stage.interpolation = static_cast<Interpolation>(dice_.below(4));
    for (const Range& one : stage.access.crop.empty() ? box : stage.access.crop) {
      const int dice = dice_.below(4);
      Size extent = one.extent;
      if (dice == 0) extent = {.offset = dice_.between(1, 9)};
      if (dice == 1) extent = divided(extent, dice_.between(2, 3));
      if (dice == 2) extent = multiplied(extent, 2).value_or(extent);
      stage.box.push_back({{}, extent});
    }
    stage.window_type = Terms::type_of(stage.interpolation, recipe_.type_of(source));
    stage.type = stage.window_type;
    draw_post(stage, terms);
    return stage;
  }

  std::optional<Stage> pyramid() {
    Stage stage{.kind = Stage::Kind::Pyramid};
    const int source = any_source();
    stage.box = recipe_.box_of(source);
    const bool fits =
        !stage.box.empty() && stage.box.size() <= 3 &&
        std::all_of(stage.box.begin(), stage.box.end(), [](const Range& r) { return is_zero(r.min); });
    if (!fits) return std::nullopt;
    stage.access = Terms(recipe_, *bounds_, dice_).bordered(source, context(1, 0));
    stage.access.crop.clear();
    stage.levels = dice_.between(2, 3);
    const Type pixel = recipe_.type_of(source);
    stage.type = {pixel.scalar == Scalar::F64 ? Scalar::F64 : Scalar::F32, pixel.lanes};
    return stage;
  }

  void draw_post(Stage& stage, Terms& terms) {
    if (!dice_.chance(0.4)) return;
    Context inside = context(stage.window_type.lanes, 2);
    inside.given = stage.window_type;
    stage.post = {terms.term(inside)};
    stage.type = stage.post[0].type;
  }

  std::optional<Stage> scatter() {
    Stage stage{.kind = Stage::Kind::Scatter};
    const int over = any_source();
    Context inside = context(1, 2);
    inside.box = recipe_.box_of(over);
    if (inside.box.empty()) return std::nullopt;
    for (int s = 0; s < source_count(); ++s) inside.sources.push_back(s);
    Terms terms(recipe_, *bounds_, dice_);
    stage.access.source = over;
    stage.update = static_cast<ScatterUpdate::Op>(dice_.below(4));
    stage.initial = terms.literal(dice_.scalar());
    stage.type = stage.initial.type;
    if (dice_.chance(0.5)) add_cells(stage, inside.box);
    const int others = stage.at.empty() ? dice_.between(1, 2) : dice_.below(2);
    for (int d = 0; d < others && stage.box.size() < most_dims; ++d) {
      stage.box.push_back({{}, {.offset = dice_.between(1, 8)}});
      stage.at.push_back(terms.integer(inside));
      if (dice_.chance(0.8))
        stage.at.back() = Terms::operation(Op::Rem, {stage.at.back(), terms.literal(Scalar::I32)});
    }
    stage.cases = {{{}, stored(terms.term(inside), stage.type.scalar)}};
    return stage;
  }

  /// Dimensions of cells of `points` points, in any order, mirrored or not; some of the points are in none.
  void add_cells(Stage& stage, const Box& points) {
    const int rank = static_cast<int>(points.size()), first = dice_.below(rank);
    for (int d = 0; d < rank; ++d) {
      const int along = (first + d) % rank, divisor = dice_.between(1, 9);
      Size extent = points[along].extent;
      extent.divisor *= divisor;
      extent.offset = std::max(extent.offset, 1);
      Term at{.kind = Term::Kind::Position, .type = {Scalar::I64, 1}};
      at.position = {.coordinate = along, .scale = dice_.chance(0.2) ? -1 : 1, .divisor = divisor};
      at.position.offset = {.offset = dice_.between(-3, 12)};
      stage.box.push_back({{}, extent});
      stage.at.push_back(std::move(at));
    }
  }

  // ---- evolutions ----

  /// The fields are stages from the start, so that updates can read them.
  bool add_evolution() {
    const int first_source = source_count();
    const std::size_t first = recipe_.stages.size();
    const auto abandon = [&] { return recipe_.stages.resize(first), false; };
    const int fields = dice_.chance(0.5) ? 1 : dice_.between(2, 3);
    std::vector<Type> types;
    const int start = dice_.below(first_source);
    for (int f = 0; f < fields; ++f) {
      Stage stage{.kind = Stage::Kind::Evolve};
      stage.access.source = dice_.chance(0.6) ? start : dice_.below(first_source);
      stage.box = recipe_.box_of(stage.access.source);
      if (stage.box.empty()) return abandon();
      stage.type = recipe_.type_of(stage.access.source);
      stage.field = f, stage.fields = fields;
      if (dice_.chance(0.2)) stage.frozen = dice_.between(1, 3);
      types.push_back(stage.type);
      recipe_.stages.push_back(stage);
    }
    bounds_->assume_fields(first_source, types);
    const Term steps = steps_term();
    for (int f = 0; f < fields; ++f) {
      recipe_.stages[first + static_cast<std::size_t>(f)].steps = {steps};
      recipe_.stages[first + static_cast<std::size_t>(f)].cases = update_cases(first_source, fields, f);
    }
    const auto at = recipe_.stages.begin() + static_cast<std::ptrdiff_t>(first);
    const auto bounds = bounds_->of_evolution({at, recipe_.stages.end()}, first_source);
    if (!bounds) return abandon();
    for (const Bound& bound : *bounds) bounds_->add(bound);
    return true;
  }

  /// A constant, or a parameter that counts.
  Term steps_term() {
    if (dice_.chance(0.4)) {
      Term steps{.kind = Term::Kind::Literal, .type = {Scalar::I32, 1}};
      steps.literal = ir::Value::integer(steps.type, dice_.between(0, marches_ ? 9 : 4));
      return steps;
    }
    auto count = std::find_if(recipe_.params.begin(), recipe_.params.end(),
                              [](const Parameter& p) { return is_integer(p.scalar); });
    if (count == recipe_.params.end())
      count = recipe_.params.insert(recipe_.params.end(), {Scalar::I32, dice_.below(4)});
    return {.kind = Term::Kind::Parameter,
            .type = {count->scalar, 1},
            .id = static_cast<int>(count - recipe_.params.begin())};
  }

  std::vector<Case> update_cases(int first_source, int fields, int field) {
    const Stage& stage =
        recipe_.stages[static_cast<std::size_t>(first_source - recipe_.first_stage() + field)];
    Context inside = context(stage.type.lanes, 2);
    for (int s = 0; s < first_source; ++s) inside.sources.push_back(s);
    inside.box = stage.box;
    inside.first_field = first_source, inside.fields = fields, inside.field = field;
    inside.marches = marches_;
    inside.taps = 5;  // there are several steps
    Terms terms(recipe_, *bounds_, dice_);
    std::vector<Case> cases;
    if (dice_.chance(0.25)) cases.push_back(guarded(terms, inside));
    cases.push_back({{}, terms.term(inside)});
    for (Case& c : cases) c.value = stored(c.value, stage.type.scalar);
    return cases;
  }

  /// Fields and bins keep their type, so what does not fit it is cast.
  static Term stored(const Term& value, Scalar scalar) {
    if (dsl::keeps_values(value.type.scalar, scalar)) return value;
    return {.kind = Term::Kind::Cast, .type = {scalar, value.type.lanes}, .operands = {value}};
  }

  static Box common(Box a, const Box& b) {
    for (std::size_t d = 0; d < a.size(); ++d) {
      const int min = std::max(a[d].min.offset, b[d].min.offset);
      const int end = std::min(a[d].min.offset + a[d].extent.offset, b[d].min.offset + b[d].extent.offset);
      a[d].min.offset = min, a[d].extent.offset = end - min;
    }
    return a;
  }

  std::optional<Stage> window_stage() {
    const bool is_convolution = dice_.chance(0.5);
    return window_over(any_source(), is_convolution);
  }
  std::optional<Stage> window_over(int source, bool is_convolution) {
    Stage stage{.kind = is_convolution ? Stage::Kind::Convolve : Stage::Kind::Local};
    const Type pixel = recipe_.type_of(source);
    Box whole = recipe_.box_of(source);
    if (whole.empty()) return std::nullopt;
    Terms terms(recipe_, *bounds_, dice_);
    stage.window = terms.window(25);
    if (dice_.chance(0.04)) stage.window = Window{dice_.between(6, 14), dice_.between(6, 14)};
    stage.local = static_cast<weft::Local>(dice_.below(6));
    if (stage.kind == Stage::Kind::Convolve && stage.window.coefficients.empty()) {
      if (stage.window.depth > 0 || !stage.window.listed.empty()) return std::nullopt;
      for (int i = stage.window.width * stage.window.height; i > 0; --i)
        stage.window.coefficients.push_back(dice_.between(1, 3));
    }
    stage.access = terms.bordered(source, context(1, 0));
    if (marches_) stage.access.crop.clear();
    if (!stage.access.crop.empty()) {
      whole.clear();
      for (const Range& range : stage.access.crop) whole.push_back({{}, range.extent});
    }
    if (dice_.chance(0.15)) {
      stage.access.border.reset();
      stage.access.constant.clear();
      stage.access.valid = true;
      shrink(whole, stage.window);
    }
    stage.box = whole;
    stage.window_type = type_of_window(stage, pixel);
    stage.type = stage.window_type;
    draw_post(stage, terms);
    return stage;
  }

  /// What `valid` leaves.
  static void shrink(Box& box, const Window& window) {
    const Box before = box;
    const int rank = window.depth > 0 ? 3 : 2;
    for (int d = 0; d < std::min(rank, static_cast<int>(box.size())); ++d) {
      int least = window.least(d), greatest = window.greatest(d);
      if (!window.coefficients.empty() || !window.listed.empty()) used_extent(window, d, least, greatest);
      box[d].min.offset -= least;
      box[d].extent.offset += least - greatest;
    }
  }

  static void used_extent(const Window& window, int d, int& least, int& greatest) {
    least = greatest = 0;
    for (const auto& point : window.listed)
      least = std::min(least, point[d]), greatest = std::max(greatest, point[d]);
    for (std::size_t i = 0; i < window.coefficients.size(); ++i) {
      if (window.coefficients[i] == 0) continue;
      const int at = d == 0 ? static_cast<int>(i) % window.width : static_cast<int>(i) / window.width;
      least = std::min(least, at + window.least(d)), greatest = std::max(greatest, at + window.least(d));
    }
  }

  static Type type_of_window(const Stage& stage, Type pixel) {
    const auto literal = [](Type type) { return Term{.kind = Term::Kind::Literal, .type = type}; };
    Type type = Terms::operation(Op::Add, {literal(pixel), literal(pixel)}).type;
    if (stage.kind == Stage::Kind::Convolve) {
      const Term product = Terms::operation(Op::Mul, {literal({stage.window.scalar, 1}), literal(pixel)});
      return Terms::operation(Op::Add, {product, product}).type;
    }
    switch (stage.local) {
      case weft::Local::Min:
      case weft::Local::Max:
      case weft::Local::Median: return pixel;
      case weft::Local::Mean: return is_float(type.scalar) ? type : Type{Scalar::F32, type.lanes};
      default: return type;
    }
  }

  // ---- volumes whose planes do not meet ----

  /// A volume of a few planes from pictures, one or two windows over the rows of its planes, and a picture of these. What
  /// cannot be drawn is left out.
  void add_planes() {
    const int picture = any_source();
    const Box box = recipe_.box_of(picture);
    if (box.size() != 2) return;
    std::vector<int> sources;
    for (int s = 0; s < source_count(); ++s) {
      if (recipe_.box_of(s).size() <= 2) sources.push_back(s);
    }
    const Range planes{{.offset = dice_.between(-1, 1)}, {.offset = dice_.between(1, 9)}};
    if (!add_one_of([&] { return plain_body({box[0], box[1], planes}, sources); })) return;
    for (int windows = dice_.between(1, 2); windows > 0; --windows) {
      const int source = source_count() - 1;
      add_one_of([&] {
        std::optional<Stage> stage = window_over(source, dice_.chance(0.5));
        return stage && stage->window.depth == 0 ? stage : std::nullopt;
      });
    }
    const int volume = source_count() - 1;
    add_one_of([&] { return plain_body(box, {volume, volume, picture}); });
  }
  bool add_one_of(const std::function<std::optional<Stage>()>& draw_stage) {
    for (int attempt = 0; attempt < 50; ++attempt) {
      if (add(draw_stage())) return true;
    }
    return false;
  }
  std::optional<Stage> plain_body(const Box& box, std::vector<int> sources) {
    Stage stage{.kind = Stage::Kind::Body};
    stage.box = box;
    Context inside = context(any_lanes(), 3);
    inside.sources = std::move(sources), inside.box = box;
    stage.cases.push_back({{}, Terms(recipe_, *bounds_, dice_).term(inside)});
    stage.type = stage.cases[0].value.type;
    return stage;
  }

  // ---- bodies ----

  std::optional<Stage> body() {
    Stage stage{.kind = Stage::Kind::Body};
    const int base = any_source();
    const Box box = recipe_.box_of(base);
    int rank = static_cast<int>(box.size());
    if (rank == 0 || dice_.chance(0.15)) rank = dice_.between(1, 3);
    for (int d = 0; d < rank; ++d)
      stage.box.push_back(range(d < static_cast<int>(box.size()) ? &box[d] : nullptr));
    Context inside = context(any_lanes(), 3);
    for (int s = 0; s < source_count(); ++s) inside.sources.push_back(s);
    for (int i = 0; i < 3; ++i) inside.sources.push_back(base);
    inside.box = stage.box;
    Terms terms(recipe_, *bounds_, dice_);
    for (int cases = dice_.chance(0.25) ? dice_.between(1, 2) : 0; cases > 0; --cases)
      stage.cases.push_back(guarded(terms, inside));
    stage.cases.push_back({{}, terms.term(inside)});
    stage.type = stage.cases[0].value.type;
    for (const Case& c : stage.cases) {
      if (c.value.type != stage.type) stage.type = ir::common_type(stage.type, c.value.type);
    }
    if (stage.cases.size() == 1) stage.type = stage.cases[0].value.type;
    return stage;
  }

  /// One dimension of a body's box, most often made from that of a source.
  Range range(const Range* base) {
    if (base == nullptr || dice_.chance(0.06))
      return {{.offset = dice_.between(-3, 3)}, {.offset = dice_.chance(0.1) ? 0 : dice_.between(1, 6)}};
    Range result = *base;
    const int dice = dice_.below(16);
    if (dice == 0) {  // a little smaller
      const int low = dice_.below(3), high = dice_.below(3);
      result.min.offset += low, result.extent.offset -= low + high;
    } else if (is_zero(base->min) && dice < 4) {
      result.extent = divided(base->extent, dice_.between(2, 3));
    } else if (is_zero(base->min) && dice == 5) {
      result.extent = multiplied(base->extent, 2).value_or(base->extent);
    } else if (is_zero(base->min) && dice == 6) {
      result = {divided(base->extent, 4), divided(base->extent, 2)};
    }
    return result;
  }

  /// A case for the first or the last few along a dimension, or where some pixels are so. The next cases need
  /// to be right only for the rest.
  Case guarded(Terms& terms, Context& inside) {
    if (dice_.chance(0.3)) {
      Context one = inside.deeper();
      one.lanes = 1;
      Case result{{terms.condition(one)}, terms.term(inside)};
      if (result.when[0].type.lanes > 1) result.when = {terms.literal(Scalar::Bool)};
      return result;
    }
    const int d = dice_.below(static_cast<int>(inside.box.size()));
    const int count = dice_.between(1, 2);
    Context rest = inside;
    Range& range = rest.box[d];
    Term condition;
    if (range.min.image < 0 && dice_.chance(0.5)) {  // the end of the range has a form
      Size end = range.extent;
      end.offset += range.min.offset - count;
      condition = Terms::compared(Op::Ge, d, end);
    } else {
      Size start = range.min;
      start.offset += count;
      condition = Terms::compared(Op::Lt, d, start);
      range.min.offset += count;
    }
    range.extent.offset -= count;
    Case result{{condition}, terms.term(inside)};
    inside = rest;
    return result;
  }

  Recipe recipe_;
  Dice dice_;
  const bool marches_, ends_with_planes_;
  std::optional<Bounds> bounds_;
};

}  // namespace

Recipe random_recipe(std::uint64_t seed) { return Generator(seed).recipe(); }

}  // namespace weft::fuzz
