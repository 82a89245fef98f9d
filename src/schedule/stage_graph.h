// The graph of stages that fusion partitions: what it needs to know of each stage and of what the stage
// reads. The Hipacc thesis calls the vertices kernels, and has the output image of each with its kernel
// (section 3.5.1); inputs are no vertices.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/footprint.h"
#include "ir/stage_ir.h"

namespace weft::schedule {

/// The offsets from a pixel, both ends included, at which something is read in one dimension.
struct Reach {
  std::int64_t min = 0, max = 0;
  std::int64_t extent() const { return max - min + 1; }
  bool operator==(const Reach&) const = default;
};
using Window = std::vector<Reach>;  ///< Per dimension, x first.

/// Nothing unless it is around the reader's own pixel: point and local patterns.
std::optional<Window> window_of(const analysis::Footprint& footprint);
Window hull(const Window& a, const Window& b);  ///< Of one rank.
/// What is read in all, if `read` is read around each of `pixels`. An image may have fewer dimensions than
/// its reader.
Window read_around(const Window& pixels, const Window& read);
bool is_one_pixel(const Window& window);  ///< Of offset 0.
std::int64_t pixels_in(const Window& window);

/// All reads of one image by one stage.
struct ImageRead {
  std::string image;
  int producer = -1;  ///< The vertex; -1 for an input of the pipeline.
  Type type;
  bool is_scalar = false;  ///< One value, no image.
  /// Scaled and gathered reads have no window; it is then empty.
  analysis::Pattern pattern = analysis::Pattern::Point;
  bool of_a_crop = false;  ///< Some read has a border of its own region.
  Window window;
};

struct Vertex {
  std::string name;
  analysis::Pattern pattern = analysis::Pattern::Point;
  analysis::Operations operations;  ///< Per pixel.
  ir::Box box;
  Type type;
  std::vector<ImageRead> reads;  ///< In order of first use.
  bool is_output = false;

  /// Null if the stage does not read what that vertex computes.
  const ImageRead* read_of(int producer) const;
  /// Images, scalars left out.
  int images_read() const;
  /// What the stage reads of all its images together.
  Window window() const;
};

struct Edge {
  int from = 0, to = 0;
  bool operator==(const Edge&) const = default;
};

struct StageGraph {
  std::vector<Vertex> vertices;  ///< Producers first: the order of the pipeline's stages.
  std::vector<Edge> edges;       ///< By `to`, then in order of its reads.

  std::vector<int> consumers(int vertex) const;
  /// "'a', 'b' and 'c'"
  std::string names(const std::vector<int>& members) const;
};

StageGraph graph_of(const ir::Pipeline& pipeline);

/// Whether a vertex is one of the members, which ascend.
bool contains(const std::vector<int>& members, int vertex);

}  // namespace weft::schedule
