// Emitted code in a project that knows nothing of Weft: compiled without its headers, with all warnings as
// errors, and run as a program of its own.
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <optional>

#include "compile/process.h"
#include "emit/cpp.h"
#include "ir/stage_ir.h"
#include "lower/lower.h"
#include "rewrite/prepare.h"
#include "schedule/schedule.h"
#include "tests/support/differential.h"

namespace weft::testing_support {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t width = 101, height = 37;

/// A project folder, removed afterwards.
class Project {
 public:
  Project() {
    std::string name = (fs::temp_directory_path() / "weft-foreign-XXXXXX").string();
    if (!::mkdtemp(name.data())) throw std::runtime_error("no temporary folder");
    folder_ = name;
  }
  ~Project() { fs::remove_all(folder_); }
  Project(const Project&) = delete;
  Project& operator=(const Project&) = delete;

  fs::path operator/(const std::string& name) const { return folder_ / name; }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
  }

 private:
  fs::path folder_;
};

/// A pipeline, and a program of a user of it: reads the image from a file of raw pixels, writes the result.
struct Use {
  std::string application, main;
};
void PrintTo(const Use& use, std::ostream* out) { *out << use.application; }

const std::vector<Use> uses = {{"harris", R"(#include <cstdio>
#include <vector>
#include "harris.h"

int main(int count, char** names) {
  const int64_t w = 101, h = 37;
  if (count != 3) return 2;
  std::vector<float> in(w * h), hc(w * h);
  std::FILE* file = std::fopen(names[1], "rb");
  if (!file || std::fread(in.data(), sizeof(float), in.size(), file) != in.size()) return 3;
  std::fclose(file);
  if (harris::run_harris(in.data(), w, w, h, 0.04f, hc.data(), w) != 0) return 4;
  file = std::fopen(names[2], "wb");
  if (!file || std::fwrite(hc.data(), sizeof(float), hc.size(), file) != hc.size()) return 5;
  return std::fclose(file);
}
)"},
                               {"color_convert", R"(#include <cstdio>
#include <cstdlib>
#include <vector>
#include "color_convert.h"

// A host of the user's own: one thread, and memory that is counted.
static int blocks = 0;
static void* allocate(void*, size_t bytes, bool clear) { ++blocks; return clear ? std::calloc(bytes, 1) : std::malloc(bytes); }
static void release(void*, void* memory) { --blocks; std::free(memory); }
static void one_thread(void*, int64_t count, void (*body)(const void*, int64_t, int64_t), const void* frame) {
  for (int64_t i = 0; i < count; ++i) body(frame, i, i + 1);
}

int main(int count, char** names) {
  const int64_t w = 101, h = 37;
  if (count != 3) return 2;
  std::vector<uint8_t> in(4 * w * h), grey(w * h);
  std::FILE* file = std::fopen(names[1], "rb");
  if (!file || std::fread(in.data(), 1, in.size(), file) != in.size()) return 3;
  std::fclose(file);
  const weft_host host = {nullptr, allocate, release, one_thread};
  if (color_convert::run_color_convert(in.data(), 4 * w, w, h, grey.data(), w, &host) != 0 || blocks != 0) return 4;
  file = std::fopen(names[2], "wb");
  if (!file || std::fwrite(grey.data(), 1, grey.size(), file) != grey.size()) return 5;
  return std::fclose(file);
}
)"},
                               {"pyramid", R"(#include <cstdio>
#include <vector>
#include "pyramid.h"

int main(int count, char** names) {
  const int64_t w = 101, h = 37;
  if (count != 3) return 2;
  std::vector<float> in(w * h), out(w * h);
  std::FILE* file = std::fopen(names[1], "rb");
  if (!file || std::fread(in.data(), sizeof(float), in.size(), file) != in.size()) return 3;
  std::fclose(file);
  // The coarsest of four levels would have no pixels.
  if (pyramid::run_pyramid(in.data(), w, 7, h, out.data(), w) != 2) return 6;
  if (pyramid::run_pyramid(in.data(), w, w, 7, out.data(), w) != 2) return 7;
  if (pyramid::run_pyramid(in.data(), w, w, h, out.data(), w) != 0) return 4;
  file = std::fopen(names[2], "wb");
  if (!file || std::fwrite(out.data(), sizeof(float), out.size(), file) != out.size()) return 5;
  return std::fclose(file);
}
)"}};

class EmittedCode : public testing::TestWithParam<std::tuple<Use, const char*>> {
 protected:
  static const Use& use() { return std::get<0>(GetParam()); }

  void SetUp() override {
    const auto found = compile::find_program(std::get<1>(GetParam()));
    if (!found) GTEST_SKIP() << std::get<1>(GetParam()) << " is not installed";
    compiler_ = *found;
  }

  void run(const std::vector<std::string>& command) const {
    const auto result = compile::run_process(command);
    ASSERT_EQ(result.exit_code, 0) << result.output;
  }

  fs::path compiler_;
  const Project project_;
};

TEST_P(EmittedCode, CompilesWithoutWeftAndComputesTheSame) {
  const Pipeline pipeline = build(applications().at(use().application)).pipeline;
  const ir::Pipeline prepared = rewrite::prepare(pipeline.ir());
  for (const auto& [name, text] :
       emit::emit_for_users(lower::lower(prepared, schedule::choose(prepared).kernels)))
    project_.write(name, text);
  project_.write("main.cpp", use().main);
  run({compiler_.string(), "-std=c++17", "-O2", "-Wall", "-Wextra", "-Werror", "-pthread", "-o",
       (project_ / "program").string(), (project_ / (use().application + ".cpp")).string(),
       (project_ / "main.cpp").string()});

  const Buffer in = picture(pipeline.ir().inputs[0]->type, {width, height}, 121);
  project_.write("in", {static_cast<const char*>(in.data()), static_cast<std::size_t>(in.bytes())});
  run({(project_ / "program").string(), (project_ / "in").string(), (project_ / "out").string()});

  const auto expected = interpreted(pipeline, {{{"in", in}}, {}, {}});
  const Buffer& result = expected.begin()->second;
  const Buffer got = Buffer::allocate(result.type(), result.extents());
  std::ifstream file(project_ / "out", std::ios::binary);
  ASSERT_TRUE(file.read(static_cast<char*>(got.data()), got.bytes()));
  // The user's flags are not Weft's: contracted products may be off by a rounding (see
  // applications_test.cpp).
  EXPECT_EQ(difference(result, got, {use().application == "color_convert" ? 1.0 : 1000.0}), "");
}

TEST(EmittedNamespace, HasTheNameOfThePipelineWhereNoHeaderHas) {
  const auto of = [](const std::string& name) {
    kernel::Module module;
    module.name = name;
    return emit::default_namespace(module);
  };
  EXPECT_EQ(of("sobel"), "sobel");
  EXPECT_EQ(of("my blur"), "my_blur");
  EXPECT_EQ(of("3d"), "pipeline_3d");
  EXPECT_EQ(of("class"), "class_");
  EXPECT_EQ(of("gamma"), "gamma_");
  EXPECT_EQ(of("INT8_MAX"), "INT8_MAX_");
}

/// Pipelines can have any name, and so can what is in them; their files stay in the folder and compile.
TEST(EmittedFiles, StayInTheirFolderAndCompile) {
  const Project project;
  std::vector<std::string> sources;
  const std::vector<std::array<std::string, 4>> all = {{"../x", "EXIT_FAILURE", "RAND_MAX", "stdout"},
                                                       {"/etc/x y;z", "thread", "vector", "memset"},
                                                       {"-o \"q\"", "aligned_alloc", "std", "CLOCK_REALTIME"},
                                                       {"a\n#error\\", "b\n#error\\", "c\\", "d\\\n"}};
  for (const auto& [name, image, middle, last] : all) {
    const Image<float> in(image.c_str());
    const Stage a = convolve(middle, in.border(Border::clamp()), Mask{{1.f, 2.f, 1.f}});
    const Pipeline pipeline(name, convolve(last, a.border(Border::clamp()), Mask{{1.f}, {2.f}, {1.f}}));
    const ir::Pipeline prepared = rewrite::prepare(pipeline.ir());
    const kernel::Module module = lower::lower(prepared, schedule::choose(prepared).kernels);
    std::vector<std::string> names;
    for (const auto& [file, text] : emit::emit_for_users(module)) {
      names.push_back(file);
      project.write(file, text);
    }
    const std::string base = names.back().substr(0, names.back().size() - 2);
    EXPECT_EQ(names, (std::vector<std::string>{"CMakeLists.txt", base + ".cpp", base + ".h"}));
    EXPECT_EQ(fs::path(base).filename(), base);
    EXPECT_EQ(base.find_first_of(" ;\"\\\n#"), std::string::npos) << base;
    sources.push_back((project / (base + ".cpp")).string());
  }
  EXPECT_EQ(fs::path(sources[0]).filename(), "_.._x.cpp");
  EXPECT_EQ(fs::path(sources[1]).filename(), "_etc_x_y_z.cpp");
  std::vector<std::string> command = {"g++", "-std=gnu++17", "-fsyntax-only", "-Wall", "-Wextra", "-Werror"};
  command.insert(command.end(), sources.begin(), sources.end());
  const auto result = compile::run_process(command);
  EXPECT_EQ(result.exit_code, 0) << result.output;
}

INSTANTIATE_TEST_SUITE_P(Compilers, EmittedCode,
                         testing::Combine(testing::ValuesIn(uses), testing::Values("g++", "clang++")),
                         [](const auto& info) {
                           const std::string compiler = std::get<1>(info.param);
                           return std::get<0>(info.param).application +
                                  (compiler == "g++" ? "_gcc" : "_clang");
                         });

}  // namespace
}  // namespace weft::testing_support
