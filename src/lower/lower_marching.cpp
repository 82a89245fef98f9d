#include "lower/lower_marching.h"

#include <weft/error.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <memory>

#include "ir/visit.h"
#include "lower/expressions.h"
#include "lower/lower_stage.h"
#include "lower/phases.h"
#include "lower/placed_lanes.h"
#include "lower/reduction_parts.h"
#include "lower/rows.h"
#include "lower/steps.h"
#include "lower/strip_pixels.h"
#include "plan/march.h"

namespace weft::lower {

using ir::BinaryOp;
using kernel::Block;
using kernel::Expr;
using kernel::For;
using kernel::If;
using kernel::Let;
using kernel::literal;
using kernel::LoopKind;
using kernel::name;

namespace {

using KeptRowsOf = std::unordered_map<const ir::Stage*, ExpressionLowering::KeptRows>;

class MarchLowering {
 public:
  explicit MarchLowering(const GroupContext& context)
      : context_(context),
        plan_(context.plan),
        layout_(context.layout),
        result_(*context.members.back()),
        array_(layout_.arrays.at(&result_)),
        rows_(result_.domain(), layout_),
        steps_(plan_.step, result_.domain(), layout_),
        width_(plan_.width()) {
    for (const plan::Kept& kept : plan_.kept) keep(kept);
    place_rows();
    if (plan_.parts) {
      reduction_.emplace(StageContext{plan_, result_, context.names, layout_, context.module});
      return;
    }
    line_ = {layout_.names.claim(array_.name + "_line"), result_.type.scalar, width_ * result_.type.lanes};
    past_caches_ = layout_.names.claim("past_caches");
  }

  void run() {
    kernel::Function function{layout_.names.claim(array_.name + "_strips"), comment(), {"first", "last"}, {}};
    for (const kernel::LocalArray& place : places_) function.body.push_back({place});
    if (reduction_) {
      const auto claim = [&](const std::string& wanted) { return layout_.names.claim(wanted); };
      accumulators_ = reduction_->accumulators(claim, function.body);
    } else {
      const Expr scalars = kernel::mul(name(array_.strides[0]), rows_.extent(1));
      const Expr bytes = kernel::mul(scalars, literal(size_of(result_.type.scalar)));
      function.body.push_back({line_});
      function.body.push_back({kernel::ExceedsCaches{past_caches_, bytes}});
    }
    function.body.push_back({Let{"columns", columns()}});
    if (reduction_) function.body.push_back({Let{"part_rows", reduction_->rows_per_part()}});
    function.body.push_back({Let{"rows", rows_of_strip(name("columns"), name("part_rows"))}});
    function.body.push_back({strips()});
    if (reduction_) {
      reduction_->launch_parts(std::move(function), strip_count());
      reduction_->launch_total();
      return;
    }
    context_.module.steps.push_back(kernel::Launch{function.name, strip_count()});
    context_.module.functions.push_back(std::move(function));
  }

 private:
  struct Kept {
    const plan::Kept& plan;
    const ir::Stage* stage;
    int width;          ///< Pixels of a strip, without those around it.
    std::string row;    ///< The current one.
    std::string array;  ///< Of all rows.
    /// Of an image that strips may read where it lies: whether a strip has to copy rows, where it finds them,
    /// how many scalars they lie apart, and the bits of a row's number that say which it is.
    struct Finding {
      std::string copied, from, step, mask;
    };
    std::optional<Finding> finding{};

    const ir::Stage& source() const { return *stage; }
    int lanes() const { return plan.type.lanes; }
    int columns() const { return plan.pitch / lanes(); }
  };

  bool is_static() const { return plan_.is_static(); }

  void keep(const plan::Kept& plan) {
    const ir::Stage& stage = stage_named(plan.stage, context_.members);
    const std::string& name = layout_.arrays.at(&stage).name;
    kept_.push_back({plan, &stage, plan::at_rate(width_, steps_[0], plan.rate[0]),
                     layout_.names.claim(name + "_row"), ""});
    if (!plan.in_memory) return;
    const auto claim = [&](const char* suffix) { return layout_.names.claim(name + suffix); };
    kept_.back().finding = {claim("_copied"), claim("_from"), claim("_step"), claim("_mask")};
  }

  /// Rows that take turns lie in one array, which has the names of all.
  void place_rows() {
    for (const Kept& kept : kept_) {
      places_.resize(std::max<std::size_t>(places_.size(), kept.plan.place + 1));
      kernel::LocalArray& place = places_[kept.plan.place];
      place.name += (place.name.empty() ? "" : "_or_") + layout_.arrays.at(kept.stage).name;
      place.type = kept.plan.type.scalar;
      place.count = std::max(place.count, kept.plan.scalars());
    }
    for (kernel::LocalArray& place : places_) place.name = layout_.names.claim(place.name + "_rows");
    for (Kept& kept : kept_) kept.array = places_[kept.plan.place].name;
  }

  std::string comment() const {
    std::string members, images;
    for (const Kept& kept : kept_) {
      std::string& names = kept.plan.is_member ? members : images;
      const bool is_named = kept.plan.is_member || kept.finding;
      if (is_named) names += (names.empty() ? "'" : ", '") + kept.source().name + "'";
    }
    const std::string width = std::to_string(width_),
                      parts = "[first, last) of '" + result_.name + "', each ";
    const std::string where =
        images.empty()
            ? ""
            : "\nRows of " + images + " are read where they lie, but for strips at the ends of the image.";
    const std::string tiles =
        is_static() ? "Tiles " + parts + width + "x" + std::to_string(plan_.height().fixed()) + "."
                    : "Strips " + parts + width + " columns that are computed row by row.";
    if (members.empty()) return tiles + where;
    return tiles +
           (is_static() ? "\nThe rows of " + members + " that a tile needs are computed before it."
                        : "\nRows of " + members + " are kept while they are read.") +
           where;
  }

  // ---- strips

  Expr columns() const { return parts(steps_.extent(0), literal(width_)); }
  /// `part_rows` are those of a reduction's part, if it is one: then strips are whole parts.
  Expr rows_of_strip(const Expr& columns, const Expr& part_rows) const {
    return plan::with_size(plan_.height(), steps_.extent(1), columns, [&](const Expr& height) {
      if (!reduction_) return height;
      const Expr whole = kernel::mul(part_rows, literal(steps_[1]));
      return kernel::mul(parts(height, whole), whole);
    });
  }
  Expr strip_count() const {
    const Expr part_rows = reduction_ ? reduction_->rows_per_part() : nullptr;
    return kernel::mul(parts(steps_.extent(1), rows_of_strip(columns(), part_rows)), columns());
  }

  static Expr strip_column() { return kernel::binary(BinaryOp::Rem, name("strip"), name("columns")); }

  For strips() {
    For strip{LoopKind::Serial, "strip", name("first"), name("last"), {}};
    Block& body = strip.body;
    body.push_back({Let{"x0", kernel::add(kernel::mul(strip_column(), literal(width_)), steps_.origin(0))}});
    const Expr band = kernel::div(name("strip"), name("columns"));
    body.push_back({Let{"y0", kernel::add(kernel::mul(band, name("rows")), steps_.origin(1))}});
    body.push_back({Let{"y1", kernel::min(kernel::add(name("y0"), name("rows")), rows_.end(1))}});
    Block work;
    for (const Kept& kept : kept_) {
      if (kept.finding) find_rows(body, kept);
      if (!kept.plan.is_member) work.push_back(rows_from_memory(kept));
    }
    for (const plan::Pass& pass : plan_.passes) work.push_back(rows_of_pass(pass));
    if (is_static())
      kernel::append(body, std::move(work));
    else
      body.push_back({For{LoopKind::Serial, "y", kernel::sub(name("y0"), literal(plan_.before)), name("y1"),
                          std::move(work), steps_[1] > 1 ? literal(steps_[1]) : nullptr}});
    return strip;
  }

  const Kept& kept_of(const ir::Stage& source) const {
    return *std::find_if(kept_.begin(), kept_.end(), [&](const Kept& k) { return &k.source() == &source; });
  }

  Expr strip_begin(const Kept& kept) const { return steps_.at_rate(name("x0"), 0, kept.plan.rate[0]); }

  /// Strips that need no pixels but an image's own read its rows where they lie.
  void find_rows(Block& body, const Kept& kept) const {
    const ir::Stage& source = kept.source();
    const Rows rows(source.box, layout_);
    const ArrayLayout& array = layout_.arrays.at(&source);
    const auto is_less = [](const Expr& a, const Expr& b) { return kernel::binary(BinaryOp::Lt, a, b); };
    const auto either = [](const Expr& a, const Expr& b) { return kernel::binary(BinaryOp::Or, a, b); };
    const Expr left = kernel::add(strip_begin(kept), literal(kept.plan.x().min));
    const Expr right = kernel::add(strip_begin(kept), literal(kept.width + kept.plan.x().max));
    const Expr beside = either(is_less(left, rows.begin(0)), is_less(rows.end(0), right));
    const Expr above = is_less(first_row(kept), rows.begin(1)), below = is_less(rows.end(1), end_row(kept));
    const Kept::Finding& found = *kept.finding;
    body.push_back({Let{found.copied, either(beside, either(above, below))}});

    const Expr copied = name(found.copied, Scalar::Bool), stride = name(array.strides[0]);
    const Expr number = is_static() ? first_row(kept) : literal(0);  // of the row with which it begins
    const Expr column = kernel::mul(kernel::sub(left, rows.lower(array.box[0].min)), literal(kept.lanes()));
    body.push_back(
        {kernel::Pointer{found.from, array.name, source.type.scalar,
                         kernel::add(memory_row(rows, array, number), column), true, copied, kept.array}});
    body.push_back({Let{found.step, kernel::select(copied, literal(kept.plan.pitch), stride)}});
    if (!is_static())
      body.push_back({Let{found.mask, kernel::select(copied, literal(kept.plan.rows - 1), literal(-1))}});
  }

  /// The work for each row of a source that the strip needs: all of a tile's, or of a step's one, or some of
  /// several.
  kernel::Stmt needed_rows(const Kept& kept, bool in_source_only, Block work) const {
    const Rows source(kept.source().box, layout_);
    const int rate = kept.plan.rate[1];
    Expr from = first_row(kept);
    if (in_source_only) from = kernel::max(from, source.begin(1));
    if (is_static()) {
      Expr until = end_row(kept);
      if (in_source_only) until = kernel::min(until, source.end(1));
      return {For{LoopKind::Serial, "row", from, until, std::move(work)}};
    }
    const Expr ahead = kernel::add(steps_.at_rate(name("y"), 1, rate), literal(kept.plan.ahead));
    if (rate > 1) {
      Expr until = kernel::add(ahead, literal(rate));
      if (in_source_only) until = kernel::min(until, source.end(1));
      return {For{LoopKind::Serial, "row", kernel::max(from, ahead), until, std::move(work)}};
    }
    Expr needed = kernel::binary(BinaryOp::Le, from, ahead);
    if (in_source_only) needed = kernel::both(needed, kernel::binary(BinaryOp::Lt, ahead, source.end(1)));
    Block body;
    body.push_back({Let{"row", ahead}});
    kernel::append(body, std::move(work));
    return {If{needed, std::move(body), {}}};
  }

  /// The first row of a source that a tile needs.
  Expr first_row(const Kept& kept) const {
    return kernel::add(steps_.at_rate(name("y0"), 1, kept.plan.rate[1]), literal(kept.plan.y().min));
  }
  /// The row after the last one.
  Expr end_row(const Kept& kept) const {
    const Expr end = steps_.at_rate(steps_.whole(name("y1"), 1), 1, kept.plan.rate[1]);
    return kernel::add(end, literal(kept.plan.y().max));
  }
  /// The scalar with which a kept row begins.
  Expr start_of(const Kept& kept, const Expr& row) const {
    return row_start(kept, row, literal(kept.plan.rows - 1), literal(kept.plan.pitch));
  }
  Expr row_start(const Kept& kept, const Expr& row, const Expr& mask, const Expr& step) const {
    const Expr number =
        is_static() ? kernel::sub(row, first_row(kept)) : kernel::binary(BinaryOp::And, row, mask);
    return kernel::mul(number, step);
  }

  /// The columns that are computed of a source, of those that the strip needs: left and right.
  void clip_columns(Block& block, const Kept& kept) const {
    const Rows rows(kept.source().box, layout_);
    const plan::Reach& x = kept.plan.x();
    const Expr from = kernel::add(strip_begin(kept), literal(x.min));
    const Expr until = kernel::add(strip_begin(kept), literal(kept.width + x.max));
    const plan::Reach beyond = kept.plan.continued(0);
    const Expr begin = kernel::sub(rows.begin(0), literal(beyond.min));
    const Expr end = kernel::add(rows.end(0), literal(beyond.max));
    const bool begins_inside = kept.source().box[0] == result_.domain()[0] && x.min <= 0;
    Expr left = kernel::max(from, begin), right = kernel::min(until, end);
    // All of the source may lie to one side: none are, where the strip begins or ends.
    if (!begins_inside) left = kernel::min(left, until), right = kernel::max(right, from);
    block.push_back({Let{"left", left}});
    block.push_back({Let{"right", right}});
  }
  static bool has_constant_border(const Kept& kept) {
    return kept.plan.border_mode() == ir::BorderMode::Constant;
  }
  /// A row of a source with a constant border: the statements if it is inside, else constants.
  If inside_or_constant(const Kept& kept, Block inside, Block outside) const {
    const Rows rows(kept.source().box, layout_);
    return {kernel::both(kernel::binary(BinaryOp::Le, rows.begin(1), name("row")),
                         kernel::binary(BinaryOp::Lt, name("row"), rows.end(1))),
            std::move(inside), std::move(outside)};
  }
  /// Scalars from the start of an array to a row.
  static Expr memory_row(const Rows& rows, const ArrayLayout& array, const Expr& row) {
    return kernel::mul(kernel::sub(row, rows.lower(array.box[1].min)), name(array.strides[0]));
  }
  kernel::Stmt current_row(const Kept& kept) const {
    return {
        kernel::Pointer{kept.row, kept.array, kept.source().type.scalar, start_of(kept, name("row")), false}};
  }
  static Expr pitch_of_pixels(const Kept& kept) {
    return literal(pixel_pitch(kept.lanes(), kept.plan.lane_pitch));
  }
  /// The scalar of a kept row that holds a lane at a column.
  Expr at_kept(const Kept& kept, const Expr& x, int lane = 0) const {
    return kernel::add(kernel::mul(kernel::sub(x, strip_begin(kept)), pitch_of_pixels(kept)),
                       literal(kept.plan.first + lane * kept.plan.lane_pitch));
  }
  ExpressionLowering::KeptRows kept_rows_of(const Kept& kept) const {
    const std::optional<Kept::Finding>& found = kept.finding;
    return {found ? found->from : kept.array,
            [this, &kept, &found](const Expr& row) {
              return found ? row_start(kept, row, name(found->mask), name(found->step)) : start_of(kept, row);
            },
            [this, &kept](const Expr& x) { return at_kept(kept, x); },
            kept.plan.is_member && !kept.plan.continues, kept.plan.lane_pitch};
  }
  static Expr count() { return kernel::sub(name("right"), name("left")); }

  // ---- rows of images

  kernel::Stmt rows_from_memory(const Kept& kept) {
    const std::optional<plan::BorderRule>& border = kept.plan.border;
    const ir::Stage& source = kept.source();
    const ArrayLayout& array = layout_.arrays.at(&source);
    const int lanes = kept.lanes();
    const bool is_constant = has_constant_border(kept);
    const Rows rows(source.box, layout_);
    const auto in_source = [&](const Expr& row, kernel::IndexOp op) {
      const Expr index = kernel::index_call(op, kernel::sub(row, rows.begin(1)), rows.extent(1));
      return kernel::add(index, rows.begin(1));
    };
    const bool is_found = border && !is_constant;  // by the border, in whatever row
    const Expr row = is_found ? in_source(name("row"), index_op(border->mode)) : name("row");
    Block copies;
    const std::string from = layout_.names.claim(array.name + "_row");
    copies.push_back({kernel::Pointer{from, array.name, source.type.scalar, memory_row(rows, array, row)}});
    const Expr origin = rows.lower(array.box[0].min);
    const auto at_memory = [&](const Expr& x) { return kernel::mul(kernel::sub(x, origin), literal(lanes)); };
    const Expr scalars = kernel::mul(count(), literal(lanes));
    const bool apart = kept.plan.lane_pitch != 1;
    Block copy;
    for (int l = 0; l < (apart ? lanes : 1); ++l) {
      const Expr scalar = kernel::add(kernel::mul(name("i"), literal(apart ? lanes : 1)), literal(l));
      copy.push_back({kernel::Store{
          kept.row, kernel::add(name("i"), at_kept(kept, name("left"), l)),
          kernel::load(from, source.type.scalar, kernel::add(scalar, at_memory(name("left"))))}});
    }
    copies.push_back({For{LoopKind::Vector, "i", literal(0), apart ? count() : scalars, std::move(copy)}});
    if (border) {
      beyond_columns(copies, kept, [&](const Expr& x, int lane) {
        return kernel::load(from, source.type.scalar, kernel::add(at_memory(x), literal(lane)));
      });
    }
    if (is_constant) {
      Block constants = constant_row(kept);
      const If either = inside_or_constant(kept, std::move(copies), std::move(constants));
      copies = {{either}};
    }
    copies.insert(copies.begin(), current_row(kept));

    Block body;
    clip_columns(body, kept);
    if (kept.finding)
      body.push_back({If{name(kept.finding->copied, Scalar::Bool), std::move(copies), {}}});
    else
      kernel::append(body, std::move(copies));
    // Processors foresee what is next in a row, not that the strip goes on in the next one.
    const Expr next = in_source(kernel::add(name("row"), literal(1)), kernel::IndexOp::Clamp);
    body.push_back(
        {kernel::Prefetch{array.name, source.type.scalar,
                          kernel::add(memory_row(rows, array, next), at_memory(name("left"))), scalars}});
    return needed_rows(kept, !border, std::move(body));
  }

  /// The pixels beyond the ends of a row that the strip needs. `pixel` gives one lane of a pixel of the
  /// source.
  void beyond_columns(Block& block, const Kept& kept, const std::function<Expr(const Expr&, int)>& pixel) {
    const plan::BorderRule& border = *kept.plan.border;
    const Rows rows(kept.source().box, layout_);
    const auto fill = [&](const Expr& from, const Expr& until) {
      Block body;
      const Expr x = name("x");
      std::vector<Expr> values;
      if (border.mode == ir::BorderMode::Constant) {
        values = border_lanes(border, body);
      } else {
        const Expr inside =
            kernel::index_call(index_op(border.mode), kernel::sub(x, rows.begin(0)), rows.extent(0));
        const Expr at = kernel::add(inside, rows.begin(0));
        for (int l = 0; l < kept.lanes(); ++l) values.push_back(pixel(at, l));
      }
      for (int l = 0; l < kept.lanes(); ++l) {
        body.push_back({kernel::Store{kept.row, at_kept(kept, x, l), values[l]}});
      }
      block.push_back({For{LoopKind::Serial, "x", from, until, std::move(body)}});
    };
    const plan::Reach &x = kept.plan.x(), &outside = kept.plan.outside[0];
    if (outside.min > 0) {
      const Expr from = kernel::add(strip_begin(kept), literal(x.min));
      fill(kernel::max(from, kernel::sub(rows.begin(0), literal(outside.min))), name("left"));
    }
    if (outside.max > 0) {
      const Expr until = kernel::add(strip_begin(kept), literal(kept.width + x.max));
      fill(name("right"), kernel::min(until, kernel::add(rows.end(0), literal(outside.max))));
    }
  }

  Block constant_row(const Kept& kept) {
    Block block, body;
    const std::vector<Expr> values = border_lanes(*kept.plan.border, block);
    for (int l = 0; l < kept.lanes(); ++l)
      body.push_back({kernel::Store{
          kept.row,
          kernel::add(kernel::mul(name("i"), pitch_of_pixels(kept)), literal(l * kept.plan.lane_pitch)),
          values[l]}});
    block.push_back({For{LoopKind::Vector, "i", literal(0), literal(kept.columns()), std::move(body)}});
    return block;
  }

  std::vector<Expr> border_lanes(const plan::BorderRule& border, Block& block) {
    ExpressionLowering expressions(layout_, context_.module.tables, context_.names, result_, Place::Interior,
                                   rows_.coords(), context_.module.strict);
    expressions.open(block);
    Lanes lanes = expressions.lower(border.constant);
    expressions.close();
    return lanes;
  }

  // ---- rows of members

  using StagePass = std::vector<const ir::Stage*>;

  kernel::Stmt rows_of_pass(const plan::Pass& names) {
    StagePass pass;
    for (const std::string& name : names) pass.push_back(&stage_named(name, context_.members));
    const auto is_kept = [&](const ir::Stage* stage) { return stage != &result_; };
    if (!is_kept(pass.back())) return rows_of_result(pass);
    const Kept& kept = kept_of(*pass.front());
    Block body, constants;
    clip_columns(body, kept);
    compute(body, pass, name("row"), kept.width + static_cast<int>(kept.plan.x().max - kept.plan.x().min));
    for (const ir::Stage* stage : pass) {
      if (!has_constant_border(kept_of(*stage))) continue;
      constants.push_back(current_row(kept_of(*stage)));
      kernel::append(constants, constant_row(kept_of(*stage)));
    }
    if (constants.empty()) return needed_rows(kept, !kept.plan.continues, std::move(body));
    Block either;
    either.push_back({inside_or_constant(kept, std::move(body), std::move(constants))});
    return needed_rows(kept, false, std::move(either));
  }

  kernel::Stmt rows_of_result(const StagePass& pass) {
    Block body;
    body.push_back({Let{"left", kernel::max(name("x0"), rows_.begin(0))}});
    body.push_back({Let{"right", kernel::min(kernel::add(name("x0"), literal(width_)), rows_.end(0))}});
    const bool in_steps = steps_[1] > 1;
    const Expr row = name(in_steps || is_static() ? "row" : "y");
    if (reduction_)
      combine(body, row);
    else
      compute(body, pass, row, width_);
    if (is_static())
      return {
          For{LoopKind::Serial, "row", kernel::max(name("y0"), rows_.begin(1)), name("y1"), std::move(body)}};
    if (!in_steps) return {If{kernel::binary(BinaryOp::Le, name("y0"), name("y")), std::move(body), {}}};
    const Expr first = kernel::max(kernel::max(name("y"), name("y0")), rows_.begin(1));
    const Expr end = kernel::min(kernel::add(name("y"), literal(steps_[1])), name("y1"));
    return {For{LoopKind::Serial, "row", first, end, std::move(body)}};
  }

  /// One row of the elements of a reduction, into the accumulators of its part.
  void combine(Block& block, const Expr& row) {
    const Expr x = reduction_->column();
    ExpressionLowering expressions(layout_, context_.module.tables, context_.names, result_, Place::Row,
                                   {x, row}, context_.module.strict);
    KeptRowsOf kept_rows;
    for (const Kept& kept : kept_) kept_rows[&kept.source()] = kept_rows_of(kept);
    expressions.keep_rows(std::move(kept_rows), name("left"), kernel::sub(x, name("left")));

    const Expr above = kernel::sub(row, rows_.begin(1)), per_part = name("part_rows");
    block.push_back({Let{"row_of_part", kernel::binary(BinaryOp::Rem, above, per_part)}});
    const auto is = [](const Expr& a, const Expr& b) { return kernel::binary(BinaryOp::Eq, a, b); };
    Block start, finish;
    reduction_->start(expressions, accumulators_, start);
    block.push_back({If{is(name("row_of_part"), literal(0)), std::move(start), {}}});
    reduction_->row(expressions, accumulators_, name("left"), name("right"), block);
    const Expr part = ReductionParts::number(above, per_part, strip_column(), name("columns"));
    reduction_->finish(expressions, accumulators_, part, finish);
    const Expr end = kernel::min(kernel::add(kernel::sub(row, name("row_of_part")), per_part), rows_.end(1));
    block.push_back({If{is(kernel::add(row, literal(1)), end), std::move(finish), {}}});
  }

  /// One row of the members of a pass, from left to right, at most so many columns: to their kept rows, or to
  /// memory.
  void compute(Block& block, const StagePass& pass, const Expr& row, int columns) {
    std::vector<std::unique_ptr<PlacedLanes>> lanes;
    const auto is_kept = [&](const ir::Stage& source) {
      return std::any_of(kept_.begin(), kept_.end(), [&](const Kept& k) { return &k.source() == &source; });
    };
    for (const ir::Stage* stage : pass)
      lanes.push_back(std::make_unique<PlacedLanes>(
          *stage, layout_, plan_.lanes_apart || rewrite::borders_find_pixels(*stage, is_kept)));
    const Expr per_pixel = literal(lanes.front()->per_pixel()), i = name("i");
    const Expr begin = kernel::mul(name("left"), per_pixel), length = kernel::mul(count(), per_pixel);
    ExpressionLowering expressions(layout_, context_.module.tables, context_.names, lanes.front()->stage(),
                                   Place::Row, {kernel::add(begin, i), row}, context_.module.strict);
    if (pass.size() > 1) expressions.share_with({pass.begin() + 1, pass.end()});
    KeptRowsOf kept_rows;
    for (const Kept& k : kept_) {
      for (const auto& l : lanes) kept_rows[&l->view(k.source())] = kept_rows_of(k);
    }

    const int phases = phases_of_pass(expressions, pass);
    const bool to_lanes =
        plan_.lanes_apart && phases > 1 && pass.back() == &result_ && result_.type.lanes > 1;
    std::vector<StripTarget> targets;
    for (std::size_t m = 0; m < pass.size(); ++m)
      targets.push_back(target_of(*pass[m], lanes[m]->stage(), expressions, row, block));
    const StripTarget memory = targets.back();
    if (to_lanes) {
      targets.back() = {memory.stage, expressions.claim(array_.name + "_lanes"), i, width_};
      block.push_back(
          {kernel::LocalArray{targets.back().array, result_.type.scalar, width_ * result_.type.lanes}});
    }
    const int capacity = columns * lanes.front()->per_pixel();
    Block pointers, work;
    if (phases > 1) {
      store_by_phases(expressions, std::move(kept_rows), pass, targets, row, phases, pointers, work);
    } else {
      expressions.keep_rows(std::move(kept_rows), name("left"));
      store_strip(expressions, targets, {begin, length, capacity}, pointers, work);
    }
    kernel::append(block, std::move(pointers));
    kernel::append(block, std::move(work));
    if (to_lanes) block.push_back({interleaved(targets.back(), memory)});
    if (pass.back() == &result_) {
      kernel::StorePastCaches store{array_.name, result_.type.scalar, memory_of(row), line_.name,
                                    kernel::mul(count(), literal(result_.type.lanes))};
      block.push_back({If{name(past_caches_, Scalar::Bool), {{std::move(store)}}, {}}});
    }
    for (const ir::Stage* stage : pass) {
      if (stage == &result_ || !kept_of(*stage).plan.border_mode()) continue;
      const Kept& kept = kept_of(*stage);
      beyond_columns(block, kept, [&](const Expr& at, int lane) {
        return kernel::load(kept.row, stage->type.scalar, at_kept(kept, at, lane));
      });
    }
  }

  /// for the pixels of a row:  each lane from its own row to memory
  static For interleaved(const StripTarget& lanes, const StripTarget& pixels) {
    Block body;
    for (int l = 0; l < lanes.stage->type.lanes; ++l) {
      const Expr from = kernel::add(lanes.offset, literal(l * lanes.lane_pitch));
      body.push_back({kernel::Store{pixels.array, kernel::add(pixels.offset, literal(l)),
                                    kernel::load(lanes.array, lanes.stage->type.scalar, from)}});
    }
    return {LoopKind::Vector, "i", literal(0), count(), std::move(body)};
  }

  /// From the start of the array that the pixels of a strip go to.
  Expr first_scalar(const ir::Stage& stage) const {
    return &stage == &result_ ? literal(0) : at_kept(kept_of(stage), name("left"));
  }

  /// Of the loop of a pass: 1 unless one loop over pixels is all that it takes.
  static int phases_of_pass(ExpressionLowering& expressions, const StagePass& pass) {
    int phases = 1;
    for (const ir::Stage* stage : pass) {
      if (!is_one_loop(expressions, *stage)) return 1;
      phases = std::max(phases, phase_count(*stage));
    }
    return phases;
  }

  /// The strip's complete groups of phases by one loop, and single pixels on both sides of them.
  void store_by_phases(ExpressionLowering& single, KeptRowsOf kept_rows, const StagePass& pass,
                       const std::vector<StripTarget>& targets, const Expr& row, int count, Block& pointers,
                       Block& work) {
    const Expr i = name("i"), mask = literal(-count);
    const Expr shift = literal(std::countr_zero(static_cast<unsigned>(count)));
    const auto whole = [&](const Expr& x) { return kernel::binary(BinaryOp::Shr, x, shift); };
    const Expr up = kernel::binary(BinaryOp::And, kernel::add(name("left"), literal(count - 1)), mask);
    pointers.push_back({Let{"whole_left", kernel::min(up, name("right"))}});
    const Expr down = kernel::binary(BinaryOp::And, name("right"), mask);
    pointers.push_back({Let{"whole_right", kernel::max(name("whole_left"), down)}});
    const Expr left = kernel::sub(name("whole_left"), name("left"));
    const Expr right = kernel::sub(name("whole_right"), name("left"));

    std::vector<Phases> phases;
    std::unordered_map<const ir::Node*, std::string> names;
    std::vector<const ir::Stage*> stages;
    for (const StripTarget& target : targets) {
      phases.push_back(phases_of(*target.stage, count, context_.names));
      names.insert(phases.back().names.begin(), phases.back().names.end());
    }
    for (const Phases& of_stage : phases) {
      for (const ir::Stage& phase : of_stage.stages) stages.push_back(&phase);
    }
    pointers.push_back({Let{"whole", whole(name("whole_left"))}});
    ExpressionLowering together(layout_, context_.module.tables, names, *stages.front(), Place::Row,
                                {kernel::add(name("whole"), i), row}, context_.module.strict);
    together.share_with({stages.begin() + 1, stages.end()});
    together.keep_rows(kept_rows, name("whole"));
    together.avoid_names_of(single);
    For pixels{
        LoopKind::Vector, "i", literal(0), whole(kernel::sub(name("whole_right"), name("whole_left"))), {}};
    together.open(work, &pointers);
    together.open(pixels.body);
    for (std::size_t m = 0; m < targets.size(); ++m) {
      const StripTarget& target = targets[m];
      const int lanes = target.stage->type.lanes;
      for (int p = 0; p < count; ++p) {
        const Lanes value = together.lower(cases_of(phases[m].stages[p])[0].value);
        const Expr pixel = kernel::add(kernel::add(kernel::mul(i, literal(count)), literal(p)), left);
        for (int l = 0; l < lanes; ++l) {
          const Expr scalar = kernel::mul(pixel, literal(pixel_pitch(lanes, target.lane_pitch)));
          pixels.body.push_back({kernel::Store{
              target.array,
              kernel::add(scalar, kernel::add(first_scalar(*pass[m]), literal(l * target.lane_pitch))),
              value[l]}});
        }
      }
    }
    together.close();
    together.close();
    work.push_back({std::move(pixels)});

    single.avoid_names_of(together);
    single.keep_rows(std::move(kept_rows), name("left"));
    const auto edge = [&](const Expr& from, const Expr& until) {
      For pixel{LoopKind::Scalar, "i", from, until, {}};
      single.open(pixel.body, &pixel.body);
      for (const StripTarget& target : targets)
        store_pixel(single, pixel.body, cases_of(*target.stage), target.array, target.offset,
                    target.lane_pitch);
      single.close();
      work.push_back({std::move(pixel)});
    };
    edge(literal(0), left);
    edge(right, kernel::sub(name("right"), name("left")));
  }

  /// Where the pixels of a stage go; appends a pointer to the row.
  StripTarget target_of(const ir::Stage& stage, const ir::Stage& inner, ExpressionLowering& expressions,
                        const Expr& row, Block& block) const {
    const auto scalar = [&](std::int64_t lane_pitch) {
      return kernel::mul(name("i"), literal(pixel_pitch(inner.type.lanes, lane_pitch)));
    };
    if (&stage != &result_) {
      const Kept& kept = kept_of(stage);
      block.push_back(current_row(kept));
      return {&inner, kept.row, kernel::add(scalar(kept.plan.lane_pitch), first_scalar(stage)),
              kept.plan.lane_pitch};
    }
    const std::string target = expressions.claim(array_.name + "_row");
    block.push_back({kernel::Pointer{target, array_.name, stage.type.scalar, memory_of(row), false,
                                     name(past_caches_, Scalar::Bool), line_.name}});
    return {&inner, target, scalar(1)};
  }

  /// The scalar of the result with which its part of a row begins.
  Expr memory_of(const Expr& row) const {
    return kernel::add(memory_row(rows_, array_, row), rows_.x_offset(name("left"), array_));
  }

  const GroupContext& context_;
  const plan::KernelPlan& plan_;
  Layout& layout_;
  const ir::Stage& result_;
  const ArrayLayout& array_;
  const Rows rows_;
  const Steps steps_;
  const int width_;  // of a strip of the result
  std::vector<Kept> kept_;
  std::vector<kernel::LocalArray> places_;  // of their rows
  // What caches cannot keep goes past them by whole cache lines, so a row of the strip is gathered first.
  kernel::LocalArray line_;
  std::string past_caches_;
  std::optional<ReductionParts> reduction_;  // where the result is one
  ReductionParts::Arrays accumulators_;
};

}  // namespace

const ir::Stage& stage_named(const std::string& name, const std::vector<const ir::Stage*>& members) {
  for (const ir::Stage* member : members) {
    if (member->name == name) return *member;
    for (const ir::Expr& e : ir::reads(*member)) {
      const ir::Stage& source = *std::get<ir::Read>(e->op).source;
      if (source.name == name) return source;
    }
  }
  throw InternalError("a plan of '" + members.back()->name + "' speaks of '" + name +
                      "', which it does not read");
}

void lower_marching(const GroupContext& context) { MarchLowering(context).run(); }

}  // namespace weft::lower
