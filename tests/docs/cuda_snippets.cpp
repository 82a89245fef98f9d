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

// In place of <cuda_runtime.h>, again: one stream is captured at a time, and a graph needs no nodes of its own.
using cudaGraph_t = void*;
using cudaGraphExec_t = void*;
enum cudaStreamCaptureMode { cudaStreamCaptureModeThreadLocal };
weft::testing_support::FakeCuda* device = nullptr;
void cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode) { device->begin_capture(stream); }
void cudaStreamEndCapture(cudaStream_t, cudaGraph_t* graph) { *graph = device->end_capture(); }
void cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph, unsigned long long) {
  *executable = graph;
}
void cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t stream) { device->launch_graph(graph, stream); }
void cudaGraphDestroy(cudaGraph_t) {}

/// Two blurs, which cost one call a frame from then on. The frames lie where they lay when this was called.
cudaGraphExec_t two_blurs(const GpuBlur& blur, const float* in, float* between, float* out,
                          std::int64_t width, std::int64_t height, cudaStream_t stream) {
  cudaGraph_t graph;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
  blur(in, between, width, height, width * sizeof(float), stream);
  blur(between, out, width, height, width * sizeof(float), stream);
  cudaStreamEndCapture(stream, &graph);
  cudaGraphExec_t executable;
  cudaGraphInstantiate(&executable, graph, 0);
  cudaGraphDestroy(graph);
  return executable;
}

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

  device = &cuda;
  const Buffer third = on_gpu(Buffer::allocate(frame.type(), frame.extents()));
  cudaGraphExec_t graph = two_blurs(blur, pixels(in), pixels(once), pixels(third), width, height, stream);
  ASSERT_NE(graph, nullptr);
  cudaGraphLaunch(graph, stream);
  cuda.synchronize(stream);
  EXPECT_EQ(difference(on_host(twice), on_host(third)), "");
}

}  // namespace
}  // namespace weft::testing_support
