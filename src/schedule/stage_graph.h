// The graph of stages that fusion partitions: what it needs to know of each stage and of what the stage
// reads. The Hipacc thesis calls the vertices kernels, and has the output image of each with its kernel
// (section 3.5.1); inputs are no vertices.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/window.h"
#include "ir/stage_ir.h"

namespace weft::schedule {

using analysis::Reach;
using analysis::Window;

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
