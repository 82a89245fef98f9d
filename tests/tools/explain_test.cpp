// What explain says of a pipeline: its stages, windows and loops, what becomes of them, and why.
#include "command.h"

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

namespace {

using nlohmann::json;

class Explain : public CommandTest {};

TEST_F(Explain, ShowsTheHostPlan) {
  EXPECT_TRUE(contains(expect_success({"explain", "heat2d"}),
                       "\nhost plan\non host, stream 0\nn0   allocate heat2d_1: "));
  const json host = expect_json({"explain", "heat2d", "--machine", "h200", "--json"})["host"];
  ASSERT_EQ(host.size(), 9);
  EXPECT_EQ(host[1]["does"], "copy in: rows 0 to in_h, host to device 0");
  EXPECT_EQ(host[1]["reads"], json::parse(R"([{"array": "in", "device": "host"}])"));
  EXPECT_EQ(host[1]["when"], "host image");
  EXPECT_EQ(host[4]["after"], json::parse("[1, 2, 3]"));
  EXPECT_EQ(host[4]["parts"][0][0]["device"], "device 0");
}

TEST_F(Explain, StagesAndWhatBecomesOfThem) {
  const std::string text = expect_success({"explain", "harris", "--size", "640x480", "--dot", "graph.dot"});
  EXPECT_TRUE(contains(text, "in 3x3 clamp"));
  EXPECT_TRUE(contains(text, "640x480"));
  EXPECT_TRUE(contains(text, "graph.dot: the graph, for Graphviz"));
  EXPECT_EQ(files(), std::vector<std::string>{"graph.dot"});
  const json all = expect_json({"explain", "harris", "--json"});
  ASSERT_EQ(all["stages"].size(), 12);
  EXPECT_EQ(all["stages"][0]["name"], "dx");
  EXPECT_EQ(all["stages"][0]["pattern"], "local");
  EXPECT_EQ(all["stages"][0]["sources"][0]["window"], "3x3");
  EXPECT_TRUE(expect_success({"explain", "harris", "--ir"}).starts_with("pipeline harris(in: f32 "));
}

TEST_F(Explain, TellsWhatBecameOfWindows) {
  EXPECT_TRUE(contains(expect_success({"explain", "gaussian", "--param", "size=7"}),
                       "\nwindow  of        becomes    because\n"
                       "7x7     gaussian  separated  a column times a row: gaussian_columns, gaussian\n\n"));
  const json window = expect_json({"explain", "median", "--json"})["windows"][0];
  EXPECT_EQ(window, json::parse(R"({"stage": "median", "window": "5x5", "becomes": "unrolled",
                                    "why": "a sorting network of 25 values; up to 49 have one"})"));
  EXPECT_FALSE(contains(expect_success({"explain", "scaling"}), "\nwindow "));
}

TEST_F(Explain, AsksTheCompilerAboutLoops) {
  environment["WEFT_CXX"] = "g++";
  const json compiled = expect_json({"explain", "scaling", "--compiler", "--json"})["compiled"];
  const std::string compiler = compiled["compiler"];
  EXPECT_TRUE(compiler.starts_with("g++ ")) << compiler;
  EXPECT_EQ(compiled["file"], "scaling.cpp");
  ASSERT_FALSE(compiled["scalar"].empty());
  const json loop = compiled["scalar"][0];
  EXPECT_EQ(loop["function"], "scaling_weight_y_rows");
  EXPECT_EQ(loop["cause"], "it divides integers, for which there are no vector instructions");
  const std::string text = expect_success({"explain", "scaling", "--compiler"});
  EXPECT_TRUE(contains(text, "\nloops over pixels, by " + compiler + ": ")) << text;
  EXPECT_TRUE(
      contains(text, "\n  scaling_weight_y_rows (line " + loop["line"].dump() +
                         " of scaling.cpp) goes pixel by pixel: it divides integers, for which there are no "
                         "vector instructions\n    the compiler says: "))
      << text;
  EXPECT_FALSE(contains(expect_success({"explain", "scaling"}), "loops over pixels"));
  expect_refusal({"explain", "scaling", "--compiler", "--machine", "h200"},
                 "--compiler asks the C++ compiler, which compiles nothing for 'h200'\n"
                 "  help: leave out --machine, or --compiler");
}

TEST_F(Explain, Fusion) {
  const std::string text = expect_success({"explain", "harris", "--fuse", "mincut", "--dot", "groups.dot"});
  EXPECT_TRUE(contains(
      text, "\nfusion mincut: 9 stages in 6 groups, 912 clocks per pixel saved (beta, Eq. 3.1)\n  t_g 400,"))
      << text;
  EXPECT_TRUE(contains(text,
                       "\n  1    2 eps   resources: 3 tiles in shared memory are 3.00 times what one stage "
                       "has; 2 are allowed  sy+gy | dx+sx+gx+dy+sxy+gxy+hc\n"))
      << text;
  EXPECT_TRUE(contains(text, "\nsxy    in rows of gxy  ")) << text;
  EXPECT_TRUE(contains(content("groups.dot"),
                       "subgraph \"cluster_gx\" { style=dotted;\n    \"sx\" [label=\"sx\\npoint, f32\""))
      << content("groups.dot");
  EXPECT_TRUE(contains(expect_success({"explain", "night", "--fuse", "basic"}), "\n  2      400 "));
  EXPECT_FALSE(contains(expect_success({"explain", "harris"}), "fusion"));
}

TEST_F(Explain, FusionForABoardAsJson) {
  const json fusion =
      expect_json({"explain", "harris", "--fuse", "mincut", "--machine", "h200", "--json"})["fusion"];
  EXPECT_EQ(fusion["benefit"], 617 + 617 + 545);
  EXPECT_EQ(fusion["model"]["global"]["value"], 689);
  EXPECT_EQ(fusion["model"]["global"]["source"], "assumed, from a similar board");
  EXPECT_EQ(fusion["cuts"].size(), 5);
  EXPECT_EQ(fusion["groups"].size(), 6);
  EXPECT_EQ(fusion["edges"][0]["why"], "external output: 'sxy' reads 'dx', too");
  const json none = expect_json({"explain", "unsharp", "--fuse", "none", "--json"});
  EXPECT_EQ(none["fusion"]["groups"].size(), 4) << "as the user wrote them";
  EXPECT_EQ(none["stages"].size(), 5) << "as they are compiled: a shared tap is a stage";
  EXPECT_FALSE(expect_json({"explain", "harris", "--json"}).contains("fusion"));
  expect_refusal({"explain", "harris", "--fuse", "all"},
                 "there is no fusion 'all'; there are auto, none, basic, mincut and dp");
}

TEST_F(Explain, TheGroupsOfLeastCost) {
  const std::string text = expect_success({"explain", "harris_corner", "--fuse", "dp"});
  EXPECT_TRUE(contains(text, "\nschedule for cpu: 64 groups priced, 34 sets of stages left\n")) << text;
  EXPECT_EQ(expect_json({"explain", "unsharp_mask", "--fuse", "dp", "--json"})["search"],
            "3 groups priced, 2 sets of stages left");
  const std::string on_gpu =
      expect_success({"explain", "harris_corner", "--fuse", "dp", "--machine", "h200"});
  EXPECT_TRUE(contains(on_gpu, "14 stages in 1 kernel")) << on_gpu;
  EXPECT_TRUE(contains(on_gpu, "\nschedule for h200: 64 groups priced, 34 sets of stages left\n")) << on_gpu;
  EXPECT_TRUE(contains(expect_success({"explain", "corners", "--machine", "h200"}),
                       "at other pixels than its own; computed with 'out' the two would take "));
}

TEST_F(Explain, ForABoard) {
  const std::string text = expect_success({"explain", "harris", "--machine", "rtx2080"});
  EXPECT_TRUE(contains(text, "schedule for rtx2080")) << text;
  EXPECT_TRUE(contains(text, "\nmachine rtx2080\n  board           NVIDIA GeForce RTX 2080")) << text;
  EXPECT_TRUE(contains(text, "46 of Turing (sm_75)")) << text;
  EXPECT_FALSE(contains(expect_success({"explain", "harris"}), "machine"));

  const json board = expect_json({"explain", "harris", "--machine", "rtx2080", "--json"})["board"];
  EXPECT_EQ(board["architecture"], "sm_75");
  EXPECT_EQ(board["bandwidth_gb_s"], 448);
  EXPECT_EQ(board["copy_fraction"]["source"], "assumed, from a similar board");
  EXPECT_FALSE(expect_json({"explain", "harris", "--json"}).contains("board"));
}

TEST_F(Explain, ShowsTilesAndCostsOfThePaper) {
  const std::string hybrid =
      expect_success({"explain", "harris", "--machine", "v100", "--tile", "hybrid", "--cost", "paper"});
  EXPECT_TRUE(contains(hybrid, "% of the rows in registers"));
  EXPECT_TRUE(
      contains(hybrid, "cost by the paper, of a warp's tile\nkernel    cost  transactions  occupancy"));
  EXPECT_TRUE(
      contains(expect_success({"explain", "camera_pipe", "--machine", "v100", "--tile", "hybrid"}),
               "it has no tiles of the kind that was asked for: stages of several rates are not computed one "
               "after the other in registers"));
  const std::string block = expect_success({"explain", "harris", "--machine", "v100", "--tile", "block"});
  EXPECT_TRUE(contains(block, " static\n"));
  EXPECT_FALSE(contains(block, "cost by the paper"));
  EXPECT_TRUE(contains(expect_success({"explain", "harris", "--machine", "v100", "--tile", "warp"}),
                       "\n  warp    32"));
}

TEST_F(Explain, SaysWhatIsProvedOfSplitTiles) {
  const std::string split = expect_success({"explain", "heat2d", "--tile", "split"});
  EXPECT_TRUE(contains(split, "merged in 2 launches; y every 124, 62 at the top, slopes 1 and 1\n")) << split;
  EXPECT_TRUE(contains(split,
                       "proved by 30 integer sets, for all sizes and numbers of steps: tiles of 'heat2d' "
                       "cover each pixel once, and nothing comes before what it needs\n"))
      << split;
  const std::string overlapped = expect_success({"explain", "heat2d", "--tile", "overlap"});
  EXPECT_TRUE(contains(overlapped, "with it heat2d@1")) << overlapped;
  EXPECT_FALSE(contains(overlapped, "proved")) << overlapped;
}

TEST_F(Explain, ReadsBackWhatKernelsTakeOfABoard) {
  // LeakSanitizer may crash in what NVRTC's threads leave behind, which is not ours.
  ::setenv("ASAN_OPTIONS", "detect_leaks=0", 1);
  const json code = expect_json({"explain", "reduce_sum", "--machine", "h200", "--json"})["device_code"];
  if (!code["missing"].is_null()) GTEST_SKIP() << code["missing"];
  EXPECT_TRUE(code["compiler"].get<std::string>().starts_with("NVRTC "));
  ASSERT_EQ(code["kernels"].size(), 2);
  const json &part = code["kernels"][0], &total = code["kernels"][1];
  EXPECT_EQ(part["name"], "sum_part");
  EXPECT_EQ(total["name"], "sum_total");
  EXPECT_EQ(part["threads"], 256);
  EXPECT_GE(part["registers"], 16);
  EXPECT_EQ(part["static_shared"], 1024) << "a float of each thread";
  EXPECT_EQ(part["spill_stores"], 0);
  EXPECT_EQ(part["barriers"], 1);
  EXPECT_GT(part["instructions"], 50);
  EXPECT_TRUE(part["instructions_per_pixel"].is_null()) << "a thread sums up pixels in a loop of its own";
  const double warps = part["blocks_per_multiprocessor"].get<int>() * 8;
  EXPECT_DOUBLE_EQ(part["occupancy"], warps / 64);

  const json grey = expect_json({"explain", "color_convert", "--machine", "h200", "--json"})["device_code"];
  EXPECT_EQ(grey["kernels"][0]["instructions_per_pixel"].get<double>() * 4,
            grey["kernels"][0]["instructions"])
      << "a thread has four pixels";
  const json gathers =
      expect_json({"explain", "chromatic_aberration", "--machine", "rtx2080", "--json"})["device_code"];
  for (const json& kernel : gathers["kernels"]) {
    EXPECT_EQ(kernel["instructions_per_pixel"].get<double>() * 2, kernel["instructions"])
        << "a thread has pixels of two rows";
    EXPECT_LE(kernel["blocks_per_multiprocessor"].get<int>() * kernel["threads"].get<int>(), 1024);
  }
  const std::string text = expect_success({"explain", "jacobi2d", "--machine", "rtx2080"});
  EXPECT_TRUE(contains(text, "\nkernels, compiled by NVRTC ")) << text;
  EXPECT_TRUE(contains(text, "\njacobi2d_start ")) << text;
}

TEST_F(Explain, SaysWhyKernelsCannotBeCompiled) {
  const json all = expect_json({"explain", "harris", "--machine", "gtx680", "--json"});
  EXPECT_EQ(all["stages"].size(), 12);
  EXPECT_TRUE(all["device_code"]["kernels"].empty());
  const auto missing = all["device_code"]["missing"].get<std::string>();
  EXPECT_TRUE(missing.ends_with(" does not compile for sm_30") ||
              missing.starts_with("no CUDA compiler found"))
      << missing;
  EXPECT_TRUE(
      contains(expect_success({"explain", "harris", "--machine", "gtx680"}), "\nkernels: " + missing + "\n"));
  EXPECT_FALSE(expect_json({"explain", "harris", "--json"}).contains("device_code"));
}

TEST_F(Explain, SaysWhyBlocksAreAsLargeAsTheyAre) {
  // A Kepler, for which no compiler is needed.
  const json blocks = expect_json(
      {"explain", "harris", "--tile", "none", "--machine", "gtx680", "--json"})["device_code"]["blocks"];
  ASSERT_EQ(blocks.size(), 6);
  const json& sx = blocks[1];
  EXPECT_EQ(sx["name"], "sx_kernel");
  EXPECT_EQ(sx["block"], json({32, 4, 1}));
  EXPECT_EQ(sx["estimated_registers"], 32);
  const std::string why =
      "128 threads of about 32 registers, so 16 blocks of 4 warps: 64 of 64 warps (100 %), limited by warps; "
      "256 "
      "threads would have as many, with nothing to share";
  EXPECT_EQ(sx["why"], why);
  const std::string text = expect_success({"explain", "harris", "--tile", "none", "--machine", "gtx680"});
  EXPECT_TRUE(contains(text, "\nblocks of threads\nkernel      block   because\n")) << text;
  EXPECT_TRUE(contains(text, "\nsx_kernel   32x4x1  " + why + "\n")) << text;
}

}  // namespace
