#include "rewrite/separate_windows.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "analysis/separable.h"
#include "ir/build.h"
#include "ir/visit.h"
#include "rewrite/rewrite_stages.h"

namespace weft::rewrite {

using ir::BinaryOp;
using ir::Expr;

namespace {

// Below, what a strip of pixels shares takes no stage. Columns of narrow integers are cheap to store.
constexpr std::size_t least_points_of_window = 81, least_points_of_narrow = 49;
constexpr std::size_t least_points_of_line = 17;  // that is no part of a larger window
// Of floats that a stage before computes, which has rows of its own: 8 additions become 4, and a row of columns more is kept.
constexpr std::size_t least_points_of_sum = 9;
constexpr int least_taps_in_pieces = 9;  // of a line; below, its pieces take more stores than they save taps

/// `value` with every read moved along `dim` by what `by` says; border constants stay.
Expr moved(const Expr& value, int dim, const ir::Affine& by) {
  ir::Rewriter move([&](const Expr& e) -> Expr {
    const auto* read = std::get_if<ir::Read>(&e->op);
    if (!read) return nullptr;
    ir::Read there = *read;
    std::get<ir::Affine>(there.indices[dim]) += by;
    return ir::read(std::move(there));
  });
  return move(value);
}

/// `value` with every read at the current pixel instead of a tap's.
Expr at_pixel(const Expr& value) {
  ir::Rewriter rewrite([&](const Expr& e) -> Expr {
    const auto* read = std::get_if<ir::Read>(&e->op);
    if (!read) return nullptr;
    ir::Read here = *read;
    for (std::size_t d = 0; d < here.indices.size(); ++d)
      here.indices[d] = ir::Affine(ir::Atom(ir::Coord{static_cast<int>(d)}));
    return ir::read(std::move(here));
  });
  return rewrite(value);
}

/// `value` as it is where every read gives its border's constant.
Expr at_constant(const Expr& value) {
  ir::Rewriter rewrite([&](const Expr& e) -> Expr {
    const auto* read = std::get_if<ir::Read>(&e->op);
    return read ? read->border->constant : nullptr;
  });
  return rewrite(value);
}

/// What a window combines, by whom, and how its taps lie along one dimension.
struct Line {
  BinaryOp op;
  Type type;      // of the accumulator
  Expr identity;  // where it starts
  int dim;
  int low;                         // the first tap
  std::int64_t stride;             // from one tap to the next
  std::vector<ir::Value> weights;  // of each tap

  int taps() const { return static_cast<int>(weights.size()); }
  bool is_box() const {
    return std::all_of(weights.begin(), weights.end(),
                       [&](const ir::Value& w) { return w.as_double() == 1; });
  }
};

/// `taps` of a line, `apart` pixels from one another, the first of them `first` pixels away.
Expr combined(const Line& line, const Expr& value, int taps, std::int64_t first, std::int64_t apart,
              const std::vector<ir::Value>& weights = {}) {
  auto loop = std::make_shared<ir::Loop>();
  for (int t = 0; t < taps; ++t) {
    loop->domain.points.push_back({0, 0});
    loop->domain.points.back()[line.dim] = t;
  }
  const ir::Affine tap(ir::Atom(ir::TapCoord{loop, line.dim}));
  Expr one = moved(value, line.dim, tap * apart + ir::Affine(first));
  if (!weights.empty()) {
    // A mask is centred: the taps are its second half.
    auto mask = std::make_shared<ir::Mask>();
    mask->extents = {1, 1};
    mask->extents[line.dim] = 2 * taps - 1;
    mask->type = weights[0].type;
    mask->coefficients.assign(taps - 1, ir::Value::integer(mask->type, 0));
    mask->coefficients.insert(mask->coefficients.end(), weights.begin(), weights.end());
    one = ir::binary(BinaryOp::Mul, ir::coefficient(loop, mask), one);
  }
  auto fold = std::make_shared<ir::Fold>();
  fold->initial = {line.identity};
  fold->next = {ir::binary(line.op, ir::accumulated(loop, 0, line.type), one)};
  fold->loop = std::move(loop);
  return ir::fold_result(std::move(fold), 0);
}

/// The reads of a value if they leave the image in one way, which a border of the columns can take over.
std::optional<ir::Read> common_read(const Expr& value) {
  std::optional<ir::Read> common;
  bool alike = true;
  ir::visit(value, [&](const Expr& e) {
    const auto* read = std::get_if<ir::Read>(&e->op);
    if (!read) return;
    if (!common) common = *read;
    const auto& a = common->border;
    const auto& b = read->border;
    alike &= a.has_value() == b.has_value() && (!a || a->mode == b->mode) && common->region == read->region;
  });
  return alike ? common : std::nullopt;
}

/// Whether its windows are computed at every pixel of its box, and there alone.
bool is_whole(const ir::Stage& stage) {
  const auto* pure = std::get_if<ir::Pure>(&stage.definition);
  return pure && pure->cases.size() == 1 && !pure->cases[0].when && stage.rank() == 2;
}

bool is_line(const analysis::Separable& separable) {
  return separable.column.size() == 1 || separable.row.size() == 1;
}

bool sums_floats_of_a_stage(const analysis::Separable& separable) {
  const auto read = common_read(separable.value);
  return separable.op == BinaryOp::Add && is_float(separable.column_type) && read &&
         !read->source->is_input();
}

std::size_t least_points_of(const analysis::Separable& separable, Separate which) {
  if (is_line(separable)) return least_points_of_line;
  if (which == Separate::SmallSums && sums_floats_of_a_stage(separable)) return least_points_of_sum;
  return size_of(separable.column_type) <= 2 ? least_points_of_narrow : least_points_of_window;
}

/// Whether columns or rows of the window have no taps.
bool lacks_taps(const analysis::Separable& separable) {
  const auto is_zero = [](const ir::Value& weight) { return weight.as_double() == 0; };
  return std::any_of(separable.column.begin(), separable.column.end(), is_zero) ||
         std::any_of(separable.row.begin(), separable.row.end(), is_zero);
}

/// Separates the windows of one stage; the stages that it needs in front of it collect in `before`.
class StageSeparation {
 public:
  StageSeparation(const ir::Stage& stage, Separate which, bool strict, std::unordered_set<std::string>& names,
                  std::vector<ir::StagePtr>& before, std::vector<SeparatedWindow>* separated)
      : stage_(stage),
        which_(which),
        strict_(strict),
        names_(names),
        before_(before),
        separated_(separated) {}

  Expr operator()(const Expr& e) {
    const auto* result = std::get_if<ir::FoldResult>(&e->op);
    const std::size_t least = which_ == Separate::SmallSums ? least_points_of_sum : least_points_of_line;
    if (!result || result->fold->loop->domain.points.size() < least) return nullptr;
    auto [entry, is_new] = folds_.try_emplace(result->fold.get());
    if (is_new) {
      kept_.push_back(result->fold);
      entry->second = separated(*result->fold);
    }
    return entry->second;
  }

 private:
  Expr separated(const ir::Fold& fold) {
    const auto separable = analysis::as_separable_or_line(fold, strict_);
    if (!separable || fold.loop->domain.points.size() < least_points_of(*separable, which_) ||
        lacks_taps(*separable))
      return nullptr;
    const auto read = common_read(separable->value);
    if (!read) return nullptr;
    const std::size_t first_stage = before_.size();
    in_pieces_ = false;
    const Type type = fold.next[0]->type;
    const auto line = [&](int dim, int low, std::int64_t stride, const std::vector<ir::Value>& weights) {
      return Line{separable->op, type, fold.initial[0], dim, low, stride, weights};
    };
    Line column = line(1, separable->low_y, 1, separable->column);
    Line row = line(0, separable->low_x, separable->stride, separable->row);
    const ir::Value factor = box_factor(column, row);
    if (is_line(*separable) && !(row.is_box() && column.is_box())) return nullptr;
    const Expr whole = is_line(*separable) ? line_in_pieces(separable->value, column, row)
                                           : columns_and_rows(*separable, *read, column, row);
    if (separated_) {
      SeparatedWindow window{stage_.name, row.taps(), column.taps(), in_pieces_, {}};
      for (std::size_t i = first_stage; i < before_.size(); ++i) window.stages.push_back(before_[i]->name);
      window.stages.push_back(stage_.name);
      separated_->push_back(std::move(window));
    }
    return factor.as_double() == 1 ? whole : ir::binary(BinaryOp::Mul, ir::constant(factor), whole);
  }

  /// A column or a row; the other one is a single tap.
  Expr line_in_pieces(const Expr& value, const Line& column, const Line& row) {
    const Line& line = column.taps() == 1 ? row : column;
    const Line& across = column.taps() == 1 ? column : row;
    const Expr there = moved(at_pixel(value), across.dim, ir::Affine(across.low * across.stride));
    const ir::Box box(stage_.domain().begin(), stage_.domain().begin() + 2);
    return along(line, there, box, "_parts", line.type);
  }

  /// A stage of columns, and rows of it.
  Expr columns_and_rows(const analysis::Separable& separable, const ir::Read& read, const Line& column,
                        const Line& row) {
    ir::Box box(stage_.domain().begin(), stage_.domain().begin() + 2);
    const ir::Box of_result = box;
    // A border of the columns saves those beyond the image, where the result covers the image.
    const bool has_border = read.border && read.region[0] == box[0];
    if (!has_border)
      box[0] = {box[0].min + ir::Affine(row.low * row.stride),
                box[0].extent + ir::Affine((row.taps() - 1) * row.stride)};
    const Type narrow{separable.column_type, row.type.lanes};
    const Expr sum = along(column, at_pixel(separable.value), box, "_column_parts", narrow);
    ir::Read columns = read_at_pixel(
        add_stage("_columns", box, ir::cast(ir::CastMode::Convert, narrow.lane(), sum)), read.where);
    if (has_border) {
      columns.border = ir::Border{read.border->mode, nullptr};
      if (read.border->mode == ir::BorderMode::Constant)
        columns.border->constant =
            ir::cast(ir::CastMode::Convert, narrow.lane(), column_of(at_constant(separable.value), column));
    }
    const Expr value = ir::cast(ir::CastMode::Convert, row.type.lane(), ir::read(std::move(columns)));
    return along(row, value, of_result, "_row_parts", row.type);
  }

  /// Takes the common factor out of a window whose weights are all alike.
  static ir::Value box_factor(Line& column, Line& row) {
    const ir::Value first = column.weights[0];
    const auto is_first = [&](const ir::Value& w) { return w == first; };
    if (!row.is_box() || !std::all_of(column.weights.begin(), column.weights.end(), is_first))
      return ir::Value::integer(first.type, 1);
    column.weights.assign(column.weights.size(), row.weights[0]);
    return first;
  }

  /// All taps of a column beyond a constant border. Weights of one sign at a time: where the constant is
  /// infinite, the others' part is what makes it NaN.
  static Expr column_of(const Expr& constant, const Line& column) {
    if (column.op != BinaryOp::Add) return constant;
    Expr result;
    for (const int sign : {-1, 0, 1}) {
      std::optional<ir::Value> sum;
      for (const ir::Value& w : column.weights) {
        if ((w.as_double() > 0) - (w.as_double() < 0) != sign) continue;
        if (sum)
          sum->lane[0] = ir::apply(BinaryOp::Add, w.type.scalar, sum->lane[0], w.lane[0]);
        else
          sum = w;
      }
      if (!sum) continue;
      const Expr part = ir::binary(BinaryOp::Mul, ir::constant(*sum), constant);
      result = result ? ir::binary(BinaryOp::Add, result, part) : part;
    }
    return result;
  }

  /// A line of `value`, in pieces if that saves taps; they are stored as `stored`.
  Expr along(const Line& line, const Expr& value, const ir::Box& box, const std::string& parts, Type stored) {
    const int taps = line.taps();
    const std::int64_t first = line.low * line.stride;
    if (!line.is_box()) return combined(line, value, taps, first, line.stride, line.weights);
    if (taps < least_taps_in_pieces) return combined(line, value, taps, first, line.stride);
    in_pieces_ = true;
    const int piece = static_cast<int>(std::lround(std::sqrt(taps))), pieces = taps / piece;
    ir::Box reached = box;
    reached[line.dim].min += ir::Affine(first);
    reached[line.dim].extent += ir::Affine((taps - piece) * line.stride);
    const Expr sum = combined(line, value, piece, 0, line.stride);
    const ir::StagePtr stage = add_stage(parts, reached, ir::cast(ir::CastMode::Convert, stored.lane(), sum));
    const Expr part =
        ir::cast(ir::CastMode::Convert, line.type.lane(), ir::read(read_at_pixel(stage, stage_.where)));
    const Expr whole = combined(line, part, pieces, first, piece * line.stride);
    const int rest = taps - piece * pieces;
    if (rest == 0) return whole;
    const Expr last = line.op == BinaryOp::Add
                          ? combined(line, value, rest, first + (taps - rest) * line.stride, line.stride)
                          : moved(part, line.dim, ir::Affine(first + (taps - piece) * line.stride));
    return ir::binary(line.op, whole, last);
  }

  ir::StagePtr add_stage(const std::string& suffix, const ir::Box& box, const Expr& value) {
    std::string name = stage_.name + suffix;
    while (!names_.insert(name).second) name += "_";
    return before_.emplace_back(std::make_shared<const ir::Stage>(
        ir::Stage{name, value->type, box, ir::Pure{{{nullptr, value}}}, stage_.where}));
  }

  const ir::Stage& stage_;
  const Separate which_;
  const bool strict_;
  std::unordered_set<std::string>& names_;
  std::vector<ir::StagePtr>& before_;
  std::vector<SeparatedWindow>* separated_;
  bool in_pieces_ = false;  // the window at hand
  std::unordered_map<const ir::Fold*, Expr> folds_;
  std::vector<std::shared_ptr<const ir::Fold>> kept_;  // keys of folds_ stay alive
};

}  // namespace

ir::Pipeline separate_windows(const ir::Pipeline& pipeline, Separate which,
                              std::vector<SeparatedWindow>* separated) {
  return with_stages_before(pipeline, [&](const ir::Stage& stage, auto& names, auto& before) -> Rule {
    if (!is_whole(stage)) return [](const Expr&) { return nullptr; };
    auto separation =
        std::make_shared<StageSeparation>(stage, which, pipeline.strict, names, before, separated);
    return [separation](const Expr& e) { return (*separation)(e); };
  });
}

std::string why_not_separated(const ir::Stage& stage, const ir::Fold& fold, bool strict) {
  const auto separable = analysis::as_separable(fold, strict);
  if (!separable) return analysis::why_not_separable(fold, strict);
  const std::size_t least = least_points_of(*separable, Separate::Large);
  if (fold.loop->domain.points.size() < least) return "it has fewer than " + std::to_string(least) + " taps";
  if (lacks_taps(*separable)) return "some of its taps are missing";
  if (!is_whole(stage)) return "the stage is no image of one case";
  return common_read(separable->value) ? "" : "its reads leave their images in different ways";
}

}  // namespace weft::rewrite
