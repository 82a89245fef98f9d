// The functions of NVIDIA's driver that make graphs node by node, and launch them.
#include "tests/cuda/fake/fake_driver.h"

using namespace weft::testing_support::fake;

extern "C" {

int cuGraphCreate(void** graph, unsigned) {
  return driver().call("cuGraphCreate", [&](std::string& arguments) {
    *graph = new Graph;
    driver().names.add(*graph, "g");
    arguments = driver().names.of(*graph);
    return success;
  });
}

int cuGraphDestroy(void* graph) {
  return driver().call("cuGraphDestroy", [&](std::string& arguments) {
    arguments = driver().names.of(graph);
    driver().names.remove(graph);
    delete static_cast<Graph*>(graph);
    return success;
  });
}

/// "cuGraphAddKernelNode g1 blur_kernel 1x4x1 after 0 1"
static int add_node(const char* function, void** handle, void* graph, void* const* after, std::size_t count,
                    const std::function<int(GraphNode&)>& capture) {
  return driver().call(function, [&](std::string& arguments) {
    Graph& nodes = *static_cast<Graph*>(graph);
    auto node = std::make_unique<GraphNode>();
    const int status = capture(*node);
    arguments = driver().names.of(graph) + " " + node->text + (count > 0 ? " after" : "");
    for (std::size_t i = 0; i < count; ++i) {
      const auto earlier =
          std::find_if(nodes.begin(), nodes.end(), [&](const auto& n) { return n.get() == after[i]; });
      if (earlier == nodes.end()) return static_cast<int>(invalid_value);
      node->after.push_back(earlier->get());
      arguments += " " + std::to_string(earlier - nodes.begin());
    }
    *handle = nodes.emplace_back(std::move(node)).get();
    return status;
  });
}

int cuGraphAddKernelNode(void** node, void* graph, void* const* after, std::size_t count,
                         const KernelParameters* kernel) {
  return add_node("cuGraphAddKernelNode", node, graph, after, count,
                  [&](GraphNode& made) { return driver().capture_kernel(made, *kernel); });
}

int cuGraphAddMemsetNode(void** node, void* graph, void* const* after, std::size_t count,
                         const FillParameters* fill, void* context) {
  if (context != &driver()) return invalid_context;
  return add_node("cuGraphAddMemsetNode", node, graph, after, count,
                  [&](GraphNode& made) { return driver().capture_fill(made, *fill); });
}

int cuGraphInstantiateWithFlags(void** executable, void* graph, unsigned long long) {
  return driver().call("cuGraphInstantiateWithFlags", [&](std::string& arguments) {
    auto* const made = new Executable;
    for (const auto& node : *static_cast<Graph*>(graph)) {
      made->nodes.push_back(node.get());
      made->work[node.get()] = *node;
    }
    *executable = made;
    driver().names.add(made, "x");
    arguments = driver().names.of(made) + " " + driver().names.of(graph);
    return success;
  });
}

int cuGraphExecDestroy(void* executable) {
  return driver().call("cuGraphExecDestroy", [&](std::string& arguments) {
    arguments = driver().names.of(executable);
    driver().names.remove(executable);
    delete static_cast<Executable*>(executable);
    return success;
  });
}

static int set_node(const char* function, void* executable, void* node,
                    const std::function<int(GraphNode&)>& capture) {
  return driver().call(function, [&](std::string& arguments) {
    GraphNode& set = static_cast<Executable*>(executable)->work.at(static_cast<GraphNode*>(node));
    const int status = capture(set);
    arguments = driver().names.of(executable) + " " + set.text;
    return status;
  });
}

int cuGraphExecKernelNodeSetParams(void* executable, void* node, const KernelParameters* kernel) {
  return set_node("cuGraphExecKernelNodeSetParams", executable, node,
                  [&](GraphNode& set) { return driver().capture_kernel(set, *kernel); });
}

int cuGraphExecMemsetNodeSetParams(void* executable, void* node, const FillParameters* fill, void* context) {
  if (context != &driver()) return invalid_context;
  return set_node("cuGraphExecMemsetNodeSetParams", executable, node,
                  [&](GraphNode& set) { return driver().capture_fill(set, *fill); });
}

int cuGraphLaunch(void* executable, void* stream) {
  return driver().call("cuGraphLaunch", [&](std::string& arguments) {
    arguments = driver().names.of(executable) + " " + driver().names.of(stream);
    return driver().launch(*static_cast<Executable*>(executable), stream);
  });
}
}
