// Weft against the oracle files: every case of data/cases.json, one test per operator and way to run it. The
// operators are Weft's applications; those that no application has are written here with the language.
#include <gtest/gtest.h>
#include <weft/weft.hpp>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include "ir/bindings.h"
#include "ir/interpret.h"
#include "tests/oracle/npy.h"

namespace weft::oracle {
namespace {

using nlohmann::json;
using Images = std::map<std::string, Buffer>;

const std::string data = WEFT_SOURCE_DIR "/tests/oracle/data/";

struct Runner {
  std::string name;
  std::function<Images(const Pipeline&, const ir::Bindings&)> run;
};
void PrintTo(const Runner& runner, std::ostream* out) { *out << runner.name; }

/// The ways to run a pipeline: each has to agree with the oracles.
std::vector<Runner> runners() {
  return {
      {"interpreter", [](const Pipeline& pipeline,
                         const ir::Bindings& bindings) { return ir::interpret(pipeline.ir(), bindings); }},
  };
}

const json& all_cases() {
  static const json cases = json::parse(std::ifstream(data + "cases.json"));
  return cases;
}

std::vector<std::string> ops() {
  std::set<std::string> names;
  for (const json& c : all_cases()) names.insert(c.at("op").get<std::string>());
  return {names.begin(), names.end()};
}

// ---- from a case to a pipeline ----

Border border_of(const json& c) {
  const json& value = c.at("border_value");
  return Border::named(c.at("border"), value.is_null() ? 0.0 : value.get<double>());
}

/// The case's mask, of integers or of floats as it says.
Mask mask_of(const json& params) {
  const json& rows = params.at("mask");
  const bool integer = params.at("arithmetic") == "i32";
  std::vector<Mask::Coefficient> coefficients;
  for (const json& row : rows) {
    for (const json& v : row) {
      if (integer)
        coefficients.emplace_back(v.get<int>());
      else
        coefficients.emplace_back(v.get<float>());
    }
  }
  return {static_cast<int>(rows.at(0).size()), static_cast<int>(rows.size()), coefficients};
}

/// The bilateral filter over a disc, as OpenCV has it; the application's window is a square.
Stage bilateral_disc(const Accessor& src, const json& params) {
  const int size = params.at("size");
  const auto sigma_d = params.at("sigma_d").get<double>();
  const auto sigma_r = params.at("sigma_r").get<float>();
  const Mask closeness = Mask::from(size, size, [&](int dx, int dy) {
    return static_cast<float>(std::exp(-(dx * dx + dy * dy) / (2 * sigma_d * sigma_d)));
  });
  return stage("bilateral", src.size(), [&](Var x, Var y) {
    Accum<float> d = 0, p = 0;
    for_each(Domain::disc(size / 2), [&](Tap t) {
      Expr v = src(x + t.x, y + t.y), diff = v - src(x, y);
      Expr w = closeness(t) * exp(diff * diff / (-2.f * sigma_r * sigma_r));
      d += w;
      p += w * v;
    });
    return p / d;
  });
}

/// A reduction of each block of 4x3 pixels, those at the edges smaller.
Stage by_blocks(const Source& in, int initial, ScatterUpdate::Op op) {
  const Extents blocks{(in.width() + 3) / 4, (in.height() + 2) / 3};
  return scatter("out", blocks, initial, in, [&](Var x, Var y) {
    return ScatterUpdate{op, {x / 4, y / 3}, in(x, y)};
  });
}

/// How many pairs of pixels have which pair of values.
Stage histogram2d(const Source& a, const Image<std::uint8_t>& b) {
  return scatter("out", {16, 8}, 0u, a, [&](Var x, Var y) { return add({a(x, y) / 16, b(x, y) / 32}, 1u); });
}

/// The pipelines of the operators that are no application.
Pipeline written_here(const json& c, Type pixels) {
  const std::string op = c.at("op");
  const AnyImage in("in", {pixels.scalar}, {pixels.lanes});
  const Expr pixel = in;
  if (op == "correlate") return {op, convolve("out", in.border(border_of(c)), mask_of(c.at("params")))};
  if (op == "reduce_level") return {op, reduce_level("out", in.border(border_of(c)))};
  if (op == "expand_level") {
    const json& params = c.at("params");
    const Extents extents{params.at("width").get<int>(), params.at("height").get<int>()};
    return {op, expand_level("out", in.border(border_of(c)), extents)};
  }
  if (op == "arg_min") return {op, reduce("out", in, Reduce::arg_min())};
  if (op == "arg_max") return {op, reduce("out", in, Reduce::arg_max())};
  if (op == "block_sum") return {op, by_blocks(in, 0, ScatterUpdate::Op::Add)};
  if (op == "block_min") return {op, by_blocks(in, 255, ScatterUpdate::Op::Min)};
  if (op == "block_max") return {op, by_blocks(in, 0, ScatterUpdate::Op::Max)};
  if (op == "histogram2d") return {op, histogram2d(in, Image<std::uint8_t>("second", in.size()))};
  if (op == "bilateral") return {op, bilateral_disc(in.border(border_of(c)), c.at("params"))};
  if (op == "luminance")
    return {op, point("out", .299f * pixel.lane(0) + .587f * pixel.lane(1) + .114f * pixel.lane(2))};
  if (op == "saturate_u8") return {op, point("out", saturate<std::uint8_t>(pixel))};
  if (op == "cast_u8") return {op, point("out", cast<std::uint8_t>(pixel))};
  throw Error("no pipeline for the operator '" + op + "'");
}

/// The pipeline whose output is the named stage of `pipeline`.
Pipeline with_output(const Pipeline& pipeline, const std::string& name) {
  for (const ir::StagePtr& stage : pipeline.ir().stages) {
    if (stage->name == name) return {pipeline.ir().name, Stage(stage)};
  }
  throw Error("'" + pipeline.ir().name + "' has no stage '" + name + "'");
}

std::string spelt(const json& value) { return value.is_string() ? value.get<std::string>() : value.dump(); }

/// An application built with the case's options; what is a run-time parameter goes into `bindings`.
Pipeline application_of(const json& c, const Application& application, ir::Bindings& bindings) {
  const Built defaults = build(application);
  Settings settings;
  for (const auto& [name, image] : bindings.images) settings.image_types[name] = image.type();
  if (!c.at("border").is_null()) settings.options["border"] = c.at("border");
  if (!c.at("border_value").is_null()) settings.options["border_value"] = spelt(c.at("border_value"));

  json params = c.at("params");
  params.erase("output");
  if (c.at("op") == "bilateral") {  // what the application always has
    EXPECT_EQ(params.at("domain"), "box");
    EXPECT_EQ(params.at("size"), 13);
    params.erase("domain");
    params.erase("size");
  }
  if (c.at("op") == "optical_flow") settings.options["ties"] = "first";
  const auto& declared = defaults.pipeline.ir().params;
  for (const auto& [name, value] : params.items()) {
    const auto param =
        std::find_if(declared.begin(), declared.end(), [&](const auto& p) { return p->name == name; });
    if (param == declared.end())
      settings.options[name] = spelt(value);
    else
      bindings.params[name] = ir::Value::real((*param)->initial.type, value.get<double>());
  }
  const Built built = build(application, settings);
  return c.at("params").contains("output") ? with_output(built.pipeline, c.at("params").at("output"))
                                           : built.pipeline;
}

/// The case's pipeline; the parameters of its runs go into `bindings`.
Pipeline pipeline_of(const json& c, ir::Bindings& bindings) {
  const auto application = applications().find(c.at("op"));
  const bool disc = c.at("params").value("domain", "") == "disc";
  if (application == applications().end() || disc) return written_here(c, bindings.images.at("in").type());
  return application_of(c, application->second, bindings);
}

/// Of the case's inputs, in order.
std::vector<std::string> image_names(const json& c) {
  const auto application = applications().find(c.at("op"));
  if (application == applications().end())
    return c.at("input").size() == 1 ? std::vector<std::string>{"in"}
                                     : std::vector<std::string>{"in", "second"};
  std::vector<std::string> names;
  for (const DeclaredImage& image : build(application->second).images) names.push_back(image.name);
  return names;
}

// ---- comparing ----

template <class T>
std::string first_difference(const Buffer& expected, const Buffer& got, double tolerance) {
  const int lanes = expected.type().lanes;
  const Buffer e = expected.packed(), g = got.packed();
  const auto *a = static_cast<const T*>(e.data()), *b = static_cast<const T*>(g.data());
  std::int64_t mismatches = 0, first = -1;
  double worst = 0;
  for (std::int64_t i = 0; i < e.pixels() * lanes; ++i) {
    const double off = std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i]));
    if (off <= tolerance) continue;  // never true of a NaN
    worst = std::max(worst, off);
    if (mismatches++ == 0) first = i;
  }
  if (mismatches == 0) return "";
  const std::int64_t pixel = first / lanes;
  std::ostringstream text;
  text << "at (" << pixel % e.extent(0) << ", " << pixel / e.extent(0) << ") lane " << first % lanes
       << ": expected " << +a[first] << ", got " << +b[first] << "; " << mismatches << " of "
       << e.pixels() * lanes << " differ by more than " << tolerance << ", by " << worst << " at most";
  return text.str();
}

/// Empty if the images agree; else says where and how they do not.
std::string difference(const Buffer& expected, const Buffer& got, double tolerance) {
  if (expected.type() != got.type())
    return "pixels are " + name_of(got.type()) + ", expected " + name_of(expected.type());
  std::vector<std::int64_t> extents = got.extents();
  extents.resize(std::max<std::size_t>(extents.size(), 2), 1);  // a value is 1x1 in a file, a row n x 1
  if (expected.extents() != extents) return "the sizes differ";
  switch (expected.type().scalar) {
    case Scalar::I8: return first_difference<std::int8_t>(expected, got, tolerance);
    case Scalar::U8: return first_difference<std::uint8_t>(expected, got, tolerance);
    case Scalar::U32: return first_difference<std::uint32_t>(expected, got, tolerance);
    case Scalar::I64: return first_difference<std::int64_t>(expected, got, tolerance);
    case Scalar::U64: return first_difference<std::uint64_t>(expected, got, tolerance);
    case Scalar::I32: return first_difference<std::int32_t>(expected, got, tolerance);
    case Scalar::F32: return first_difference<float>(expected, got, tolerance);
    default: return "no comparison of " + name_of(expected.type());
  }
}

// ---- the tests ----

void check(const json& c, const Runner& runner) {
  ir::Bindings bindings;
  const std::vector<std::string> names = image_names(c);
  ASSERT_EQ(names.size(), c.at("input").size());
  for (std::size_t i = 0; i < names.size(); ++i)
    bindings.images[names[i]] = load_npy(data + c.at("input").at(i).get<std::string>());
  const Pipeline pipeline = pipeline_of(c, bindings);
  const Images outputs = runner.run(pipeline, bindings);
  const Buffer expected = load_npy(data + c.at("expected").get<std::string>());
  const Buffer& got = outputs.at(pipeline.ir().outputs.at(0)->name);
  EXPECT_EQ(difference(expected, got, c.at("tolerance")), "");
}

class Oracle : public testing::TestWithParam<std::tuple<Runner, std::string>> {};

TEST_P(Oracle, AgreesOnEveryCase) {
  const auto& [runner, op] = GetParam();
  for (const json& c : all_cases()) {
    if (c.at("op") != op) continue;
    SCOPED_TRACE(c.at("name").get<std::string>());
    try {
      check(c, runner);
    } catch (const std::exception& e) {
      ADD_FAILURE() << e.what();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, Oracle,
                         testing::Combine(testing::ValuesIn(runners()), testing::ValuesIn(ops())),
                         [](const auto& info) {
                           return std::get<0>(info.param).name + "_" + std::get<1>(info.param);
                         });

}  // namespace
}  // namespace weft::oracle
