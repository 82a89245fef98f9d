// Emitted CUDA in a program of somebody else: a class that owns memory, kernels of its own before and after,
// a stream of its own, pitches that Weft would not choose. It compiles with all warnings on where there is
// nvcc, and runs on the SIMT checker.
#include <gtest/gtest.h>
#include <simt/simt.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "compile/process.h"
#include "emit/gpu.h"
#include "ir/stage_ir.h"
#include "lower/lower.h"
#include "plan/block_strip.h"
#include "rewrite/prepare.h"
#include "schedule/schedule.h"
#include "tests/support/differential.h"
#include "tests/support/nvcc.h"

namespace weft::testing_support {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t width = 101, height = 37;

/// Halves the picture's values, finds corners in the middle of it, and doubles what it found.
constexpr const char* program = R"(#include "harris.h"

#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

namespace camera {

class Failure : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

void must(cudaError_t status) {
  if (status != cudaSuccess) throw Failure(cudaGetErrorString(status));
}

template <typename Pixel>
class Frame {
 public:
  Frame(int width, int height) : width_(width), height_(height) {
    must(cudaMallocPitch(&pixels_, &pitch_, width * sizeof(Pixel), height));
  }
  Frame(const Frame&) = delete;
  Frame& operator=(const Frame&) = delete;
  ~Frame() { cudaFree(pixels_); }

  void clear(cudaStream_t stream) {
    must(cudaMemset2DAsync(pixels_, pitch_, 0, width_ * sizeof(Pixel), height_, stream));
  }
  void upload(const std::vector<Pixel>& host, cudaStream_t stream) {
    must(cudaMemcpy2DAsync(pixels_, pitch_, host.data(), width_ * sizeof(Pixel), width_ * sizeof(Pixel), height_,
                           cudaMemcpyHostToDevice, stream));
  }
  void download(std::vector<Pixel>& host, cudaStream_t stream) const {
    must(cudaMemcpy2DAsync(host.data(), width_ * sizeof(Pixel), pixels_, pitch_, width_ * sizeof(Pixel), height_,
                           cudaMemcpyDeviceToHost, stream));
  }
  Pixel* row(int y) { return pixels_ + y * stride(); }
  int64_t stride() const { return static_cast<int64_t>(pitch_ / sizeof(Pixel)); }
  int width() const { return width_; }
  int height() const { return height_; }

 private:
  Pixel* pixels_ = nullptr;
  size_t pitch_ = 0;
  int width_, height_;
};

__global__ void scale(float* pixels, size_t stride, int width, int height, float by) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < height) pixels[y * stride + x] *= by;
}

void multiply(Frame<float>& frame, float by, cudaStream_t stream) {
  float* pixels = frame.row(0);
  size_t stride = frame.stride();
  int width = frame.width(), height = frame.height();
  void* arguments[] = {&pixels, &stride, &width, &height, &by};
  must(cudaLaunchKernel(scale, dim3((width + 15) / 16, (height + 15) / 16), dim3(16, 16), arguments, 0, stream));
}

std::vector<float> read(const char* name, size_t count) {
  std::vector<float> values(count);
  std::FILE* file = std::fopen(name, "rb");
  if (!file || std::fread(values.data(), sizeof(float), count, file) != count) throw Failure("no input");
  std::fclose(file);
  return values;
}

void write(const char* name, const std::vector<float>& values) {
  std::FILE* file = std::fopen(name, "wb");
  if (!file || std::fwrite(values.data(), sizeof(float), values.size(), file) != values.size())
    throw Failure("no output");
  std::fclose(file);
}

void find_corners(const char* from, const char* to) {
  const int width = 101, height = 37;
  std::vector<float> host = read(from, width * height);
  cudaStream_t stream;
  must(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  {
    Frame<float> image(width, height), corners(width + 50, height + 3);
    corners.clear(stream);
    image.upload(host, stream);
    multiply(image, 0.5f, stream);
    must(harris::run_harris(image.row(0), image.stride(), width, height, 0.04f, corners.row(2), corners.stride(), stream));
    multiply(corners, 2, stream);
    std::vector<float> all((width + 50) * (height + 3));
    corners.download(all, stream);
    must(cudaStreamSynchronize(stream));
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) host[y * width + x] = all[(y + 2) * (width + 50) + x];
  }
  must(cudaStreamDestroy(stream));
  write(to, host);
}

}  // namespace camera

int main(int count, char** words) {
  try {
    if (count != 3) return 2;
    camera::find_corners(words[1], words[2]);
    return 0;
  } catch (const camera::Failure& failure) {
    std::fprintf(stderr, "%s\n", failure.what());
    return 3;
  }
}
)";

class EmittedCuda : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "weft-foreign-cuda-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder = name;
    const ir::Pipeline prepared = rewrite::prepare(harris.ir());
    const schedule::Schedule schedule =
        schedule::choose(prepared, schedule::Tiling::None, {plan::most_shared_bytes});
    const kernel::Module module = lower::lower(prepared, schedule.kernels, target::Processor::Gpu);
    for (const auto& [file, text] : emit::emit_gpu_for_users(module, "sm_80"))
      std::ofstream(folder / file) << text;
    std::ofstream(folder / "main.cu") << program;

    in = picture(harris.ir().inputs[0]->type, {width, height}, 121);
    std::ofstream(folder / "in", std::ios::binary)
        .write(static_cast<const char*>(in.data()), static_cast<std::streamsize>(in.bytes()));
  }
  void TearDown() override {
    if (!folder.empty()) fs::remove_all(folder);
  }

  /// What the program wrote is twice the corners of half the picture.
  void expect_corners() const {
    const Buffer half = Buffer::allocate(in.type(), in.extents());
    for (std::int64_t i = 0; i < in.pixels(); ++i)
      static_cast<float*>(half.data())[i] = static_cast<const float*>(in.data())[i] / 2;
    Buffer expected = interpreted(harris, {{{"in", half}}, {}, {}}).begin()->second;
    for (std::int64_t i = 0; i < expected.pixels(); ++i) static_cast<float*>(expected.data())[i] *= 2;
    const Buffer got = Buffer::allocate(expected.type(), expected.extents());
    std::ifstream file(folder / "out", std::ios::binary);
    ASSERT_TRUE(file.read(static_cast<char*>(got.data()), got.bytes()));
    EXPECT_EQ(difference(expected, got, {1000.0}), "");
  }

  const Pipeline harris = build(applications().at("harris")).pipeline;
  fs::path folder;
  Buffer in;
};

class EmittedCudaOnTheChecker : public EmittedCuda, public testing::WithParamInterface<simt::Build> {};

TEST_P(EmittedCudaOnTheChecker, WorksInAProgramOfItsOwn) {
  simt::CompileOptions options;
  options.build = GetParam();
  options.includes = {folder};
  simt::Device device;
  const simt::Module module(
      device,
      simt::compile("#define main program_main\n#include \"main.cu\"\n#undef main\n#include \"harris.cu\"\n"
                    "extern \"C\" int run(const char* in, const char* out) {\n"
                    "  const char* words[] = {\"program\", in, out};\n"
                    "  return program_main(3, const_cast<char**>(words));\n}\n",
                    options));
  const std::string from = (folder / "in").string(), to = (folder / "out").string();
  EXPECT_EQ(module.function<int(const char*, const char*)>("run")(from.c_str(), to.c_str()), 0);
  device.synchronize();
  device.report_leaks();
  for (const simt::Report& report : device.reports()) ADD_FAILURE() << to_string(report);
  expect_corners();
}

INSTANTIATE_TEST_SUITE_P(Builds, EmittedCudaOnTheChecker,
                         testing::Values(simt::Build::fast, simt::Build::race, simt::Build::address),
                         [](const auto& info) { return std::string(name_of(info.param)); });

TEST_F(EmittedCuda, CompilesWithNvccAndRunsWhereThereIsAGpu) {
  const auto nvcc = find_nvcc();
  if (!nvcc) GTEST_SKIP() << no_nvcc;
  const std::vector<std::string> strict = {"-Xcompiler", "-Wconversion,-Wparentheses"};
  for (const char* name : {"main", "harris"}) {
    const NvccRun run =
        compile_with_nvcc(folder / (std::string(name) + ".cu"), folder / (std::string(name) + ".o"),
                          {.architecture = "sm_80", .object = true, .extra = strict});
    ASSERT_TRUE(run.clean()) << run.command << "\n" << run.output;
  }
  const auto linked =
      compile::run_process({nvcc->string(), "-arch=sm_80", "-o", (folder / "program").string(),
                            (folder / "main.o").string(), (folder / "harris.o").string()});
  ASSERT_EQ(linked.exit_code, 0) << linked.output;
  const auto ran = compile::run_process(
      {(folder / "program").string(), (folder / "in").string(), (folder / "out").string()});
  if (ran.exit_code == 0) return expect_corners();
  EXPECT_EQ(ran.exit_code, 3) << ran.output;  // there is no GPU, or none that this toolkit can use
  EXPECT_NE(ran.output, "");
}

}  // namespace
}  // namespace weft::testing_support
