#include "tests/cuda/fake/gpu_test.h"

#include <stdexcept>

#include <dlfcn.h>

namespace weft::testing_support {
namespace {

template <class Get>
auto& loaded(const char* path, const char* function) {
  void* library = ::dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  auto* get = library ? reinterpret_cast<Get*>(::dlsym(library, function)) : nullptr;
  if (!get) throw std::runtime_error(std::string("cannot load ") + path);
  return *get();
}

}  // namespace

GpuTest::GpuTest()
    : driver_("WEFT_CUDA_DRIVER", WEFT_FAKE_CUDA),
      toolkit_("CUDA_PATH", WEFT_FAKE_TOOLKIT),
      cache_variable_("WEFT_CACHE", cache_.path()),
      cuda(loaded<GetFakeCuda>(WEFT_FAKE_CUDA, get_fake_cuda)),
      nvrtc(loaded<GetFakeNvrtc>(WEFT_FAKE_NVRTC, get_fake_nvrtc)) {
  cuda.reset();
  nvrtc = {};
  alive_before_ = cuda.alive();
}

GpuTest::~GpuTest() {
  EXPECT_EQ(cuda.alive(), alive_before_);
  EXPECT_EQ(cuda.reports(), std::vector<std::string>{});
}

Buffer GpuTest::on_gpu(const Buffer& image) {
  const Buffer dense = image.packed();
  void* memory = cuda.memory(static_cast<std::size_t>(dense.bytes()));
  cuda.upload(memory, dense.data(), static_cast<std::size_t>(dense.bytes()));
  return Buffer::on_gpu(memory, image.type(), image.extents());
}

Buffer GpuTest::on_host(const Buffer& image) {
  Buffer copy = Buffer::allocate(image.type(), image.extents());
  cuda.download(copy.data(), image.data(), static_cast<std::size_t>(copy.bytes()));
  return copy;
}

std::vector<std::string> GpuTest::calls(const std::vector<std::string>& beginnings) const {
  std::vector<std::string> chosen;
  for (const std::string& call : cuda.calls()) {
    for (const std::string& beginning : beginnings) {
      if (call.rfind(beginning, 0) == 0) chosen.push_back(call);
    }
  }
  return chosen;
}

Program on_fake_gpu(const Pipeline& pipeline, Tile tile) {
  CompileOptions options;
  options.target = Target::Cuda, options.tile = tile;
  return pipeline.compile(options);
}

}  // namespace weft::testing_support
