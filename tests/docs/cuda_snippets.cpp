// The recipe of docs/cookbook.md for GPUs, on the driver that the tests play.
#include <utility>

#include "tests/cuda/fake/gpu_test.h"
#include "tests/support/differential.h"

using namespace weft;

namespace {

using cudaStream_t = void*;  // in place of <cuda_runtime.h>

/// Blurs frames that are on the GPU already.
class GpuBlur {
 public:
  GpuBlur() : program_(compiled()) {}

  /// Queues the work behind what is on the stream, and returns at once.
  void operator()(const float* in, float* out, std::int64_t width, std::int64_t height, std::size_t pitch,
                  cudaStream_t stream) const {
    const auto row = static_cast<std::int64_t>(pitch / sizeof(float));  // as cudaMallocPitch gave it
    const auto view = [&](const float* pixels) {
      return Buffer(const_cast<float*>(pixels), type_of<float>(), {width, height}, {1, row})
          .in(Memory::gpu());
    };
    Arguments arguments;
    arguments.images["in"] = view(in);
    arguments.outputs["blurred"] = view(out);
    program_.run_on(stream, arguments);
  }

 private:
  static Program compiled() {
    Image<float> in("in");
    const Mask b3 = Mask{{1, 2, 1}, {2, 4, 2}, {1, 2, 1}} / 16.f;
    CompileOptions options;
    options.target = Target::Cuda;  // an error, and not the CPU, where no GPU works
    return Pipeline("blur", convolve("blurred", in.border(Border::clamp()), b3)).compile(options);
  }

  Program program_;
};

}  // namespace

namespace weft::testing_support {
namespace {

class CookbookOnGpu : public GpuTest {};

TEST_F(CookbookOnGpu, Streams) {
  const std::int64_t width = 32, height = 9;
  const GpuBlur blur;
  void* const stream = cuda.stream();
  const Buffer frame = picture(type_of<float>(), {width, height}, 1);
  const Buffer in = on_gpu(frame), once = on_gpu(Buffer::allocate(frame.type(), frame.extents()));
  const Buffer twice = on_gpu(Buffer::allocate(frame.type(), frame.extents()));
  const auto pixels = [](const Buffer& image) { return static_cast<float*>(image.data()); };
  blur(pixels(in), pixels(once), width, height, width * sizeof(float), stream);
  blur(pixels(once), pixels(twice), width, height, width * sizeof(float), stream);
  EXPECT_EQ(calls({"cuStreamSynchronize", "cuMemcpy"}).size(), 0u);  // nothing waits, and nothing is copied
  cuda.synchronize(stream);

  Image<float> image("in");
  const Mask b3 = Mask{{1, 2, 1}, {2, 4, 2}, {1, 2, 1}} / 16.f;
  Stage first = convolve("first", image.border(Border::clamp()), b3);
  const Pipeline both("both", convolve("blurred", first.border(Border::clamp()), b3));
  EXPECT_EQ(difference(interpreted(both, {{{"in", frame}}, {}, {}}).at("blurred"), on_host(twice),
                       {.largest = 1e-3}),
            "");
}

}  // namespace
}  // namespace weft::testing_support
