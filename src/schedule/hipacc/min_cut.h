// The minimum cut of an undirected graph with weights, by the algorithm of Stoer and Wagner ("A Simple
// Min-Cut Algorithm", J. ACM 44, 1997).
#pragma once

#include <vector>

namespace weft::schedule::hipacc {

struct WeightedEdge {
  int a = 0, b = 0;
  double weight = 0;  ///< Positive.
};
struct MinCut {
  std::vector<int> side;  ///< One side, ascending: the one that its phase saw last.
  double weight = 0;      ///< Of the edges that join both sides; 0 if the graph is not connected.
  int phases = 0;
};

/// Vertices are 0 to `vertices` - 1, at least two. Every phase starts with vertex 0; among those joined to it
/// most tightly, the one of least number is next, and a vertex made of several has the least number of
/// theirs. Of several minimum cuts the first is found.
MinCut min_cut(int vertices, const std::vector<WeightedEdge>& edges);

}  // namespace weft::schedule::hipacc
