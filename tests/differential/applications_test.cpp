// Every application against the interpreter: every border mode, every size, every pixel of every output.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <ostream>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "compile/scheduling.h"
#include "ir/stage_ir.h"
#include "runtime/compile_together.h"
#include "schedule/groups.h"
#include "tests/support/combinations.h"
#include "tests/support/differential.h"

namespace weft::testing_support {
namespace {

constexpr double eps = 0x1p-24;  // the relative error of rounding one float
constexpr double white = 255;    // what the images go up to

// Compiled floats are reassociated and contracted, and their exp, log and pow are within a few units in the
// last place. So a result may be off by one rounding per operation on the longest way to it, each of at most
// eps times the largest sum of magnitudes that meets on that way.
constexpr Bound rounded(double magnitude, int operations) { return {magnitude * operations * eps}; }
// Integers made by rounding floats may go to the other neighbour where the float is all but a tie.
constexpr Bound off_by_one(double share) { return {1, share}; }

struct Agreement {
  const char* application;
  Scalar scalar;  // of the result
  Bound bound;
  const char* why;
};

const std::vector<Agreement> agreements = {
    {"bayer_mosaic", Scalar::U16, off_by_one(.005), "rounded floats"},
    {"bilateral", Scalar::F32, rounded(white, 2 * 169), "sums of 169 positive terms; a weighted mean"},
    {"bilateral_grid", Scalar::F32, rounded(2, 120), "sums of 64 pixels, three blurs, and a weighted mean"},
    {"bokeh", Scalar::F32, rounded(white, 199), "a mean of 197 positive terms"},
    {"box", Scalar::U8, exactly, "an integer sum; k / 25 is never near a tie"},
    {"box", Scalar::F32, rounded(white, 27), "a mean of 25 positive terms"},
    {"camera_pipe", Scalar::U8, exactly, "integers, and a curve that is strict"},
    {"chromatic_aberration", Scalar::F32, {.06}, "a coordinate of 640 is off by 2^-13, slopes go up to 255"},
    {"color_convert", Scalar::U8, off_by_one(.01), "sums of hundredths: one in a hundred is a tie"},
    {"corners", Scalar::U8, exactly, "strict"},
    {"diffusion", Scalar::U8, off_by_one(.005), "rounded floats"},
    {"dilate", Scalar::U8, exactly, "integers"},
    {"dilate", Scalar::F32, exactly, "chooses, does not compute"},
    {"enhance", Scalar::F32, {.02}, "the slope of t^0.6 at 0 makes 2e-6 * 255 of an error of 2^-22 there"},
    {"equalize", Scalar::U8, exactly, "strict"},
    {"erode", Scalar::U8, exactly, "integers"},
    {"erode", Scalar::F32, exactly, "chooses, does not compute"},
    {"gaussian", Scalar::U8, exactly, "coefficients of 12 bits, pixels of 8: floats hold every sum"},
    {"gaussian", Scalar::F32, rounded(white, 2 * 49), "a mean of at most 49 positive products"},
    {"gradient", Scalar::F32, rounded(4 * white, 200), "means of 25 terms per level, then sums of levels"},
    {"harris", Scalar::F32, rounded(2.2 * 127.5 * 127.5 * 127.5 * 127.5, 30),
     "products of squares of gradients up to 127.5 cancel: in units of the sum of their magnitudes"},
    {"harris_corner", Scalar::F32, rounded(1.2, 30),
     "sums of 9 squares of slopes up to 1/3: their products cancel"},
    {"histogram", Scalar::U32, exactly, "integers"},
    {"laplace", Scalar::U8, exactly, "integers"},
    {"mandelbrot", Scalar::U8, exactly, "strict"},
    {"laplacian", Scalar::F32, rounded(2 * white, 60), "strict where it quantises; else sums of levels"},
    {"local_laplacian", Scalar::F32, rounded(100, 120), "strict but for exp; the darkest are divided by .01"},
    {"median", Scalar::U8, exactly, "integers"},
    {"median", Scalar::F32, exactly, "chooses, does not compute"},
    {"mosaic", Scalar::F32, rounded(4 * white, 100), "means of positive terms, differences, sums of levels"},
    {"multiscale_interp", Scalar::F32, rounded(16, 120), "10 levels down and up, and a ratio of two of them"},
    {"night", Scalar::F32, rounded(9 * white, 60), "V is up to 4 times Y; red adds and takes 4 times V"},
    {"normalize", Scalar::F32, rounded(1, 3), "two differences and their ratio"},
    {"optical_flow", Scalar::I8, exactly, "integers"},
    {"orientation", Scalar::F32, {.02}, "sums of 25 products of differences up to 128"},
    {"prewitt", Scalar::F32, rounded(1.5 * 6 * white, 12), "six terms per direction cancel"},
    {"pyramid", Scalar::F32, rounded(white, 60), "means of positive terms"},
    {"pyramid_blend", Scalar::F32, rounded(2, 60), "bands cancel; 4 levels down and up"},
    {"reduce_max", Scalar::U8, exactly, "chooses, does not compute"},
    {"reduce_max", Scalar::F32, exactly, "chooses, does not compute"},
    {"reduce_max", Scalar::I32, exactly, "chooses, does not compute"},
    {"reduce_min", Scalar::U8, exactly, "chooses, does not compute"},
    {"reduce_min", Scalar::F32, exactly, "chooses, does not compute"},
    {"reduce_min", Scalar::I32, exactly, "chooses, does not compute"},
    {"reduce_sum", Scalar::U64, exactly, "integers"},
    {"reduce_sum", Scalar::I64, exactly, "integers"},
    {"reduce_sum", Scalar::F32, rounded(600 * 70 * white, 100), "each pixel takes part in 100 sums at most"},
    {"scaling", Scalar::F32, rounded(2.5 * white, 40), "weights whose magnitudes sum to 1.5 per direction"},
    {"scaling", Scalar::U8, off_by_one(.01), "rounded floats"},
    {"scatter_pipes", Scalar::F32, rounded(white, 2 * 25 + 10), "a mean of 25 positive products of a power"},
    {"shitomasi", Scalar::F32, rounded(2.5 * 127.5 * 127.5, 30), "squares of gradients cancel"},
    {"sobel", Scalar::F32, rounded(1.5 * 8 * white, 12), "six terms per direction, of weight 8, cancel"},
    {"spline", Scalar::F32, rounded(8 * white * white, 100), "squares of sums of 25, then 16 products"},
    {"unsharp", Scalar::U8, off_by_one(.005), "rounded floats"},
    {"unsharp_mask", Scalar::F32, rounded(9, 20), "5 times a picture less 4 times its blur"},
};

const Agreement& agreement(const std::string& application, Scalar scalar) {
  for (const Agreement& a : agreements) {
    if (a.application == application && a.scalar == scalar) return a;
  }
  throw Error("no bound is stated for '" + application + "' of " + name_of(scalar));
}

// ---- what is run ----

const std::vector<std::string> borders = {"clamp", "mirror", "mirror101", "repeat", "constant"};

/// One way to build an application.
struct Variant {
  std::string application;
  std::map<std::string, std::string> options;
  std::optional<Type> pixels;  // of its images, where it takes several
  std::map<std::string, double> params;

  std::string name() const {
    std::string text = application;
    for (const auto& [option, value] : options) text += "_" + option + "_" + value;
    std::replace_if(
        text.begin(), text.end(), [](char c) { return !std::isalnum(c); }, '_');
    if (pixels) text += "_" + name_of(*pixels);
    return text;
  }
};
void PrintTo(const Variant& variant, std::ostream* out) { *out << variant.name(); }

const Type u8{Scalar::U8, 1}, u8x3{Scalar::U8, 3}, u8x4{Scalar::U8, 4};
const Type i32{Scalar::I32, 1};
const Type f32{Scalar::F32, 1}, f32x3{Scalar::F32, 3}, f32x4{Scalar::F32, 4};

/// All variants that run with every border mode.
std::vector<Variant> variants() {
  std::vector<Variant> all;
  for (const char* size : {"3", "5", "7"}) {
    for (const Type pixels : {u8, f32}) all.push_back({"gaussian", {{"size", size}}, pixels, {}});
  }
  for (const char* application : {"box", "dilate", "erode", "median"}) {
    for (const Type pixels : {u8, f32}) all.push_back({application, {}, pixels, {}});
  }
  for (const Type pixels : {u8, f32}) all.push_back({"median", {{"size", "3"}}, pixels, {}});
  for (const Type pixels : {u8, u8x3}) all.push_back({"median", {{"size", "7"}}, pixels, {}});
  for (const char* mean : {"geometric", "arithmetic"})
    all.push_back({"enhance", {{"mean", mean}}, {}, {{"gain", 2.5}}});
  for (const char* levels : {"2", "4"}) all.push_back({"night", {{"levels", levels}}, {}, {}});
  all.push_back({"bilateral", {}, {}, {{"sigma_r", 24}}});
  all.push_back({"bilateral", {{"window", "disc"}}, {}, {}});
  all.push_back({"corners", {}, {}, {{"threshold", 5e4}}});
  for (const char* steps : {"4", "9"}) all.push_back({"diffusion", {{"steps", steps}}, {}, {}});
  all.push_back({"harris", {}, {}, {{"k", 0.06}}});
  all.push_back({"optical_flow", {{"window", "3"}, {"ties", "first"}}, {}, {}});
  all.push_back({"optical_flow", {{"window", "5"}}, {}, {}});
  for (const char* filter : {"nearest", "bilinear", "bicubic", "lanczos3"}) {
    for (const Type pixels : {u8, f32}) all.push_back({"scaling", {{"filter", filter}}, pixels, {}});
    all.push_back({"scaling", {{"filter", filter}, {"width", "71"}, {"height", "90"}}, f32, {}});
  }
  for (const char* application : {"pyramid", "laplacian", "gradient", "mosaic", "spline"}) {
    for (const char* levels : {"4", "1", "2"}) all.push_back({application, {{"levels", levels}}, {}, {}});
  }
  all.push_back({"laplacian", {{"levels", "7"}, {"q", "0"}}, {}, {}});
  all.push_back({"spline", {{"levels", "2"}, {"matrix", "0.75,-0.5,3.25,0.5,0.75,-7"}}, {}, {}});
  for (const char* application : {"bokeh", "chromatic_aberration", "laplace", "orientation", "prewitt",
                                  "scatter_pipes", "shitomasi", "sobel", "unsharp"})
    all.push_back({application, {}, {}, {}});
  return all;
}

/// Pixels of other lanes differ from those above in how they are loaded and stored, so one border will do.
std::vector<Variant> variants_of_lanes() {
  std::vector<Variant> all;
  for (const char* application : {"box", "dilate", "erode", "median", "gaussian", "scaling"}) {
    for (const Type pixels : {u8x3, u8x4, f32x3, f32x4}) all.push_back({application, {}, pixels, {}});
  }
  return all;
}

/// Those that have no border to choose; mandelbrot is a picture of nothing but coordinates.
std::vector<Variant> variants_without_border() {
  std::vector<Variant> all;
  for (const char* application :
       {"bayer_mosaic", "bilateral_grid", "camera_pipe", "color_convert", "equalize", "harris_corner",
        "histogram", "local_laplacian", "multiscale_interp", "normalize", "pyramid_blend"})
    all.push_back({application, {}, {}, {}});
  // Its kernels of thirty stages take a minute to instrument; those of fewer levels are below.
  if (instrumented)
    std::erase_if(all, [](const Variant& v) {
      return v.application == "pyramid_blend" || v.application == "local_laplacian";
    });
  for (const char* application : {"reduce_max", "reduce_min", "reduce_sum"}) {
    for (const Type pixels : {f32, u8, i32, f32x3, u8x4}) all.push_back({application, {}, pixels, {}});
  }
  all.push_back({"camera_pipe", {{"sharpen", "1"}}, Type{Scalar::U16, 1}, {}});
  all.push_back({"harris_corner", {{"variant", "halide"}}, {}, {}});
  all.push_back({"mandelbrot", {{"width", "131"}, {"height", "67"}}, {}, {}});
  all.push_back({"mandelbrot", {{"width", "1"}, {"height", "1"}}, {}, {}});
  all.push_back({"multiscale_interp", {{"alpha", "plain"}, {"levels", "4"}}, {}, {}});
  all.push_back({"pyramid_blend", {{"levels", "2"}}, {}, {}});
  all.push_back({"local_laplacian", {{"levels", "2"}, {"curves", "4"}}, {}, {}});
  for (const char* border : {"clamp", "constant"})  // and no threshold, or the last bit decides
    all.push_back({"unsharp_mask", {{"border", border}}, {}, {{"threshold", 0}}});
  all.push_back({"unsharp_mask", {{"variant", "halide"}}, {}, {}});
  return all;
}

/// Whether no other variant of the application stands before it.
bool is_first(const Variant& variant) {
  std::vector<Variant> all = variants();
  for (const Variant& v : variants_without_border()) all.push_back(v);
  const auto first = std::find_if(all.begin(), all.end(),
                                  [&](const Variant& v) { return v.application == variant.application; });
  return first == all.end() || first->name() == variant.name();
}

using Extents = std::vector<std::int64_t>;

/// The interpreter takes seconds for the largest size, which is wider than strips and higher than their rows.
/// So it is there once per application, not for each of its variants; with one border where a pixel takes
/// hundreds of operations (the interior, which is most of it, is the same for all); and not in instrumented
/// builds.
bool has_largest_size(const Variant& variant, const std::string& border) {
  // optical_flow: thousands of operations a pixel
  if (instrumented || variant.application == "optical_flow") return false;
  if (!is_first(variant)) return false;
  const std::set<std::string> slow = {"bilateral", "bokeh",        "corners", "gradient",
                                      "night",     "optical_flow", "spline"};
  return !slow.count(variant.application) || border == "clamp";
}

/// What the coarsest level of a pyramid needs.
std::int64_t least_side(const Variant& variant) {
  const std::set<std::string> any_size = {"local_laplacian", "multiscale_interp", "night", "pyramid_blend"};
  const bool is_pyramid = variant.options.count("levels") && !any_size.count(variant.application);
  return is_pyramid ? std::int64_t{1} << (std::stoi(variant.options.at("levels")) - 1) : 1;
}

std::vector<Extents> sizes(const Variant& variant, const std::string& border) {
  std::vector<Extents> all = {{1, 1}, {1, 7}, {7, 1}, {3, 3}, {8, 15}, {64, 48}, {131, 67}};
  if (variant.application == "camera_pipe") all = {{65, 49}, {66, 50}, {131, 67}};  // no smaller ones
  if (instrumented) all.pop_back();
  if (has_largest_size(variant, border)) all.push_back({600, 70});
  std::erase_if(all, [&](const Extents& e) { return std::min(e[0], e[1]) < least_side(variant); });
  return all;
}

Pipeline pipeline_of(const Variant& variant, const std::string& border) {
  const Application& application = applications().at(variant.application);
  Settings settings{variant.options, {}};
  if (border != "none") settings.options["border"] = border;
  if (border == "constant") settings.options["border_value"] = "40";
  if (variant.pixels) {
    for (const DeclaredImage& image : build(application).images)
      settings.image_types[image.name] = *variant.pixels;
  }
  return build(application, settings).pipeline;
}

/// Floats of 0 to the application's range, as from a file; integers up to 255.
Buffer input_of(const Application& application, Type type, const Extents& extents, std::uint64_t seed) {
  Buffer image = picture(type, extents, seed);
  if (type.scalar == Scalar::F32) {
    const auto scale = static_cast<float>(application.about.range / white);
    auto* at = static_cast<float*>(image.data());
    for (std::int64_t i = 0; i < image.pixels() * type.lanes; ++i) at[i] *= scale;
  }
  return image;
}

/// Loops become vectors whatever their borders, so those of one border are optimized as users' are: of another one for
/// each application. Those of the others differ in the indices that the pixels at the edges read.
CompileOptions options_for(const Variant& variant, const std::string& border) {
  const std::vector<Variant> all = variants();
  for (std::size_t v = 0; v < all.size(); ++v) {
    if (all[v].name() != variant.name() || border == "none") continue;
    return border == borders[v % borders.size()] ? user_compile_options() : quick_compile_options();
  }
  return user_compile_options();
}

void check(const Variant& variant, const std::string& border) {
  const Pipeline pipeline = pipeline_of(variant, border);
  const Bound bound = agreement(variant.application, pipeline.ir().outputs[0]->type.scalar).bound;
  const Program program = pipeline.compile(options_for(variant, border));
  std::uint64_t seed = 1;
  const bool sized = !pipeline.ir().inputs.empty();
  for (const Extents& extents : sized ? sizes(variant, border) : std::vector<Extents>{{0, 0}}) {
    SCOPED_TRACE(testing::Message() << extents[0] << "x" << extents[1] << ", seed " << seed);
    Arguments arguments{{}, variant.params, {}};
    for (const auto& input : pipeline.ir().inputs)
      arguments.images[input->name] =
          input_of(applications().at(variant.application), input->type, extents, seed++);
    expect_agreement(program, pipeline, arguments, bound);
  }
}

// ---- the tests ----

using Parameters = std::tuple<Variant, std::string>;

class Applications : public testing::TestWithParam<Parameters> {};

TEST_P(Applications, AgreeWithTheInterpreter) {
  const auto& [variant, border] = GetParam();
  check(variant, border);
}

std::string name_of_case(const testing::TestParamInfo<Parameters>& info) {
  return std::get<0>(info.param).name() + "_" + std::get<1>(info.param);
}

INSTANTIATE_TEST_SUITE_P(All, Applications,
                         testing::ValuesIn(combinations<Variant, std::string>(variants(), borders, is_first)),
                         name_of_case);
INSTANTIATE_TEST_SUITE_P(Lanes, Applications,
                         testing::Combine(testing::ValuesIn(variants_of_lanes()), testing::Values("clamp")),
                         name_of_case);
INSTANTIATE_TEST_SUITE_P(NoBorder, Applications,
                         testing::Combine(testing::ValuesIn(variants_without_border()),
                                          testing::Values("none")),
                         name_of_case);

/// The schedules that strategies other than the default lead to, each once, to be forced.
std::vector<std::string> schedules_by_fusion(const Pipeline& pipeline) {
  std::vector<std::string> all, known;
  for (const Fuse fuse : {Fuse::Auto, Fuse::None, Fuse::Basic, Fuse::MinCut, Fuse::Dp}) {
    compile::Scheduling scheduling;
    scheduling.fuse = fuse;
    const auto found = compile::scheduled(pipeline.ir(), target::Processor::Cpu, scheduling);
    const std::string text = schedule::to_json(schedule::grouping_of(found.schedule));
    if (std::count(known.begin(), known.end(), text) > 0) continue;
    known.push_back(text);
    if (fuse != Fuse::Auto) all.push_back(text);  // that runs above
  }
  return all;
}

/// One of those that are run above, under all schedules that fusion strategies lead to. They are compiled
/// together, as that takes most of the time; in instrumented builds every eighth application.
TEST(Fusion, AgreesWithTheInterpreter) {
  struct Case {
    Variant variant;
    Pipeline pipeline;
    std::vector<std::string> schedules;
  };
  std::vector<Variant> all = variants();
  for (const Variant& v : variants_without_border()) all.push_back(v);
  std::vector<Case> cases;
  std::vector<Pipeline> pipelines;
  std::vector<std::string> schedules;
  std::size_t count = 0;
  for (const Variant& variant : all) {
    if (!is_first(variant)) continue;
    if (instrumented && count++ % 8 != 0) continue;
    const Built built = build(applications().at(variant.application));
    const bool has_border = std::any_of(built.options.begin(), built.options.end(),
                                        [](const DeclaredOption& o) { return o.name == "border"; });
    const Pipeline pipeline = pipeline_of(variant, has_border ? "mirror" : "none");
    std::vector<std::string> forced = schedules_by_fusion(pipeline);
    if (forced.empty()) continue;
    pipelines.insert(pipelines.end(), forced.size(), pipeline);
    schedules.insert(schedules.end(), forced.begin(), forced.end());
    cases.push_back({variant, pipeline, forced});
  }
  CompileOptions options = compile_options();
  options.compiler_flags.insert(options.compiler_flags.end(), {"-O0", "-DWEFT_CACHE_BYTES=0"});
  const std::vector<Program> programs =
      runtime::compile_together(pipelines, options, compile::ContentCache(), schedules);
  auto program = programs.begin();
  for (const auto& [variant, pipeline, forced] : cases) {
    SCOPED_TRACE(testing::Message() << variant.name() << " with " << testing::PrintToString(forced));
    const Bound bound = agreement(variant.application, pipeline.ir().outputs[0]->type.scalar).bound;
    Arguments arguments{{}, variant.params, {}};
    for (const auto& input : pipeline.ir().inputs)
      arguments.images[input->name] =
          input_of(applications().at(variant.application), input->type, {66, 50}, 7);
    const auto end = program + static_cast<std::ptrdiff_t>(forced.size());
    expect_agreement(std::vector(program, end), pipeline, arguments, bound);
    program = end;
  }
}

/// These are run by tests/oracle/stencil_applications_test.cpp.
bool is_iterated_stencil(const Application& application) {
  const Built built = build(application);
  const auto& params = built.pipeline.ir().params;
  return std::any_of(params.begin(), params.end(), [](const auto& p) { return p->name == "steps"; });
}

TEST(ApplicationsTable, NamesThemAll) {
  std::set<std::string> run;
  for (const auto& some : {variants(), variants_without_border()})
    for (const Variant& variant : some) run.insert(variant.application);
  for (const auto& [name, application] : applications())
    EXPECT_TRUE(run.count(name) || application.about.refused || is_iterated_stencil(application)) << name;
}

}  // namespace
}  // namespace weft::testing_support
