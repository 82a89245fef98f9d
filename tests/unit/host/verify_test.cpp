// Plans that would run wrongly are refused.
#include "host/verify.h"

#include <gtest/gtest.h>
#include <weft/error.h>

#include <algorithm>

#include "host/dependences.h"
#include "tests/support/symbols.h"
#include "tests/unit/host/modules.h"

namespace weft::host {
namespace {

using kernel::literal;
using kernel::Module;

template <class Work>
std::string refusal(const Work& work) {
  try {
    work();
  } catch (const InternalError& error) {
    return error.what();
  }
  return "";
}
std::string refusal(const Module& module, const Plan& plan) {
  return refusal([&] { verify(module, plan); });
}
std::string refusal(const Module& module) {
  return refusal([&] { plan_of(module); });
}

/// n0 allocate a, n1 a, n2 allocate b, n3 b, n4 free a, n5 out, n6 free b
class HostPlanVerifier : public testing::Test {
 protected:
  /// After the edges have been made anew.
  std::string refusal_connected() {
    connect(module, plan.nodes);
    return refusal(module, plan);
  }

  const Module module = chain();
  Plan plan = plan_of(module);
};

TEST_F(HostPlanVerifier, FindsUsesBeforeDefinitions) {
  Module swapped = module;
  std::swap(swapped.steps[0], swapped.steps[1]);
  EXPECT_EQ(refusal(swapped), "the host plan: 'b' reads 'a' before it is written");
  std::swap(plan.nodes[0], plan.nodes[1]);
  EXPECT_EQ(refusal_connected(), "the host plan: 'a' writes 'a', which has no memory");
}

TEST_F(HostPlanVerifier, FindsOutputsThatNothingWrites) {
  Module shorter = module;
  shorter.steps.pop_back();
  EXPECT_EQ(refusal(shorter), "the host plan: nothing writes the output 'out'");
}

TEST_F(HostPlanVerifier, FindsMemoryThatIsFreedTooEarly) {
  std::swap(plan.nodes[3], plan.nodes[4]);
  EXPECT_EQ(refusal_connected(), "the host plan: 'b' reads 'a', which has no memory");
}

TEST_F(HostPlanVerifier, FindsMemoryThatIsNeverFreed) {
  plan.nodes.pop_back();
  EXPECT_EQ(refusal(module, plan), "the host plan: 'b' is never freed");
}

TEST_F(HostPlanVerifier, FindsMemoryThatIsFreedOrAllocatedTwice) {
  plan.nodes.push_back(plan.nodes.back());
  EXPECT_EQ(refusal_connected(), "the host plan: 'b' is freed where it is not there");
  plan = plan_of(module);
  plan.nodes.insert(plan.nodes.begin(), plan.nodes[0]);
  EXPECT_EQ(refusal_connected(), "the host plan: 'a' is allocated where it is there already");
  plan = plan_of(module);
  plan.nodes.push_back({Free{"out"_s}, the_host});
  EXPECT_EQ(refusal_connected(), "the host plan: 'out' is freed");
}

TEST_F(HostPlanVerifier, FindsForgottenUses) {
  plan.nodes[3].uses.reads.clear();
  EXPECT_EQ(refusal(module, plan), "the host plan: 'b' does not use what it says");
}

TEST_F(HostPlanVerifier, FindsNodesWithoutOrder) {
  plan.nodes[3].stream = 1;
  EXPECT_EQ(refusal(module, plan), "");
  Plan other = plan;
  other.nodes[3].after = {};
  EXPECT_EQ(refusal(module, other), "the host plan: the allocation of 'a' and 'b' have no order");
  other = plan;
  other.nodes[4].after = {};  // memory for others while "b" still reads it
  EXPECT_EQ(refusal(module, other), "the host plan: 'b' and the release of 'a' have no order");
  other = plan;
  other.nodes[5].after = {6};
  EXPECT_EQ(refusal(module, other), "the host plan: 'out' waits for a later node");
}

TEST_F(HostPlanVerifier, FindsNodesWithoutOrderInRepeats) {
  Module both = evolution(kernel::name("steps"_s));
  std::get<kernel::Repeat>(both.steps[1]).parts[0].launches.push_back(launch_of("out"_s, On::Host));
  Plan repeated = plan_of(both);
  auto& inner = std::get<Repeat>(repeated.nodes[3].what).parts[0].nodes;
  inner[1].stream = 1;
  EXPECT_EQ(refusal(both, repeated), "");
  inner[1].after.clear();
  EXPECT_EQ(refusal(both, repeated), "the host plan: 'next' and 'out' have no order");
}

/// One state becomes the other, so both have to be there before the first time or the second.
TEST(HostPlanVerifierOfRepeats, FollowsRotations) {
  EXPECT_EQ(refusal(evolution(literal(3))), "");
  for (const kernel::Expr& count : {literal(3), kernel::name("steps"_s)}) {
    Module module = evolution(count);
    module.functions[0] = copying("start"_s, "in"_s, "a"_s);  // and not "b"
    EXPECT_EQ(refusal(module), "the host plan: 'next' reads 'b' before it is written");
  }
  Module even = evolution(literal(4));
  even.functions[0] = copying("start"_s, "in"_s, "a"_s);  // rotates to "b" before the first time
  EXPECT_EQ(refusal(even), "");
}

TEST(HostPlanVerifierOfRepeats, KnowsThatTheyMayRunNoTime) {
  Module module = evolution(kernel::name("steps"_s));
  module.steps.pop_back();
  std::get<kernel::Repeat>(module.steps.back()).parts[0].launches.push_back(launch_of("out"_s, On::Host));
  EXPECT_EQ(refusal(module), "the host plan: nothing writes the output 'out'");
  std::get<kernel::Repeat>(module.steps.back()).parts[0].to = literal(1);
  EXPECT_EQ(refusal(module), "");
}

TEST(HostPlanVerifierOfRepeats, FollowsWhatStandsInTheFirstTime) {
  Module module = evolution(literal(3));
  auto& repeat = std::get<kernel::Repeat>(module.steps[1]);
  module.functions[0] = copying("start"_s, "in"_s, "a"_s);  // and not "b", which is read the first time
  repeat.first = {{"b"_s, "in"_s}};
  EXPECT_EQ(refusal(module), "");
  EXPECT_EQ(plan_of(module).nodes[3].uses.reads,
            (std::set<Place>{{"a"_s, the_host}, {"b"_s, the_host}, {"in"_s, the_host}}));
  repeat.first = {{"a"_s, "in"_s}};
  EXPECT_EQ(refusal(module), "the host plan: 'next' reads 'b' before it is written");
}

TEST(HostPlanVerifierOfRepeats, SeesThatSomePartRunsInAnyCase) {
  Module module = evolution(kernel::name("steps"_s));
  auto& repeat = std::get<kernel::Repeat>(module.steps[1]);
  repeat.first = {{"b"_s, "in"_s}};
  const kernel::Expr is_none = kernel::binary(ir::BinaryOp::Le, kernel::name("steps"_s), literal(0));
  const auto start_if = [&](const kernel::Expr& condition) {
    return kernel::Turns{
        literal(0), kernel::select(condition, literal(1), literal(0)), 1, {launch_of("start"_s, On::Host)}};
  };
  module.functions[0] = copying("start"_s, "in"_s, "a"_s);
  module.steps.erase(module.steps.begin());
  auto& parts = std::get<kernel::Repeat>(module.steps[0]).parts;
  parts.insert(parts.begin(), start_if(is_none));
  EXPECT_EQ(refusal(module), "");
  parts[0] = start_if(kernel::binary(ir::BinaryOp::Lt, kernel::name("steps"_s), literal(0)));
  EXPECT_EQ(refusal(module), "the host plan: 'out' reads 'a' before it is written") << "after no step";
}

/// "b" runs on a second device, on copies of what it reads and for a copy of what it writes.
TEST(HostPlanVerifierOfDevices, WantsCopiesBetweenThem) {
  const Module module = chain(On::Device);
  const Plan one = plan_of(module);
  Plan plan = one;
  const auto copy = [](const Symbol& array, int from, int to) {
    return Node{Copy{array, from, to, literal(0), literal(1)}, 1};
  };
  // n3 allocate a, n4 a, n5 allocate b, n6 b, n7 free a, n8 out, n9 free b
  auto on_second = [&](std::size_t node) {
    Node result = one.nodes[node];
    result.device = 1;
    return result;
  };
  const std::vector<Node> steps = {one.nodes[3], one.nodes[4],      on_second(3), copy("a"_s, 0, 1),
                                   one.nodes[7], on_second(5),      on_second(6), on_second(7),
                                   one.nodes[5], copy("b"_s, 1, 0), on_second(9), one.nodes[8],
                                   one.nodes[9]};
  plan.nodes.erase(plan.nodes.begin() + 3, plan.nodes.begin() + 10);
  plan.nodes.insert(plan.nodes.begin() + 3, steps.begin(), steps.end());
  connect(module, plan.nodes);
  EXPECT_EQ(refusal(module, plan), "");
  EXPECT_FALSE(is_on_one_stream(plan));
  EXPECT_EQ(plan.nodes[6].uses.reads, (std::set<Place>{{"a"_s, 0}}));
  EXPECT_EQ(plan.nodes[6].uses.writes, (std::set<Place>{{"a"_s, 1}}));
  EXPECT_EQ(plan.nodes[6].after, (std::vector<std::size_t>{4, 5}));  // "a", and the memory
  Plan other = plan;
  other.nodes[6].after = {5};
  EXPECT_EQ(refusal(module, other), "the host plan: the allocation of 'a' and the copy of 'a' have no order");
  other = plan;
  other.nodes.erase(other.nodes.begin() + 6);
  connect(module, other.nodes);
  EXPECT_EQ(refusal(module, other), "the host plan: 'b' reads 'a' on device 1 before it is written");
}

TEST(HostPlanVerifierOfImages, WantsCopiesOfTheHosts) {
  const Module module = chain(On::Device);
  const Plan plan = plan_of(module);
  Plan other = plan;
  other.nodes.erase(other.nodes.begin() + 1);
  connect(module, other.nodes);
  EXPECT_EQ(refusal(module, other), "the host plan: 'a' reads 'in' on device 0 before it is written");
  other = plan;
  other.nodes.erase(other.nodes.begin() + 10);
  connect(module, other.nodes);
  EXPECT_EQ(refusal(module, other), "the host plan: nothing writes the output 'out'");
  other = plan;
  std::get<Copy>(other.nodes[1].what).last = literal(0);
  EXPECT_EQ(refusal(module, other), "the host plan: the copy of 'in' is not of the whole image");
}

TEST(HostPlanVerifierOfImages, WantsZerosWhereThereAreNoPixels) {
  for (const On on : {On::Host, On::Device}) {
    Module module = chain(on);
    kernel::Array& b = module.arrays[3];
    b.extents = {div(kernel::name("w"_s), literal(2))};
    Plan plan = plan_of(module);
    const auto allocation = std::find_if(plan.nodes.begin(), plan.nodes.end(), [](const Node& node) {
      return std::holds_alternative<Allocate>(node.what) && array_of(node) == "b"_s;
    });
    std::get<Allocate>(allocation->what).zeroed = kernel::constant(Scalar::Bool, {.i = 0});
    const std::string where = on == On::Device ? " on device 0" : "";
    EXPECT_EQ(refusal(module, plan), "the host plan: 'out' reads 'b'" + where + " before it is written");
    b.role = kernel::Array::Role::Output;
    plan = plan_of(module);
    plan.nodes.erase(std::remove_if(plan.nodes.begin(), plan.nodes.end(),
                                    [](const Node& node) { return node.when == When::EmptyImage; }),
                     plan.nodes.end());
    connect(module, plan.nodes);
    EXPECT_EQ(refusal(module, plan),
              "the host plan: 'out' reads 'b'" + where + ", which has no memory if it has no pixels");
  }
}

}  // namespace
}  // namespace weft::host
