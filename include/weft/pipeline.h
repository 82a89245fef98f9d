// Pipelines: building, compiling and running them.
#pragma once

#include <weft/buffer.h>
#include <weft/stage.h>

#include <map>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

namespace weft {

namespace ir {
struct Pipeline;
}

/// The stages that a pipeline returns; the first is the main one.
class Outputs {
 public:
  Outputs(const Stage& output) : stages_{output} {}                     // NOLINT(google-explicit-constructor)
  Outputs(std::initializer_list<Stage> outputs) : stages_(outputs) {}   // NOLINT(google-explicit-constructor)
  Outputs(std::vector<Stage> outputs) : stages_(std::move(outputs)) {}  // NOLINT(google-explicit-constructor)
  template <class T>
  requires(std::is_convertible_v<T, Expr>) Outputs(const T&) {  // NOLINT: explains a mistake
    static_assert(detail::never<T>, "a pipeline returns stages: point(\"out\", ...) makes one of a formula");
  }
  const std::vector<Stage>& stages() const { return stages_; }
  /// Floats are computed as written: neither contracted nor reassociated.
  Outputs& strict(bool on = true) { return strict_ = on, *this; }
  bool is_strict() const { return strict_; }

 private:
  std::vector<Stage> stages_;
  bool strict_ = false;
};

enum class Target {
  Auto,       ///< The GPU if one works, else the CPU.
  Cpu,        ///< Emitted C++, compiled by the system's compiler, on all cores.
  Reference,  ///< The interpreter: slow, and right by definition.
  Cuda,       ///< Emitted CUDA, compiled by NVRTC, on a GPU.
};

/// How stages that read windows of one another are computed.
enum class Tile {
  Auto,   ///< Down strips or in tiles, where that should take less time.
  None,   ///< One after another, each for the whole image.
  March,  ///< Together down strips of the image, some rows of each at a time.
  // Together in tiles, all of a stage before the next,
  Block,   ///< of a block of a GPU's threads, or of a CPU's core;
  Warp,    ///< of a warp alone, on GPUs;
  Hybrid,  ///< of a warp, with some of a tile's rows in registers.
  // Time steps several at a time, in tiles of space and time, and other stages as with Auto:
  Overlap,  ///< tiles compute again what they need of their neighbours;
  Split     ///< upright tiles, then inverted ones that fill the gaps: nothing is computed twice.
};

/// Which stages one kernel computes, so that their pixels need no memory.
enum class Fuse {
  Auto,    ///< What should take least time: as Dp.
  None,    ///< One: each stage is stored.
  Basic,   ///< Those that a search along edges between two stages finds.
  MinCut,  ///< Those that are left together where a search cuts the graph of stages.
  Dp,      ///< Those that a model expects to take least time, of all there are.
};

/// By what kernels of a GPU are chosen.
enum class Cost {
  Weft,   ///< The time that they should take.
  Paper,  ///< The cost function of the paper on warp overlapped tiling.
};

struct CompileOptions {
  Target target = Target::Auto;
  int threads = 0;                          ///< 0: all cores.
  std::vector<std::string> compiler_flags;  ///< Added to Weft's own, for emitted C++.
  int device = 0;                           ///< Which GPU, as CUDA counts them.
  Tile tile = Tile::Auto;                   ///< For comparisons, like fuse; results are the same.
  Fuse fuse = Fuse::Auto;
  Cost cost = Cost::Weft;
  /// The groups of stages that are to be one kernel each, instead of what fuse would choose; JSON, such as
  /// {"groups": [["dx", "dy", "mag"]], "tiles": {"mag": {"width": 256, "height": 64}}}. Stages that it does
  /// not name are kernels of their own. Tiles are in pixels, can be left out, and can have "traversal":
  /// "static". It is refused if a group cannot be one kernel.
  std::string schedule{};
};

/// What a run needs: images and parameters by name. Parameters not given keep their initial value.
struct Arguments {
  std::map<std::string, Buffer> images;
  std::map<std::string, double> params;
  /// Memory for outputs, by name; those absent are allocated.
  std::map<std::string, Buffer> outputs;
};

/// A compiled pipeline. Reusable with images of any size, and from several threads at once.
class Program {
 public:
  /// The outputs by name. Throws weft::Error for arguments that do not fit. On a GPU, images and outputs may
  /// lie in its memory or the host's, from where they are copied. Outputs that were not given lie in the
  /// GPU's if an image does. When it returns, the work is done.
  std::map<std::string, Buffer> run(const Arguments& arguments) const;
  /// Likewise on the caller's stream of a GPU (a CUstream or cudaStream_t; null is the default stream): the
  /// work is queued behind what is there, and nothing waits for it, unless an output lies in the host's
  /// memory. The images in the host's memory may be changed at once. Outputs that were not given are
  /// allocated and released in the stream's order, so it has to outlive them. Throws weft::Error if the
  /// program does not run on a GPU.
  std::map<std::string, Buffer> run_on(void* stream, const Arguments& arguments) const;
  /// The only output of a pipeline of one image: program(image).
  Buffer operator()(const Buffer& image) const;
  /// What it runs on: never Target::Auto.
  Target target() const;

  class Implementation;
  explicit Program(std::shared_ptr<const Implementation> implementation) : impl_(std::move(implementation)) {}

 private:
  std::shared_ptr<const Implementation> impl_;
};

class Pipeline {
 public:
  /// Checks the whole graph; mistakes are thrown as weft::Error with the user's file and line.
  Pipeline(std::string name, const Outputs& outputs);
  explicit Pipeline(std::shared_ptr<const ir::Pipeline> ir);

  Program compile(const CompileOptions& options = {}) const;

  const ir::Pipeline& ir() const { return *ir_; }

 private:
  std::shared_ptr<const ir::Pipeline> ir_;
};

}  // namespace weft
