// list, emit, verify, bench, tune and draw, as users run them.
#include "command.h"

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

namespace {

using nlohmann::json;

class Commands : public CommandTest {};

TEST_F(Commands, HelpAndVersion) {
  EXPECT_TRUE(contains(expect_success({"--help"}), "Examples:"));
  EXPECT_EQ(expect_success({}), expect_success({"--help"}));
  EXPECT_TRUE(expect_success({"--version"}).starts_with("weft "));
  for (const char* command : {"list", "run", "explain", "emit", "verify", "bench", "tune", "draw"})
    EXPECT_TRUE(contains(expect_success({command, "--help"}), "Example")) << command;
}

TEST_F(Commands, List) {
  const std::string text = expect_success({"list"});
  EXPECT_TRUE(contains(text, "in: f32 -> hc: f32"));
  EXPECT_TRUE(contains(text, "size=3|5|7"));
  const json all = expect_json({"list", "--json"})["applications"];
  EXPECT_TRUE(std::any_of(all.begin(), all.end(), [](const json& a) {
    return a["name"] == "harris" && a["params"][0]["name"] == "k" && a["images"][0]["pixels"][0] == "f32";
  }));
}

TEST_F(Commands, WhatIsRefusedSaysWhy) {
  const std::string mistake = "update 'seidel2d' reads 'u' at the step that is being computed";
  EXPECT_TRUE(contains(expect_success({"list"}), "\n                        refused: " + mistake + "\n"));
  const json all = expect_json({"list", "--json"})["applications"];
  EXPECT_TRUE(std::any_of(all.begin(), all.end(), [&](const json& a) {
    return a["name"] == "seidel2d" && a["refused"] == mistake && a["images"].empty();
  }));
  for (const Arguments& arguments :
       {Arguments{"run", "seidel2d", "--size", "64x48", "-o", "out.tif"}, Arguments{"explain", "seidel2d"},
        Arguments{"verify", "seidel2d"}, Arguments{"emit", "seidel2d", "--target", "cpp", "-o", "code"},
        Arguments{"bench", "seidel2d", "--runs", "1"}}) {
    const Outcome outcome = weft(arguments);
    EXPECT_EQ(outcome.exit_code, 2) << arguments[0];
    EXPECT_TRUE(outcome.err.ends_with(": error: " + mistake + R"(
  known the pixels of 'u' in a step are computed in any order
  help: read the step before: u(…) instead of u.now()(…)
)")) << outcome.err;
    EXPECT_TRUE(files().empty()) << arguments[0];
  }
}

TEST_F(Commands, AllLeavesOutWhatIsRefused) {
  EXPECT_EQ(run(WEFT_OWN_PIPELINES, {"bench", "all", "--size", "8x8", "--runs", "1"}).exit_code, 0);
  const Outcome verified = run(WEFT_OWN_PIPELINES, {"verify", "all", "--sizes", "1x1,20x9"});
  EXPECT_EQ(verified.exit_code, 0);
  EXPECT_TRUE(contains(verified.out, "bright"));
  EXPECT_FALSE(contains(verified.out, "cumulated"));
}

TEST_F(Commands, TwoPipelinesOfOneName) {
  for (const Arguments& arguments :
       {Arguments{}, {"--help"}, {"list"}, {"run", "different", "--size", "8x8"}}) {
    const Outcome outcome = run(WEFT_SAME_NAME, arguments);
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(outcome.err,
              "weft: pipelines of this program have the same name\n"
              "  'blur' one.cpp:7, two.cpp:12\n"
              "  help: give each a name of its own: WEFT_PIPELINE(name)\n");
  }
}

TEST_F(Commands, OwnProgramHasTheSameCommands) {
  const Outcome list = run(WEFT_OWN_PIPELINES, {"list"});
  EXPECT_EQ(list.exit_code, 0);
  EXPECT_TRUE(
      list.out.starts_with("my own\n  bright                where it is bright\n"
                           "                        in: u8 -> is_bright: bool\n"
                           "                        --param level=100 (at most 250)\n"))
      << list.out;
  EXPECT_FALSE(contains(list.out, "harris"));
}

TEST_F(Commands, FusionDecidesWhatIsStored) {
  const auto moved = [&](const Arguments& flags) {
    Arguments bench = {"bench", "harris", "--size", "64x48", "--runs", "1", "--json"};
    bench.insert(bench.end(), flags.begin(), flags.end());
    return expect_json(bench)["results"][0]["roof_bytes"].get<std::int64_t>();
  };
  const std::int64_t image = 64 * 48 * 4;
  EXPECT_EQ(moved({}), 2 * image);
  // Of nine stages all are written, and all but the last are read, as is the image.
  EXPECT_EQ(moved({"--fuse", "none"}), (9 + 8 + 1) * image);
  EXPECT_EQ(moved({"--fuse", "mincut"}), (6 + 5 + 1) * image) << "sx, sy and sxy are in no memory";
  EXPECT_EQ(moved({"--fuse", "mincut", "--tile", "none"}), moved({"--fuse", "none"}));
}

TEST_F(Commands, AScheduleIsPrintedAndForced) {
  const json all = expect_json({"explain", "harris", "--fuse", "basic", "--json"});
  EXPECT_EQ(all["schedule"]["groups"][1], (json{"sx", "gx"}));
  write("basic.json", all.dump());
  const json again = expect_json({"explain", "harris", "--schedule", "basic.json", "--json"});
  EXPECT_EQ(again["schedule"], all["schedule"]);
  write("one.json", R"({"groups": [["dx", "hc"]]})");
  write("two.json", R"({"groups": [["sx", "gx"], ["gx", "hc"]]})");
  write("text.json", "groups");
  EXPECT_TRUE(contains(
      expect_success({"verify", "harris", "--quick", "--sizes", "33x31", "--schedule", "basic.json"}),
      "1 passed, 0 failed"));
  expect_success({"run", "harris", "--size", "33x31", "-o", "corners.png", "--schedule", "basic.json"});
  expect_success({"emit", "harris", "--schedule", "basic.json", "-o", "code"});
  EXPECT_TRUE(contains(content("code/harris.cpp"), "sx   in rows of gx: "));
  const auto refuses = [&](const Arguments& flags, const std::string& why) {
    for (Arguments command : {Arguments{"bench", "harris", "--size", "64x48"},
                              Arguments{"run", "harris", "--size", "33x31", "-o", "no.png"},
                              Arguments{"emit", "harris", "-o", "no"}}) {
      command.insert(command.end(), flags.begin(), flags.end());
      expect_refusal(command, why);
    }
  };
  refuses({"--schedule", "two.json"},
          "pipeline 'harris' cannot follow the schedule: stage 'gx' is in two groups");
  refuses(
      {"--schedule", "one.json"},
      "pipeline 'harris' cannot follow the schedule: the group of 'sx' reads pixels of the group of 'hc', "
      "which needs its own in turn");
  refuses({"--schedule", "basic.json", "--tile", "none"},
          "pipeline 'harris' cannot follow the schedule: rows of 'sx' would have to be kept for 'gx', and no "
          "stages march here");
  refuses({"--schedule", "text.json"}, "'text.json': the schedule is not JSON; see its line 1");
  refuses({"--schedule", "none.json"}, "cannot read 'none.json': there is no such file");
  refuses(
      {"--schedule", "basic.json", "--fuse", "none"},
      "a schedule says which stages are fused, so there is nothing left to choose\n  help: leave out either "
      "the schedule or the way to fuse");
  refuses(
      {"--fuse", "none", "--tile", "march"},
      "fuse 'none' leaves one stage to each kernel, so tile 'march' has nothing to compute together\n  help: "
      "leave out one of them");
  expect_success({"emit", "harris", "--target", "cuda", "--schedule", "basic.json", "-o", "code"});
  EXPECT_TRUE(contains(content("code/harris.cu"), "'gx' with 'sx'. Each warp goes down a strip"));
}

TEST_F(Commands, Emit) {
  const std::string text = expect_success({"emit", "gaussian", "--target", "cpp", "-o", "deep/code"});
  EXPECT_TRUE(contains(text, "deep/code/gaussian.cpp: "));
  EXPECT_EQ(files(), (std::vector<std::string>{"deep", "deep/code", "deep/code/CMakeLists.txt",
                                               "deep/code/gaussian.cpp", "deep/code/gaussian.h"}));
  EXPECT_TRUE(contains(content("deep/code/gaussian.h"), "\nnamespace gaussian {\n"));
}

TEST_F(Commands, EmitIntoANamespace) {
  expect_success({"emit", "sobel", "--namespace", "mine::edges", "-o", "code"});
  EXPECT_TRUE(contains(content("code/sobel.h"), "\nnamespace mine::edges {\n"));
  EXPECT_TRUE(contains(content("code/sobel.cpp"), "\n}  // namespace mine::edges\n"));
  expect_success({"emit", "sobel", "--namespace", "", "-o", "code"});
  EXPECT_FALSE(contains(content("code/sobel.h"), "namespace"));
}

TEST_F(Commands, EmitSeveralIntoOneFolder) {
  const auto libraries = [&] {
    std::vector<std::string> found;
    std::istringstream text(content("code/CMakeLists.txt"));
    for (std::string line; std::getline(text, line);) {
      if (line.starts_with("add_library(")) found.push_back(line);
    }
    return found;
  };
  for (const char* name : {"sobel", "prewitt", "sobel"}) expect_success({"emit", name, "-o", "code"});
  EXPECT_EQ(libraries(), (std::vector<std::string>{"add_library(sobel_cpp STATIC sobel.cpp sobel.h)",
                                                   "add_library(prewitt_cpp STATIC prewitt.cpp prewitt.h)"}));
  expect_success({"emit", "prewitt", "--target", "cuda", "-o", "code"});  // whose header replaces the other
  EXPECT_EQ(libraries(), (std::vector<std::string>{"add_library(sobel_cpp STATIC sobel.cpp sobel.h)",
                                                   "add_library(prewitt_cuda STATIC prewitt.cu prewitt.h)"}));
}

TEST_F(Commands, EmitCudaForAnArchitecture) {
  expect_success({"emit", "harris", "--tile", "none", "--target", "cuda", "-o", "unsaid"});
  EXPECT_TRUE(contains(content("unsaid/harris.cu"), "void __launch_bounds__(128, 1) sx_kernel("));
  // Threads of a Turing's blocks fill 32 warps; an integrated Volta (sm_72) is like the other (sm_70).
  expect_success({"emit", "spline", "--fuse", "none", "--target", "cuda", "--arch", "sm_75", "-o", "turing"});
  EXPECT_TRUE(contains(content("turing/spline.cu"), "void __launch_bounds__(256, 1) d0_kernel("));
  for (const char* name : {"sm_70", "sm_72"}) {
    expect_success({"emit", "spline", "--fuse", "none", "--target", "cuda", "--arch", name, "-o", name});
    const std::string text = content(std::string(name) + "/spline.cu");
    EXPECT_TRUE(contains(text, "void __launch_bounds__(128, 1) d0_kernel(")) << text;
    EXPECT_TRUE(contains(text, std::string("-arch=") + name)) << text;
  }
  const Outcome old =
      weft({"emit", "harris", "--tile", "none", "--target", "cuda", "--arch", "sm_13", "-o", "old"});
  EXPECT_EQ(old.exit_code, 2);
  EXPECT_TRUE(contains(old.err, "there is no architecture 'sm_13'")) << old.err;
}

TEST_F(Commands, EmitHipForAnArchitecture) {
  expect_success({"emit", "harris", "--tile", "none", "--target", "hip", "-o", "h"});
  EXPECT_EQ(files(),
            (std::vector<std::string>{"h", "h/CMakeLists.txt", "h/README.md", "h/harris.h", "h/harris.hip"}));
  // Blocks are of whole waves, of 64 lanes.
  EXPECT_TRUE(contains(content("h/harris.hip"), "void __launch_bounds__(128) sx_kernel("));
  EXPECT_TRUE(contains(content("h/harris.hip"),
                       "hipcc -std=c++17 -O3 --offload-arch=gfx90a -fgpu-flush-denormals-to-zero "
                       "-c harris.hip\n"));
  const Outcome wrong = weft({"emit", "harris", "--target", "hip", "--arch", "sm_90", "-o", "wrong"});
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_EQ(wrong.err, "weft: 'sm_90' is no architecture; write gfx90a, say\n");
}

TEST_F(Commands, EmitABench) {
  expect_success({"emit", "jacobi1d3", "--target", "bench", "--size", "99", "--param", "steps=3", "-o", "j"});
  EXPECT_EQ(files(),
            (std::vector<std::string>{"j", "j/bench.cu", "j/bench_kit.h", "j/bench_pixels.h", "j/build",
                                      "j/cpp", "j/cpp/jacobi1d3.cpp", "j/cpp/jacobi1d3.h", "j/cuda",
                                      "j/cuda/README.md", "j/cuda/jacobi1d3.cu", "j/cuda/jacobi1d3.h"}));
  const std::string text = content("j/bench.cu");
  EXPECT_TRUE(contains(text, "  const int64_t in_w = 99;\n")) << text;
  EXPECT_TRUE(contains(text, "  const int32_t steps = 3;\n")) << text;
  EXPECT_TRUE(contains(content("j/build"), "arch=${ARCH:-sm_90}\n"));
}

TEST_F(Commands, Verify) {
  const std::string text = expect_success({"verify", "sobel", "--sizes", "1x1,9x5", "--seed", "3"});
  EXPECT_TRUE(text.starts_with("seed 3\nsobel              10 passed, 0 failed")) << text;
  EXPECT_TRUE(text.ends_with("\n10 passed, 0 failed\n")) << text;
  const json two = expect_json({"verify", "sobel", "--sizes", "5x5", "--borders", "clamp,repeat", "--json"});
  EXPECT_EQ(two["passed"], 2);
}

TEST_F(Commands, VerifyOfRandomPipelines) {
  const std::string text = expect_success({"verify", "--random", "4", "--seed", "5", "--sizes", "9x5,1x1"});
  EXPECT_TRUE(text.starts_with("seed 5\n4 pipelines, 16 runs (")) << text;
  EXPECT_TRUE(text.ends_with(" 0 failed\n")) << text;
  const json object = expect_json({"verify", "--random", "2", "--seed", "5", "--json"});
  EXPECT_EQ(object["pipelines"], 2);
  EXPECT_TRUE(object["failures"].empty());
}

TEST_F(Commands, VerifyOfMutants) {
  const Arguments few = {"verify",    "sobel", "--mutants", "9",   "--targets", "simt-fast",
                         "--borders", "clamp", "--sizes",   "7x5", "--seed",    "3"};
  const std::string text = expect_success(few);
  EXPECT_TRUE(text.starts_with("seed 3\nSURVIVED ")) << text;  // at one small size many do
  EXPECT_TRUE(contains(text, "\n  - ")) << text;
  EXPECT_TRUE(contains(text, " of 9 mutants found, of ")) << text;
  Arguments with_json = few;
  with_json.push_back("--json");
  const json score = expect_json(with_json);
  EXPECT_EQ(score["results"].size(), 9u);
  EXPECT_LT(score["found"], 9);
  EXPECT_FALSE(score["results"][0]["after"].empty());
}

TEST_F(Commands, VerifyReportsMismatches) {
  // A compiler that takes square roots for absolute values.
  write("wrong", std::string("#!/bin/sh\nexec c++ -Dsqrtf=fabsf \"$@\"\n"));
  std::filesystem::permissions(folder / "wrong", std::filesystem::perms::owner_all);
  environment["WEFT_CXX"] = folder / "wrong";
  const Outcome outcome =
      weft({"verify", "sobel", "--quick", "--borders", "clamp", "--sizes", "9x5", "--seed", "1"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_TRUE(outcome.err.starts_with("FAILED sobel border=clamp 9x5 on cpu: 'mag' differs in "))
      << outcome.err;
}

TEST_F(Commands, Bench) {
  EXPECT_TRUE(contains(expect_success({"bench", "sobel", "--size", "64x48", "--runs", "3"}), "time / copy"));
  const json all = expect_json({"bench", "sobel", "--size", "64x48", "--runs", "3", "--json"});
  EXPECT_EQ(all["runs"], 3);
  EXPECT_EQ(all["results"][0]["bytes_read"], 64 * 48 * 4);
  EXPECT_EQ(all["results"][0]["bytes_written"], 64 * 48 * 4);
  EXPECT_GT(all["results"][0]["median_ms"], 0);
  EXPECT_GT(all["additions_g_per_s"], 0);
  EXPECT_GT(all["divisions_g_per_s"], 0);
  EXPECT_GT(all["results"][0]["copy_ms"], 0);
  EXPECT_EQ(all["results"][0]["runs"], 3);
  EXPECT_GT(all["results"][0]["read_gb_per_s"], 0);
  EXPECT_TRUE(all["results"][0]["share_of_reading"].is_null());
  const auto bench_harris = [&](const char* tile) {
    return expect_json(
        {"bench", "harris", "--size", "64x48", "--runs", "2", "--tile", tile, "--json"})["results"][0];
  };
  const json harris = bench_harris("none");
  const double moved = 2 * 64 * 48 * 4, roof = harris["roof_ms"];
  EXPECT_GT(harris["roof_bytes"], moved);  // its squares are stored
  EXPECT_NEAR(roof, harris["copy_ms"].get<double>() * harris["roof_bytes"].get<double>() / moved, 1e-9);
  EXPECT_NEAR(harris["ratio_to_roof"], harris["median_ms"].get<double>() / roof, 1e-9);
  EXPECT_EQ(bench_harris("march")["roof_bytes"], moved);
}

TEST_F(Commands, TuneKeepsTheFastestSchedule) {
  const std::string text =
      expect_success({"tune", "harris", "--size", "64x48", "--runs", "2", "--best", "3", "-o", "h.json"});
  for (const char* part : {"harris, 64x48, ", "medians of 2 runs", "expected ms", "measured ms", "auto",
                           "largest groups", "none", " in 128x64", "h.json: the schedule '"})
    EXPECT_TRUE(contains(text, part)) << part << "\n" << text;
  EXPECT_EQ(files(), std::vector<std::string>{"h.json"});
  const json explained = expect_json({"explain", "harris", "--schedule", "h.json", "--json"});
  EXPECT_EQ(explained["schedule"]["groups"], json::parse(content("h.json"))["groups"]);
  // What is explained is whole: asked for again it is the same.
  write("whole.json", explained.dump());
  EXPECT_EQ(expect_json({"explain", "harris", "--schedule", "whole.json", "--json"}), explained);
  expect_success({"verify", "harris", "--quick", "--sizes", "33x31", "--schedule", "h.json"});

  // One stage has one schedule; the file has the application's name.
  expect_success({"tune", "gaussian", "--size", "64x48", "--runs", "1", "--param", "size=5"});
  EXPECT_TRUE(json::parse(content("gaussian.schedule.json"))["groups"].is_array());
}

TEST_F(Commands, Tile) {
  const std::string marching = expect_success({"explain", "harris"});
  EXPECT_TRUE(contains(marching, "in rows of hc")) << marching;
  EXPECT_FALSE(contains(expect_success({"explain", "harris", "--tile", "none"}), "in rows of"));
  EXPECT_TRUE(contains(expect_success({"explain", "harris", "--machine", "h200"}), "in rows of hc"));
  EXPECT_FALSE(
      contains(expect_success({"explain", "harris", "--machine", "h200", "--tile", "none"}), "in rows of"));
  EXPECT_TRUE(contains(expect_success({"verify", "harris", "--quick", "--tile", "march", "--sizes", "33x31"}),
                       "0 failed"));
}

TEST_F(Commands, TilesOnTheChecker) {
  const auto kernels = [&](const char* tile) {
    const Arguments bench = {"bench", "harris", "--target", "simt", "--size",
                             "64x48", "--json", "--tile",   tile};
    return expect_json(bench)["results"][0]["kernels"].size();
  };
  EXPECT_EQ(kernels("march"), 1);
  EXPECT_EQ(kernels("auto"), 1);
  EXPECT_EQ(kernels("none"), 6);
  EXPECT_TRUE(contains(expect_success({"verify", "harris", "--quick", "--targets", "simt-race", "--tile",
                                       "march", "--sizes", "33x9"}),
                       "0 failed"));
}

/// Rows of 64 floats are whole sectors, so a point moves no more than it has to, and a window as much at
/// least.
TEST_F(Commands, BenchOnTheChecker) {
  const Arguments harris = {"bench", "harris", "--target", "simt", "--tile", "none", "--size", "64x48"};
  Arguments as_json = harris;
  as_json.push_back("--json");
  const json result = expect_json(as_json)["results"][0];
  EXPECT_EQ(result["size"], json({64, 48}));
  ASSERT_EQ(result["kernels"].size(), 6);
  for (const json& kernel : result["kernels"]) {
    SCOPED_TRACE(kernel.dump());
    const bool is_point = kernel["kernel"] == "sx_kernel" || kernel["kernel"] == "sxy_kernel";
    EXPECT_EQ(kernel["launches"], 1);
    EXPECT_EQ(kernel["sectors_stored"], 0.125);
    EXPECT_EQ(kernel["compulsory_sectors_stored"], 0.125);
    EXPECT_GE(kernel["sectors_loaded"], kernel["compulsory_sectors_loaded"]);
    if (is_point) EXPECT_EQ(kernel["sectors_loaded"], kernel["compulsory_sectors_loaded"]);
  }
  EXPECT_TRUE(contains(expect_success(harris), "of compulsory"));
}

TEST_F(Commands, BenchOfWhatReadsOnly) {
  const auto result = [&](const char* application) {
    const Outcome outcome = run(WEFT_OWN_PIPELINES, {"bench", application, "--size", "400x300", "--runs", "1",
                                                     "--seconds", "0.01", "--pause", "0.01", "--json"});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return json::parse(outcome.out)["results"][0];
  };
  const json reads = result("statistics");
  EXPECT_GT(reads["runs"], 1);
  EXPECT_NEAR(reads["share_of_reading"],
              400 * 300 / (reads["median_ms"].get<double>() * 1e6) / reads["read_gb_per_s"].get<double>(),
              1e-9);
  const json writes = result("ramp");
  EXPECT_EQ(writes["read_gb_per_s"], 0);
  EXPECT_TRUE(writes["share_of_reading"].is_null());
}

TEST_F(Commands, BenchTakesSeconds) {
  EXPECT_EQ(run(WEFT_OWN_PIPELINES, {"bench", "ramp", "--seconds", "-1"}).err,
            "weft: --seconds '-1' is not a number of at least 0\n");
}

TEST_F(Commands, BenchTakesTheSizeOfTheApplication) {
  const auto size = [&](Arguments arguments) {
    arguments.insert(arguments.end(), {"--runs", "1", "--json"});
    const Outcome outcome = run(WEFT_OWN_PIPELINES, arguments);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return json::parse(outcome.out)["results"][0]["size"].get<std::vector<int>>();
  };
  EXPECT_EQ(size({"bench", "smooth"}), (std::vector<int>{20, 16, 4}));
  EXPECT_EQ(size({"bench", "smooth", "--size", "9x8x7"}), (std::vector<int>{9, 8, 7}));
  EXPECT_EQ(size({"bench", "ramp"}), (std::vector<int>{2048, 2048}));
  EXPECT_EQ(run(WEFT_OWN_PIPELINES, {"bench", "invert"}).err,
            "weft: the size '8x8x8' has 3 dimensions; 'invert' needs 2, such as 640x480\n");
}

TEST_F(Commands, EveryApplicationFromAPaperHasASize) {
  const json list = expect_json({"list", "--json"});
  for (const json& application : list["applications"]) {
    EXPECT_EQ(application["size"] == "", application["source"] == "examples") << application["name"];
  }
}

TEST_F(Commands, EveryNumberOfDimensions) {
  const auto own = [&](const Arguments& arguments) {
    const Outcome outcome = run(WEFT_OWN_PIPELINES, arguments);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return outcome.out;
  };
  for (const char* application : {"smooth", "steps", "ramp", "weighted", "profile", "statistics"}) {
    EXPECT_TRUE(contains(own({"verify", application, "--seed", "1"}), " passed, 0 failed")) << application;
    EXPECT_TRUE(
        contains(own({"verify", application, "--sizes", "33x17x9,2x4", "--seed", "1"}), " 2 passed, 0"))
        << application;
    EXPECT_TRUE(contains(own({"bench", application, "--size", "40x30", "--runs", "1"}), application));
  }
  const json bench = json::parse(own({"bench", "smooth", "--size", "40x30", "--runs", "1", "--json"}));
  EXPECT_EQ(bench["results"][0]["size"], (std::vector<int>{40, 30, 16}));
  const json ramp = json::parse(own({"bench", "ramp", "--size", "40x30", "--runs", "1", "--json"}));
  EXPECT_EQ(ramp["results"][0]["bytes_written"], 40 * 30 * 4);
  EXPECT_EQ(json::parse(own({"explain", "smooth", "--size", "9x8x7", "--json"}))["stages"][0]["extent"],
            (std::vector<int>{9, 8, 7}));
  EXPECT_TRUE(contains(own({"explain", "weighted", "--size", "9x8"}),
                       "image coarse: f32 4x4\n  image table: f32 4\n"));
  EXPECT_TRUE(contains(own({"explain", "ramp", "--size", "5x3"}), "5x3"));
  EXPECT_TRUE(contains(own({"list"}), "in: f32, 3 dimensions -> smooth: f32, 3 dimensions"));
  EXPECT_TRUE(contains(own({"list"}),
                       "no images -> ramp: f32\n                        --param width=8 (at least 1)"));
}

TEST_F(Commands, Draw) {
  for (const char* kind : {"scene", "noise", "gradient"}) {
    expect_success({"draw", kind, "-o", "a.png", "--size", "40x30"});
    expect_success({"draw", kind, "-o", "b.png", "--size", "40x30"});
    const weft::Buffer a = read("a.png"), b = read("b.png");
    EXPECT_EQ(a.type(), (weft::Type{weft::Scalar::U8, 3}));
    EXPECT_EQ(a.extents(), (std::vector<std::int64_t>{40, 30}));
    EXPECT_EQ(0, std::memcmp(a.data(), b.data(), a.bytes())) << kind;
  }
  expect_success({"draw", "blobs", "-o", "volume.tif", "--size", "40x30x5", "--grey"});
  EXPECT_EQ(read("volume.tif").extents(), (std::vector<std::int64_t>{40, 30, 5}));
  expect_success({"draw", "blobs", "-o", "row.pfm", "--size", "40", "--grey"});
  EXPECT_EQ(read("row.pfm").extents(), (std::vector<std::int64_t>{40, 1}));
  expect_success({"draw", "scene", "-o", "grey.pgm", "--size", "40x30"});
  EXPECT_EQ(read("grey.pgm").type().lanes, 1);
}

}  // namespace
