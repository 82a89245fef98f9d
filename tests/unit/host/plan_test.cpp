// What a host plan says of a module: memory, dependences, repeats.
#include "host/plan.h"

#include <gtest/gtest.h>
#include <weft/error.h>

#include "host/dependences.h"
#include "kernel/evaluate.h"
#include "tests/support/symbols.h"
#include "tests/unit/host/modules.h"

namespace weft::host {
namespace {

using kernel::literal;
using kernel::Module;
using Edges = std::vector<std::size_t>;

/// The launch of a function.
const Node& launch_in(const Plan& plan, const Symbol& function) {
  const auto is_it = [&](const Node& node) {
    const auto* launch = std::get_if<Launch>(&node.what);
    return launch && launch->function == function;
  };
  return *std::find_if(plan.nodes.begin(), plan.nodes.end(), is_it);
}

TEST(HostPlan, KeepsMemoryFromTheFirstUseToTheLast) {
  EXPECT_EQ(to_string(plan_of(chain())),
            "on host, stream 0\n"
            "n0   allocate a: 1 f32\n"
            "n1   launch a: 1; reads in; writes a; after n0\n"
            "n2   allocate b: 1 f32\n"
            "n3   launch b: 1; reads a; writes b; after n1 n2\n"
            "n4   free a; after n3\n"
            "n5   launch out: 1; reads b; writes out; after n3\n"
            "n6   free b; after n5\n");
}

TEST(HostPlan, CopiesImagesOfTheHostToTheDeviceAndBack) {
  EXPECT_EQ(to_string(plan_of(chain(On::Device))),
            "on device 0, stream 0\n"
            "n0   allocate in: 1 f32; if the image is the host's\n"
            "n1   copy in: rows 0 to 1, host to device 0; after n0; if the image is the host's\n"
            "n2   allocate out: 1 f32; if the image is the host's\n"
            "n3   allocate a: 1 f32\n"
            "n4   launch a: 1 x 1 x 1 threads, blocks of 32x1x1; reads in; writes a; after n1 n3\n"
            "n5   allocate b: 1 f32\n"
            "n6   launch b: 1 x 1 x 1 threads, blocks of 32x1x1; reads a; writes b; after n4 n5\n"
            "n7   free a; after n6\n"
            "n8   launch out: 1 x 1 x 1 threads, blocks of 32x1x1; reads b; writes out; after n2 n6\n"
            "n9   free b; after n8\n"
            "n10  copy out: rows 0 to 1, device 0 to host; after n8; if the image is the host's\n"
            "n11  free in; after n4; if the image is the host's\n"
            "n12  free out; after n10; if the image is the host's\n");
}

TEST(HostPlan, SeesEveryReadInTheFunctions) {
  Module module = chain();
  const Plan before = plan_of(module);
  append(module.functions[2].body, copy_of("a"_s, "out"_s));  // "out" reads "a", too
  const Plan plan = plan_of(module);
  EXPECT_EQ(launch_in(plan, "out"_s).uses.reads, (std::set<Place>{{"a"_s, the_host}, {"b"_s, the_host}}));
  const Node& release = plan.nodes[plan.nodes.size() - 2];
  EXPECT_EQ(std::get<Free>(release.what).array, "a"_s);
  EXPECT_EQ(release.after, Edges{4});  // the launch of "out"
  EXPECT_NE(plan, before);
}

TEST(HostPlan, OrdersReadsAndWritesOfOneArray) {
  Module module = chain();
  module.functions.push_back(copying("again"_s, "in"_s, "a"_s));  // over what "b" has read
  module.functions.push_back(copying("last"_s, "a"_s, "b"_s));    // over what "out" has read
  module.steps = {kernel::Launch{"a"_s, literal(1)}, kernel::Launch{"b"_s, literal(1)},
                  kernel::Launch{"again"_s, literal(1)}, kernel::Launch{"out"_s, literal(1)},
                  kernel::Launch{"last"_s, literal(1)}};
  const Plan plan = plan_of(module);
  // n0 allocate a, n1 a, n2 allocate b, n3 b, n4 again, n5 out, n6 last
  EXPECT_EQ(launch_in(plan, "b"_s).after, (Edges{1, 2}));  // reads what was written
  EXPECT_EQ(launch_in(plan, "again"_s).after,
            Edges{3});                                  // writes what was read; and so after "a", which wrote
  EXPECT_EQ(launch_in(plan, "out"_s).after, Edges{3});  // not after "again"
  EXPECT_EQ(launch_in(plan, "last"_s).after, (Edges{4, 5}));  // reads of one, writes over the other
}

TEST(HostPlan, OfARepeatUsesWhatRotationsBring) {
  const Plan plan = plan_of(evolution(kernel::name("steps"_s)));
  EXPECT_EQ(to_string(plan),
            "on host, stream 0\n"
            "n0   allocate a: 1 f32\n"
            "n1   allocate b: 1 f32\n"
            "n2   launch start: 1; reads in; writes a b; after n0 n1\n"
            "n3   repeat for t from 0 to steps, rotating a b; reads a b; writes a b; after n2\n"
            "     n0   launch next: 1; reads b; writes a\n"
            "n4   free b; after n3\n"
            "n5   launch out: 1; reads a; writes out; after n3\n"
            "n6   free a; after n5\n");
  const auto& repeat = std::get<Repeat>(plan.nodes[3].what);
  for (const auto& [steps, turns] : {std::pair{0, 0}, {1, 1}, {2, 0}, {7, 1}, {-3, 0}}) {
    EXPECT_EQ(kernel::evaluate(turns_ahead(repeat, repeat.rotations[0]), {{"steps"_s, {.i = steps}}}), turns);
  }
}

TEST(HostPlan, OfARepeatInPartsTurnsAheadByAllOfThem) {
  Module module = evolution(kernel::name("steps"_s));
  auto& parts = std::get<kernel::Repeat>(module.steps[1]).parts;
  const kernel::Expr whole = kernel::mul(kernel::div(kernel::name("steps"_s), literal(4)), literal(4));
  parts.insert(parts.begin(), kernel::Turns{literal(0), whole, 4, parts[0].launches});
  parts[1].from = whole;
  const Plan plan = plan_of(module);
  EXPECT_EQ(
      to_string(plan.nodes[3]),
      "repeat for t from 0 to (steps / 4 * 4) by 4, then for t from (steps / 4 * 4) to steps, rotating a b");
  const auto& repeat = std::get<Repeat>(plan.nodes[3].what);
  for (const auto& [steps, turns] : {std::pair{0, 0}, {1, 1}, {4, 1}, {5, 0}, {11, 1}, {-9, 0}}) {
    EXPECT_EQ(kernel::evaluate(turns_ahead(repeat, repeat.rotations[0]), {{"steps"_s, {.i = steps}}}), turns)
        << steps;
  }
}

TEST(HostPlan, OfARepeatTurnsByAsManyPlacesAsItsPartsSay) {
  Module module = evolution(kernel::name("steps"_s));
  auto& parts = std::get<kernel::Repeat>(module.steps[1]).parts;
  auto& rotation = std::get<kernel::Repeat>(module.steps[1]).rotations[0];
  for (const Symbol& name : {"c"_s, "d"_s}) {
    module.arrays.push_back(module.arrays[1]);
    module.arrays.back().name = name;
    rotation.emplace_back(name);
  }
  const kernel::Expr whole = kernel::mul(kernel::div(kernel::name("steps"_s), literal(4)), literal(4));
  parts.insert(parts.begin(), kernel::Turns{literal(0), whole, 4, parts[0].launches, 2});
  parts[1].from = whole;
  Repeat repeat{"t"_s, {rotation}, {}};
  for (const kernel::Turns& part : parts)
    repeat.parts.push_back({part.from, part.to, part.by, {}, part.places});
  for (const auto& [steps, turns] : {std::pair{0, 0}, {1, 3}, {4, 2}, {5, 1}, {8, 0}, {11, 1}}) {
    EXPECT_EQ(kernel::evaluate(turns_ahead(repeat, rotation), {{"steps"_s, {.i = steps}}}), turns) << steps;
  }
}

/// A volume without planes, of bytes in threes.
TEST(HostPlan, BeginsRowsAtWholeLines) {
  for (const On on : {On::Host, On::Device}) {
    Module module = chain(on);
    const kernel::Expr w = kernel::name("w"_s), h = kernel::name("h"_s);
    kernel::Array& a = module.arrays[2];
    a.type = Type{Scalar::U8, 3}, a.strides = {"pitch"_s, "plane"_s};
    a.extents = {w, h, sub(w, literal(33))};
    const Plan plan = plan_of(module);
    const Allocate& memory = *allocation_of(plan, "a"_s, When::Always);
    kernel::FieldValues values = {{"w"_s, {.i = 33}}, {"h"_s, {.i = 31}}};
    EXPECT_EQ(values["pitch"_s].i = kernel::evaluate(memory.strides[0], values), on == On::Host ? 192 : 128);
    EXPECT_EQ(values["plane"_s].i = kernel::evaluate(memory.strides[1], values), 31 * values["pitch"_s].i);
    EXPECT_EQ(kernel::evaluate(memory.scalars, values), values["plane"_s].i);
    EXPECT_EQ(kernel::evaluate(memory.zeroed, values), 1);
    values["w"_s].i = 34;
    EXPECT_EQ(kernel::evaluate(memory.zeroed, values), 0);
  }
}

TEST(HostPlan, OfArraysWhoseUpdatesExchangeWordsBeginsWithZeros) {
  Module module = chain(On::Device);
  module.arrays[2].type = type_of<std::uint8_t>(), module.arrays[2].extents = {literal(10)};
  module.functions[0].body = {
      {kernel::Atomic{ir::BinaryOp::Add, "a"_s, literal(3), kernel::constant(Scalar::U8, {.i = 1})}}};
  const Plan plan = plan_of(module);
  const Allocate& memory = *allocation_of(plan, "a"_s, When::Always);
  EXPECT_EQ(kernel::literal_value(memory.scalars), 12);
  EXPECT_EQ(kernel::literal_value(memory.zeroed), 1);
}

TEST(HostPlan, HasZerosForOutputsWithoutPixelsThatAreRead) {
  Module module = chain(On::Device);
  for (kernel::Array& a : module.arrays) {
    if (a.name == "in"_s) a.extents = {kernel::name("w"_s)};
    if (a.name == "b"_s) a.role = kernel::Array::Role::Output;
    if (a.name == "b"_s) a.extents = {div(kernel::name("w"_s), literal(2))};
  }
  EXPECT_EQ(allocation_of(plan_of(module), "out"_s, When::EmptyImage), nullptr);
  const Plan plan = plan_of(module);
  const Allocate& row = *allocation_of(plan, "b"_s, When::EmptyImage);
  EXPECT_EQ(kernel::evaluate(row.scalars, {{"w"_s, {.i = 1}}}), 1);
  EXPECT_EQ(kernel::literal_value(row.zeroed), 1);
}

TEST(HostPlan, LimitsSizes) {
  Module module = chain();
  module.sizes = {{"w"_s, Scalar::I64, 1000}, {"h"_s, Scalar::I64}};
  const Plan plan = plan_of(module);
  EXPECT_EQ(plan.limits, (std::vector<Limit>{{"w"_s, 1000}}));
  EXPECT_EQ(to_string(plan).substr(0, 36), "on host, stream 0\nw is 1000 at most\n");
}

TEST(HostPlan, PrintsSizesAsInC) {
  using ir::BinaryOp;
  const kernel::Expr w = kernel::name("w"_s), h = kernel::name("h"_s);
  const auto printed = [](const kernel::Expr& count) {
    Module module = chain();
    std::get<kernel::Launch>(module.steps[2]).count = count;
    const std::string text = to_string(launch_in(plan_of(module), "out"_s));
    return text.substr(text.find(": ") + 2);
  };
  EXPECT_EQ(printed(mul(div(add(w, literal(7)), literal(8)), sub(h, literal(2)))), "(w + 7) / 8 * (h - 2)");
  EXPECT_EQ(printed(div(w, mul(h, literal(2)))), "w / (h * 2)");
  EXPECT_EQ(printed(max(binary(BinaryOp::And, add(w, literal(15)), literal(-16)), literal(1))),
            "max(w + 15 & -16, 1)");
  const kernel::Expr none =
      binary(BinaryOp::Or, binary(BinaryOp::Eq, w, literal(0)), binary(BinaryOp::Lt, h, w));
  EXPECT_EQ(printed(select(none, w, index_call(kernel::IndexOp::FloorDiv, h, literal(4)))),
            "w == 0 || h < w ? w : floor(h / 4)");
}

TEST(HostPlan, IsEqualToOneThatSaysTheSame) {
  const Plan plan = plan_of(evolution(kernel::name("steps"_s), On::Device));
  EXPECT_EQ(plan, plan_of(evolution(kernel::name("steps"_s), On::Device)));
  EXPECT_NE(plan, plan_of(evolution(kernel::name("times"_s), On::Device)));
  EXPECT_NE(plan, plan_of(evolution(kernel::name("steps"_s), On::Host)));
  Plan other = plan;
  other.nodes.back().stream = 1;
  EXPECT_NE(plan, other);
}

TEST(HostPlan, SaysWhereNodesRunIfItIsNotOnePlace) {
  Plan plan = plan_of(chain(On::Device));
  plan.nodes[4].stream = 1;
  EXPECT_NE(to_string(plan).find("writes a; after n1 n3; device 0, stream 1\n"), std::string::npos);
  EXPECT_THROW(on_one_stream(plan), InternalError);  // emitters would not see the other stream
}

}  // namespace
}  // namespace weft::host
