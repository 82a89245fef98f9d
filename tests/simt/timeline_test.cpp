// Operations run in any order that their edges allow, and in no other.
#include "src/timeline.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace {

using simt::OperationId;

/// Notes the order in which operations run.
struct Trace {
  std::string text;

  simt::Action step(char name) {
    return [this, name](OperationId) { text += name; };
  }
  bool before(char a, char b) const { return text.find(a) < text.find(b); }
};

/// The orders of many seeds.
template <class Ask>
std::set<std::string> orders(Ask ask) {
  std::set<std::string> seen;
  for (std::uint64_t seed = 1; seed <= 64; ++seed) {
    simt::Random random(seed);
    simt::Timeline timeline(random);
    Trace trace;
    ask(timeline, trace);
    timeline.synchronize_all();
    seen.insert(trace.text);
  }
  return seen;
}

TEST(Timeline, OneStreamHasOneOrder) {
  const auto seen = orders([](simt::Timeline& timeline, Trace& trace) {
    simt::Stream* stream = timeline.create_stream(false);
    for (const char name : {'a', 'b', 'c'}) timeline.add(*stream, {}, trace.step(name));
  });
  EXPECT_EQ(seen, std::set<std::string>{"abc"});
}

TEST(Timeline, StreamsInterleaveInEveryWay) {
  const auto seen = orders([](simt::Timeline& timeline, Trace& trace) {
    simt::Stream *one = timeline.create_stream(false), *two = timeline.create_stream(false);
    timeline.add(*one, {}, trace.step('a'));
    timeline.add(*two, {}, trace.step('x'));
    timeline.add(*one, {}, trace.step('b'));
  });
  EXPECT_EQ(seen, (std::set<std::string>{"abx", "axb", "xab"}));
}

TEST(Timeline, EventsAreEdges) {
  const auto seen = orders([](simt::Timeline& timeline, Trace& trace) {
    simt::Stream *one = timeline.create_stream(false), *two = timeline.create_stream(false);
    simt::Event* event = timeline.create_event();
    timeline.add(*one, {}, trace.step('a'));
    timeline.record(*event, *one);
    timeline.add(*one, {}, trace.step('b'));
    timeline.wait(*two, *event);
    timeline.add(*two, {}, trace.step('x'));
  });
  EXPECT_EQ(seen, (std::set<std::string>{"abx", "axb"}));
}

TEST(Timeline, TheDefaultStreamWaitsAndIsWaitedFor) {
  const auto seen = orders([](simt::Timeline& timeline, Trace& trace) {
    simt::Stream *blocking = timeline.create_stream(true), *free = timeline.create_stream(false);
    timeline.add(*blocking, {}, trace.step('a'));
    timeline.add(timeline.default_stream(), {}, trace.step('b'));
    timeline.add(*blocking, {}, trace.step('c'));
    timeline.add(*free, {}, trace.step('x'));
  });
  EXPECT_EQ(seen, (std::set<std::string>{"abcx", "abxc", "axbc", "xabc"}));
}

TEST(Timeline, NothingRunsUntilSomebodyWaits) {
  simt::Random in_order(0);
  simt::Timeline timeline(in_order);
  Trace trace;
  simt::Stream *one = timeline.create_stream(false), *two = timeline.create_stream(false);
  const OperationId a = timeline.add(*one, {}, trace.step('a'));
  const OperationId x = timeline.add(*two, {}, trace.step('x'));
  EXPECT_EQ(trace.text, "");
  timeline.synchronize(one->tails);
  EXPECT_EQ(trace.text, "a");
  EXPECT_TRUE(timeline.host_knows(a));
  EXPECT_FALSE(timeline.host_knows(x));
  timeline.synchronize_all();
  EXPECT_EQ(trace.text, "ax");
  EXPECT_TRUE(timeline.host_knows(x));
}

TEST(Timeline, TheHostsWaitIsAnEdge) {
  simt::Random random(1);
  simt::Timeline timeline(random);
  simt::Stream *one = timeline.create_stream(false), *two = timeline.create_stream(false);
  const OperationId a = timeline.add(*one, {}, [](OperationId) {});
  bool known_without = true, known_with = false;
  timeline.add(*two, {}, [&](OperationId) { known_without = timeline.is_before_running(a); });
  timeline.synchronize(one->tails);
  timeline.add(*two, {}, [&](OperationId) { known_with = timeline.is_before_running(a); });
  timeline.synchronize_all();
  EXPECT_FALSE(known_without);
  EXPECT_TRUE(known_with);
}

TEST(Timeline, AGraphKeepsItsEdgesEachTime) {
  const auto seen = orders([](simt::Timeline& timeline, Trace& trace) {
    simt::Stream *one = timeline.create_stream(true), *two = timeline.create_stream(true);
    simt::Event *fork = timeline.create_event(), *join = timeline.create_event();
    ASSERT_TRUE(timeline.begin_capture(*one));
    timeline.add(*one, {}, trace.step('a'));
    timeline.record(*fork, *one);
    ASSERT_TRUE(timeline.wait(*two, *fork));
    timeline.add(*one, {}, trace.step('b'));
    timeline.add(*two, {}, trace.step('c'));
    timeline.record(*join, *two);
    ASSERT_TRUE(timeline.wait(*one, *join));
    timeline.add(*one, {}, trace.step('d'));
    const auto graph = timeline.end_capture(*one);
    ASSERT_TRUE(graph);
    timeline.launch(*one, *graph);
    timeline.launch(*one, *graph);
  });
  EXPECT_EQ(seen, (std::set<std::string>{"abcdabcd", "abcdacbd", "acbdabcd", "acbdacbd"}));
}

TEST(Timeline, ACaptureHasToBeJoined) {
  simt::Random random(1);
  simt::Timeline timeline(random);
  simt::Stream *one = timeline.create_stream(true), *two = timeline.create_stream(true);
  simt::Event* fork = timeline.create_event();
  timeline.begin_capture(*one);
  timeline.add(*one, {}, [](OperationId) {});
  timeline.record(*fork, *one);
  timeline.wait(*two, *fork);
  timeline.add(*two, {}, [](OperationId) {});
  EXPECT_EQ(timeline.end_capture(*one), nullptr);
  EXPECT_EQ(two->capture, nullptr);
}

TEST(OperationSet, IsASet) {
  simt::OperationSet small, large;
  small.insert(5);
  small.insert(200);
  large.insert_all_before(100);
  large.insert(150);
  small.insert(large);
  for (const OperationId in : {1u, 99u, 150u, 200u}) EXPECT_TRUE(small.contains(in)) << in;
  for (const OperationId out : {100u, 149u, 151u, 199u, 201u}) EXPECT_FALSE(small.contains(out)) << out;
}

TEST(OperationSet, StaysTheSameWhenCompacted) {
  simt::OperationSet set;
  for (OperationId id = 1; id <= 130; ++id) set.insert(id);
  set.insert(140);
  set.compact();
  EXPECT_TRUE(set.contains(1) && set.contains(130) && set.contains(140));
  EXPECT_FALSE(set.contains(131) || set.contains(141));
}

}  // namespace
