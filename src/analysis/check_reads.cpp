#include <fmt/format.h>

#include "analysis/check_parts.h"
#include "analysis/ranges.h"
#include "analysis/set_text.h"
#include "ir/visit.h"

namespace weft::analysis {
namespace {

ir::Affine last(const ir::Range& range) { return range.min + range.extent - 1; }

/// What holds where a read is evaluated: its case is chosen, so the earlier ones are not. No definition means
/// that it is evaluated everywhere.
struct Guard {
  const ir::Pure* definition = nullptr;
  std::size_t case_index = 0;
  bool in_value = true;  // else in the condition itself

  bool is_trivial() const { return !definition || !definition->cases[0].when; }

  std::string text(SetText& spell) const {
    std::string result = spell.box();
    bool exact = true;
    if (!definition) return result;
    for (std::size_t i = 0; i <= case_index; ++i) {
      const ir::Expr& when = definition->cases[i].when;
      if (!when || (i == case_index && !in_value)) continue;
      if (const auto holds = spell.condition(when, i == case_index, &exact)) result += " and " + *holds;
    }
    return result;
  }
};

class ReadChecker {
 public:
  ReadChecker(const ir::Pipeline& pipeline, const ir::Stage& stage, IntegerSets& sets)
      : pipeline_(pipeline), stage_(stage), sets_(sets), spell_size_(pipeline) {}

  void check() {
    const auto* pure = std::get_if<ir::Pure>(&stage_.definition);
    if (!pure) {
      for (const ir::Expr& e : ir::expressions(stage_)) check(e, {});
      return;
    }
    for (std::size_t i = 0; i < pure->cases.size(); ++i) {
      if (pure->cases[i].when) check(pure->cases[i].when, {pure, i, false});
      check(pure->cases[i].value, {pure, i, true});
    }
  }

 private:
  void check(const ir::Expr& root, const Guard& guard) {
    ir::visit(root, [&](const ir::Expr& e) {
      if (const auto* read = std::get_if<ir::Read>(&e->op)) check(*read, guard, root);
    });
  }

  void check(const ir::Read& read, const Guard& guard, const ir::Expr& root) {
    if (read.border) {
      check_crop(read);
      return;
    }
    for (std::size_t d = 0; d < read.indices.size(); ++d) {
      const auto* index = std::get_if<ir::Affine>(&read.indices[d]);
      if (!index) fail_gather(read, static_cast<int>(d));
      if (can_leave(*index, read.source->box[d], guard)) fail(read, guard, root);
    }
  }

  // ---- leaving the box ----

  bool can_leave(const ir::Affine& index, const ir::Range& defined, const Guard& guard) {
    if (surely_inside(index, defined)) return false;
    SetText spell(pipeline_, stage_);
    return !sets_.is_empty(spell.set(outside(index, defined, guard, spell)));
  }

  /// Most reads need no integer sets.
  bool surely_inside(const ir::Affine& index, const ir::Range& defined) const {
    const Interval needed = range_over(index, stage_.domain());
    return surely_not_negative(needed.min - defined.min) && surely_not_negative(last(defined) - needed.max);
  }

  static std::string outside(const ir::Affine& index, const ir::Range& defined, const Guard& guard,
                             SetText& spell) {
    const std::string where = guard.text(spell), at = spell(index);
    const std::string leaves =
        fmt::format("not ({} <= {} <= {})", spell(defined.min), at, spell(last(defined)));
    return fmt::format("{} and {} and {}", where, spell.tap_bounds(), leaves);
  }

  // ---- messages ----

  Where place(const ir::Read& read) const { return read.where.line > 0 ? read.where : stage_.where; }

  [[noreturn]] void fail_gather(const ir::Read& read, int dim) const {
    const std::string& source = read.source->name;
    throw Error(fmt::format("'{}' reads '{}' at a computed index without a border", stage_.name, source),
                place(read))
        .note("computed", fmt::format("{} {}", source, ir::dim_name(dim)))
        .help(fmt::format("say what is outside: {}.border(Border::clamp()) or another mode", source));
  }

  [[noreturn]] void fail(const ir::Read& read, const Guard& guard, const ir::Expr& root) {
    const std::string& source = read.source->name;
    std::string needs, defined, example;
    for (std::size_t d = 0; d < read.indices.size(); ++d) {
      const auto* index = std::get_if<ir::Affine>(&read.indices[d]);
      const ir::Range& range = read.source->box[d];
      if (!index || !can_leave(*index, range, guard)) continue;
      const Interval needed = hull(read, static_cast<int>(d), guard, root);
      const std::string dim = (needs.empty() ? source + " " : ", ") + ir::dim_name(static_cast<int>(d));
      needs += fmt::format("{} in [{}, {}]", dim, spell_size_(needed.min), spell_size_(needed.max));
      defined += fmt::format("{} in [{}, {}]", dim, spell_size_(range.min), spell_size_(last(range)));
      if (example.empty() && !differ_by_constants(needed, range)) example = sample(*index, range, guard);
    }
    Error error(fmt::format("'{}' reads '{}' outside its box", stage_.name, source), place(read));
    error.note("needs", needs).note("defined", defined);
    if (!example.empty()) error.note("such as", example);
    throw error.help(fmt::format(
        "read it through {}.border(Border::clamp()) or another mode, or make the box of '{}' smaller", source,
        stage_.name));
  }

  static bool differ_by_constants(const Interval& needed, const ir::Range& defined) {
    return constant_difference(needed.min, defined.min) && constant_difference(needed.max, last(defined));
  }

  /// What all the reads of the source under the same guard need together, as far as they differ by constants.
  Interval hull(const ir::Read& read, int dim, const Guard& guard, const ir::Expr& root) {
    Interval result = needed_range(std::get<ir::Affine>(read.indices[dim]), guard);
    ir::visit(root, [&](const ir::Expr& e) {
      const auto* other = std::get_if<ir::Read>(&e->op);
      if (!other || other->source != read.source || other->border) return;
      const auto* index = std::get_if<ir::Affine>(&other->indices[dim]);
      if (!index) return;
      const Interval more = needed_range(*index, guard);
      const auto below = constant_difference(more.min, result.min),
                 above = constant_difference(more.max, result.max);
      if (below && *below < 0) result.min = more.min;
      if (above && *above > 0) result.max = more.max;
    });
    return result;
  }

  /// The exact range under the guard if that is one pair of linear forms, else one that contains it.
  Interval needed_range(const ir::Affine& index, const Guard& guard) {
    const Interval simple = range_over(index, stage_.domain());
    if (guard.is_trivial() && !has_floor(index)) return simple;
    SetText spell(pipeline_, stage_);
    const std::string where = guard.text(spell), at = spell(index);
    const auto bounds =
        sets_.bounds(spell.set_of_index(fmt::format("{} and {} and i = {}", where, spell.tap_bounds(), at)),
                     static_cast<int>(spell.sizes().size()));
    if (!bounds) return simple;
    return {affine(bounds->min, spell), affine(bounds->max, spell)};
  }

  static bool has_floor(const ir::Affine& a) {
    for (const auto& term : a.terms()) {
      if (std::holds_alternative<ir::FloorDiv>(term.atom)) return true;
    }
    return false;
  }

  static ir::Affine affine(const IntegerSets::Linear& linear, const SetText& spell) {
    ir::Affine result(linear.constant);
    for (std::size_t i = 0; i < linear.factors.size(); ++i) {
      result += ir::Affine(ir::Atom(spell.sizes()[i])) * linear.factors[i];
    }
    return result;
  }

  /// One pixel that reads outside: "x = 1 at x = 0 for w = 1".
  std::string sample(const ir::Affine& index, const ir::Range& defined, const Guard& guard) {
    SetText spell(pipeline_, stage_);
    const std::string formula = outside(index, defined, guard, spell);
    const auto point = sets_.least_point(spell.set(formula), spell.rank());
    if (!point) return "";
    std::string place, sizes;
    for (int d = 0; d < static_cast<int>(stage_.domain().size()); ++d) {
      place += fmt::format("{}{} = {}", d ? ", " : "", ir::dim_name(d), (*point)[spell.sizes().size() + d]);
    }
    for (std::size_t i = 0; i < spell.sizes().size(); ++i) {
      sizes += fmt::format("{}{} = {}", i ? ", " : "", spell_size_(ir::Affine(ir::Atom(spell.sizes()[i]))),
                           (*point)[i]);
    }
    return place + (sizes.empty() ? "" : " for " + sizes);
  }

  // ---- crops ----

  void check_crop(const ir::Read& read) {
    const ir::Box& box = read.source->box;
    for (std::size_t d = 0; d < box.size(); ++d) {
      if (read.region[d] == box[d]) continue;
      SetText spell(pipeline_, stage_);
      const std::string sizes = spell.box(), min = spell(read.region[d].min),
                        end = spell(last(read.region[d]));
      const std::string formula = fmt::format("{} and {} <= {} and not ({} <= {} and {} <= {})", sizes, min,
                                              end, spell(box[d].min), min, end, spell(last(box[d])));
      if (sets_.is_empty(spell.set(formula))) continue;
      const std::string& source = read.source->name;
      const std::string dim = source + " " + ir::dim_name(static_cast<int>(d));
      throw Error(
          fmt::format("'{}' reads a crop of '{}' that is not inside it for every size", stage_.name, source),
          place(read))
          .note("crop", fmt::format("{} in [{}, {}]", dim, spell_size_(read.region[d].min),
                                    spell_size_(last(read.region[d]))))
          .note("defined",
                fmt::format("{} in [{}, {}]", dim, spell_size_(box[d].min), spell_size_(last(box[d]))))
          .help(
              "derive the crop from the source's size(), or fix the size of the image: Image<T>(\"in\", "
              "{640, 480})");
    }
  }

  const ir::Pipeline& pipeline_;
  const ir::Stage& stage_;
  IntegerSets& sets_;
  SizeNames spell_size_;
};

}  // namespace

void check_reads(const ir::Pipeline& pipeline, const ir::Stage& stage, IntegerSets& sets) {
  ReadChecker(pipeline, stage, sets).check();
}

}  // namespace weft::analysis
