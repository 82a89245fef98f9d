#include "fuzz/print.h"

#include <fmt/format.h>

#include "base/cpp_names.h"
#include "fuzz/operators.h"
#include "schedule/groups.h"

namespace weft::fuzz {
namespace {

constexpr const char* coordinate_names[] = {"x", "y", "z", "w"};

std::string joined(const std::vector<std::string>& items) {
  return fmt::format("{}", fmt::join(items, ", "));
}

std::string number(Scalar scalar, const ir::Number& n) {
  if (scalar == Scalar::F64) return fmt::format("{:#.17g}", n.f);
  if (is_float(scalar)) return fmt::format("{:#.9g}f", n.f);
  if (scalar == Scalar::Bool) return n.i ? "true" : "false";
  if (scalar == Scalar::U64) return fmt::format("{}u", static_cast<std::uint64_t>(n.i));
  return fmt::format("{}", n.i);
}

std::string literal(const ir::Value& value) {
  const Scalar s = value.type.scalar;
  const std::string text = number(s, value.lane[0]);
  if (s == Scalar::Bool || s == Scalar::F32 || s == Scalar::F64 || s == Scalar::I32)
    return fmt::format("Expr({})", text);
  return fmt::format("Expr({}({}))", cpp_name(s), text);
}

std::string text(const Size& size) {
  if (size.image < 0) return std::to_string(size.offset);
  std::string result = fmt::format("{}.size()[{}]", image_name(size.image), size.dim);
  if (size.scale != 1) result += fmt::format(" * {}", size.scale);
  if (size.inner != 0) result += fmt::format(" + {}", size.inner);
  if (size.divisor != 1) result = fmt::format("({}) / {}", result, size.divisor);
  if (size.offset != 0) result += fmt::format(" + {}", size.offset);
  return result;
}

/// Each end of a box in a braced list.
std::string mins(const Box& box) {
  std::vector<std::string> all;
  for (const Range& r : box) all.push_back(text(r.min));
  return fmt::format("std::vector<Index>{{{}}}", joined(all));
}
std::string extents(const std::vector<Size>& sizes) {
  std::vector<std::string> all;
  for (const Size& s : sizes) all.push_back(text(s));
  return fmt::format("Extents({})", joined(all));
}
std::string extents(const Box& box) {
  std::vector<Size> sizes;
  for (const Range& r : box) sizes.push_back(r.extent);
  return extents(sizes);
}

std::string tap_name(int loop) { return fmt::format("t{}", loop); }
std::string accumulator_name(int accumulator) { return fmt::format("a{}", accumulator); }

std::string text(const Index& i) {
  std::vector<std::string> parts;
  const auto add = [&](int factor, const std::string& name) {
    parts.push_back(factor == 1 ? name : fmt::format("{} * {}", factor, name));
  };
  if (i.coordinate >= 0) add(i.scale, coordinate_names[i.coordinate]);
  if (i.other >= 0) add(1, coordinate_names[i.other]);
  if (i.loop >= 0) add(i.tap_scale, fmt::format("{}[{}]", tap_name(i.loop), i.tap));
  if (parts.empty() || i.offset != Size()) parts.push_back(text(i.offset));
  std::string sum = fmt::format("{}", fmt::join(parts, " + "));
  if (i.offset == Size() && parts.size() == 1 && i.coordinate < 0 && i.loop < 0)
    sum = fmt::format("Index({})", sum);
  if (i.divisor > 1) sum = fmt::format("({}) / {}", sum, i.divisor);
  if (i.modulo > 0) sum = fmt::format("({}) % {}", sum, i.modulo);
  return sum;
}

std::string mask(const Window& w) {
  std::vector<std::string> all;
  for (double c : w.coefficients) {
    all.push_back(w.scalar == Scalar::I32   ? fmt::format("{}", static_cast<int>(c))
                  : w.scalar == Scalar::F32 ? fmt::format("{:#.9g}f", c)
                                            : fmt::format("{:#.17g}", c));
  }
  return fmt::format("Mask({}, {}, {{{}}})", w.width, w.height, joined(all));
}

std::string domain(const Window& w) {
  std::vector<std::string> points;
  for (const auto& [x, y] : w.listed) points.push_back(fmt::format("std::vector<int>{{{}, {}}}", x, y));
  if (!points.empty()) return fmt::format("Domain{{{}}}", joined(points));
  if (!w.coefficients.empty()) return fmt::format("Domain({})", mask(w));
  if (w.depth > 0) return fmt::format("Domain({}, {}, {})", w.width, w.height, w.depth);
  return fmt::format("Domain({}, {})", w.width, w.height);
}

class Printer {
 public:
  explicit Printer(const Recipe& recipe) : recipe_(recipe) {}

  std::string file(const std::string& comment) const {
    std::string body;
    const std::vector<bool> needed = needed_sources(recipe_);
    for (int s = 0; s < static_cast<int>(needed.size()); ++s) {
      if (needed[s] && !recipe_.is_image(s) && is_field(s - recipe_.first_stage()))
        body += evolution(s - recipe_.first_stage(), needed);
      else if (needed[s])
        body += "  " + (recipe_.is_image(s) ? image(s) : stage(s - recipe_.first_stage())) + "\n";
      if (s + 1 == recipe_.first_stage()) body += params();
    }
    std::vector<std::string> outputs;
    for (int o : recipe_.outputs) outputs.push_back(stage_name(o));
    return fmt::format(
        "{}#include <weft/weft.hpp>\nusing namespace weft;\n\nWEFT_PIPELINE({}) {{\n{}  return "
        "Outputs{{{}}}{};\n}}\n",
        comment, pipeline_name(recipe_), body, joined(outputs), recipe_.strict ? ".strict()" : "");
  }

 private:
  std::string name(int source) const {
    return recipe_.is_image(source) ? image_name(source) : stage_name(source - recipe_.first_stage());
  }

  bool is_field(int s) const { return recipe_.stages[s].kind == Stage::Kind::Evolve; }

  /// All fields at the first that is needed, then one by one.
  std::string evolution(int s, const std::vector<bool>& needed) const {
    const int first = s - recipe_.stages[s].field;
    std::vector<int> fields;
    for (int f = first; f < first + recipe_.stages[s].fields; ++f) {
      if (needed[recipe_.first_stage() + f]) fields.push_back(f);
    }
    const std::string all = fmt::format("e{}", first);
    std::string text;
    if (s == fields[0]) {
      std::vector<std::string> updates;
      for (int f : fields) text += field(f), updates.push_back(update(f));
      text += fmt::format("  std::vector<Stage> {} = evolve({}, {{{}}});\n", all,
                          value(recipe_.stages[s].steps.at(0)), fmt::join(updates, ",\n      "));
    }
    const auto at = std::find(fields.begin(), fields.end(), s) - fields.begin();
    return text + fmt::format("  Stage {} = {}[{}];\n", stage_name(s), all, at);
  }

  std::string field(int f) const {
    const Stage& stage = recipe_.stages[f];
    std::string text = fmt::format("  Field<{0}> {1}(\"{1}\", {2});\n", cpp_name(stage.type), field_name(f),
                                   name(stage.access.source));
    if (stage.frozen > 0) text += fmt::format("  {}.freeze({});\n", field_name(f), stage.frozen);
    return text;
  }

  std::string update(int f) const {
    const Stage& stage = recipe_.stages[f];
    return fmt::format("update(\"{}\", {}, [&]({}) {{ return {}; }})", stage_name(f), field_name(f),
                       coordinates(stage.box.size()), cases(stage));
  }

  std::string image(int i) const {
    const Image& image = recipe_.images[i];
    const std::string shape = !image.extents.empty() ? ", " + extents(image.extents)
                              : image.rank != 2      ? fmt::format(", {}", image.rank)
                                                     : "";
    return fmt::format("Image<{0}> {1}(\"{1}\"{2});", cpp_name(image.type), image_name(i), shape);
  }

  std::string params() const {
    std::string all;
    for (int p = 0; p < static_cast<int>(recipe_.params.size()); ++p) {
      const Parameter& param = recipe_.params[p];
      all += fmt::format("  Param<{0}> {1}(\"{1}\", {0}({2}));\n", cpp_name(param.scalar), parameter_name(p),
                         param.initial);
    }
    return all;
  }

  std::string stage(int s) const {
    const Stage& stage = recipe_.stages[s];
    const std::string head = fmt::format("Stage {0} = ", stage_name(s));
    const std::string quoted = fmt::format("\"{}\"", stage_name(s));
    const std::string post =
        stage.post.empty() ? "" : fmt::format(", [&](Expr given) {{ return {}; }}", value(stage.post[0]));
    switch (stage.kind) {
      case Stage::Kind::Point:
        return fmt::format("{}point({}, {});", head, quoted, value(stage.cases.at(0).value));
      case Stage::Kind::Convolve:
        return fmt::format("{}convolve({}, {}, {}{});", head, quoted, accessor(stage.access),
                           mask(stage.window), post);
      case Stage::Kind::Local: {
        constexpr const char* names[] = {"Sum", "Min", "Max", "Product", "Median", "Mean"};
        return fmt::format("{}local({}, {}, {}, Local::{}{});", head, quoted, accessor(stage.access),
                           domain(stage.window), names[static_cast<int>(stage.local)], post);
      }
      case Stage::Kind::Reduce:
        return fmt::format("{}reduce({}, {}, {});", head, quoted, elements(stage), reduction(stage));
      case Stage::Kind::Resize:
        return fmt::format("{}resize({}, {}, {}, {}{});", head, quoted, accessor(stage.access),
                           extents(stage.box), kernel_name(stage.interpolation), post);
      case Stage::Kind::Pyramid:
        return fmt::format(
            "{0}point({1}, Pyramid({1} \"_g\", {2}, {3}, binomial_reduce({4})).collapse({1} \"_out\", "
            "expand_and_add({4})));",
            head, quoted, name(stage.access.source), stage.levels, border(stage.access));
      case Stage::Kind::Scatter: return head + scatter(quoted, stage);
      case Stage::Kind::Evolve:
      case Stage::Kind::Body: break;
    }
    return fmt::format("{}stage({}, BoxAt{{{}, {}}}, [&]({}) {{ return {}; }});", head, quoted,
                       mins(stage.box), extents(stage.box), coordinates(stage.box.size()), cases(stage));
  }

  static std::string coordinates(std::size_t rank) {
    std::vector<std::string> all;
    for (std::size_t d = 0; d < rank; ++d)
      all.push_back(fmt::format("[[maybe_unused]] Var {}", coordinate_names[d]));
    return joined(all);
  }

  std::string elements(const Stage& stage) const {
    const std::string element = value(stage.cases.at(0).value);
    if (stage.over.empty()) return element;
    return fmt::format("BoxAt{{{}, {}}}, [&]({}) {{ return {}; }}", mins(stage.over), extents(stage.over),
                       coordinates(stage.over.size()), element);
  }

  static std::string reduction(const Stage& stage) {
    constexpr const char* names[] = {"sum", "product", "min", "max", "arg_min", "arg_max"};
    if (stage.reduce != weft::Reduce::Kind::Custom)
      return fmt::format("Reduce::{}()", names[static_cast<int>(stage.reduce)]);
    const AssociativeOperator& op = operator_of(stage.associative);
    const Type type = stage.type;
    std::vector<std::string> identity;
    for (int lane = 0; lane < type.lanes; ++lane)
      identity.push_back(literal(ir::Value::integer(type.lane(), op.identity(lane))));
    return fmt::format("Reduce([](const Expr& a, const Expr& b) {{ return {}; }}).identity({}){}", op.text,
                       type.lanes == 1 ? identity[0] : fmt::format("pack({})", joined(identity)),
                       op.commutes ? ".commutative()" : "");
  }

  static std::string kernel_name(Interpolation kernel) {
    constexpr const char* names[] = {"Nearest", "Bilinear", "Bicubic", "Lanczos3"};
    return fmt::format("Interpolation::{}", names[static_cast<int>(kernel)]);
  }

  std::string border(const Access& access) const {
    return fmt::format("Border::{}({})", border_name(access.border.value()),
                       access.border == Border::Mode::Constant ? value(access.constant.at(0)) : "");
  }

  std::string scatter(const std::string& quoted, const Stage& stage) const {
    constexpr const char* names[] = {"add", "multiply", "minimum", "maximum"};
    return fmt::format("scatter({}, {}, {}, {}, [&]({}) {{ return {}(std::vector<Expr>{{{}}}, {}); }});",
                       quoted, extents(stage.box), value(stage.initial), name(stage.access.source),
                       coordinates(recipe_.box_of(stage.access.source).size()),
                       names[static_cast<int>(stage.update)], joined(values(stage.at)),
                       value(stage.cases.at(0).value));
  }

  std::string cases(const Stage& stage) const {
    if (stage.cases.size() == 1) return value(stage.cases[0].value);
    std::string text = "cases()";
    for (const Case& c : stage.cases) {
      text += c.when.empty() ? fmt::format("\n      .otherwise({})", value(c.value))
                             : fmt::format("\n      .when({}, {})", value(c.when[0]), value(c.value));
    }
    return text;
  }

  std::string accessor(const Access& access) const {
    std::string text =
        access.age < 0 ? name(access.source) : field_name(access.source - recipe_.first_stage());
    if (access.age == 0) text += ".now()";
    if (access.age > 0) text += fmt::format(".back({})", access.age);
    if (!access.crop.empty()) text += fmt::format(".crop({}, {})", mins(access.crop), extents(access.crop));
    if (access.border) text += fmt::format(".border({})", border(access));
    return access.valid ? text + ".valid()" : text;
  }

  std::string read(const Access& access) const {
    if (access.indices.empty()) return fmt::format("Expr({})", accessor(access));
    std::vector<std::string> all;
    for (const Index& i : access.indices) all.push_back(i.computed.empty() ? text(i) : value(i.computed[0]));
    return fmt::format("{}({})", accessor(access), joined(all));
  }

  std::vector<std::string> values(const std::vector<Term>& terms) const {
    std::vector<std::string> all;
    for (const Term& t : terms) all.push_back(value(t));
    return all;
  }

  std::string operation(const Term& t) const {
    std::vector<std::string> operands = values(t.operands);
    if (operator_of(t.op).form != Operator::Form::Call) {
      for (std::size_t i = 0; i < operands.size(); ++i) {
        const Term& o = t.operands[i];
        if (o.kind == Term::Kind::Operator && operator_of(o.op).form != Operator::Form::Call)
          operands[i] = "(" + operands[i] + ")";
      }
    }
    return spelt(t.op, operands);
  }

  std::string value(const Term& t) const {
    using Kind = Term::Kind;
    switch (t.kind) {
      case Kind::Literal: return literal(t.literal);
      case Kind::Position: return fmt::format("Expr({})", text(t.position));
      case Kind::Parameter: return parameter_name(t.id);
      case Kind::Operator: return operation(t);
      case Kind::Cast: return fmt::format("cast<{}>({})", cpp_name(t.type.scalar), value(t.operands.at(0)));
      case Kind::Saturate:
        return fmt::format("saturate<{}>({})", cpp_name(t.type.scalar), value(t.operands.at(0)));
      case Kind::Pack: return fmt::format("pack({})", joined(values(t.operands)));
      case Kind::Lane: return fmt::format("Expr({}).lane({})", value(t.operands.at(0)), t.id);
      case Kind::Read: return read(t.access);
      case Kind::Window:
        return fmt::format("{}({}, [&]([[maybe_unused]] Tap {}) -> Expr {{ return {}; }})",
                           name_of(t.combine), domain(t.window), tap_name(t.id), value(t.operands.at(0)));
      case Kind::Coefficient: return fmt::format("{}({})", mask(t.window), tap_name(t.id));
      case Kind::Fold: return fold(t);
      case Kind::Accumulator: return fmt::format("Expr({})", accumulator_name(t.id));
      case Kind::Given: return "given";
      case Kind::StepNumber: return "step_number()";
      case Kind::Interpolated:
        return fmt::format("{}.interpolate({})({})", accessor(t.access), kernel_name(t.interpolation),
                           joined(values(t.operands)));
    }
    throw InternalError("a recipe has an unknown kind of term");
  }

  std::string fold(const Term& t) const {
    const int count = accumulators_of(t);
    std::string declared, updates;
    for (int a = 0; a < count; ++a) {
      const std::string accumulator = accumulator_name(accumulator_of(t.id, a));
      declared += fmt::format("Accum<{}> {}{{{}}}; ", cpp_name(t.operands[a].type), accumulator,
                              value(t.operands[a]));
      updates += fmt::format("{} = {}; ", accumulator, value(t.operands[count + a]));
    }
    return fmt::format(
        "[&]() -> Expr {{ {}for_each({}, [&]([[maybe_unused]] Tap {}) {{ {}}}); return {}; }}()", declared,
        domain(t.window), tap_name(t.id), updates, value(t.operands.at(2 * count)));
  }

  const Recipe& recipe_;
};

}  // namespace

std::string to_cpp(const Recipe& recipe, const std::string& comment) {
  const auto& asked = recipe.grouping;
  const std::string schedule =
      asked ? fmt::format("// With --schedule FILE, of {}\n", schedule::to_json(*asked)) : "";
  return Printer(recipe).file(comment + schedule);
}

}  // namespace weft::fuzz
