// What Weft says when there is no GPU, and when one fails.
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "runtime/cuda_program.h"
#include "runtime/executable.h"
#include "tests/cuda/fake/gpu_test.h"
#include "tests/support/compare.h"
#include "tests/support/differential.h"
#include "tests/support/images.h"
#include "tools/targets.h"

namespace weft::testing_support::runtime_errors_test {
namespace {

using testing_support::message_of;

Pipeline edges() {
  Image<float> in("in");
  const Stage once = convolve("once", in.border(Border::clamp()), Mask{{-1, 0, 1}});
  return Pipeline("edges", convolve("twice", once.border(Border::clamp()), Mask{{-1, 0, 1}}));
}
/// A kernel of each stage.
Program two_kernels() { return on_fake_gpu(edges(), Tile::None); }
Buffer image() { return picture(type_of<float>(), {33, 31}, 1); }

constexpr int out_of_memory = 2, device_unavailable = 46, no_device = 100, invalid_image = 200,
              unsupported_ptx = 222, illegal_address = 700, launch_failed = 719, not_supported = 801,
              driver_mismatch = 803;

/// The last line of errors that any kernel before may have made.
const std::string may_be_another =
    "\n  help: a kernel that was queued before may have done it; WEFT_CUDA_DEBUG=1 says which";

class RuntimeErrors : public GpuTest {
 protected:
  std::string message_of_compiling() const {
    return message_of([] { two_kernels(); });
  }
  /// Of a run in which this call fails; the next run succeeds.
  std::string message_of_run(const std::string& function, int nth, int status) {
    const Program program = two_kernels();
    cuda.fail(function, nth, status);
    if (function == "cuMemAllocAsync") cuda.fail(function, nth, status);  // it is asked for twice
    const std::string message = message_of([&] { program(image()); });
    EXPECT_EQ(message_of([&] { program(image()); }), "(no error)");
    return message;
  }

  const Variable whole_{"WEFT_CUDA_PARTS", "1"};  // else what fails once is tried again in parts
};

// ---- something is missing ---------------------------------------------------------------------------------

TEST_F(RuntimeErrors, NoDriver) {
  const testing_support::Variable none("WEFT_CUDA_DRIVER", "libweft-no-such.so.1");
  EXPECT_EQ(
      message_of_compiling(),
      "NVIDIA's driver was not found: 'libweft-no-such.so.1' cannot be loaded; install it, or use another "
      "target than cuda");
}

TEST_F(RuntimeErrors, AnotherLibraryInPlaceOfTheDriver) {
  const testing_support::Variable other("WEFT_CUDA_DRIVER", "libm.so.6");
  EXPECT_EQ(
      message_of_compiling(),
      "NVIDIA's driver was not found: 'libm.so.6' has no cuGetErrorName (CUDA 11.2 has); install it, or use "
      "another target than cuda");
}

TEST_F(RuntimeErrors, DriverThatDoesNotStart) {
  cuda.set_start_status(no_device);
  EXPECT_EQ(message_of_compiling(),
            "NVIDIA's driver does not start: CUDA_ERROR_NO_DEVICE (no CUDA-capable device is detected)");
}

TEST_F(RuntimeErrors, DriverWithoutADevice) {
  cuda.set_devices(0);
  EXPECT_EQ(message_of_compiling(),
            "NVIDIA's driver has no GPU that it may use; CUDA_VISIBLE_DEVICES may hide it");
}

TEST_F(RuntimeErrors, DeviceThatIsNotThere) {
  CompileOptions options;
  options.target = Target::Cuda;
  options.device = 1;
  EXPECT_EQ(message_of([&] { edges().compile(options); }),
            "there is no GPU 1: NVIDIA's driver has 1, numbered from 0");
}

TEST_F(RuntimeErrors, NoCompiler) {
  EXPECT_EQ(message_of([] {
              runtime::cuda_toolchain(0, runtime::CudaDriver::candidates(), {"libweft-no-such.so.1"});
            }),
            "no CUDA compiler found: NVRTC, a library of the CUDA toolkit, cannot be loaded\n"
            "  tried libweft-no-such.so.1\n"
            "  help: install the CUDA toolkit, 12 or later, or set CUDA_PATH to its folder");
}

TEST_F(RuntimeErrors, CompilerThatDoesNotKnowTheDevice) {
  nvrtc.architectures = {75, 86, 90};
  EXPECT_EQ(message_of_compiling(),
            "CUDA 13.0 does not compile for GPU 0, SIMT checker (sm_80); install a version that does");
}

TEST_F(RuntimeErrors, LetTheTargetAutoUseTheCpu) {
  cuda.set_devices(0);
  EXPECT_EQ(edges().compile().target(), Target::Cpu);
}

// ---- something fails --------------------------------------------------------------------------------------

TEST_F(RuntimeErrors, CompilerThatHasNoMemory) {
  nvrtc.complaint = "out of memory";
  nvrtc.status = 1;
  const std::string message = message_of_compiling();
  EXPECT_EQ(message.substr(0, message.find('\n')), "pipeline 'edges': NVRTC failed to compile: NVRTC_ERROR");
}

/// The number of the line in which the kernel begins.
int line_of_kernel(const std::filesystem::path& source) {
  std::ifstream in(source);
  int number = 1;
  for (std::string line; std::getline(in, line); ++number) {
    if (line.find("__global__") != std::string::npos) return number;
  }
  return 0;
}

TEST_F(RuntimeErrors, RejectedKernels) {
  nvrtc.complaint = "identifier \"oops\" is undefined";
  const std::string message = message_of_compiling();
  const std::string name = message.substr(message.rfind('/') + 1);
  EXPECT_EQ(message,
            "pipeline 'edges': the CUDA compiler rejected emitted code (a bug in Weft, please report)\n"
            "  compiler NVRTC 13.0, " WEFT_FAKE_NVRTC
            "\n"
            "  options  --std=c++17 --gpu-architecture=sm_80 -ftz=true -prec-div=false -prec-sqrt=false\n"
            "  output   " +
                name + "(" + std::to_string(line_of_kernel(cache_.path() / name)) +
                "): error: identifier \"oops\" is undefined\n"
                "             extern \"C\" __global__ void __launch_bounds__(32, 1) once_kernel(const float* "
                "__restrict__ in,\n"
                "  source   " +
                (cache_.path() / name).string());
}

TEST_F(RuntimeErrors, CodeThatCannotBeLoaded) {
  cuda.fail("cuModuleLoadData", 1, invalid_image);
  EXPECT_EQ(message_of_compiling(),
            "pipeline 'edges': its compiled kernels cannot be loaded: CUDA_ERROR_INVALID_IMAGE (device "
            "kernel image "
            "is invalid)");
}

TEST_F(RuntimeErrors, NoMemoryForAnImage) {
  EXPECT_EQ(message_of_run("cuMemAllocAsync", 1, out_of_memory),
            "pipeline 'edges': 'in' needs 7936 bytes of the GPU's memory: CUDA_ERROR_OUT_OF_MEMORY (out of "
            "memory)");
}

TEST_F(RuntimeErrors, NoMemoryForAnIntermediate) {
  EXPECT_EQ(message_of_run("cuMemAllocAsync", 3, out_of_memory),
            "pipeline 'edges': 'once' needs 7936 bytes of the GPU's memory: CUDA_ERROR_OUT_OF_MEMORY (out of "
            "memory)");
}

TEST_F(RuntimeErrors, NoPinnedMemory) {
  EXPECT_EQ(
      message_of_run("cuMemHostAlloc", 2, out_of_memory),
      "pipeline 'edges': 'twice' needs 7936 bytes of the host's pinned memory: CUDA_ERROR_OUT_OF_MEMORY (out "
      "of memory)");
}

TEST_F(RuntimeErrors, NoMemoryForAllRowsAtOnceIsEnoughForParts) {
  const Variable unset("WEFT_CUDA_PARTS", nullptr);
  const Buffer wanted = interpreted(edges(), {{{"in", image()}}, {}, {}}).at("twice");
  for (const std::size_t parts : {4u, 8u}) {
    cuda.forget_calls();
    // Each time the driver is asked twice.
    for (std::size_t failed = 4; failed <= parts; failed *= 2) {
      for (int attempt = 0; attempt < 2; ++attempt) cuda.fail("cuMemAllocAsync", 1, out_of_memory);
    }
    EXPECT_EQ(difference(wanted, two_kernels()(image()), {.largest = 1e-5}), "");
    EXPECT_EQ(calls({"cuLaunchKernel"}).size(), 2 * parts);
  }
  // Of rows that need all others there are no parts.
  const Program sum = on_fake_gpu(Pipeline("total", reduce("sum", Image<float>("in"), Reduce::sum())));
  for (int attempt = 0; attempt < 2; ++attempt) cuda.fail("cuMemAllocAsync", 1, out_of_memory);
  EXPECT_EQ(message_of([&] { sum(image()); }),
            "pipeline 'total': 'in' needs 7936 bytes of the GPU's memory: CUDA_ERROR_OUT_OF_MEMORY (out of "
            "memory)");
}

TEST_F(RuntimeErrors, MemoryThatIsKeptIsGivenBackFirst) {
  const Program program = two_kernels();
  program(image());
  cuda.forget_calls();
  cuda.fail("cuMemAllocAsync", 1, out_of_memory);
  program(picture(type_of<float>(), {200, 200}, 1));
  EXPECT_EQ(
      calls({"cuMemFreeAsync"}),
      (std::vector<std::string>{"cuMemFreeAsync d1 s1", "cuMemFreeAsync d2 s1", "cuMemFreeAsync d3 s1"}));
}

/// What CUDA graphs and released outputs left is the driver's, and nobody else gives it back.
TEST_F(RuntimeErrors, MemoryThatTheDriverKeepsIsGivenBackNext) {
  const Program program = two_kernels();
  cuda.fail("cuMemAllocAsync", 1, out_of_memory);
  cuda.forget_calls();
  EXPECT_EQ(message_of([&] { program(image()); }), "(no error)");
  const std::vector<std::string> all = cuda.calls();
  ASSERT_GE(all.size(), 5u);
  EXPECT_EQ(std::vector<std::string>(all.begin(), all.begin() + 5),
            (std::vector<std::string>{"cuStreamCreate s1", "cuStreamSynchronize s1", "cuMemPoolTrimTo 0",
                                      "cuDeviceGraphMemTrim", "cuMemAllocAsync d1 8192 s1"}));
}

TEST_F(RuntimeErrors, MemoryThatIsKeptIsGivenBackForOutputsToo) {
  const Program program = two_kernels();
  program(image());
  cuda.forget_calls();
  cuda.fail("cuMemAllocAsync", 1, out_of_memory);
  const Buffer out = program(on_gpu(image()));
  EXPECT_EQ(
      calls({"cuMemFreeAsync", "cuMemPoolTrimTo"}),
      (std::vector<std::string>{"cuMemFreeAsync d1 s1", "cuMemFreeAsync d2 s1", "cuMemFreeAsync d3 s1"}));
}

TEST_F(RuntimeErrors, CopyToTheGpu) {
  EXPECT_EQ(message_of_run("cuMemcpyHtoDAsync", 1, illegal_address),
            "pipeline 'edges': image 'in' cannot be copied to the GPU: CUDA_ERROR_ILLEGAL_ADDRESS (an "
            "illegal memory "
            "access was encountered)" +
                may_be_another);
}

TEST_F(RuntimeErrors, CopyFromTheGpu) {
  EXPECT_EQ(message_of_run("cuMemcpyDtoHAsync", 1, illegal_address),
            "pipeline 'edges': output 'twice' cannot be copied from the GPU: CUDA_ERROR_ILLEGAL_ADDRESS (an "
            "illegal "
            "memory access was encountered)" +
                may_be_another);
}

TEST_F(RuntimeErrors, Launch) {
  EXPECT_EQ(message_of_run("cuLaunchKernel", 2, launch_failed),
            "pipeline 'edges': kernel 'twice_kernel' cannot be launched: CUDA_ERROR_LAUNCH_FAILED "
            "(unspecified launch "
            "failure)" +
                may_be_another);
}

TEST_F(RuntimeErrors, KernelsThatFailWhileTheyRun) {
  EXPECT_EQ(message_of_run("cuStreamSynchronize", 1, illegal_address),
            "pipeline 'edges': one of its kernels failed on the GPU: CUDA_ERROR_ILLEGAL_ADDRESS (an illegal "
            "memory access was encountered)" +
                may_be_another);
}

/// The first wait is for the first kernel.
TEST_F(RuntimeErrors, KernelsThatFailOneByOneAreNamed) {
  const testing_support::Variable debug("WEFT_CUDA_DEBUG", "1");
  EXPECT_EQ(message_of_run("cuStreamSynchronize", 2, illegal_address),
            "pipeline 'edges': kernel 'twice_kernel' failed on the GPU: CUDA_ERROR_ILLEGAL_ADDRESS (an "
            "illegal memory "
            "access was encountered)");
}

TEST_F(RuntimeErrors, AFaultInOneOfSeveralParts) {
  const testing_support::Variable parts("WEFT_CUDA_PARTS", "5");
  EXPECT_EQ(message_of_run("cuStreamSynchronize", 3, illegal_address),
            "pipeline 'edges': one of its kernels failed on the GPU: CUDA_ERROR_ILLEGAL_ADDRESS (an illegal "
            "memory access was encountered)" +
                may_be_another);
}

TEST_F(RuntimeErrors, NoNumberOfParts) {
  const Program program = two_kernels();
  for (const char* text : {"0", "-1", "3x", "many"}) {
    const testing_support::Variable parts("WEFT_CUDA_PARTS", text);
    EXPECT_EQ(message_of([&] { program(image()); }),
              "pipeline 'edges': WEFT_CUDA_PARTS is '" + std::string(text) +
                  "', which is not a number of parts\n"
                  "  help: set WEFT_CUDA_PARTS to a number from 1 to 1000000, or unset it");
  }
}

TEST_F(RuntimeErrors, CapturedRunsWithImagesOfTheHost) {
  const Program program = two_kernels();
  void* const stream = cuda.stream();
  const Buffer in = on_gpu(image());
  cuda.forget_calls();
  cuda.begin_capture(stream);
  const auto message = [&](const Arguments& arguments) {
    return message_of([&] { program.run_on(stream, arguments); });
  };
  const std::string rest =
      ", and the stream is being captured into a CUDA graph\n"
      "  help: give images and outputs that lie in the GPU's memory: Buffer::on_gpu(…)";
  EXPECT_EQ(message({{{"in", image()}}, {}, {}}),
            "pipeline 'edges': image 'in' lies in the host's memory" + rest);
  EXPECT_EQ(message({{{"in", in}}, {}, {{"twice", image()}}}),
            "pipeline 'edges': output 'twice' lies in the host's memory" + rest);
  EXPECT_EQ(message({{{"in", in}}, {}, {}}), "pipeline 'edges': output 'twice' has no memory yet" + rest);
  EXPECT_NE(cuda.end_capture(), nullptr);  // it is as it was
  EXPECT_EQ(cuda.calls(), std::vector<std::string>{});
}

TEST_F(RuntimeErrors, NoMemoryForAGraph) {
  const Program program = two_kernels();
  program(image());  // so that the pools have something to give back
  void* const stream = cuda.stream();
  const Buffer in = on_gpu(image()), out = on_gpu(image());
  cuda.forget_calls();
  cuda.begin_capture(stream);
  cuda.fail("cuMemAllocAsync", 1, out_of_memory);
  EXPECT_EQ(message_of([&] {
              program.run_on(stream, {{{"in", in}}, {}, {{"twice", out}}});
            }),
            "pipeline 'edges': 'once' needs 7936 bytes of the GPU's memory: CUDA_ERROR_OUT_OF_MEMORY (out of "
            "memory)");
  EXPECT_NE(cuda.end_capture(), nullptr);
  EXPECT_EQ(cuda.calls(), std::vector<std::string>{});
}

TEST_F(RuntimeErrors, CompilerThatIsNewerThanTheDriver) {
  cuda.set_version(12040);
  const runtime::CudaToolchain toolchain =
      runtime::cuda_toolchain(0, runtime::CudaDriver::candidates(), {WEFT_FAKE_NVRTC});
  cuda.fail("cuModuleLoadData", 1, invalid_image);
  EXPECT_EQ(
      message_of([&] {
        const auto pipeline = std::make_shared<const ir::Pipeline>(edges().ir());
        runtime::CudaProgram(pipeline, toolchain);
      }),
      "pipeline 'edges': its kernels, which CUDA 13.0 compiled, cannot be loaded by a driver for CUDA 12.4 "
      "(install a newer driver, or libnvrtc.so.12): CUDA_ERROR_INVALID_IMAGE (device kernel image is "
      "invalid)");
}

TEST_F(RuntimeErrors, OlderCompilersAreTakenForOlderDrivers) {
  const auto version = [] { return runtime::cuda_toolchain(0).compiler.nvrtc().version(); };
  EXPECT_EQ(version(), "13.0");
  cuda.set_version(12040);
  EXPECT_EQ(version(), "12.0");
  cuda.set_version(11080);  // none is that old
  EXPECT_EQ(version(), "13.0");
}

TEST_F(RuntimeErrors, WithoutANameForTheStatus) {
  EXPECT_EQ(message_of_run("cuStreamCreate", 1, 12345),
            "pipeline 'edges': a stream cannot be made: CUDA's error 12345");
}

// ---- the CPU takes the GPU's place ------------------------------------------------------------------------

class TargetAuto : public RuntimeErrors {
 protected:
  Program program() {
    CompileOptions options;
    options.tile = Tile::None;
    return runtime::compile_watched(edges(), options, nullptr,
                                    [this](const std::string& reason) { reasons.push_back(reason); });
  }
  static std::string difference_on(const Program& program) {
    const Buffer in = image();
    return difference(interpreted(edges(), {{{"in", in}}, {}, {}}).at("twice"), program(in),
                      {.largest = 1e-5});
  }

  std::vector<std::string> reasons;
};

TEST_F(TargetAuto, WhereKernelsCannotBeLoaded) {
  cuda.fail("cuModuleLoadData", 1, unsupported_ptx);
  const Program on_cpu = program();
  EXPECT_EQ(on_cpu.target(), Target::Cpu);
  EXPECT_EQ(reasons, std::vector<std::string>{
                         "pipeline 'edges': its compiled kernels cannot be loaded: "
                         "CUDA_ERROR_UNSUPPORTED_PTX_VERSION (the provided PTX was compiled with an "
                         "unsupported toolchain.)"});
  EXPECT_EQ(difference_on(on_cpu), "");
}

TEST_F(TargetAuto, WhereKernelsCannotBeCompiled) {
  nvrtc.complaint = "identifier \"oops\" is undefined";
  EXPECT_EQ(program().target(), Target::Cpu);
  EXPECT_EQ(reasons,
            std::vector<std::string>{"pipeline 'edges': the CUDA compiler rejected emitted code (a bug "
                                     "in Weft, please report)"});
}

TEST_F(TargetAuto, WhereNoCompilerFitsTheGpu) {
  nvrtc.architectures = {75, 86, 90};
  EXPECT_EQ(program().target(), Target::Cpu);
  EXPECT_EQ(reasons, std::vector<std::string>{"CUDA 13.0 does not compile for GPU 0, SIMT checker (sm_80); "
                                              "install a version that does"});
}

TEST_F(TargetAuto, SaysNothingWithoutAGpu) {
  cuda.set_devices(0);
  EXPECT_EQ(program().target(), Target::Cpu);
  EXPECT_EQ(reasons, std::vector<std::string>{});
}

TEST_F(TargetAuto, WhereTheDriverDoesNotStart) {
  cuda.set_start_status(no_device);  // that of a machine without a GPU
  EXPECT_EQ(program().target(), Target::Cpu);
  EXPECT_EQ(reasons, std::vector<std::string>{});
  cuda.set_start_status(driver_mismatch);
  EXPECT_EQ(program().target(), Target::Cpu);
  EXPECT_EQ(reasons, std::vector<std::string>{
                         "NVIDIA's driver does not start: CUDA_ERROR_SYSTEM_DRIVER_MISMATCH (system has "
                         "unsupported display driver / cuda driver combination)"});
}

TEST_F(TargetAuto, WhereTheGpuCannotBeUsed) {
  cuda.fail("cuDevicePrimaryCtxRetain", 1, device_unavailable);
  EXPECT_EQ(program().target(), Target::Cpu);
  EXPECT_EQ(reasons,
            std::vector<std::string>{"GPU 0 cannot be used: CUDA_ERROR_DEVICE_UNAVAILABLE (CUDA-capable "
                                     "device(s) is/are busy or unavailable)"});
}

TEST_F(TargetAuto, IsToldOnceByTheCommand) {
  nvrtc.architectures = {75, 86, 90};
  testing::internal::CaptureStderr();
  const Program on_cpu = tools::compile(edges(), tools::RunTarget::Auto);
  on_cpu(image());
  EXPECT_EQ(
      testing::internal::GetCapturedStderr(),
      "weft: the CPU takes the GPU's place: CUDA 13.0 does not compile for GPU 0, SIMT checker (sm_80); "
      "install a version that does\n");
  nvrtc.architectures = {75, 80, 90};
  testing::internal::CaptureStderr();
  const Program both = tools::compile(edges(), tools::RunTarget::Auto);
  for (int run = 0; run < 2; ++run) {
    cuda.fail("cuLaunchKernel", 1, not_supported);
    both(image());
  }
  EXPECT_EQ(
      testing::internal::GetCapturedStderr(),
      "weft: the CPU takes the GPU's place: pipeline 'edges': kernel 'twice_kernel' cannot be launched: "
      "CUDA_ERROR_NOT_SUPPORTED (operation not supported)\n");
}

TEST_F(TargetAuto, WhereARunGetsNoMemory) {
  const Program both = program();
  EXPECT_EQ(both.target(), Target::Cuda);
  for (int attempt = 0; attempt < 2; ++attempt) cuda.fail("cuMemAllocAsync", 2, out_of_memory);
  EXPECT_EQ(difference_on(both), "");
  EXPECT_EQ(both.target(), Target::Cpu);
  EXPECT_EQ(reasons,
            std::vector<std::string>{"pipeline 'edges': 'twice' needs 7936 bytes of the GPU's memory: "
                                     "CUDA_ERROR_OUT_OF_MEMORY (out of memory)"});
  EXPECT_EQ(difference_on(both), "");  // later there may be memory
  EXPECT_EQ(both.target(), Target::Cuda);
  EXPECT_EQ(reasons.size(), 1u);
}

TEST_F(TargetAuto, WhereAKernelIsNotTaken) {
  const Program both = program();
  cuda.fail("cuLaunchKernel", 2, not_supported);
  EXPECT_EQ(difference_on(both), "");
  EXPECT_EQ(reasons, std::vector<std::string>{"pipeline 'edges': kernel 'twice_kernel' cannot be launched: "
                                              "CUDA_ERROR_NOT_SUPPORTED (operation not supported)"});
}

/// A CPU reaches neither the GPU's memory nor its streams, and faults of kernels are not to be hidden.
TEST_F(TargetAuto, LeavesErrorsThatItCannotMend) {
  const Program both = program();
  const std::string no_memory =
      "pipeline 'edges': output 'twice' needs 4092 bytes of the GPU's memory: CUDA_ERROR_OUT_OF_MEMORY (out "
      "of "
      "memory)";
  for (int attempt = 0; attempt < 2; ++attempt) cuda.fail("cuMemAllocAsync", 1, out_of_memory);
  EXPECT_EQ(message_of([&] { both(on_gpu(image())); }), no_memory);
  cuda.fail("cuLaunchKernel", 1, not_supported);
  EXPECT_EQ(
      message_of([&] {
        both.run_on(cuda.stream(), {{{"in", image()}}, {}, {}});
      }),
      "pipeline 'edges': kernel 'once_kernel' cannot be launched: CUDA_ERROR_NOT_SUPPORTED (operation not "
      "supported)");
  cuda.fail("cuStreamSynchronize", 1, illegal_address);
  EXPECT_EQ(message_of([&] { both(image()); }),
            "pipeline 'edges': one of its kernels failed on the GPU: CUDA_ERROR_ILLEGAL_ADDRESS (an illegal "
            "memory access was encountered)" +
                may_be_another);
  EXPECT_EQ(reasons, std::vector<std::string>{});
}

// ---- arguments that do not fit ----------------------------------------------------------------------------

TEST_F(RuntimeErrors, ImagesOfAGpuOnTheCpu) {
  CompileOptions options;
  options.target = Target::Cpu;
  const Program program = edges().compile(options);
  EXPECT_EQ(message_of([&] { program(on_gpu(image())); }),
            "image 'in' lies in the memory of GPU 0, but pipeline 'edges' runs on the CPU\n"
            "  help: compile it with Target::Cuda");
  EXPECT_EQ(message_of([&] {
              program.run_on(nullptr, {{{"in", image()}}, {}, {}});
            }),
            "pipeline 'edges' runs on the CPU, which has no streams\n"
            "  help: compile it with Target::Cuda, or call run()");
}

TEST_F(RuntimeErrors, ImagesOfAnotherGpu) {
  const Program program = two_kernels();
  EXPECT_EQ(message_of([&] { program(image().in(Memory::gpu(1))); }),
            "image 'in' lies in the memory of GPU 1, but pipeline 'edges' runs on GPU 0");
}

TEST_F(RuntimeErrors, PixelsThatAreNotAdjacent) {
  const Program program = two_kernels();
  EXPECT_EQ(message_of([&] {
              program(Buffer(image().data(), type_of<float>(), {16, 31}, {2, 33}).in(Memory::gpu()));
            }),
            "image 'in' lies in the memory of GPU 0, and its pixels are not adjacent\n"
            "  help: only rows may have gaps between them in the memory of a GPU");
}

TEST_F(RuntimeErrors, OutputOverAnInput) {
  const Program program = two_kernels();
  const Buffer both = on_gpu(image());
  EXPECT_EQ(message_of([&] {
              program.run({{{"in", both}}, {}, {{"twice", both}}});
            }),
            "the buffer for output 'twice' overlaps another image in the memory of GPU 0\n"
            "  help: give it memory of its own");
}

TEST_F(RuntimeErrors, CopiesOfGpuMemoryOnTheCpu) {
  EXPECT_EQ(message_of([&] { image().in(Memory::gpu(2)).packed(); }),
            "cannot copy a buffer in the memory of GPU 2 on the CPU");
}

}  // namespace
}  // namespace weft::testing_support::runtime_errors_test
