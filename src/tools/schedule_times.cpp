#include "tools/schedule_times.h"

#include <fmt/format.h>
#include <weft/error.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <map>
#include <mutex>

#include "rewrite/prepare.h"
#include "runtime/thread_pool.h"
#include "tools/compare.h"
#include "tools/targets.h"
#include "tools/workers.h"

namespace weft::tools {
namespace {

ir::Sizes sizes_of(const Subject& subject) {
  return ir::sizes_of(ir::bound(subject.arguments.images, subject.arguments.params));
}

/// "1st", "2nd", "3rd", "4th"
std::string ordinal(int number) {
  const int last = number % 10;
  const bool is_teen = number / 10 % 10 == 1;
  const char* ending = is_teen ? "th" : last == 1 ? "st" : last == 2 ? "nd" : last == 3 ? "rd" : "th";
  return fmt::format("{}{}", number, ending);
}

}  // namespace

Contenders::Contenders(const Subject& subject)
    : subject_(subject),
      preparation_(compile::preparation_for()),
      prepared_(compile::prepared(subject.pipeline.ir(), target::Processor::Cpu, preparation_)),
      sizes_(sizes_of(subject)),
      arguments_(subject.arguments) {}

Contender* Contenders::find(const schedule::Schedule& schedule) {
  const auto same = std::find_if(all_.begin(), all_.end(), [text = to_json(schedule)](const Contender& c) {
    return c.schedule == text;
  });
  return same == all_.end() ? nullptr : &*same;
}

bool Contenders::add_if_new(const std::string& name, const schedule::Schedule& schedule) {
  if (find(schedule)) return false;
  all_.push_back({{name},
                  grouping_of(schedule),
                  to_json(schedule),
                  plan::costs_of(schedule.kernels, sizes_),
                  {},
                  {},
                  {}});
  return true;
}

void Contenders::add(const std::string& name, Fuse fuse, Tile tile) {
  compile::Scheduling scheduling;
  scheduling.fuse = fuse, scheduling.tile = tile;
  const schedule::Schedule schedule =
      compile::scheduled(subject_.pipeline.ir(), target::Processor::Cpu, scheduling).schedule;
  if (!add_if_new(name, schedule)) find(schedule)->names.push_back(name);
}

bool Contenders::add(const std::string& name, schedule::Grouping grouping) {
  grouping.preparation = preparation_;
  const auto legal = schedule_of_groups(prepared_, grouping, schedule::Tiling::March);
  if (!legal.schedule) throw InternalError("groups that are not legal: " + legal.why);
  return add_if_new(name, *legal.schedule);
}

void Contenders::add_cheapest(int count) {
  int rank = 0;
  for (const schedule::Grouping& grouping :
       cheapest_groupings(prepared_, schedule::Tiling::March, {}, plan::cpu_costs(sizes_), count))
    add("expected " + ordinal(++rank), {grouping.groups, {}});
}

void Contenders::add_in_strips() {
  constexpr int height = 64;  // several for each core of all but the smallest images
  const std::string name = fastest().names.front();
  schedule::Grouping grouping = fastest().grouping;
  const ir::Pipeline pipeline =
      compile::prepared(subject_.pipeline.ir(), target::Processor::Cpu, grouping.preparation);
  const auto scheduled = [&] {
    return schedule_of_groups(pipeline, grouping, schedule::Tiling::March).schedule;
  };
  grouping.tiles.clear();
  const schedule::Schedule as_is = scheduled().value();
  for (const int width : {128, 256, 512, 1024, 2048}) {
    grouping.tiles.clear();
    for (const schedule::StagePlan& plan : as_is.stages) {
      if (!plan.in_rows) continue;
      const auto [tile, is_new] = grouping.tiles.emplace(plan.into, plan::Tile{width, height});
      if (is_new && !scheduled()) grouping.tiles.erase(tile);
    }
    if (!grouping.tiles.empty())
      add_if_new(fmt::format("{} in {}x{}", name, width, height), scheduled().value());
  }
}

const Contender& Contenders::fastest() const {
  return *std::min_element(all_.begin(), all_.end(), [](const Contender& a, const Contender& b) {
    return !a.seconds.empty() && (b.seconds.empty() || a.measured() < b.measured());
  });
}

void Contenders::compile(int threads, Progress& progress) {
  threads_ = runtime::ThreadPool(threads).threads();
  std::vector<Contender*> is_new;
  for (Contender& c : all_) {
    if (!c.program) is_new.push_back(&c);
  }
  std::mutex mutex;
  std::size_t done = 0;
  const auto show = [&] {
    progress.show(fmt::format("{}: compiled {} of {} schedules", prepared_.name, done, is_new.size()));
  };
  show();
  share_out(0, is_new.size(), 0, [&](std::uint64_t c) {
    compile::Scheduling scheduling;
    scheduling.groups = is_new[c]->schedule;
    Program program = tools::compile(subject_.pipeline, RunTarget::Cpu, threads, scheduling);
    const std::lock_guard lock(mutex);
    is_new[c]->program = std::move(program);
    ++done;
    show();
  });

  const bool rounded = !prepared_.strict && rounds_floats(prepared_);
  std::map<std::string, Buffer> expected;
  for (const Contender& c : all_) {
    progress.show(fmt::format("{}: comparing '{}'", prepared_.name, joined(c.names)));
    const std::map<std::string, Buffer> outputs = c.program->run(arguments_);
    if (expected.empty()) {
      expected = outputs;
      continue;
    }
    for (const auto& [name, image] : outputs) {
      const Comparison found = compare(name, expected.at(name), image, {}, rounded);
      if (agree_but_for_jumps(found, image.type())) continue;
      throw Error(fmt::format("schedule '{}' of '{}' computes something else than '{}': {}", joined(c.names),
                              prepared_.name, joined(all_[0].names), found.text()));
    }
    arguments_.outputs = outputs;  // later runs write into the same memory
  }
  if (arguments_.outputs.empty()) arguments_.outputs = expected;
}

void Contenders::time(std::int64_t rounds, Progress& progress) {
  using Clock = std::chrono::steady_clock;
  constexpr std::int64_t warming_up = 1;
  const auto seconds_of_cores = [&] {
    return static_cast<double>(std::clock()) / static_cast<double>(CLOCKS_PER_SEC) / threads_;
  };
  std::vector<Contender*> runners;
  const Contender* known = &fastest();  // of those timed before, if any were
  for (Contender& c : all_) {
    if (c.seconds.empty() || &c == known) runners.push_back(&c);
  }
  for (Contender* c : runners) c->seconds.clear(), c->busy.clear();
  for (std::int64_t round = -warming_up; round < rounds; ++round) {
    progress.show(fmt::format("{}: round {} of {}, {} schedules", prepared_.name,
                              std::max<std::int64_t>(round + 1, 1), rounds, runners.size()));
    for (std::size_t turn = 0; turn < runners.size(); ++turn) {
      Contender& c = *runners[(turn + static_cast<std::size_t>(round + warming_up)) % runners.size()];
      const Clock::time_point start = Clock::now();
      const double worked = seconds_of_cores();
      c.program->run(arguments_);
      const std::chrono::duration<double> spent = Clock::now() - start;
      if (round < 0) continue;
      c.seconds.push_back(spent.count());
      c.busy.push_back(seconds_of_cores() - worked);
    }
  }
}

}  // namespace weft::tools
