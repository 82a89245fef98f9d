#include "analysis/row_reach.h"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <set>

#include "analysis/ranges.h"
#include "ir/visit.h"

namespace weft::analysis {
namespace {

struct Ratio {
  std::int64_t over, under = 1;  ///< In lowest terms.

  static Ratio of(std::int64_t over, std::int64_t under) {
    const std::int64_t common = std::max<std::int64_t>(std::gcd(over, under), 1);
    return {over / common, under / common};
  }
  friend Ratio operator+(const Ratio& a, const Ratio& b) {
    return of(a.over * b.under + b.over * a.under, a.under * b.under);
  }
  friend Ratio operator*(const Ratio& a, std::int64_t factor) { return of(a.over * factor, a.under); }
  friend Ratio operator/(const Ratio& a, std::int64_t divisor) { return of(a.over, a.under * divisor); }
  bool operator==(const Ratio&) const = default;
};

/// Which rows of a stage a part has as the whole has them: all from the row `from` on, if it does not begin where the
/// images do, up to `missing` rows before the last, if it does not end where they do.
struct RightRows {
  std::int64_t from, missing = 0;
};

/// The stages of a pipeline whose images have this number of dimensions, one after the other.
class Rows {
 public:
  explicit Rows(int rank) : last_(rank - 1) {}

  /// Exactly those of the images.
  bool has_rows_of_images(const ir::Stage& stage) const {
    if (!has_rows(stage)) return false;
    const auto& terms = stage.box[last_].extent.terms();
    return stage.box[last_].min.is_constant(0) && stage.box[last_].extent.constant() == 0 &&
           terms.size() == 1 && terms[0].factor == 1 && is_number_of_rows(terms[0].atom);
  }

  /// Finds the right rows. Empty, or why there are none.
  std::string look_at(const ir::Stage& stage) {
    stage_ = &stage, why_.clear();
    if (!std::holds_alternative<ir::Pure>(stage.definition))
      return spelt(stage) + " is made of all rows at once";
    for (int d = 0; d < stage.rank(); ++d) {
      const ir::Range& range = stage.box[d];
      if (mentions_rows(range.min) || (!(d == last_ && has_rows(stage)) && mentions_rows(range.extent)))
        return spelt(stage) + " has other rows than the images";
    }
    if (has_rows(stage)) {
      rate_ = shift(stage.box[last_].extent, {0});
      right_ = {stage.box[last_].min.constant()};
      if (rate_.over < 0) return spelt(stage) + " has the fewer rows the more the images have";
    }
    seen_.clear();
    for (const ir::Expr& e : ir::expressions(stage)) look_at(e);
    if (has_rows(stage)) rows_[&stage] = right_;
    return why_;
  }
  void add_image(const ir::Stage& image) { rows_[&image] = {0}; }

  /// Whether each row of the images has one of the stage's, though the last may have none, or be followed by more.
  bool has_a_row_for_each(const ir::Stage& stage) {
    return has_rows(stage) && shift(stage.box[last_].extent, {0}) == Ratio{1};
  }
  /// How many rows of the images a part needs above and below its own rows of a result. `images` is their number.
  RowReach reach_of(const ir::Stage& result, const ir::Affine& images) {
    const RightRows right = rows_.at(&result);
    stage_ = &result;
    return {right.from - result.box[last_].min.constant(), first_that(right.missing, [&](std::int64_t below) {
              return surely_not_negative(result.box[last_].extent - right.missing - (images - below));
            })};
  }
  std::int64_t step() const { return step_; }
  const std::string& why() const { return why_; }

 private:
  static std::string spelt(const ir::Stage& stage) { return "'" + stage.name + "'"; }

  /// Other stages are tables, which are the same for all parts.
  bool has_rows(const ir::Stage& stage) const {
    if (stage.rank() != last_ + 1 || last_ < 1) return false;
    const ir::Range& rows = stage.box[last_];
    const bool is_of_rows_alone = !rows.extent.mentions([&](const ir::Atom& atom) {
      return !is_number_of_rows(atom) && !std::holds_alternative<ir::FloorDiv>(atom);
    });
    return rows.min.is_constant() && is_of_rows_alone && !rows.extent.is_constant();
  }
  bool is_number_of_rows(const ir::Atom& atom) const {
    const auto* size = std::get_if<ir::Size>(&atom);
    return size && size->dim == last_;
  }
  bool is_row(const ir::Atom& atom) const {
    const auto* coord = std::get_if<ir::Coord>(&atom);
    return coord && coord->dim == last_;
  }
  bool mentions_rows(const ir::Affine& form) const {
    return form.mentions([&](const ir::Atom& atom) { return is_number_of_rows(atom); });
  }
  /// Whether it may differ between a part and the whole.
  bool depends_on_rows(const ir::Affine& form) const {
    return form.mentions([&](const ir::Atom& atom) { return is_row(atom) || is_number_of_rows(atom); });
  }

  /// How much the form grows for each row by which the images begin earlier, of a stage that has `rate` rows for each of
  /// theirs; at multiples of the step.
  Ratio shift(const ir::Affine& form, const Ratio& rate) {
    Ratio sum{0};
    for (const auto& [atom, factor] : form.terms()) {
      Ratio of_atom{0};
      if (is_number_of_rows(atom)) of_atom = {1};
      if (is_row(atom)) of_atom = rate;
      if (const auto* floor = std::get_if<ir::FloorDiv>(&atom))
        of_atom = shift(*floor->numerator, rate) / floor->divisor;
      step_ = std::lcm(step_, of_atom.under);
      sum = sum + of_atom * factor;
    }
    return sum;
  }

  void refuse(const std::string& why) {
    if (why_.empty()) why_ = why;
  }
  void refuse_values() { refuse(spelt(*stage_) + " depends on the number of its row, or of all rows"); }

  // ---- where rows are right ----

  using Holds = std::function<bool(std::int64_t)>;
  /// The least number from `least` on for which it holds, and for all after it. Too many rows are refused.
  std::int64_t first_that(std::int64_t least, const Holds& holds) {
    constexpr std::int64_t most = 1 << 14;
    if (holds(least)) return least;
    std::int64_t wrong = least, more = 1;
    while (!holds(least + more)) {
      wrong = least + more, more *= 2;
      if (more > most) {
        refuse(spelt(*stage_) + " needs too many rows around its own");
        return least;
      }
    }
    std::int64_t right = least + more;
    while (right - wrong > 1) {
      const std::int64_t middle = wrong + (right - wrong) / 2;
      (holds(middle) ? right : wrong) = middle;
    }
    return right;
  }

  static ir::Affine any_number() { return ir::Affine(ir::Atom(ir::Size{"", -1})); }  ///< From 1 on.
  ir::Affine with_row(const ir::Affine& form, const ir::Affine& row) const {
    return form.substitute([&](const ir::Atom& atom) { return is_row(atom) ? row : ir::Affine(atom); });
  }
  ir::Affine last_row(const ir::Stage& stage) const {
    return stage.box[last_].min + stage.box[last_].extent - 1;
  }

  /// From some row on the form is positive.
  void begin_where_positive(const ir::Affine& form) {
    right_.from = first_that(right_.from, [&](std::int64_t from) {
      return surely_not_negative(with_row(form, any_number() + (from - 1)) - 1);
    });
  }
  /// Up to some row it is.
  void end_where_positive(const ir::Affine& form) {
    right_.missing = first_that(right_.missing, [&](std::int64_t missing) {
      return surely_not_negative(with_row(form, last_row(*stage_) - missing - any_number() + 1) - 1);
    });
  }

  // ---- expressions ----

  void look_at(const ir::Expr& e) {
    if (!seen_.insert(e.get()).second) return;
    if (const auto* compared = std::get_if<ir::Binary>(&e->op); compared && ir::is_comparison(compared->op)) {
      const auto a = form_of(compared->a), b = form_of(compared->b);
      const bool is_order = compared->op == ir::BinaryOp::Lt || compared->op == ir::BinaryOp::Le;
      if (a && b) return look_at_difference(*b - *a - (compared->op == ir::BinaryOp::Lt ? 1 : 0), is_order);
    }
    if (const auto* quantity = std::get_if<ir::Quantity>(&e->op); quantity && !is_alike(quantity->value))
      refuse_values();
    if (const auto* read = std::get_if<ir::Read>(&e->op)) look_at(*read);
    for (const ir::Expr& operand : ir::operands(*e)) look_at(operand);
  }

  static std::optional<ir::Affine> form_of(const ir::Expr& e) {
    if (const auto* quantity = std::get_if<ir::Quantity>(&e->op)) return quantity->value;
    const auto* constant = std::get_if<ir::Const>(&e->op);
    if (constant && !is_float(e->type.scalar)) return ir::Affine(constant->value.lane[0].i);
    return std::nullopt;
  }

  /// Whether it is the same in parts: y % 2, in those that begin at even rows.
  bool is_alike(const ir::Affine& form) {
    if (!depends_on_rows(form)) return true;
    return !mentions_rows(form) && has_rows(*stage_) && shift(form, rate_) == Ratio{0};
  }

  /// What holds far from the first rows, or from the last, does so in parts as well. An order holds from 0 on, or not.
  void look_at_difference(const ir::Affine& form, bool is_order) {
    const auto growing = [&](const Ratio& growth) {
      return growth.over > 0 ? form + (is_order ? 1 : 0) : form * -1;
    };
    if (is_alike(form)) return;
    if (!has_rows(*stage_) || form.mentions([&](const ir::Atom& atom) {
          return !is_row(atom) && !is_number_of_rows(atom) && !std::holds_alternative<ir::FloorDiv>(atom);
        }))
      return refuse_values();
    if (!mentions_rows(form)) return begin_where_positive(growing(shift(form, rate_)));
    if (shift(form, rate_) != Ratio{0}) return refuse_values();
    end_where_positive(growing(shift(form, {0})));
  }

  void look_at(const ir::Read& read) {
    const ir::Stage& source = *read.source;
    const std::string reads = spelt(*stage_) + " reads " + spelt(source);
    for (int d = 0; d < source.rank(); ++d) {
      const auto* form = std::get_if<ir::Affine>(&read.indices[d]);
      if (!(d == last_ && has_rows(source)) && form && !is_alike(*form))
        return refuse(reads + " at a place that depends on the row");
    }
    if (!has_rows(source)) return;
    const std::string elsewhere = reads + " at other rows than around its own";
    const auto* form = std::get_if<ir::Affine>(&read.indices[last_]);
    if (!form || !has_rows(*stage_) || read.region[last_] != source.box[last_] || mentions_rows(*form) ||
        form->mentions([&](const ir::Atom& atom) {
          return (std::holds_alternative<ir::Coord>(atom) && !is_row(atom)) ||
                 std::holds_alternative<ir::Size>(atom);
        }))
      return refuse(elsewhere);
    if (shift(*form, rate_) != shift(source.box[last_].extent, {0})) return refuse(elsewhere);
    const Interval taps = range_over_taps(*form);
    const bool is_own = ir::is_coord(taps.min, last_) && ir::is_coord(taps.max, last_);
    if (read.border && read.border->mode == ir::BorderMode::Repeat && !is_own)
      return refuse(reads + " around its ends");
    const RightRows of_source = rows_.at(&source);
    begin_where_positive(taps.min - of_source.from + 1);
    end_where_positive(last_row(source) - of_source.missing - taps.max + 1);
  }

  int last_;
  std::int64_t step_ = 1;
  std::map<const ir::Stage*, RightRows> rows_;
  // Of the stage that is looked at:
  const ir::Stage* stage_ = nullptr;
  Ratio rate_{0};
  RightRows right_{0};
  std::string why_;
  std::set<const ir::Node*> seen_;
};

}  // namespace

RowReachOrWhy row_reach(const ir::Pipeline& pipeline) {
  if (pipeline.inputs.empty()) return {{}, "there is no image"};
  Rows rows(pipeline.inputs[0]->rank());
  const auto has_others = [](const ir::StagePtr& image) {
    return RowReachOrWhy{{}, "'" + image->name + "' has other rows than the images"};
  };
  for (const ir::StagePtr& image : pipeline.inputs) {
    if (!rows.has_rows_of_images(*image)) return has_others(image);
    rows.add_image(*image);
  }
  for (const ir::StagePtr& output : pipeline.outputs) {
    if (!rows.has_a_row_for_each(*output)) return has_others(output);
  }
  for (const ir::StagePtr& stage : pipeline.stages) {
    if (std::string why = rows.look_at(*stage); !why.empty()) return {{}, std::move(why)};
  }
  RowReach reach;
  for (const ir::StagePtr& output : pipeline.outputs) {
    const RowReach of_output = rows.reach_of(*output, pipeline.inputs[0]->box.back().extent);
    if (!rows.why().empty()) return {{}, rows.why()};
    reach = {std::max(reach.above, of_output.above), std::max(reach.below, of_output.below)};
  }
  reach.step = rows.step();
  return {reach};
}

}  // namespace weft::analysis
