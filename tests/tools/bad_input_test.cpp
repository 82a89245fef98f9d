// Bad input: one clear message, exit code 2, and nothing left behind.
#include <unistd.h>

#include "command.h"

namespace {

class BadInput : public CommandTest {
 protected:
  BadInput() {
    write("grey.png", picture<std::uint8_t>(8, 6, 1, [](int i) { return i; }));
    write("rgb.png", picture<std::uint8_t>(8, 6, 3, [](int i) { return i; }));
    write("rgba.png", picture<std::uint8_t>(8, 6, 4, [](int i) { return i; }));
    write("deep.png", picture<std::uint16_t>(8, 6, 1, [](int i) { return 1000 * i; }));
  }
  /// Likewise for the size of one image, which has two dimensions.
  void expect_bad_rank(const std::string& size, const std::string& has) {
    const std::string whole = "the size '" + size + "' has " + has + "; 'sobel' needs 2, such as 640x480";
    expect_refusal({"run", "sobel", "--size", size, "-o", "out.png"}, whole);
    expect_refusal({"explain", "sobel", "--size", size}, whole);
    expect_refusal({"draw", "scene", "--size", size, "-o", "out.png"},
                   "the size '" + size + "' has " + has + "; a scene has 2\n" +
                       "  help: blobs have any number of dimensions");
  }
  /// Refuses to run sobel on this picture.
  void expect_unreadable(const std::string& file, const std::string& message) {
    expect_refusal({"run", "sobel", file, "-o", "out.png"}, message);
  }
  void expect_bad_size(const std::string& size, const std::string& message) {
    SCOPED_TRACE(size);
    const std::string whole = "the size '" + size + "' " + message;
    expect_refusal({"run", "sobel", "--size", size, "-o", "out.png"}, whole);
    expect_refusal({"explain", "sobel", "--size", size}, whole);
    expect_refusal({"bench", "sobel", "--size", size}, whole);
    expect_refusal({"verify", "sobel", "--sizes", "3x3," + size}, whole);
    expect_refusal({"draw", "scene", "--size", size, "-o", "out.png"}, whole);
  }
};

TEST_F(BadInput, Files) {
  write("empty.png", std::string());
  write("text.png", std::string("no picture"));
  const std::string whole = content("rgb.png");
  write("truncated.png", whole.substr(0, whole.size() / 2));

  expect_unreadable("missing.png", "cannot read 'missing.png': there is no such file");
  expect_unreadable("empty.png", "cannot read 'empty.png': the file is empty");
  expect_unreadable("text.png",
                    "cannot read 'text.png': it is not a picture in a format Weft reads\n"
                    "  help: convert it to PNG, JPEG, TIFF, WebP, BMP, PGM, PPM, PFM or NPY");
  expect_unreadable("truncated.png", "cannot read 'truncated.png': the PNG is truncated");
  expect_unreadable(".", "cannot read '.': it is a directory");
}

TEST_F(BadInput, PixelTypes) {
  write("signed.tif", picture<std::int16_t>(8, 6, 1, [](int i) { return i; }));
  expect_refusal({"run", "laplace", "signed.tif", "-o", "out.png"},
                 "image 'in' takes u8 pixels, 'signed.tif' has i16\n"
                 "  help: convert the file to 8 bits per channel");
  expect_refusal({"run", "sobel", "rgb.png", "-o", "out.png"},
                 "image 'in' takes 1 channel, 'rgb.png' has 3\n"
                 "  help: --grey converts it to luminance");
  const std::string raw =
      "\n  help: give the raw values of a sensor, in 16 bits; bayer_mosaic makes them of a picture";
  expect_refusal({"run", "camera_pipe", "grey.png", "-o", "out.png"},
                 "image 'raw' takes i16 or u16 pixels, 'grey.png' has u8" + raw);
  expect_refusal({"run", "camera_pipe", "rgb.png", "-o", "out.png"},
                 "image 'raw' takes 1 channel, 'rgb.png' has 3" + raw);
}

TEST_F(BadInput, FilesWithoutAlpha) {
  expect_refusal({"run", "gaussian", "rgba.png", "-o", "out.jpg"},
                 "cannot write 'out.jpg': a JPEG holds 1 or 3 lanes, not 4\n"
                 "  output 'gaussian' is u8x4, 2-D\n"
                 "  help: --rgb reads pictures without their alpha channel");
}

TEST_F(BadInput, ImagesOfDifferentSizes) {
  write("small.png", picture<std::uint8_t>(8, 5, 1, [](int i) { return i; }));
  expect_refusal({"run", "mosaic", "grey.png", "small.png", "-o", "out.png"},
                 "image 'b' has to be 8x6, and 'small.png' is 8x5\n"
                 "  size  a.w x a.h\n"
                 "  image 'a' is grey.png, 8x6");
}

TEST_F(BadInput, PicturesBeyondALimit) {
  expect_refusal({"run", "sobel", "grey.png", "-o", "out.png", "--max-pixels", "47"},
                 "cannot read 'grey.png': it has 8x6 pixels, and no more than 47 are to be read\n"
                 "  help: --max-pixels 48 reads it; in C++, ReadOptions::max_pixels");
  expect_refusal({"run", "sobel", "grey.png", "-o", "out.png", "--max-pixels", "many"},
                 "--max-pixels 'many' is not a whole number");
}

TEST_F(BadInput, DepthsAndPercentiles) {
  const auto expect_bad = [&](const char* flag, const std::string& message) {
    expect_refusal({"run", "sobel", "grey.png", "-o", "out.png", flag}, message);
  };
  expect_bad("--depth=12", "there is no depth '12'; there are 8, 16 and 32f");
  expect_bad("--depth=32f",
             "cannot write 'out.png': a PNG holds u8 or u16, not f32\n"
             "  output 'mag' is f32, 2-D\n"
             "  help: --depth 32f needs a .tif, a .npy or a .pfm");
  expect_bad("--normalize=50", "--normalize=50 has to be more than 50 and at most 100");
  expect_bad("--normalize=some", "--normalize 'some' is not a number of at least 0");
  expect_refusal({"run", "sobel", "grey.png", "-o", "out.tif", "--depth", "32f", "--normalize"},
                 "--normalize makes pictures of 8 or 16 bits, not of --depth 32f");
  expect_refusal({"run", "sobel", "grey.png", "-o", "out.png", "--grey", "--rgb"},
                 "--grey and --rgb exclude each other");
}

TEST_F(BadInput, OneFileForSeveralOutputs) {
  expect_refusal({"run", "fdtd2d", "grey.png", "grey.png", "grey.png", "-o", "out.png"},
                 "'fdtd2d' has 3 outputs, and no file is given for ex, ey\n"
                 "  help: add -o ex=FILE -o ey=FILE, or give names to leave some out: -o hz=out.png");
}

TEST_F(BadInput, Names) {
  expect_refusal({"run", "harri", "grey.png", "-o", "out.png"},
                 "there is no application 'harri'; did you mean harris or harris_corner?\n"
                 "  help: weft list shows all of them");
  expect_refusal({"tune", "all"}, "there is no application 'all'\n  help: weft list shows all of them");
  expect_refusal({"bench", "xyzzy"}, "there is no application 'xyzzy'\n  help: weft list shows all of them");
  expect_refusal({"rnu", "harris"},
                 "there is no command 'rnu'; did you mean run?\n  help: weft --help lists the commands");
  expect_refusal({"run", "harris", "grey.png", "-o", "out.png", "--param", "q=1"},
                 "'harris' has no option or parameter 'q'\n"
                 "  options    border, border_value\n"
                 "  parameters k");
  expect_refusal({"run", "harris", "grey.png", "-o", "out.png", "--param", "bordr=clamp"},
                 "'harris' has no option or parameter 'bordr'; did you mean border?\n"
                 "  options    border, border_value\n"
                 "  parameters k");
  expect_refusal({"run", "harris", "inn=grey.png", "-o", "out.png"},
                 "'harris' has no image 'inn'; it has in; did you mean in?\n"
                 "  help: a file whose name has a '=' is given as ./inn=grey.png");
  expect_refusal({"run", "harris", "other=grey.png", "-o", "out.png"},
                 "'harris' has no image 'other'; it has in\n"
                 "  help: a file whose name has a '=' is given as ./other=grey.png");
  expect_refusal({"run", "harris", "grey.png", "-o", "other=out.png"},
                 "'harris' has no stage 'other'; it has dx, sx, gx, dy, sy, gy, sxy, gxy, hc\n"
                 "  help: a file whose name has a '=' is given as ./other=out.png");
  expect_refusal(
      {"run", "harris", "grey.png", "-o", "gxx=out.png"},
      "'harris' has no stage 'gxx'; it has dx, sx, gx, dy, sy, gy, sxy, gxy, hc; did you mean gx or "
      "gxy?\n"
      "  help: a file whose name has a '=' is given as ./gxx=out.png");
  expect_refusal({"run", "harris", "grey.png", "-o", "in=out.png"},
                 "'in' is an image of 'harris', not a stage\n"
                 "  help: a file whose name has a '=' is given as ./in=out.png");
  expect_refusal(
      {"run", "harris", "grey.png", "--probe", "gxx:1,2"},
      "'harris' has no stage 'gxx'; it has dx, sx, gx, dy, sy, gy, sxy, gxy, hc; did you mean gx or "
      "gxy?");
  expect_refusal({"run", "harris", "grey.png", "--probe", "3"},
                 "--probe '3' is not of the form X,Y: 'hc' has 2 dimensions");
  expect_refusal({"run", "harris", "grey.png", "--probe", "3,b"}, "the coordinate 'b' is not a whole number");
  expect_refusal({"run", "harris", "grey.png", "--probe", "8,0"},
                 "stage 'hc' has no pixel (8, 0)\n  pixels (0, 0) to (7, 5)");
  expect_refusal({"run", "harris", "grey.png", "-o", "out.png", "--target", "gpu"},
                 "there is no target 'gpu'; there are auto, cpu, reference, cuda, simt, simt-fast, "
                 "simt-race, simt-address");
  expect_refusal(
      {"run", "harris", "grey.png", "-o", "out.png", "--tile", "tall"},
      "there is no tile 'tall'; there are auto, none, march, block, warp, hybrid, overlap and split");
  expect_refusal({"run", "harris", "grey.png", "-o", "out.png", "--cost", "none"},
                 "there is no cost 'none'; there are weft and paper");
  expect_refusal({"run", "harris", "grey.png", "-o", "out.png", "--target", "cpu", "--cost", "paper"},
                 "the cost function of the paper is of kernels of a GPU\n  help: leave out --cost, or take "
                 "another target");
  expect_refusal({"run", "harris", "grey.png", "-o", "out.png", "--target", "cpu", "--tile", "hybrid"},
                 "tiles of warps are for GPUs with warps of 32 lanes\n  help: take tile 'march' or 'block', "
                 "or another target");
  expect_refusal({"draw", "cat", "-o", "out.png"},
                 "there is no picture 'cat'; there are scene, noise, gradient, blobs");
}

TEST_F(BadInput, Values) {
  expect_refusal({"run", "harris", "grey.png", "-o", "out.png", "--param", "k=much"},
                 "parameter k=much is not a number");
  expect_refusal({"run", "harris", "grey.png", "-o", "out.png", "--param", "k"},
                 "--param 'k' is not of the form NAME=VALUE");
  expect_refusal({"run", "gaussian", "grey.png", "-o", "out.png", "--param", "size=4"},
                 "option size=4 is not among its choices\n  choices 3, 5, 7");
  expect_refusal({"run", "gaussian", "grey.png", "-o", "out.png", "--param", "size=x"},
                 "option size=x is not among its choices\n  choices 3, 5, 7");
  expect_refusal({"run", "scatter_pipes", "grey.png", "-o", "out.png", "--param", "n=0"},
                 "option n=0 has to be at least 1");
  expect_refusal({"run", "harris", "grey.png", "-o", "out.png", "--threads", "0"},
                 "--threads has to be at least 1, not 0");
  for (const std::string threads : {"4097", "2147483648", "4294967297"}) {
    const std::string refusal = "--threads has to be at most 4096, not " + threads;
    expect_refusal({"run", "harris", "grey.png", "-o", "out.png", "--threads", threads}, refusal);
    expect_refusal({"bench", "harris", "--threads", threads}, refusal);
    expect_refusal({"tune", "harris", "--threads", threads}, refusal);
  }
  expect_refusal({"bench", "harris", "--runs", "many"}, "--runs 'many' is not a whole number");
  expect_refusal({"tune", "harris", "--runs", "0"}, "--runs has to be at least 1, not 0");
  expect_refusal({"tune", "harris", "--best", "some"}, "--best 'some' is not a whole number");
  expect_refusal({"tune", "harris", "-o", "none/h.json"},
                 "cannot write 'none/h.json': there is no folder 'none'");
  expect_refusal({"verify", "harris", "--tolerance", "-1"},
                 "the tolerance '-1' is not a number of at least 0");
  expect_refusal({"verify", "--random", "0"}, "the number of pipelines has to be at least 1, not 0");
  expect_refusal({"verify"},
                 "verify needs an application, all, or --random N\n  help: weft list names the applications");
  expect_refusal(
      {"verify", "all", "--random", "1"},
      "verify takes an application or --random N, not both\n  help: weft list names the applications");
  expect_refusal({"verify", "sobel", "--mutants", "0"}, "the number of mutants has to be at least 1, not 0");
  expect_refusal({"verify", "all", "--mutants", "1"}, "--mutants takes one application at a time");
  expect_refusal({"verify", "--random", "1", "--mutants", "1"},
                 "mutants are those of an application: verify takes --mutants or --random, not both");
  expect_refusal({"verify", "sobel", "--mutants", "1", "--targets", "cuda"},
                 "mutants run on the SIMT checker; their targets are simt-fast, simt-race and simt-address");
}

TEST_F(BadInput, Sizes) {
  expect_bad_size("0x480", "has no pixels");
  expect_bad_size("640x0", "has no pixels");
  expect_bad_size("-640x480", "is negative");
  expect_bad_size("640x-1", "is negative");
  expect_bad_rank("640", "1 dimension");
  expect_bad_rank("4x4x4", "3 dimensions");
  expect_bad_size("x", "is not of the form WIDTHxHEIGHT, such as 640x480");
  expect_bad_size("4x4x", "is not of the form WIDTHxHEIGHT, such as 640x480");
  expect_bad_size("4x4x4x4x4", "has more than 4 dimensions");
  expect_bad_size("3000000000x3000000000x3000000000", "is too large");
  expect_bad_size("4.5x4", "is not of the form WIDTHxHEIGHT, such as 640x480");
  expect_bad_size("99999999999999999999x1", "is too large");
  expect_bad_size("4294967296x4294967296", "is too large");
}

TEST_F(BadInput, SizeBeyondMemory) {
  const Outcome outcome = weft({"run", "sobel", "--size", "10000000x10000000", "-o", "out.png"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_TRUE(
      outcome.err.starts_with("weft: the size '10000000x10000000' is too large: it needs 8e+05 GB, this "
                              "machine has "))
      << outcome.err;
}

TEST_F(BadInput, Outputs) {
  expect_refusal({"run", "sobel", "grey.png", "-o", "nowhere/out.png"},
                 "cannot write 'nowhere/out.png': there is no folder 'nowhere'");
  expect_refusal({"run", "sobel", "grey.png", "-o", "grey.png/out.png"},
                 "cannot write 'grey.png/out.png': 'grey.png' is not a folder");
  expect_refusal({"run", "sobel", "grey.png", "-o", "out.xyz"},
                 "cannot write 'out.xyz': '.xyz' is not a format Weft writes\n  output 'mag' is f32, 2-D\n"
                 "  help: write .png, .jpg, .jpeg, .tif, .tiff, .webp, .bmp, .pgm, .ppm, .pnm, .pfm or .npy");
  expect_refusal({"run", "sobel", "grey.png"},
                 "say where the result goes: -o FILE\n  help: --time runs without writing anything");
  expect_refusal({"run", "sobel", "grey.png", "-o", ""}, "the output 'mag' needs the name of a file");
  expect_refusal({"emit", "sobel", "-o", "grey.png"},
                 "cannot make the folder 'grey.png': a file has that name");
  expect_refusal({"emit", "sobel", "--target", "hlsl", "-o", "code"},
                 "nothing is emitted for 'hlsl'; there are cpp, cuda, hip and bench");
  for (const char* name : {"3d", "a b", "a::", "::a", "a::::b"}) {
    expect_refusal({"emit", "sobel", "--namespace", name, "-o", "code"},
                   "'" + std::string(name) +
                       "' is no namespace of C++\n  help: write mine or mine::pictures, say, or '' for none");
  }
  expect_refusal(
      {"emit", "sobel", "--namespace", "mine::class", "-o", "code"},
      "the namespace 'class' may be a keyword, a macro or a name of emitted code\n  help: write class_");
  expect_refusal({"explain", "sobel", "--schedule", "/dev/zero"},
                 "cannot read '/dev/zero': it is larger than 64 MB, so it is no such file");
  expect_refusal({"emit", "sobel", "--target", "bench", "--namespace", "a", "-o", "code"},
                 "--namespace is for the functions of one target; a bench has its own");
  write("CMakeLists.txt", std::string("project(own)\n"));
  expect_refusal({"emit", "sobel", "-o", "."},
                 "'./CMakeLists.txt' is there already, and not by 'weft emit'\n"
                 "  help: give the emitted files a folder of their own, and add_subdirectory() it");
  expect_refusal({"emit", "sobel", "--target", "cuda", "--size", "64x64", "-o", "code"},
                 "--size is for --target bench; sizes are arguments of the emitted function");
  expect_refusal({"emit", "sobel", "--target", "bench", "--size", "0x64", "-o", "code"},
                 "the size '0x64' has no pixels");
  std::filesystem::create_directory(folder / "folder.png");
  expect_refusal({"run", "sobel", "grey.png", "-o", "folder.png"},
                 "cannot write 'folder.png': it is a folder");
}

TEST_F(BadInput, ReadOnlyFolder) {
  if (geteuid() == 0) GTEST_SKIP() << "root may write everywhere";
  namespace fs = std::filesystem;
  fs::create_directory(folder / "locked");
  fs::permissions(folder / "locked", fs::perms::owner_read | fs::perms::owner_exec);
  expect_refusal({"run", "sobel", "grey.png", "-o", "locked/out.png"},
                 "cannot write 'locked/out.png': the folder 'locked' cannot be written to");
}

TEST_F(BadInput, MissingImages) {
  expect_refusal({"run", "sobel", "-o", "out.png"},
                 "'sobel' needs the image 'in'\n"
                 "  help: weft run sobel in -o OUT, or --size WxH for a synthetic scene");
  expect_refusal({"run", "sobel", "grey.png", "rgb.png", "-o", "out.png"},
                 "'sobel' has 1 image, and 'rgb.png' is one more");
  expect_refusal({"run", "sobel", "grey.png", "--size", "9x9", "-o", "out.png"},
                 "--size is for runs without images: pictures from files have a size of their own");
}

TEST_F(BadInput, Dimensions) {
  write("two.tif", volume<float>(8, 6, 2, [](int i) { return i; }));
  expect_refusal({"run", "sobel", "two.tif", "-o", "out.png"},
                 "image 'in' has 2 dimensions, 'two.tif' has 2 pages");
  const auto expect_own_refusal = [&](const Arguments& arguments, const std::string& message) {
    const Outcome outcome = run(WEFT_OWN_PIPELINES, arguments);
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_EQ(outcome.err, "weft: " + message + "\n");
  };
  expect_own_refusal({"run", "steps", "grey.png", "-o", "out.pfm"},
                     "image 'in' has 1 dimension, 'grey.png' has 6 rows");
  expect_own_refusal({"run", "steps", "two.tif", "-o", "out.pfm"},
                     "image 'in' has 1 dimension, 'two.tif' has 2 pages");
  expect_own_refusal({"run", "smooth", "-o", "out.tif"},
                     "'smooth' needs the image 'in'\n"
                     "  help: weft run smooth in -o OUT, or --size WxHxD for synthetic blobs");
  expect_own_refusal({"run", "smooth", "--size", "9x9", "-o", "out.tif"},
                     "the size '9x9' has 2 dimensions; 'smooth' needs 3, such as 64x64x32");
  expect_own_refusal(
      {"run", "smooth", "--size", "9x9x9", "-o", "out.png"},
      "cannot write 'out.png': a PNG holds 2 dimensions, not 3\n  output 'smooth' is f32, 3-D\n"
      "  help: write .tif or .npy");
  expect_own_refusal({"run", "ramp", "--size", "9", "-o", "out.tif"},
                     "the size '9' has 1 dimension; 'ramp' needs 2, such as 640x480");
  expect_own_refusal({"run", "ramp", "grey.png", "-o", "out.tif"},
                     "'ramp' has 0 images, and 'grey.png' is one more");
  expect_own_refusal({"run", "weighted", "--size", "1x9", "-o", "out.tif"},
                     "image 'coarse' would be empty: its size is 0x4");
}

TEST_F(BadInput, PagesOfATiff) {
  write("two.tif", volume<float>(8, 6, 2, [](int i) { return i; }));
  std::string bytes = content("two.tif");
  write("truncated.tif", bytes.substr(0, bytes.size() - 5));
  expect_unreadable("truncated.tif", "cannot read 'truncated.tif': the TIFF is truncated");
}

TEST_F(BadInput, Flags) {
  expect_refusal({"run"}, "APP is required");
  expect_refusal({"run", "sobel", "--frobnicate"},
                 "there is no flag '--frobnicate'\n  help: weft run --help lists those that there are");
  expect_refusal({"run", "sobel", "--fues", "dp"},
                 "there is no flag '--fues'; did you mean --fuse?\n"
                 "  help: weft run --help lists those that there are");
  expect_refusal({"explain", "sobel", "-fuse=dp"},
                 "there is no flag '-fuse'; did you mean --fuse?\n"
                 "  help: weft explain --help lists those that there are");
  expect_refusal({"--versoin"},
                 "there is no flag '--versoin'; did you mean --version?\n"
                 "  help: weft --help lists those that there are");
  expect_refusal({"list", "all"}, "unexpected argument: all");
  expect_refusal({"run", "sobel", "--size"}, "--size needs a value");
  expect_refusal({"explain", "sobel", "--machine", "v200"},
                 "there is no machine 'v200'\n"
                 "  known cpu, gtx470, nvs5200m, gtx680, k20c, gtx745, gtx1080ti, v100, v100-pcie, rtx2080, "
                 "titan-rtx, a100, a100-80, rtx4090, h100, h100-pcie, h200, b200, rtx5090");
}

TEST_F(BadInput, FullDisk) {
  for (const char* command : {"list", "--help", "explain sobel"}) {
    const Outcome outcome =
        run("/bin/sh", {"-c", std::string("exec '") + WEFT_COMMAND + "' " + command + " >/dev/full"});
    EXPECT_EQ(outcome.err, "weft: cannot print to the standard output: No space left on device\n");
    EXPECT_EQ(outcome.exit_code, 2);
  }
}

TEST_F(BadInput, NoCompiler) {
  environment["PATH"] = "/nonexistent";
  environment["WEFT_CXX"] = "";
  expect_refusal({"run", "sobel", "grey.png", "-o", "out.png"},
                 "no C++ compiler found: PATH has none of c++, g++, clang++\n"
                 "  help: install g++ or set WEFT_CXX to a C++ compiler");
}

TEST_F(BadInput, UnwritableCache) {
  std::filesystem::create_directory(folder / "tmp");
  environment["TMPDIR"] = folder / "tmp";
  environment["WEFT_CACHE"] = "/dev/null/cache";
  const Outcome outcome = weft({"run", "sobel", "grey.png", "-o", "out.png"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(
      outcome.err,
      "weft: the cache folder '/dev/null/cache' cannot be written: Not a directory; compiled code is kept "
      "until the program ends (WEFT_CACHE names another folder)\n");
  EXPECT_TRUE(std::filesystem::is_empty(folder / "tmp"));
}

}  // namespace
