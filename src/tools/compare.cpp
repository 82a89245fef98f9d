#include "tools/compare.h"

#include <fmt/format.h>
#include <weft/error.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "ir/interpret.h"
#include "ir/visit.h"

namespace weft::tools {
namespace {

/// The tolerance that just allows these; 0 for equal infinities and for two NaNs.
double deviation(double expected, double found, double largest) {
  if (expected == found || (std::isnan(expected) && std::isnan(found))) return 0;
  const double d = std::abs(found - expected) / (1 + std::abs(expected) + largest / 100);
  return std::isnan(d) ? INFINITY : d;
}

/// |a - b| without overflow.
std::uint64_t distance(Scalar s, std::int64_t a, std::int64_t b) {
  const bool less = s == Scalar::U64 ? static_cast<std::uint64_t>(a) < static_cast<std::uint64_t>(b) : a < b;
  return less ? static_cast<std::uint64_t>(b) - static_cast<std::uint64_t>(a)
              : static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b);
}

/// The largest finite |value|; 0 for integers, which need no such thing.
double largest_of(const Buffer& dense) {
  const Scalar s = dense.type().scalar;
  double largest = 0;
  if (!is_float(s)) return largest;
  const auto* at = static_cast<const std::byte*>(dense.data());
  for (std::int64_t i = 0; i < dense.pixels() * dense.type().lanes; ++i, at += size_of(s)) {
    const double v = std::abs(ir::load(s, at).f);
    if (std::isfinite(v)) largest = std::max(largest, v);
  }
  return largest;
}

struct Verdict {
  bool wrong = false, explained = false, off_by_one = false;
};

/// How one output is compared.
struct Rules {
  Type type;
  Tolerance tolerance;
  bool rounded;
  double largest;
  std::vector<Buffer> shaken;  // dense
};

/// Whether roundings that are a little off move this float about as far. They are drawn, and few, so that the
/// furthest of them may well be the lesser one by this factor.
bool is_explained(const Rules& rules, std::int64_t lane, double expected, double found) {
  constexpr double likely = 4;
  const Scalar s = rules.type.scalar;
  return std::any_of(rules.shaken.begin(), rules.shaken.end(), [&](const Buffer& shaken) {
    const auto* at = static_cast<const std::byte*>(shaken.data()) + lane * size_of(s);
    return std::abs(found - expected) <= likely * std::abs(ir::load(s, at).f - expected);
  });
}

Verdict judge(const Rules& rules, std::int64_t pixel, const std::byte* expected, const std::byte* found,
              double& worst) {
  Verdict verdict;
  const Scalar s = rules.type.scalar;
  for (int l = 0; l < rules.type.lanes; ++l) {
    const ir::Number e = ir::load(s, expected + l * size_of(s)), f = ir::load(s, found + l * size_of(s));
    if (is_float(s)) {
      if (std::abs(f.f - e.f) <= rules.tolerance.absolute) continue;
      const double d = deviation(e.f, f.f, rules.largest);
      const bool explained =
          d > rules.tolerance.relative && is_explained(rules, pixel * rules.type.lanes + l, e.f, f.f);
      verdict.explained |= explained;
      if (explained) continue;
      worst = std::max(worst, d);
      verdict.wrong |= d > rules.tolerance.relative;
    } else if (const std::uint64_t d = distance(s, e.i, f.i); d != 0) {
      const bool forgiven = d == 1 && rules.rounded && s != Scalar::Bool;
      (forgiven ? verdict.off_by_one : verdict.wrong) = true;
    }
  }
  return verdict;
}

std::string pixel_text(Type type, const std::byte* at) {
  ir::Value value{type, {}};
  for (int l = 0; l < type.lanes; ++l) value.lane[l] = ir::load(type.scalar, at + l * size_of(type.scalar));
  return value.to_string();
}

std::string place_text(const Buffer& buffer, std::int64_t pixel) {
  std::string text;
  for (auto extent : buffer.extents()) {
    text += (text.empty() ? "" : ", ") + std::to_string(pixel % extent);
    pixel /= extent;
  }
  return "(" + text + ")";
}

std::string shape_text(const Buffer& buffer) {
  return fmt::format("{} {}", fmt::join(buffer.extents(), "x"), weft::name_of(buffer.type()));
}

/// The results, or the message of the weft::Error instead of them.
template <class Work>
std::optional<std::map<std::string, Buffer>> attempt(Work work, std::string& refusal) {
  try {
    return work();
  } catch (const Error& error) {
    refusal = error.message();
    return std::nullopt;
  }
}

}  // namespace

std::string Comparison::text() const {
  if (!equal && wrong > 0)
    return fmt::format("'{}' differs in {} of {} pixels, first at {}", output, wrong, pixels, first);
  if (!equal && pixels > 0)
    return fmt::format("'{}' is off by one in {} of {} pixels, too many to be roundings", output, off_by_one,
                       pixels);
  if (!equal) return fmt::format("'{}': {}", output, first);
  if (explained > 0)
    return fmt::format("'{}' is equal, in {} of {} pixels but for roundings that count much there", output,
                       explained, pixels);
  if (off_by_one > 0) return fmt::format("'{}' is off by one in {} of {} pixels", output, off_by_one, pixels);
  return fmt::format("'{}' is equal", output);
}

bool agree_but_for_jumps(const Comparison& found, Type type) {
  constexpr double jumps = 1e-6;
  return found.equal || (is_float(type.scalar) && found.pixels > 0 &&
                         static_cast<double>(found.wrong) <= jumps * static_cast<double>(found.pixels));
}

bool rounds_floats(const ir::Pipeline& pipeline) {
  bool found = false;
  for (const ir::StagePtr& stage : pipeline.stages) {
    ir::visit(ir::expressions(*stage), [&](const ir::Expr& e) {
      const auto* cast = std::get_if<ir::Cast>(&e->op);
      found |= cast != nullptr && is_float(cast->a->type.scalar) && !is_float(e->type.scalar);
    });
  }
  return found;
}

Comparison compare(const std::string& output, const Buffer& expected, const Buffer& found,
                   const Tolerance& tolerance, bool rounded, const std::vector<Buffer>& shaken) {
  Comparison result;
  result.output = output;
  if (expected.type() != found.type() || expected.extents() != found.extents()) {
    result.equal = false;
    result.first = "expected " + shape_text(expected) + ", found " + shape_text(found);
    return result;
  }
  const Buffer a = expected.packed(), b = found.packed();
  const auto *pa = static_cast<const std::byte*>(a.data()), *pb = static_cast<const std::byte*>(b.data());
  const int size = size_of(a.type());
  const Rules rules{a.type(), tolerance, rounded, largest_of(a), shaken};
  result.pixels = a.pixels();
  for (std::int64_t i = 0; i < result.pixels; ++i, pa += size, pb += size) {
    const Verdict verdict = judge(rules, i, pa, pb, result.worst);
    if (verdict.wrong && result.wrong++ == 0) {
      result.first = fmt::format("{}: expected {}, found {}", place_text(a, i), pixel_text(a.type(), pa),
                                 pixel_text(a.type(), pb));
    }
    result.off_by_one += !verdict.wrong && verdict.off_by_one ? 1 : 0;
    result.explained += !verdict.wrong && verdict.explained ? 1 : 0;
  }
  // Four standard deviations more than are likely, as few pixels of an image may be many of its ties.
  const double likely = tolerance.rounded_share * static_cast<double>(result.pixels);
  const auto forgiven = static_cast<std::int64_t>(likely + 4 * std::sqrt(likely));
  result.equal = result.wrong == 0 && result.off_by_one <= std::max<std::int64_t>(forgiven, 1);
  return result;
}

std::vector<Comparison> verify(const ir::Pipeline& pipeline, const Program& program,
                               const Arguments& arguments, const Tolerance& tolerance) {
  return verify(pipeline, program, arguments, [&](const std::string&) { return tolerance; });
}

std::vector<Comparison> verify(const ir::Pipeline& pipeline, const Program& program,
                               const Arguments& arguments, const ToleranceOf& tolerance) {
  return verify(pipeline, program, arguments, expected(pipeline, arguments), tolerance);
}

Expected expected(const ir::Pipeline& pipeline, const Arguments& arguments) {
  Expected result;
  result.outputs = attempt(
      [&] { return ir::interpret(pipeline, ir::bound(arguments.images, arguments.params)); }, result.refusal);
  return result;
}

namespace {

/// What an output is where roundings are a little off. So many that no pixel is likely to be moved little by
/// all.
std::vector<Buffer> shaken(const ir::Pipeline& pipeline, const Arguments& arguments,
                           const std::string& output) {
  constexpr std::uint64_t draws = 12;
  std::vector<Buffer> all;
  for (std::uint64_t seed = 0; seed < draws; ++seed)
    all.push_back(ir::interpret_shaken(pipeline, ir::bound(arguments.images, arguments.params), seed)
                      .at(output)
                      .packed());
  return all;
}

}  // namespace

std::vector<Comparison> verify(const ir::Pipeline& pipeline, const Program& program,
                               const Arguments& arguments, const Expected& expected,
                               const ToleranceOf& tolerance) {
  std::string refusal;
  const auto found = attempt([&] { return program.run(arguments); }, refusal);
  if (!expected.outputs && !found) return {};
  if (!expected.outputs || !found) {
    Comparison refused;
    refused.output = pipeline.outputs[0]->name;
    refused.equal = false;
    refused.first = expected.outputs ? "refused: " + refusal
                                     : "computed, where the interpreter says: " + expected.refusal;
    return {refused};
  }
  return compare(pipeline, *found, arguments, *expected.outputs, tolerance);
}

std::vector<Comparison> compare(const ir::Pipeline& pipeline, const std::map<std::string, Buffer>& found,
                                const Arguments& arguments, const std::map<std::string, Buffer>& expected,
                                const ToleranceOf& tolerance) {
  const bool rounded = !pipeline.strict && rounds_floats(pipeline);
  std::vector<Comparison> all;
  for (const auto& [name, reference] : expected) {
    const auto match = found.find(name);
    const Tolerance allowed = tolerance(name);
    const auto compare_with = [&](const std::vector<Buffer>& shaken) {
      return compare(name, reference, match == found.end() ? Buffer() : match->second, allowed,
                     rounded && allowed.rounded_share > 0, shaken);
    };
    all.push_back(compare_with({}));
    if (all.back().wrong > 0 && !pipeline.strict && is_float(reference.type().scalar))
      all.back() = compare_with(shaken(pipeline, arguments, name));
  }
  return all;
}

}  // namespace weft::tools
