#include "lower/lower_scatter_bands.h"

#include <algorithm>
#include <limits>

#include "analysis/interior.h"
#include "ir/visit.h"
#include "lower/expressions.h"
#include "lower/lower_stage.h"
#include "lower/rows.h"
#include "lower/strip_pixels.h"
#include "lower/updates.h"

namespace weft::lower {

namespace {

class BandLowering {
 public:
  BandLowering(const KernelContext& context, const plan::ScatterBands& asked)
      : stage_(context.stage()),
        scatter_(std::get<ir::Scatter>(stage_.definition)),
        context_(context),
        layout_(context.layout),
        module_(context.module),
        array_(layout_.arrays.at(&stage_)),
        result_(stage_.box, layout_),
        points_(scatter_.over, layout_),
        asked_(asked),
        bands_(asked.bands),
        interior_(analysis::interior_of(stage_)) {}

  void run() {
    kernel::Function fill = fill_function();
    module_.steps.push_back(kernel::Launch{fill.name, band_count()});
    module_.functions.push_back(std::move(fill));
  }

 private:
  int lanes() const { return stage_.type.lanes; }
  Expr band_count() const { return kernel::min(result_.extent(bands_.dim), literal(asked_.most)); }
  ExpressionLowering expressions_at(Place place, std::vector<Expr> coords) const {
    return {context_, stage_, place, std::move(coords)};
  }
  /// Of the result, what one call computes.
  PartOfBox part() const {
    PartOfBox part{bands_.dim, kernel::name(from_), kernel::name(to_)};
    if (bands_.indices.size() == 1) part.form = bands_.indices[0];
    return part;
  }

  kernel::Function fill_function() {
    kernel::Function function{
        layout_.names.claim(array_.name.spelling() + "_fill"),
        comment_on(stage_, "Bands [first, last) of '" + stage_.name + "' along " + ir::dim_name(bands_.dim) +
                               ", with the updates of the points that change them,"),
        {layout_.variables.first, layout_.variables.last},
        {}};
    // One after another, so that caches have what has just been cleared; columns together, since each goes through all rows.
    Block body;
    const Expr begin = result_.begin(bands_.dim), extent = result_.extent(bands_.dim);
    const kernel::Symbol bands = layout_.names.local("bands"), number = layout_.names.local("band");
    function.body.push_back({kernel::Let{bands, band_count()}});
    const auto bound = [&](const Expr& band) {
      return kernel::add(begin, kernel::div(kernel::mul(extent, band), kernel::name(bands)));
    };
    const Expr band = kernel::name(number), first_band = kernel::name(layout_.variables.first),
               last_band = kernel::name(layout_.variables.last);
    body.push_back({kernel::Let{from_, bound(asked_.are_joined ? first_band : band)}});
    body.push_back({kernel::Let{to_, bound(asked_.are_joined ? last_band : kernel::add(band, literal(1)))}});
    clear(body);
    Expr first, end;
    for (const ir::Affine& form : bands_.indices) {
      const auto [low, high] =
          points_that_lead_to(points_, bands_, form, kernel::name(from_), kernel::name(to_));
      first = first ? kernel::min(first, low) : low, end = end ? kernel::max(end, high) : high;
    }
    body.push_back({kernel::Let{points_from_, kernel::max(points_.begin(bands_.along), first)}});
    body.push_back({kernel::Let{points_to_, kernel::min(points_.end(bands_.along), end)}});
    Block* inner = &body;
    for (int d = points_.rank(); d-- > 1;) {
      inner->push_back({For{LoopKind::Serial, points_.coordinate(d), points_begin(d), points_end(d), {}}});
      inner = &std::get<For>(inner->back().op).body;
    }
    fill_row(*inner);
    if (asked_.are_joined)
      kernel::append(function.body, std::move(body));
    else
      function.body.push_back({For{LoopKind::Serial, number, first_band, last_band, std::move(body)}});
    return function;
  }

  Expr points_begin(int d) const { return d == bands_.along ? kernel::name(points_from_) : points_.begin(d); }
  Expr points_end(int d) const { return d == bands_.along ? kernel::name(points_to_) : points_.end(d); }

  /// The initial value, in the rows of the band.
  void clear(Block& block) {
    ExpressionLowering expressions = expressions_at(Place::Anywhere, points_.coords());
    const PartOfBox own = part();
    const auto range = [&](int d) {
      return d == own.dim ? std::pair(own.from, own.to) : std::pair(result_.begin(d), result_.end(d));
    };
    Block* inner = &block;
    for (int d = result_.rank(); d-- > 1;) {
      const auto [first, end] = range(d);
      inner->push_back({For{LoopKind::Serial, result_.coordinate(d), first, end, {}}});
      inner = &std::get<For>(inner->back().op).body;
    }
    const kernel::Symbol row = expressions.claim(array_.name.spelling() + "_row");
    inner->push_back(
        {kernel::Pointer{row, array_.name, stage_.type.scalar, result_.row_offset(array_), false}});
    Block store;
    expressions.open(store);
    const Lanes initial = expressions.lower(scatter_.initial);
    for (int l = 0; l < lanes(); ++l) {
      const Expr x = result_.x_offset(result_.coords()[0], array_);
      store.push_back({kernel::Store{row, kernel::add(x, literal(l)), initial[l]}});
    }
    expressions.close();
    const auto [first, end] = range(0);
    inner->push_back({For{LoopKind::Vector, result_.coordinate(0), first, end, std::move(store)}});
  }

  // ---- the points of a row

  void fill_row(Block& block) {
    const Expr row_begin = points_begin(0), row_end = points_end(0);
    std::vector<Expr> at = points_.coords();
    at[0] = kernel::add(kernel::name(x0_), kernel::name(layout_.variables.i));
    ExpressionLowering in_strip = expressions_at(Place::Interior, at);
    if (!is_one_loop(in_strip)) return one_by_one(row_begin, row_end, block);
    const Expr fits = fits_32_bits();
    if (interior_.is_everything() && !fits) return strips(in_strip, row_begin, row_end, block);
    Expr left = row_begin, right = row_end;
    for (const ir::Affine& bound : interior_.x.lower) left = kernel::max(left, points_.lower(bound));
    for (const ir::Affine& bound : interior_.x.upper) right = kernel::min(right, points_.lower(bound));
    left = kernel::min(left, row_end);
    if (const Expr outside = rows_outside(interior_, points_)) left = kernel::select(outside, row_end, left);
    if (fits) left = kernel::select(fits, left, row_end);
    const kernel::Symbol from = layout_.names.local("left"), until = layout_.names.local("right"),
                         end = layout_.names.local("end");
    block.push_back({kernel::Let{from, left}});
    block.push_back({kernel::Let{until, kernel::max(kernel::name(from), right)}});
    left = kernel::name(from), right = kernel::name(until);
    // Both ends by the same code, and the points between them in their order.
    const Expr is_left = kernel::binary(BinaryOp::Eq, kernel::name(end), literal(0));
    For ends{LoopKind::Serial, end, literal(0), literal(2), {}};
    one_by_one(kernel::select(is_left, row_begin, right), kernel::select(is_left, left, row_end), ends.body);
    kernel::If between{is_left, {}, {}};
    strips(in_strip, left, right, between.then);
    ends.body.push_back({std::move(between)});
    block.push_back({std::move(ends)});
  }

  bool is_one_loop(ExpressionLowering& expressions) const {
    const std::vector<ir::Expr> roots = ir::expressions(stage_);
    return expressions.strip_folds(roots).empty() && expressions.strip_tables(roots).empty();
  }

  Expr place_of(const PlacedUpdate& update) const {
    Expr place = kernel::mul(update.at[0], literal(lanes()));
    for (int d = result_.rank(); d-- > 1;)
      place = kernel::add(kernel::mul(update.at[d], kernel::name(array_.strides[d - 1])), place);
    return place;
  }
  /// Whether 32 bits count the scalars of the result, as strips do: vectors hold twice as many places. Null: surely.
  Expr fits_32_bits() const {
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
    const int last = result_.rank() - 1;
    const Expr pitch = last == 0 ? literal(lanes()) : kernel::name(array_.strides[last - 1]);
    const Expr scalars = kernel::mul(pitch, result_.extent(last));
    const auto known = kernel::literal_value(scalars);
    return known && *known <= most ? nullptr : kernel::binary(BinaryOp::Le, scalars, literal(most));
  }
  Expr small_place_of(const PlacedUpdate& update) const {
    const auto small = [](const Expr& e) { return kernel::cast(ir::CastMode::Convert, Scalar::I32, e); };
    Expr place = kernel::binary(BinaryOp::Mul, small(update.at[0]), small(literal(lanes())));
    for (int d = result_.rank(); d-- > 1;) {
      const Expr stride = small(kernel::name(array_.strides[d - 1]));
      place =
          kernel::binary(BinaryOp::Add, kernel::binary(BinaryOp::Mul, small(update.at[d]), stride), place);
    }
    return place;
  }
  Block changed(const Expr& place, const Lanes& value) const {
    return changed_pixel(stage_, array_.name, place, value, 1, module_.strict);
  }

  /// Whether compilers change all lanes of a pixel by one vector, if they lie side by side.
  static bool is_vector(const Lanes& value) {
    const auto same_type = [&](const Expr& lane) { return lane->type == value[0]->type; };
    return (value.size() == 2 || value.size() == 4) && std::all_of(value.begin(), value.end(), same_type);
  }
  /// What is stored is computed before the first store: compilers cannot tell that no lane reads another.
  static Block all_before_stored(Block stores, ExpressionLowering& expressions) {
    Block made;
    for (kernel::Stmt& statement : stores) {
      Expr& value = std::get<kernel::Store>(statement.op).value;
      const kernel::Symbol lane = expressions.claim("changed");
      made.push_back({kernel::Let{lane, value}});
      value = kernel::name(lane, value->type);
    }
    kernel::append(made, std::move(stores));
    return made;
  }

  static void change_if(const Expr& inside, Block changed, Block& block) {
    if (inside)
      block.push_back({kernel::If{inside, std::move(changed), {}}});
    else
      kernel::append(block, std::move(changed));
  }

  /// Whatever lies beyond the ends of images.
  void one_by_one(const Expr& from, const Expr& to, Block& block) {
    ExpressionLowering expressions = expressions_at(Place::Anywhere, points_.coords());
    For loop{LoopKind::Serial, points_.coordinate(0), from, to, {}};
    expressions.open(loop.body);
    place_updates(expressions, stage_, result_, {part()}, loop.body, [&](const PlacedUpdate& update) {
      change_if(update.inside, changed(place_of(update), update.value), loop.body);
    });
    expressions.close();
    block.push_back({std::move(loop)});
  }

  /// Points whose reads are inside, some at a time.
  void strips(ExpressionLowering& expressions, const Expr& from, const Expr& to, Block& block) {
    const kernel::Symbol length = layout_.names.local("count"), number = layout_.variables.i;
    const Expr x0 = kernel::name(x0_), i = kernel::name(number), count = kernel::name(length);
    For strip{LoopKind::Serial, x0_, from, to, {}, literal(asked_.points)};
    Block& body = strip.body;
    body.push_back({kernel::Let{length, kernel::min(literal(asked_.points), kernel::sub(to, x0))}});
    For find{LoopKind::Vector, number, literal(0), count, {}},
        change{LoopKind::Serial, number, literal(0), count, {}};
    // In an array for all points of a strip, the values of one side by side.
    const auto kept = [&](const std::string& wanted, const Lanes& values) {
      const kernel::Symbol array = expressions.claim(wanted);
      const int pitch = static_cast<int>(values.size());
      body.push_back({kernel::LocalArray{array, values[0]->type, asked_.points * pitch}});
      Lanes loads;
      for (const Expr& value : values) {
        const Expr at = kernel::add(kernel::mul(i, literal(pitch)), literal(std::ssize(loads)));
        find.body.push_back({kernel::Store{array, at, value}});
        loads.push_back(kernel::load(array, value->type, at));
      }
      return loads;
    };
    Block pointers;
    expressions.open(pointers, &body);
    expressions.open(find.body);
    place_updates(expressions, stage_, result_, {part()}, find.body, [&](const PlacedUpdate& update) {
      const Expr nowhere = kernel::constant(Scalar::I32, {.i = -1}), found = small_place_of(update);
      const Expr place = update.inside ? kernel::select(update.inside, found, nowhere) : found;
      const kernel::Symbol at = expressions.claim("at");
      const Expr wide = kernel::cast(ir::CastMode::Convert, Scalar::I64, kept("place", {place})[0]);
      change.body.push_back({kernel::Let{at, wide}});
      const Expr is_inside =
          update.inside ? kernel::binary(BinaryOp::Le, literal(0), kernel::name(at)) : nullptr;
      const bool as_vector = is_vector(update.value);
      Lanes value = as_vector ? kept("values", update.value) : Lanes{};
      if (!as_vector) {
        for (const Expr& lane : update.value)
          value.push_back(std::holds_alternative<kernel::Const>(lane->op) ? lane : kept("value", {lane})[0]);
      }
      Block stores = changed(kernel::name(at), value);
      if (as_vector) stores = all_before_stored(std::move(stores), expressions);
      change_if(is_inside, std::move(stores), change.body);
    });
    expressions.close();
    expressions.close();
    kernel::append(body, std::move(pointers));
    body.push_back({std::move(find)});
    body.push_back({std::move(change)});
    block.push_back({std::move(strip)});
  }

  const ir::Stage& stage_;
  const ir::Scatter& scatter_;
  const KernelContext& context_;
  Layout& layout_;
  kernel::Module& module_;
  const ArrayLayout& array_;
  const Rows result_, points_;
  const plan::ScatterBands& asked_;
  const analysis::Bands& bands_;
  const analysis::Interior interior_;
  const kernel::Symbol from_ = layout_.names.local("from"), to_ = layout_.names.local("to");  // of the band
  const kernel::Symbol points_from_ = layout_.names.local("points_from"),
                       points_to_ = layout_.names.local("points_to");
  const kernel::Symbol x0_ = layout_.names.local("x0");  // of a strip
};

}  // namespace

void lower_scatter_bands(const KernelContext& context, const plan::ScatterBands& bands) {
  BandLowering(context, bands).run();
}

}  // namespace weft::lower
