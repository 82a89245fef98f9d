// Tests on the fake GPU: a driver and a compiler of CUDA that record what they are asked for.
#pragma once

#include <gtest/gtest.h>
#include <weft/weft.hpp>

#include "tests/cuda/fake/fake_cuda.h"
#include "tests/support/environment.h"

namespace weft::testing_support {

class GpuTest : public testing::Test {
 protected:
  GpuTest();
  ~GpuTest() override;  ///< Nothing is left allocated, and the checker has found nothing.

  /// A copy in the GPU's memory.
  Buffer on_gpu(const Buffer& image);
  Buffer on_host(const Buffer& image);
  /// The calls so far that begin with one of these texts.
  std::vector<std::string> calls(const std::vector<std::string>& beginnings) const;

  TemporaryFolder cache_;
  Variable driver_, toolkit_, cache_variable_;
  FakeCuda& cuda;
  FakeNvrtc& nvrtc;

 private:
  std::vector<std::string> alive_before_;
};

Program on_fake_gpu(const Pipeline& pipeline, Tile tile = Tile::Auto);

}  // namespace weft::testing_support
