// From groups of stages to schedules, the groups that cannot be, and what makes groups.
#include "schedule/groups.h"

#include <gtest/gtest.h>
#include <weft/weft.hpp>

#include "plan/core_costs.h"
#include "rewrite/prepare.h"
#include "schedule/hipacc/fuse.h"

namespace weft::schedule {
namespace {

const Mask cross{{0.f, 1.f, 0.f}, {1.f, 1.f, 1.f}, {0.f, 1.f, 0.f}};

ir::Pipeline prepared(const std::string& application) {
  return rewrite::prepare(build(applications().at(application)).pipeline.ir());
}

/// "a in rows of c; b computed in c; c stored", or the reason.
std::string follow(const ir::Pipeline& pipeline, const Groups& groups, Tiling tiling = Tiling::March,
                   const Memory& memory = {}) {
  const ScheduleOrWhy found = schedule_of_groups(pipeline, {groups, {}}, tiling, memory);
  if (!found.schedule) return found.why;
  std::string text;
  for (const StagePlan& plan : found.schedule->stages)
    text += (text.empty() ? "" : "; ") + plan.stage + " " + plan.where();
  return text;
}

/// a, b and c of windows, one after the other; and d, which is b twice.
struct Chain {
  Image<float> in{"in"};
  Stage a = convolve("a", in.border(Border::clamp()), cross);
  Stage b = convolve("b", a.border(Border::clamp()), cross);
  Stage c = convolve("c", b.border(Border::clamp()), cross);
  Stage d = point("d", b * 2.f);

  ir::Pipeline to(const Outputs& outputs) const { return Pipeline("test", outputs).ir(); }
};

TEST(Groups, AreComputedInPlaceOrMarch) {
  const Chain s;
  EXPECT_EQ(follow(s.to({s.c}), {}), "a stored; b stored; c stored");
  EXPECT_EQ(follow(s.to({s.c}), {{"a", "b"}}), "a in rows of b; b stored; c stored");
  EXPECT_EQ(follow(s.to({s.c}), {{"c", "b"}, {"a"}}), "a stored; b in rows of c; c stored");
  EXPECT_EQ(follow(s.to({s.c}), {{"a", "b", "c"}}), "a in rows of c; b in rows of c; c stored");
  EXPECT_EQ(follow(s.to({s.d}), {}), "a stored; b stored; d stored");
  EXPECT_EQ(follow(s.to({s.d}), {{"b", "d"}}), "a stored; b computed in d; d stored");
  EXPECT_EQ(follow(s.to({s.d}), {{"b", "d"}}, Tiling::None), "a stored; b computed in d; d stored");
}

TEST(Groups, SayWhyTheirStagesAreStored) {
  const Chain s;
  const Schedule schedule = *schedule_of_groups(s.to({s.c}), {{{"a", "b"}}, {}}, Tiling::March).schedule;
  EXPECT_EQ(schedule.of("b").why, "it is the last of its group");
  EXPECT_EQ(schedule.of("c").why, "it is an output");
  const Grouping alone{{}, {{"b", "a test says so"}}};
  EXPECT_EQ(schedule_of_groups(s.to({s.c}), alone, Tiling::March).schedule->of("a").why,
            "it is a group by itself");
  EXPECT_EQ(schedule_of_groups(s.to({s.c}), alone, Tiling::March).schedule->of("b").why, "a test says so");
}

/// A point stage is read in two loops of a group, so it is a value of none of them.
TEST(Groups, KeepRowsOfWhatSeveralLoopsRead) {
  const Image<float> in("in");
  Stage p = point("p", in * 2.f);
  Stage q = convolve("q", p.border(Border::clamp()), cross);
  Stage r = point("r", q - p);
  const ir::Pipeline pipeline = Pipeline("test", {r}).ir();
  EXPECT_EQ(follow(pipeline, {{"p", "q", "r"}}), "p in rows of r; q computed in r; r stored");
  EXPECT_EQ(follow(pipeline, {{"q", "r"}}), "p stored; q computed in r; r stored");
}

TEST(Groups, ThatMakeNoSenseAreRefused) {
  const Chain s;
  const ir::Pipeline pipeline = s.to({s.c});
  EXPECT_EQ(follow(pipeline, {{"a", "bb"}}), "there is no stage 'bb'; there are 'a', 'b', 'c'");
  EXPECT_EQ(follow(pipeline, {{"in", "a"}}), "there is no stage 'in'; there are 'a', 'b', 'c'");
  EXPECT_EQ(follow(pipeline, {{"a", "b"}, {"b", "c"}}), "stage 'b' is in two groups");
  EXPECT_EQ(follow(pipeline, {{"a", "b", "a"}}), "stage 'a' is in its group twice");
  EXPECT_EQ(follow(pipeline, {{"a", "b"}, {}}), "a group has no stages");
}

TEST(Groups, StoreWhatIsNeededOutside) {
  const Chain s;
  EXPECT_EQ(follow(s.to({s.c, s.d}), {{"a", "b", "c"}}),
            "a in rows of c; b stored with c; c stored; d stored");
  EXPECT_EQ(follow(s.to({s.c, s.b}), {{"b", "c"}}), "a stored; b stored with c; c stored");
}

/// b is made before c is, though it comes later in the pipeline: c's kernel stores what b reads.
TEST(Groups, ComeInTheOrderInWhichTheyNeedEachOther) {
  const Image<float> in("in");
  Stage a = point("a", in * 2.f);
  Stage b = convolve("b", a.border(Border::clamp()), cross);
  Stage c = convolve("c", a.border(Border::clamp()), cross * 2.f);
  const ir::Pipeline pipeline = Pipeline("test", {b, c}).ir();
  const ScheduleOrWhy found = schedule_of_groups(pipeline, {{{"a", "c"}}}, Tiling::March);
  ASSERT_TRUE(found.schedule) << found.why;
  ASSERT_EQ(found.schedule->kernels.size(), 2u);
  EXPECT_EQ(found.schedule->kernels[0].result, "c");
  EXPECT_EQ(found.schedule->kernels[1].result, "b");
}

/// Each of two groups needs the other's pixels.
TEST(Groups, InACycleAreRefused) {
  const Chain s;
  EXPECT_EQ(follow(s.to({s.c}), {{"a", "c"}}),
            "the group of 'b' reads pixels of the group of 'c', which needs its own in turn");
  const Image<float> in("in");
  Stage a = convolve("a", in.border(Border::clamp()), cross);
  Stage b = convolve("b", a.border(Border::clamp()), cross);
  Stage c = convolve("c", in.border(Border::clamp()), cross * 2.f);
  Stage d = convolve("d", c.border(Border::clamp()), cross);
  Stage e = point("e", a + d), f = point("f", c + b);
  Stage g = point("g", e + f);
  EXPECT_EQ(follow(Pipeline("test", {g}).ir(), {{"a", "e"}, {"c", "f"}}),
            "the group of 'd' reads pixels of the group of 'f', which needs its own in turn");
}

TEST(Groups, OfWhatIsNoFunctionOfAPlaceAreRefused) {
  const Image<float> in("in");
  Stage a = point("a", in * 2.f);
  Stage peak = reduce("peak", a, Reduce::max());
  Stage n = point("n", a / peak);
  Stage w = convolve("w", a.border(Border::clamp()), cross);
  Stage most = reduce("most", w, Reduce::max());
  EXPECT_EQ(follow(Pipeline("test", {n}).ir(), {{"peak", "n"}}),
            "'peak' has memory of its own (a reduction: one value for all its readers), so it must be the "
            "last of its group, which 'n' is");
  const ir::Pipeline to_most = Pipeline("test", {point("out", in * most)}).ir();
  EXPECT_EQ(follow(to_most, {{"w", "most"}}), "a stored; w computed in most; most stored; out stored")
      << "a reduction may be the last";
  EXPECT_EQ(follow(to_most, {{"a", "w", "most"}}),
            "a in rows of most; w computed in most; most stored; out stored");
  const Image<std::uint8_t> bytes("bytes");
  Stage twice = point("twice", bytes * 2);
  Stage hist = scatter("hist", {512}, 0u, bytes, [&](Var x, Var y) { return add({twice(x, y)}, 1u); });
  Stage wide = convolve("wide", twice.border(Border::clamp()), Mask{{1, 1, 1}});
  Stage hist_of_wide =
      scatter("hist_of_wide", {512}, 0u, bytes, [&](Var x, Var y) { return add({wide(x, y)}, 1u); });
  EXPECT_EQ(follow(Pipeline("test", {hist_of_wide}).ir(), {{"twice", "wide", "hist_of_wide"}}),
            "'hist_of_wide' is no function of one pixel's place");
  Stage sums = stage("sums", {512}, [&](Var i) { return hist(i) + 1u; });
  EXPECT_EQ(follow(Pipeline("test", {sums}).ir(), {{"hist", "sums"}}),
            "only threads of a GPU have columns of 'hist' to themselves");
}

TEST(Groups, OfAScatterEndInWhatReadsItsColumns) {
  const Image<float> in("in");
  const Index w = in.width() / 8 + 1, h = in.height();
  const auto cells_of = [&](const char* name, int bins) {
    return scatter(name, {w, h, bins}, 0.f, in, [&](Var x, Var y) {
      return add({x / 8, y, cast<int>(in(x, y))}, in(x, y));
    });
  };
  const Stage cells = cells_of("cells", 16), many = cells_of("many", 100);
  const auto along = [&](const char* name, const Stage& of) {
    return stage(name, {w, h, 5}, [&](Var x, Var y, Var z) { return of(x, y, 2 * z) + of(x, y, 9 - z); });
  };
  const Stage own = along("own", cells), of_many = along("of_many", many), twice = point("twice", own * 2.f);
  const Stage next = stage("next", {w, h, 5},
                           [&](Var x, Var y, Var z) { return cells.border(Border::clamp())(x + 1, y, z); });
  const Stage fewer = stage("fewer", {w - 1, h, 5}, [&](Var x, Var y, Var z) { return cells(x, y, z); });
  const Stage all = stage("all", {w, h, h}, [&](Var x, Var y, Var) { return cells(x, y, 0); });
  const auto of_blocks = [&](const Outputs& outputs, const Groups& groups) {
    return follow(Pipeline("test", outputs).ir(), groups, Tiling::March, {49152});
  };
  EXPECT_EQ(of_blocks({own}, {{"cells", "own"}}), "cells in columns of own; own stored");
  EXPECT_EQ(of_blocks({twice}, {{"cells", "own", "twice"}}),
            "cells in columns of twice; own computed in twice; twice stored");
  EXPECT_EQ(of_blocks({next}, {{"cells", "next"}}),
            "'next' reads other columns of 'cells' than that of its own pixel");
  EXPECT_EQ(of_blocks({fewer}, {{"cells", "fewer"}}), "'fewer' and 'cells' have not the same columns");
  EXPECT_EQ(of_blocks({all}, {{"cells", "all"}}), "'all' and 'cells' have not the same columns");
  EXPECT_EQ(of_blocks({of_many}, {{"many", "of_many"}}), "threads have no columns of 'many'");
  EXPECT_EQ(
      of_blocks({own, next}, {{"cells", "own"}}),
      "'cells' has memory of its own (it is scattered into), so it must be the last of its group, which "
      "'own' is");
}

TEST(Groups, ThatCannotMarchAreRefused) {
  const Chain s;
  EXPECT_EQ(follow(s.to({s.c}), {{"b", "c"}}, Tiling::None),
            "rows of 'b' would have to be kept for 'c', and no stages march here");
  Stage far = stage("far", s.in.size(), [&](Var x, Var y) { return s.a.border(Border::repeat())(x - 1, y); });
  EXPECT_EQ(follow(s.to({far}), {{"a", "far"}}),
            "'a' reads 'in' without repeating it, and is itself read with the border repeat");
  const Stage small = stage("small", {8, 8}, [&](Var x, Var y) { return s.a.border(Border::clamp())(x, y); });
  EXPECT_EQ(follow(s.to({small, s.d}), {{"small", "d"}}),
            "'small' and 'd' are both stored, and have different boxes");
}

// ---- what makes groups

/// What is chosen can be said in groups, and asked for.
TEST(Groups, OfWhatIsChosenGiveItAgain) {
  for (const auto& [name, application] : applications()) {
    if (application.about.refused) continue;
    const ir::Pipeline pipeline = prepared(name);
    for (const Tiling tiling : {Tiling::None, Tiling::March}) {
      const Schedule chosen = choose(pipeline, tiling);
      const Groups groups = groups_of(chosen);
      EXPECT_EQ(grouping_from_json(to_json(groups)).groups, groups) << name;
      const ScheduleOrWhy again = schedule_of_groups(pipeline, {groups, {}}, tiling);
      ASSERT_TRUE(again.schedule) << name << ": " << again.why;
      EXPECT_EQ(again.schedule->stages.size(), chosen.stages.size());
      for (const StagePlan& plan : chosen.stages)
        EXPECT_EQ(again.schedule->of(plan.stage).where(), plan.where()) << name << ", " << plan.stage;
    }
  }
}

std::string follow_fusion(const ir::Pipeline& definition, hipacc::Fusion fusion,
                          Tiling tiling = Tiling::March) {
  const ir::Pipeline pipeline = rewrite::prepare(definition);
  return follow(pipeline,
                groups_of_partition(pipeline, schedule::hipacc::fuse(definition, fusion), tiling).groups,
                tiling);
}

TEST(Groups, FollowAPartition) {
  const ir::Pipeline harris = build(applications().at("harris")).pipeline.ir();
  EXPECT_EQ(follow_fusion(harris, hipacc::Fusion::MinCut),
            "dx stored; sx in rows of gx; gx stored; dy stored; sy in rows of gy; gy stored; "
            "sxy in rows of gxy; gxy stored; hc stored");
  EXPECT_EQ(
      follow_fusion(harris, hipacc::Fusion::None),
      "dx stored; sx stored; gx stored; dy stored; sy stored; gy stored; sxy stored; gxy stored; hc stored");
  EXPECT_EQ(follow_fusion(harris, hipacc::Fusion::MinCut, Tiling::None),
            follow_fusion(harris, hipacc::Fusion::None));
}

/// A tap that several windows share is a stage of its own, which the partition does not know.
TEST(Groups, OfAPartitionHaveTheTapsOfTheirStages) {
  EXPECT_EQ(follow_fusion(build(applications().at("unsharp")).pipeline.ir(), hipacc::Fusion::MinCut),
            "blur_tap in rows of out; blur computed in sharpen; sharpen computed in ratio; "
            "ratio computed in out; out stored");
}

/// Points stay in place where windows cannot march, and a stage that is stored instead says why.
TEST(Groups, OfAPartitionThatCannotMarchAreStored) {
  const Image<float> in("in");
  Stage a = stage("a", in.size(), [&](Var x, Var y) { return in(x, y) * cast<float>(x); });
  Stage b = stage("b", in.size(), [&](Var x, Var y) { return a.border(Border::repeat())(x - 1, y); });
  Stage c = point("c", b + 1.f);
  const ir::Pipeline pipeline = Pipeline("test", {c}).ir();
  const hipacc::Partition partition = schedule::hipacc::fuse(pipeline, hipacc::Fusion::MinCut);
  ASSERT_EQ(partition.groups.size(), 1u);
  const Grouping grouping = groups_of_partition(pipeline, partition, Tiling::March);
  EXPECT_EQ(follow(pipeline, grouping.groups), "a stored; b computed in c; c stored");
  EXPECT_EQ(
      grouping.why.at("a"),
      "'b' reads it at other pixels than its own; it is not computed with 'c', since 'a' is read with the "
      "border repeat, and depends on where its pixels are");
}

// ---- as JSON

std::string refusal_of(const std::string& json) {
  try {
    grouping_from_json(json);
  } catch (const Error& error) {
    const std::string text = error.what();
    return text.substr(0, text.find('\n'));
  }
  return "none";
}

TEST(GroupsAsJson, AreReadFromASchedule) {
  const Groups groups = {{"a", "b"}, {"c"}};
  EXPECT_EQ(to_json(groups), R"({"groups":[["a","b"],["c"]]})");
  EXPECT_EQ(grouping_from_json(R"({"groups": [["a", "b"], ["c"]]})").groups, groups);
  EXPECT_EQ(grouping_from_json(R"({"application": "x", "schedule": {"groups": [["a", "b"], ["c"]]}})").groups,
            groups);
  EXPECT_EQ(refusal_of("{\n\"groups\": [[}"), "the schedule is not JSON; see its line 2");
  EXPECT_EQ(refusal_of(""), "the schedule is not JSON; see its line 1");
  EXPECT_EQ(refusal_of("[]"), "the schedule has no groups");
  EXPECT_EQ(refusal_of(R"({"groups": 1})"), "the schedule has groups that are no list");
  EXPECT_EQ(refusal_of(R"({"groups": [["a", 1]]})"),
            "the schedule has a group that is no list of stages' names");
  EXPECT_EQ(refusal_of(R"({"groups": [], "strips": []})"), "the schedule says 'strips', which is unknown");
}

TEST(GroupsAsJson, AreRefusedWhereTheyWouldBreakTheReader) {
  const auto repeated = [](const char* text, int times) {
    std::string all;
    for (int i = 0; i < times; ++i) all += text;
    return all;
  };
  const std::string deep = "the schedule is nested more than 32 deep";
  EXPECT_EQ(refusal_of(repeated("{\"schedule\":", 80000)), deep);
  EXPECT_EQ(refusal_of("{\"groups\":" + repeated("[", 200000) + repeated("]", 200000) + "}"), deep);
  EXPECT_EQ(refusal_of(repeated("{\"schedule\":", 80000) + "1" + repeated("}", 80000)), deep);
  EXPECT_EQ(refusal_of(std::string((16 << 20) + 1, ' ')),
            "the schedule has 16777217 bytes, and more than 16777216 make no sense");
  EXPECT_EQ(refusal_of(R"({"groups": [], "tiles": {"b": {"width": 1e999, "height": 1}}})"),
            "the schedule has a number that is beyond all bounds: 1e999");
  EXPECT_EQ(refusal_of(R"({"groups": [["a"]], "groups": [["b"]]})"), "the schedule says 'groups' twice");
  EXPECT_EQ(refusal_of(R"({"groups": [], "tiles": {"b": {"width": 1, "width": 2, "height": 1}}})"),
            "the schedule says 'width' twice");
  const std::string tile = R"({"width": 16, "height": 8})";
  EXPECT_EQ(refusal_of(R"({"groups": [], "tiles": {"b": )" + tile + R"(, "c": )" + tile + "}}"), "none");
}

TEST(GroupsAsJson, SayWhichPipelineTheyAreOf) {
  const Grouping grouping{{{"a", "b"}}, {}, {}, {}, {}, rewrite::Preparation::ForSearch};
  const std::string text = to_json(grouping);
  EXPECT_EQ(text, R"({"groups":[["a","b"]],"prepared":"for search"})");
  EXPECT_EQ(grouping_from_json(text).preparation, rewrite::Preparation::ForSearch);
  EXPECT_EQ(grouping_from_json(R"({"groups": []})").preparation, rewrite::Preparation::Usual);
  EXPECT_EQ(refusal_of(R"({"groups": [], "prepared": "all"})"),
            "the schedule is prepared for something else, not 'for search'");
}

TEST(GroupsAsJson, HaveTiles) {
  const Tiles tiles = {{"b", {256, 64, Traversal::March}}, {"c", {32, 16, Traversal::Static}}};
  const std::string text = to_json(Grouping{{{"a", "b"}}, {}, {}, tiles});
  EXPECT_EQ(text, R"({"groups":[["a","b"]],"tiles":{"b":{"width":256,"height":64},)"
                  R"("c":{"width":32,"height":16,"traversal":"static"}}})");
  EXPECT_EQ(grouping_from_json(text).tiles, tiles);
  const auto refused = [](const std::string& tile) {
    return refusal_of(R"({"groups": [], "tiles": {"b": )" + tile + "}}");
  };
  EXPECT_EQ(refusal_of(R"({"groups": [], "tiles": []})"),
            "the schedule has tiles that are not by stages' names");
  for (const char* tile :
       {"[1, 2]", R"({"width": 1})", R"({"width": 1, "height": 1.5})", R"({"width": 1, "height": -2})",
        R"({"width": 1, "height": 2, "depth": 3})", R"({"width": 1, "height": 2, "traversal": "down"})"})
    EXPECT_EQ(refused(tile), "the schedule's tile of 'b' makes no sense") << tile;
  EXPECT_EQ(refused(R"({"width": 1, "height": 0})"), "the schedule's tile of 'b' has a height of 0");
  EXPECT_EQ(refused(R"({"width": 18446744073709551615, "height": 1})"),
            "the schedule's tile of 'b' has a width of 18446744073709551615");
}

TEST(Groups, HaveTilesThatFit) {
  const Chain s;
  const auto in_tiles = [&](const std::string& result, const Tile& tile, const Memory& memory = {}) {
    const Grouping grouping{{{"b", "c"}}, {}, {}, {{result, tile}}};
    const ScheduleOrWhy found = schedule_of_groups(s.to({s.c}), grouping, Tiling::March, memory);
    return found.schedule ? found.schedule->of("c").where() : found.why;
  };
  EXPECT_EQ(in_tiles("c", {30, 7, Traversal::March}), "stored in strips of 30x7");
  EXPECT_EQ(in_tiles("c", {30, 7, Traversal::Static}), "stored in tiles of 30x7");
  EXPECT_EQ(in_tiles("a", {30, 7, Traversal::March}),
            "there is a tile for 'a', which is not the last stage of a group that keeps rows");
  EXPECT_EQ(in_tiles("nothing", {30, 7, Traversal::March}),
            "there is a tile for 'nothing', which is not the last stage of a group that keeps rows");
  EXPECT_EQ(in_tiles("c", {4096, 1024, Traversal::Static}),
            "tiles of 4096x1024 keep 32944 KiB of rows, and have room for 512");
  EXPECT_EQ(in_tiles("c", {32, 5, Traversal::March}, {40960}), "stored in strips of 32x5");
  EXPECT_EQ(in_tiles("c", {30, 8, Traversal::March}, {40960}),
            "a tile's width of 30 is no multiple of 8, a sector of memory");
  EXPECT_EQ(in_tiles("c", {3200, 8, Traversal::March}, {40960}),
            "rows of tiles 3200 pixels wide do not fit 40960 bytes of shared memory");
  EXPECT_EQ(in_tiles("c", {32, 8, Traversal::Static}, {40960}), "stored in tiles of 32x8");
  EXPECT_EQ(in_tiles("c", {30, 8, Traversal::Static}, {40960}),
            "a tile's width of 30 is no multiple of 8, a sector of memory");
}

/// The groups of least cost on a CPU.
Grouping on_cpu(const ir::Pipeline& pipeline, Tiling tiling) {
  return cheapest_groups(pipeline, tiling, {}, plan::cpu_costs(plan::nominal_sizes(pipeline)));
}

/// The same, and the sentence for a stage.
std::pair<std::string, std::string> cheapest(const ir::Pipeline& pipeline, const std::string& stage) {
  const Grouping grouping = on_cpu(pipeline, Tiling::March);
  const Schedule schedule = schedule_of_groups(pipeline, grouping, Tiling::March).schedule.value();
  return {to_json(groups_of(schedule)), schedule.of(stage).why};
}

TEST(CheapestGroups, MarchWhereMemoryIsTheLimit) {
  const Chain s;
  EXPECT_EQ(cheapest(s.to({s.c}), "c").first, R"({"groups":[["a","b","c"]]})");
  EXPECT_EQ(on_cpu(prepared("harris_corner"), Tiling::March).groups.size(), 1u);
  EXPECT_EQ(on_cpu(s.to({s.c}), Tiling::March).search, "6 groups priced, 3 sets of stages left");
  EXPECT_EQ(on_cpu(s.to({s.c}), Tiling::None).groups.size(), 3u);
}

TEST(CheapestGroups, StoreWhatTakesLongerThanMemory) {
  const Image<float> in("in");
  Stage a = stage("a", in.size(), [&](Var x, Var y) {
    Expr sum = 0.f;
    for (int i = 1; i < 96; ++i) sum = sum + exp(in(x, y) * float(i));
    return sum;
  });
  Stage b = stage("b", in.size(), [&](Var x, Var y) {
    const Accessor far = a.border(Border::clamp());
    return far(x - 30, y - 30) + far(x + 30, y + 30);
  });
  const auto [groups, why] = cheapest(Pipeline("test", {b}).ir(), "a");
  EXPECT_EQ(groups, R"({"groups":[["a"],["b"]]})");
  EXPECT_EQ(why.find("'b' reads it at other pixels than its own; computed with 'b' the two would take "), 0u)
      << why;
}

TEST(CheapestGroups, AreFoundWhateverSizesSuit) {
  const Image<float> in("in");
  Stage a = stage("a", {in.width() - 5000, in.height()}, [&](Var x, Var y) { return in(x + 5000, y); });
  Stage b = stage("b", a.size(), [&](Var x, Var y) { return a.border(Border::clamp())(x, y + 1); });
  EXPECT_NO_THROW(on_cpu(Pipeline("test", {b}).ir(), Tiling::March));
}

TEST(CheapestGroups, SayWhatStandsInTheWay) {
  const Image<float> in("in");
  Stage a = convolve("a", in.border(Border::clamp()), cross);
  Stage b = convolve("b", a.border(Border::repeat()), cross);
  EXPECT_EQ(
      cheapest(Pipeline("test", {b}).ir(), "a").second,
      "'b' reads it at other pixels than its own; it is not computed with 'b', since 'a' reads 'in' without "
      "repeating it, and is itself read with the border repeat");
}

}  // namespace
}  // namespace weft::schedule
