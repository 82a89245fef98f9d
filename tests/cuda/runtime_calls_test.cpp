// What Weft asks a driver for: memory, copies, launches, in which order and on which streams.
#include <weft/dlpack.h>

#include <atomic>
#include <limits>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "runtime/executable.h"
#include "tests/cuda/fake/gpu_test.h"
#include "tests/support/differential.h"

namespace weft::testing_support {
namespace {

using Calls = std::vector<std::string>;

/// A row of 33 floats takes 64 on the GPU.
Pipeline two_blurs() {
  Image<float> in("in");
  const Mask row{{1, 2, 1}};
  const Stage once = convolve("once", in.border(Border::clamp()), row);
  return Pipeline("blurs", Outputs(convolve("twice", once.border(Border::clamp()), row)).strict());
}
/// A kernel of each.
Program two_kernels() { return on_fake_gpu(two_blurs(), Tile::None); }
const std::vector<std::int64_t> size = {33, 31};

Buffer image(std::uint64_t seed = 1) { return picture(type_of<float>(), size, seed); }
Buffer expected(const Buffer& in) { return interpreted(two_blurs(), {{{"in", in}}, {}, {}}).at("twice"); }

class RuntimeCalls : public GpuTest {};

TEST_F(RuntimeCalls, OfARunWithImagesOfTheHost) {
  const Program program = two_kernels();
  EXPECT_EQ(cuda.calls(), (Calls{"cuModuleLoadData", "cuModuleGetFunction once_kernel",
                                 "cuModuleGetFunction twice_kernel"}));
  cuda.forget_calls();
  EXPECT_EQ(difference(expected(image()), program(image())), "");
  EXPECT_EQ(cuda.calls(), (Calls{"cuStreamCreate s1", "cuMemAllocAsync d1 8192 s1", "cuMemHostAlloc h1 8192",
                                 "cuMemcpyHtoDAsync d1 h1 7936 s1", "cuMemAllocAsync d2 8192 s1",
                                 "cuMemAllocAsync d3 8192 s1", "cuLaunchKernel once_kernel 2x11x1 s1",
                                 "cuLaunchKernel twice_kernel 2x11x1 s1", "cuMemHostAlloc h2 8192",
                                 "cuMemcpyDtoHAsync h2 d2 7936 s1", "cuStreamSynchronize s1",
                                 "cuEventCreate e1", "cuEventRecord e1 s1"}));
}

TEST_F(RuntimeCalls, StripsFollowTheRoomOfTheDevice) {
  Image<float> in("in");
  const Mask cross{{0, 1, 0}, {1, 1, 1}, {0, 1, 0}};
  const Pipeline pipeline("blur", Outputs(convolve("blur", in.border(Border::clamp()), cross)).strict());
  const Buffer tall = picture(type_of<float>(), {130, 4000}, 1);
  const auto launched = [&](int room) {
    cuda.set_blocks_at_a_time(room);
    const Program program = on_fake_gpu(pipeline, Tile::March);
    cuda.forget_calls();
    EXPECT_EQ(difference(interpreted(pipeline, {{{"in", tall}}, {}, {}}).at("blur"), program(tall)), "");
    return calls({"cuLaunchKernel"}).at(0);
  };
  // 108 multiprocessors have room for 324 and 108 blocks, 81 and 27 in each of 4 columns, for whole batches of 1334 rows.
  EXPECT_EQ(launched(3), "cuLaunchKernel blur_kernel 4x71x1 s1");
  EXPECT_EQ(launched(1), "cuLaunchKernel blur_kernel 4x26x1 s4");
}

TEST_F(RuntimeCalls, OfASecondRunAllocateNothing) {
  const Program program = two_kernels();
  program(image());
  cuda.forget_calls();
  EXPECT_EQ(difference(expected(image(2)), program(image(2))), "");
  EXPECT_EQ(calls({"cuMem", "cuStream", "cuLaunchKernel"}),
            (Calls{"cuMemcpyHtoDAsync d1 h1 7936 s1", "cuLaunchKernel once_kernel 2x11x1 s1",
                   "cuLaunchKernel twice_kernel 2x11x1 s1", "cuMemcpyDtoHAsync h2 d2 7936 s1",
                   "cuStreamSynchronize s1"}));
}

/// "cuMemcpyHtoDAsync d1 h1 2304 s1" as "cuMemcpyHtoDAsync s1".
Calls without_memory(Calls calls) {
  for (std::string& call : calls) call.erase(call.find(' '), call.rfind(' ') - call.find(' '));
  return calls;
}

/// Three are under way before the first is waited for.
TEST_F(RuntimeCalls, OfImagesOfTheHostInParts) {
  const testing_support::Variable parts("WEFT_CUDA_PARTS", "4");
  cuda.find_races();
  Image<float> in("in");
  const Mask column{{1}, {2}, {1}};
  const Pipeline pipeline("blur", Outputs(convolve("out", in.border(Border::clamp()), column)).strict());
  const Program program = on_fake_gpu(pipeline);
  expect_agreement(program, pipeline, {{{"in", image()}}, {}, {}});
  Calls wanted;
  for (const std::string stream : {" s1", " s2", " s3"})
    wanted.insert(wanted.end(),
                  {"cuMemcpyHtoDAsync" + stream, "cuLaunchKernel" + stream, "cuMemcpyDtoHAsync" + stream});
  wanted.insert(wanted.end(), {"cuStreamSynchronize s1", "cuMemcpyHtoDAsync s1", "cuLaunchKernel s1",
                               "cuMemcpyDtoHAsync s1", "cuStreamSynchronize s2", "cuStreamSynchronize s3",
                               "cuStreamSynchronize s1"});
  EXPECT_EQ(without_memory(calls({"cuMemcpy", "cuLaunchKernel", "cuStreamSynchronize"})), wanted);
  // 31 rows of 256 bytes: parts of 8, 8, 8 and 7 rows, and one above and below, where there is one.
  EXPECT_EQ(calls({"cuMemcpyHtoDAsync"}),
            (Calls{"cuMemcpyHtoDAsync d1 h1 2304 s1", "cuMemcpyHtoDAsync d3 h3 2560 s2",
                   "cuMemcpyHtoDAsync d5 h5 2560 s3", "cuMemcpyHtoDAsync d1 h2 2048 s1"}));
  cuda.forget_calls();
  expect_agreement(program, pipeline, {{{"in", image(2)}}, {}, {}});
  EXPECT_EQ(calls({"cuMemAlloc", "cuMemHostAlloc", "cuStreamCreate"}), Calls{})
      << "the first run took them all";
}

TEST_F(RuntimeCalls, OfPartsThatLieOnTheGpuOrOnTheUsersStreamAreWhole) {
  const testing_support::Variable parts("WEFT_CUDA_PARTS", "4");
  const Program program = two_kernels();
  program(on_gpu(image()));
  EXPECT_EQ(calls({"cuLaunchKernel"}).size(), 2u);
  program.run_on(cuda.stream(), {{{"in", image()}}, {}, {}});
  EXPECT_EQ(calls({"cuLaunchKernel"}).size(), 4u);
  program(image());
  EXPECT_EQ(calls({"cuLaunchKernel"}).size(), 12u);
}

TEST_F(RuntimeCalls, OfScalarsThatReadNoImage) {
  const Stage ramp = stage("ramp", {5, 3}, [](Var x, Var y) { return Expr(x) + Expr(y); });
  const Pipeline pipeline("sum", reduce("sum", ramp, Reduce::sum()));
  expect_agreement(on_fake_gpu(pipeline), pipeline, {});
}

/// The host copies one while another is under way; the last is waited for with all that was queued.
TEST_F(RuntimeCalls, OfLargeImagesInPieces) {
  Image<std::uint8_t> in("in");
  const Pipeline pipeline("brighter",
                          {point("more", cast<std::uint8_t>(in / 2 + 9)), reduce("sum", in, Reduce::sum())});
  const Program program = on_fake_gpu(pipeline);
  expect_agreement(program, pipeline, {{{"in", picture(type_of<std::uint8_t>(), {2048, 2100}, 1)}}, {}, {}});
  const auto bytes_of = [&](const std::string& call) {
    std::vector<int> bytes;
    for (const std::string& text : calls({call})) {
      std::istringstream words(text);
      std::string name, to, from;
      words >> name >> to >> from >> bytes.emplace_back();
    }
    return bytes;
  };
  EXPECT_EQ(bytes_of("cuMemcpyHtoDAsync"), (std::vector<int>{4194304, 106496}));
  EXPECT_EQ(bytes_of("cuMemcpyDtoHAsync"), (std::vector<int>{4194304, 106496, 8}));
  EXPECT_EQ(calls({"cuEventSynchronize", "cuStreamSynchronize"}),
            (Calls{"cuEventSynchronize e1", "cuStreamSynchronize s1"}));
}

TEST_F(RuntimeCalls, LetTheDriverKeepReleasedMemoryUnlessSomebodyChoseOtherwise) {
  two_kernels();
  EXPECT_EQ(cuda.kept_bytes(), std::numeric_limits<std::uint64_t>::max());
  cuda.keep_bytes(1 << 20);
  two_kernels();
  EXPECT_EQ(cuda.kept_bytes(), 1u << 20);
}

TEST_F(RuntimeCalls, OnTheUsersStreamWaitForNothing) {
  const Program program = two_kernels();
  void* const stream = cuda.stream();
  const Buffer in = on_gpu(image()), out = on_gpu(Buffer::allocate(type_of<float>(), size));
  const Arguments arguments{{{"in", in}}, {}, {{"twice", out}}};
  cuda.forget_calls();
  for (int run = 0; run < 3; ++run)
    EXPECT_EQ(program.run_on(stream, arguments).at("twice").data(), out.data());
  EXPECT_EQ(calls({"cuMemAlloc", "cuMemHostAlloc", "cuMemcpy", "cuStreamSynchronize", "cuEventSynchronize",
                   "cuStreamCreate"}),
            Calls{"cuMemAllocAsync d1 8192 ?"});
  cuda.synchronize(stream);
  EXPECT_EQ(difference(expected(image()), on_host(out)), "");
}

TEST_F(RuntimeCalls, OnStreamsOfTheirOwnAreOrderedWhereTheyShareMemory) {
  cuda.find_races();
  const Program program = two_kernels();
  void* const streams[] = {cuda.stream(), cuda.stream()};
  const Buffer in[] = {on_gpu(image(1)), on_gpu(image(2))};
  std::map<std::string, Buffer> results[6];
  for (int run = 0; run < 6; ++run)
    results[run] = program.run_on(streams[run % 2], {{{"in", in[run % 2]}}, {}, {}});
  for (void* stream : streams) cuda.synchronize(stream);
  // From here on either stream may take what the other one had.
  for (int run = 0; run < 6; ++run)
    results[run] = program.run_on(streams[run % 3 == 0], {{{"in", in[run % 2]}}, {}, {}});
  for (void* stream : streams) cuda.synchronize(stream);
  for (int run = 0; run < 6; ++run) {
    const Buffer& result = results[run].at("twice");
    EXPECT_EQ(result.memory(), Memory::gpu());
    EXPECT_EQ(difference(expected(image(run % 2 + 1)), on_host(result)), "");
  }
}

/// Intermediate images are the graph's own; what earlier runs left for later ones stays with those.
TEST_F(RuntimeCalls, BecomePartOfAGraphWhereTheUsersStreamIsCaptured) {
  const testing_support::Variable debug("WEFT_CUDA_DEBUG", "1");  // nothing can be waited for
  cuda.find_races();
  const Program program = two_kernels();
  void* const stream = cuda.stream();
  const Buffer in = on_gpu(image(1)), out = on_gpu(Buffer::allocate(type_of<float>(), size));
  const Arguments arguments{{{"in", in}}, {}, {{"twice", out}}};
  program.run_on(stream, arguments);
  cuda.synchronize(stream);
  cuda.forget_calls();

  cuda.begin_capture(stream);
  program.run_on(stream, arguments);
  void* const graph = cuda.end_capture();
  ASSERT_NE(graph, nullptr);
  EXPECT_EQ(cuda.calls(), (Calls{"cuMemAllocAsync d2 7936 ?", "cuLaunchKernel once_kernel 2x11x1 ?",
                                 "cuLaunchKernel twice_kernel 2x11x1 ?", "cuMemFreeAsync d2 ?"}));
  for (std::uint64_t seed = 2; seed < 4; ++seed) {
    const Buffer pixels = image(seed).packed();
    cuda.upload(in.data(), pixels.data(), static_cast<std::size_t>(pixels.bytes()));
    cuda.launch_graph(graph, stream);
    cuda.synchronize(stream);
    EXPECT_EQ(difference(expected(pixels), on_host(out)), "");
  }
}

TEST_F(RuntimeCalls, CopyBetweenHostAndGpuOnTheUsersStream) {
  const Program program = two_kernels();
  void* const stream = cuda.stream();
  Buffer in = image();
  const Buffer wanted = expected(in), out = on_gpu(Buffer::allocate(type_of<float>(), size));
  program.run_on(stream, {{{"in", in}}, {}, {{"twice", out}}});
  EXPECT_EQ(calls({"cuStreamSynchronize"}), Calls{});
  in.copy_from(Buffer::allocate(type_of<float>(), size));  // was read already
  cuda.synchronize(stream);
  EXPECT_EQ(difference(wanted, on_host(out)), "");

  const Buffer back = Buffer::allocate(type_of<float>(), size);
  program.run_on(stream, {{{"in", out}}, {}, {{"twice", back}}});
  EXPECT_EQ(calls({"cuStreamSynchronize"}).size(), 1u);
  EXPECT_EQ(difference(expected(wanted), back), "");
}

TEST_F(RuntimeCalls, ReadPitchedRowsOfTheGpu) {
  const Buffer wide = Buffer::allocate(type_of<float>(), {40, 31});
  const Buffer in(wide.data(), type_of<float>(), size, {1, 40});
  in.copy_from(image());
  const Buffer wide_on_gpu = on_gpu(wide), out = on_gpu(wide);
  const auto part = [&](const Buffer& whole) {
    return Buffer(whole.data(), type_of<float>(), size, {1, 40}).in(Memory::gpu());
  };
  two_kernels().run({{{"in", part(wide_on_gpu)}}, {}, {{"twice", part(out)}}});
  const Buffer result = on_host(out);
  EXPECT_EQ(difference(expected(image()), Buffer(result.data(), type_of<float>(), size, {1, 40})), "");
  EXPECT_EQ(result.at<float>(39, 3), 0);
}

TEST_F(RuntimeCalls, ReleaseTheOutputsThatWeftAllocates) {
  const Program program = two_kernels();
  void* const stream = cuda.stream();
  const Buffer in = on_gpu(image());
  {
    const Buffer out = program.run_on(stream, {{{"in", in}}, {}, {}}).at("twice");
    EXPECT_EQ(calls({"cuMemFreeAsync"}), Calls{});
  }
  EXPECT_EQ(calls({"cuMemFreeAsync"}), Calls{"cuMemFreeAsync d1 ?"});
  const Buffer survivor = program.run({{{"in", in}}, {}, {}}).at("twice");
  EXPECT_EQ(difference(expected(image()), on_host(survivor)), "");
}

TEST_F(RuntimeCalls, TakeWholeWordsForOutputsOfBytes) {
  Image<std::uint8_t> in("in");
  const Program program =
      on_fake_gpu(Pipeline("parity", scatter("count", {2}, std::uint8_t{0}, in,
                                             [&](Var x, Var y) { return add({in(x, y) % 2}, 1); })));
  const Buffer pixels = picture(type_of<std::uint8_t>(), {5, 3}, 1);
  const Buffer counted = on_host(program(on_gpu(pixels)));
  EXPECT_EQ(counted.at<std::uint8_t>(0) + counted.at<std::uint8_t>(1), 15);
  EXPECT_EQ(calls({"cuMemAllocAsync"}), Calls{"cuMemAllocAsync d1 4 s1"});
}

TEST_F(RuntimeCalls, UseTensorsOfTheGpu) {
  const Program program = two_kernels();
  const Buffer in = from_dlpack(to_dlpack(on_gpu(image())));
  DLManagedTensor* const tensor = to_dlpack(program.run({{{"in", in}}, {}, {}}).at("twice"));
  const Buffer out = from_dlpack(tensor);
  EXPECT_EQ(calls({"cuMemcpy", "cuMemFreeAsync"}), Calls{});
  EXPECT_EQ(out.memory(), Memory::gpu());
  EXPECT_EQ(difference(expected(image()), on_host(out)), "");
}

TEST_F(RuntimeCalls, OfSeveralThreadsAtOnce) {
  const Program program = two_kernels(), other = two_kernels();
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (std::uint64_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      const Buffer wanted = expected(image(t));
      for (int run = 0; run < 5; ++run)
        wrong += difference(wanted, (t % 2 ? program : other)(image(t))) != "";
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST_F(RuntimeCalls, TellHowFarTheRunIs) {
  RunProgress progress;
  CompileOptions options;
  options.target = Target::Cuda;
  options.tile = Tile::None;
  const Program program = runtime::compile_watched(two_blurs(), options, &progress);
  program(image());
  EXPECT_DOUBLE_EQ(progress.done, 1);
  // Of two launches that are queued, nobody knows that the second is done.
  const Buffer in = on_gpu(image()), out = on_gpu(Buffer::allocate(type_of<float>(), size));
  program.run_on(cuda.stream(), {{{"in", in}}, {}, {{"twice", out}}});
  EXPECT_DOUBLE_EQ(progress.done, 0.5);
}

TEST_F(RuntimeCalls, CompileOnce) {
  two_kernels();
  two_kernels();
  EXPECT_EQ(nvrtc.compilations, 1);
}

TEST_F(RuntimeCalls, AreMadeByTheTargetAuto) {
  EXPECT_EQ(two_blurs().compile().target(), Target::Cuda);
  const testing_support::Variable none("WEFT_CUDA_DRIVER", "none");
  EXPECT_EQ(two_blurs().compile().target(), Target::Cpu);
}

/// Emitted code has other names for these images, which it uses itself or cannot spell.
TEST_F(RuntimeCalls, OfImagesWhoseNamesAreNoIdentifiers) {
  Image<float> left("left"), right("the right one");
  const Stage count = stage("count", left.size(),
                            [&](Var x, Var y) { return left(x, y) - right.border(Border::clamp())(x, y); });
  const Pipeline pipeline(
      "int", Outputs({count, stage("first", left.size(), [&](Var x, Var y) { return count(x, y) + 1.f; })})
                 .strict());
  const Program program = on_fake_gpu(pipeline);
  const Arguments arguments{{{"left", image(1)}, {"the right one", image(2)}}, {}, {}};
  expect_agreement(program, pipeline, arguments);
  const auto results =
      program.run({{{"left", on_gpu(image(1))}, {"the right one", on_gpu(image(2))}}, {}, {}});
  for (const auto& [name, wanted] : interpreted(pipeline, arguments))
    EXPECT_EQ(difference(wanted, on_host(results.at(name))), "") << name;
}

TEST_F(RuntimeCalls, OfImagesWithoutPixels) {
  Image<float> in("in");
  const Stage inner = stage("inner", Extents{in.width() - 2, in.height() - 2},
                            [&](Var x, Var y) { return in(x + 1, y + 1); });
  const Stage out =
      stage("out", in.size(), [&](Var x, Var y) { return inner.border(Border::clamp())(x, y) + in(x, y); });
  const Pipeline pipeline("edges", Outputs({out, inner}).strict());
  const Program program = on_fake_gpu(pipeline);
  for (const std::vector<std::int64_t>& extents :
       std::vector<std::vector<std::int64_t>>{{2, 2}, {2, 7}, {9, 2}}) {
    const Buffer in = picture(type_of<float>(), extents, 3);
    expect_agreement(program, pipeline, {{{"in", in}}, {}, {}});
    const Buffer wanted = interpreted(pipeline, {{{"in", in}}, {}, {}}).at("out");
    EXPECT_EQ(difference(wanted, on_host(program.run({{{"in", on_gpu(in)}}, {}, {}}).at("out"))), "");
  }
}

}  // namespace
}  // namespace weft::testing_support
