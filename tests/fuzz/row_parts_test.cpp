// Parts of the rows of random pipelines' images give the same rows of the results as the whole: the interpreter says so.
#include <gtest/gtest.h>
#include <weft/weft.hpp>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>
#include <optional>
#include <utility>

#include "analysis/row_reach.h"
#include "fuzz/build.h"
#include "fuzz/generate.h"
#include "fuzz/images.h"
#include "host/parts.h"
#include "ir/interpret.h"
#include "runtime/host_copies.h"

namespace weft::fuzz {
namespace {

using runtime::rows_of;

bool are_same(const Buffer& a, const Buffer& b) {
  const Buffer left = a.packed(), right = b.packed();
  return left.extents() == right.extents() &&
         (left.bytes() == 0 ||
          std::memcmp(left.data(), right.data(), static_cast<std::size_t>(left.bytes())) == 0);
}

using Results = std::map<std::string, Buffer>;

/// Nothing if a stage would have a negative size.
std::optional<Results> results_of(const Pipeline& pipeline, const ir::Bindings& bindings) {
  try {
    return ir::interpret(pipeline.ir(), bindings);
  } catch (const Error&) {
    return std::nullopt;
  }
}

/// Images of that number of rows, or nothing if the rows of some are declared.
std::optional<ir::Bindings> images_of(const Recipe& recipe, const ir::Pipeline& pipeline, std::int64_t rows,
                                      Random& random) {
  ir::Bindings bindings;
  for (int i = 0; i < recipe.first_stage(); ++i) {
    const std::string name = image_name(i);
    const auto is_it = [&](const ir::StagePtr& input) { return input->name == name; };
    if (std::none_of(pipeline.inputs.begin(), pipeline.inputs.end(), is_it)) continue;
    if (!recipe.images[i].extents.empty()) return std::nullopt;
    std::vector<std::int64_t> extents = recipe.runs.at(0).extents[i];
    extents.back() = rows;
    bindings.images[name] = random_pixels(recipe.images[i], extents, random);
  }
  return bindings;
}

TEST(RandomPipelines, HaveRowsThatPartsOfTheImagesGive) {
  constexpr std::uint64_t first = 20261126, seeds = 1500;
  std::printf("seeds %llu to %llu\n", static_cast<unsigned long long>(first),
              static_cast<unsigned long long>(first + seeds - 1));
  int known = 0, with_rows_around = 0, in_steps = 0;
  for (std::uint64_t seed = first; seed < first + seeds; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    Recipe recipe = random_recipe(seed);
    const Pipeline pipeline = build(recipe);
    host::Plan plan;
    plan.rows = analysis::row_reach(pipeline.ir());
    if (!plan.rows.reach) continue;
    Random random(seed);
    const auto rows =
        static_cast<std::int64_t>(random.bits() % 40 + 2) * plan.rows.reach->step - random.bits() % 2;
    const auto parts = host::parts_of(plan, rows, 1, static_cast<std::int64_t>(random.bits() % 8 + 2));
    const std::optional<ir::Bindings> whole = images_of(recipe, pipeline.ir(), rows, random);
    if (parts.size() < 2 || !whole) continue;
    const std::optional<Results> wanted = results_of(pipeline, *whole);
    if (!wanted) continue;
    ++known;
    in_steps += plan.rows.reach->step > 1;
    with_rows_around += plan.rows.reach->above + plan.rows.reach->below > 0;
    std::map<std::string, std::int64_t> covered;
    for (const host::Part& part : parts) {
      ir::Bindings bindings = *whole;
      for (auto& [name, image] : bindings.images) image = rows_of(image, part.from, part.to);
      for (const auto& [name, got] : ir::interpret(pipeline.ir(), bindings)) {
        const auto [kept, end] = host::kept_rows(part, parts, got.extents().back());
        EXPECT_EQ(part.from + kept, std::exchange(covered[name], part.from + end)) << name;
        EXPECT_TRUE(
            are_same(rows_of(wanted->at(name), part.from + kept, part.from + end), rows_of(got, kept, end)))
            << name << ", rows " << part.first << " to " << part.last << " from " << part.from << " to "
            << part.to;
      }
    }
    for (const auto& [name, image] : *wanted) EXPECT_EQ(covered.at(name), image.extents().back()) << name;
  }
  std::printf("%d pipelines in parts, %d with rows around them, %d in steps\n", known, with_rows_around,
              in_steps);
  EXPECT_GT(known, 30);
  EXPECT_GT(with_rows_around, 15);
}

}  // namespace
}  // namespace weft::fuzz
