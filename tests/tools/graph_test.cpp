// Drawings of graphs, as text for Graphviz.
#include "tools/graph.h"

#include <gtest/gtest.h>
#include <weft/weft.hpp>

#include "schedule/schedule.h"

namespace weft::tools {
namespace {

TEST(Graph, EscapesWhatNamesMayHave) {
  const Image<float> in("a \"photo\"");
  const Pipeline pipeline("a\"b", point("c:\\new", in + 1.f));
  const ir::Pipeline& definition = pipeline.ir();
  const std::string dot = to_dot(definition, analysis::summarize(definition), schedule::choose(definition));
  EXPECT_EQ(dot.substr(0, dot.find('\n')), R"(digraph "a\"b" {)");
  EXPECT_NE(dot.find(R"(  "a \"photo\"" [label="a \"photo\"\nf32", shape=ellipse];)"), std::string::npos)
      << dot;
  EXPECT_NE(dot.find(R"(  "c:\\new" [label="c:\\new\npoint, f32")"), std::string::npos) << dot;
  EXPECT_NE(dot.find(R"(  "a \"photo\"" -> "c:\\new" [label=""];)"), std::string::npos) << dot;
}

}  // namespace
}  // namespace weft::tools
