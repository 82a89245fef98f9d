#include "tools/sass_counts.h"

#include <fmt/format.h>
#include <weft/error.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>
#include <sstream>

#include "emit/gpu.h"
#include "host/plan.h"
#include "kernel/trips.h"

namespace weft::tools {
namespace {

using compile::SassInstruction;
using compile::SassKind;
using compile::SassPath;

// Clocks until shared memory answers: 28 to 33 of all boards (machine/board_facts.cpp). Shuffles and special functions take
// less.
constexpr double latency_on_chip = 30;

// ---- loops of the text ------------------------------------------------------------------------------------

struct Lines {
  int first = 0, last = -1;  ///< Counted from 1.
  std::string text;
  bool contain(int line) const { return first <= line && line <= last; }
};

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines = {""};  // so that they count from 1
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::size_t margin(const std::string& line) { return std::min(line.find_first_not_of(' '), line.size()); }

/// Down to the brace that closes what the line opens.
Lines block_at(const std::vector<std::string>& lines, std::size_t first) {
  std::size_t last = first + 1;
  while (last < lines.size() && (margin(lines[last]) > margin(lines[first]) || !lines[last].ends_with('}')))
    ++last;
  return {static_cast<int>(first), static_cast<int>(last), lines[first].substr(margin(lines[first]))};
}

/// The kernel's loops in the text, which emits them in the kernel's order.
std::vector<Lines> loops_in(const std::vector<std::string>& lines, const kernel::Function& function,
                            const kernel::KernelTrips& trips) {
  std::size_t at = 1;
  while (at < lines.size() && !(lines[at].find("__global__") != std::string::npos &&
                                lines[at].find(" " + function.name.spelling() + "(") != std::string::npos))
    ++at;
  std::vector<Lines> loops;
  for (const kernel::LoopTrips& each : trips.loops) {
    loops.emplace_back();
    std::size_t end = lines.size();
    if (each.parent >= 0 && loops[static_cast<std::size_t>(each.parent)].last > 0)
      end = static_cast<std::size_t>(loops[static_cast<std::size_t>(each.parent)].last);
    if (each.loop->kind == kernel::LoopKind::Lanes || each.loop->kind == kernel::LoopKind::Warps ||
        each.loop->has_block_each)
      continue;  // is no loop of the text
    const std::string head = " " + each.loop->variable.spelling() + " = ";
    for (std::size_t line = at; line < end; ++line) {
      if (!lines[line].substr(margin(lines[line])).starts_with("for (")) continue;
      if (lines[line].find(head) == std::string::npos) continue;
      loops.back() = block_at(lines, line);
      at = line + 1;
      break;
    }
  }
  return loops;
}

// ---- one kernel -------------------------------------------------------------------------------------------

bool stores(const SassInstruction& each) {
  return each.kind == SassKind::GlobalStore || each.kind == SassKind::SharedStore ||
         each.kind == SassKind::AsyncCopy;
}
bool loads(const SassInstruction& each) {
  return each.kind == SassKind::GlobalLoad || each.kind == SassKind::SharedLoad;
}

/// Whether a thread has one iteration, but the compiler does not know.
bool is_of_grid(const kernel::For& loop) {
  using kernel::LoopKind;
  return loop.kind == LoopKind::GridX || loop.kind == LoopKind::GridY || loop.kind == LoopKind::GridZ ||
         loop.kind == LoopKind::BlocksX || loop.kind == LoopKind::BlocksY || loop.kind == LoopKind::BlocksZ;
}

class Count {
 public:
  Count(const compile::SassCode& code, const kernel::KernelTrips& trips, std::vector<Lines> lines)
      : code_(code),
        trips_(trips),
        lines_(std::move(lines)),
        blocks_(compile::blocks_of(code)),
        loops_(compile::loops_of(blocks_)),
        matched_(loops_.size()) {}

  void run(SassCount& result) {
    for (std::size_t l = 0; l < loops_.size(); ++l) look_at(static_cast<int>(l));
    share_iterations();
    // Once more, as now it is known which loops are those of borders, and what unrolled ones leave over.
    for (std::size_t l = 0; l < loops_.size(); ++l)
      if (matched_[l].trips == 0) paths_[static_cast<int>(l)] = {};
    for (std::size_t l = 0; l < loops_.size(); ++l) add(static_cast<int>(l), matched_[l], result);
    add(-1, {-1, 1, false, trips_.threads}, result);
    std::reverse(result.loops.begin(), result.loops.end());
  }

 private:
  /// What a loop of the compiled code is in the kernel.
  struct Matched {
    int loop = -1;
    int unrolled = 1;
    bool is_estimated = false;
    double trips = 0;
  };

  int loop_at(int line) const {
    int found = -1;  // inner loops follow outer ones
    for (std::size_t l = 0; l < lines_.size(); ++l)
      if (lines_[l].contain(line)) found = static_cast<int>(l);
    return found;
  }
  const kernel::LoopTrips& trips(int loop) const { return trips_.loops[static_cast<std::size_t>(loop)]; }
  std::vector<int> inside(int loop) const {
    std::vector<int> found;
    for (std::size_t l = 0; l < loops_.size(); ++l)
      if (loops_[l].parent == loop) found.push_back(static_cast<int>(l));
    return found;
  }
  template <class Visit>
  void each_of(const SassPath& way, Visit visit) const {
    for (const int b : way.blocks) {
      const compile::SassBlock& block = blocks_[static_cast<std::size_t>(b)];
      for (int i = block.first; i < block.end; ++i) visit(code_[static_cast<std::size_t>(i)]);
    }
  }

  /// The way through it when nothing is known of what others leave over.
  SassPath first_path(int loop) const {
    const std::vector<bool> none(code_.size(), false);
    return compile::path_through(code_, blocks_, loops_, loop, paths_, none, 0);
  }

  /// Which loop it is, by the lines of what it stores; of an outer one by what it is around.
  void look_at(int number) {
    paths_[number] = first_path(number);
    Matched& own = matched_[static_cast<std::size_t>(number)];
    std::set<int> inner;
    for (const int l : inside(number)) inner.insert(matched_[static_cast<std::size_t>(l)].loop);
    inner.erase(-1);
    if (!inner.empty()) {
      int around = *inner.begin();
      const auto holds = [&](int l) {
        return std::all_of(inner.begin(), inner.end(), [&](int i) { return is_inside(i, l); });
      };
      while (around >= 0 && (inner.count(around) > 0 || !holds(around))) around = trips(around).parent;
      own.loop = around;
      return;
    }
    std::map<int, std::int64_t> stored, instructions;
    std::int64_t loaded = 0;
    each_of(paths_[number], [&](const SassInstruction& each) {
      const int loop = loop_at(each.line);
      if (loop < 0) return;
      if (stores(each)) stored[loop] += each.bytes;
      loaded += loads(each) ? 1 : 0;
      ++instructions[loop];
    });
    const auto most = [](const std::map<int, std::int64_t>& counts) {
      return std::max_element(counts.begin(), counts.end(),
                              [](const auto& a, const auto& b) { return a.second < b.second; });
    };
    if (!stored.empty()) {
      own.loop = most(stored)->first;
      const std::int64_t each = trips(own.loop).stored;
      if (each > 0) own.unrolled = static_cast<int>(std::max<std::int64_t>(1, stored.at(own.loop) / each));
      own.is_estimated = each == 0 || stored.at(own.loop) % each != 0;
    } else if (!instructions.empty()) {
      own.loop = most(instructions)->first;
      own.is_estimated = trips(own.loop).loop->kind != kernel::LoopKind::Rolled;
      if (own.is_estimated && trips(own.loop).loads > 0)
        own.unrolled = static_cast<int>(std::max<std::int64_t>(1, loaded / trips(own.loop).loads));
    }
    // A loop that is gone through whole in each trip of the one around it.
    while (own.loop >= 0 && own.unrolled > 1) {
      const auto& entries = trips(own.loop).entries;
      const std::int64_t longest = entries.empty() ? 0 : entries.rbegin()->first;
      if (is_of_grid(*trips(own.loop).loop) || longest <= 0 || own.unrolled <= longest ||
          own.unrolled % longest != 0)
        break;
      own.unrolled /= static_cast<int>(longest);
      own.loop = trips(own.loop).parent;
    }
  }
  bool is_inside(int inner, int outer) const {
    while (inner >= 0 && inner != outer) inner = trips(inner).parent;
    return inner == outer;
  }

  /// A loop's iterations are done by what the compiler unrolled most; what is left by the next; the rest stands in no
  /// loop of its own.
  void share_iterations() {
    for (std::size_t l = 0; l < trips_.loops.size(); ++l) {
      std::vector<Matched*> same;
      for (Matched& each : matched_)
        if (each.loop == static_cast<int>(l)) same.push_back(&each);
      std::stable_sort(same.begin(), same.end(),
                       [](const Matched* a, const Matched* b) { return a->unrolled > b->unrolled; });
      for (const auto& [count, entries] : trips_.loops[l].entries) {
        std::int64_t left = count;
        for (Matched* each : same) {
          each->trips += entries * static_cast<double>(left / each->unrolled);
          left %= each->unrolled;
        }
        if (!same.empty()) left_over_[static_cast<int>(l)][left * trips_.loops[l].stored] += entries;
      }
    }
    for (Matched& each : matched_)
      if (each.loop < 0) each.trips = trips_.threads;
  }

  /// By bytes: how often that number is stored by what loops inside leave over, as parts of one.
  std::map<std::int64_t, double> left_over(const std::set<int>& shared) const {
    if (shared.size() == 1) {
      std::map<std::int64_t, double> parts = left_over_.at(*shared.begin());
      double sum = 0;
      for (const auto& [bytes, entries] : parts) sum += entries;
      for (auto& [bytes, entries] : parts) entries /= sum;
      return parts;
    }
    std::int64_t usual = 0;  // of several it is not known which come together
    for (const int l : shared) {
      const auto& parts = left_over_.at(l);
      usual += std::max_element(parts.begin(), parts.end(), [](const auto& a, const auto& b) {
                 return a.second < b.second;
               })->first;
    }
    return {{usual, 1}};
  }

  void add(int number, const Matched& matched, SassCount& result) {
    SassLoopCount loop;
    const bool has_text = matched.loop >= 0 && lines_[static_cast<std::size_t>(matched.loop)].last > 0;
    if (has_text) loop.text = lines_[static_cast<std::size_t>(matched.loop)].text;
    loop.unrolled = matched.unrolled;
    loop.is_estimated = matched.is_estimated;
    loop.trips = trips_.pixels > 0 ? matched.trips / trips_.pixels : 0;

    std::set<int> shared;
    for (const int l : inside(number)) shared.insert(matched_[static_cast<std::size_t>(l)].loop);
    shared.erase(-1);
    shared.erase(matched.loop);
    std::erase_if(shared, [&](int l) { return left_over_.count(l) == 0 || left_over_.at(l).empty(); });
    std::vector<bool> counted;
    for (const SassInstruction& each : code_)
      counted.push_back(stores(each) && shared.count(loop_at(each.line)) > 0);
    for (const auto& [wanted, part] : left_over(shared)) {
      const SassPath way = compile::path_through(code_, blocks_, loops_, number, paths_, counted, wanted);
      each_of(way, [&](const SassInstruction& each) {
        loop.instructions += part;
        result.kinds.at(static_cast<std::size_t>(each.kind)) += part * loop.trips;
        if (each.bytes > 0) result.widths[{each.kind, each.bytes}] += part * loop.trips;
      });
      loop.clocks += part * compile::clocks_of(code_, blocks_, way, latency_on_chip);
    }
    if (loop.trips > 0) result.loops.push_back(std::move(loop));
  }

  const compile::SassCode& code_;
  const kernel::KernelTrips& trips_;
  std::vector<Lines> lines_;
  std::vector<compile::SassBlock> blocks_;
  std::vector<compile::SassLoop> loops_;
  std::vector<Matched> matched_;
  std::map<int, SassPath> paths_;
  /// By loop of the kernel: bytes that no compiled loop stores, and how often.
  std::map<int, std::map<std::int64_t, double>> left_over_;
};

double of(const SassCount& kernel, SassKind kind) { return kernel.kinds.at(static_cast<std::size_t>(kind)); }

/// "1.1 x4 + 0.25 x16": how many, of how many bytes.
std::string widths_text(const SassCount& kernel, SassKind kind) {
  std::string text;
  for (const auto& [what, count] : kernel.widths) {
    if (what.first == kind && count >= 0.005)
      text += fmt::format("{}{:.2f} x{}", text.empty() ? "" : " + ", count, what.second);
  }
  return text.empty() ? "-" : text;
}

}  // namespace

double SassCount::total() const { return std::accumulate(kinds.begin(), kinds.end(), 0.); }

double SassCount::clocks() const {
  return std::accumulate(loops.begin(), loops.end(), 0., [](double sum, const SassLoopCount& loop) {
    return sum + loop.clocks * loop.trips;
  });
}

CompiledKernels compiled_kernels(const kernel::Module& module, const machine::Architecture& architecture,
                                 const compile::DeviceCompiler& compiler) {
  CompiledKernels compiled{emit::emit_cuda_kernels(module), {}, {}};
  const compile::DeviceFlags flags{architecture.name(), module.strict, {"--generate-line-info"}};
  const compile::DeviceCode code = compiler.compile(compiled.text, flags, compile::ContentCache());
  compiled.resources = compile::resources_of(code.cubin);
  compiled.codes = compile::sass_of(code.cubin);
  return compiled;
}

std::vector<SassCount> sass_counts(const kernel::Module& module, const CompiledKernels& compiled,
                                   const kernel::FieldValues& fields) {
  const std::vector<std::string> lines = lines_of(compiled.text);
  std::vector<SassCount> counts;
  for (const kernel::Function& function : module.functions) {
    const std::string& name = function.name.spelling();
    const auto code = compiled.codes.find(name);
    if (code == compiled.codes.end()) throw InternalError("the compiled code lacks '" + name + "'");
    const kernel::KernelTrips trips =
        kernel::trips_of(module, function, *host::launch_of(module, function).grid, fields);
    SassCount& count = counts.emplace_back();
    count.kernel = function.name;
    count.pixels = trips.pixels;
    count.resources = compiled.resources.at(name);
    for (const SassInstruction& each : code->second)
      count.local += each.kind == SassKind::LocalLoad || each.kind == SassKind::LocalStore ? 1 : 0;
    Count(code->second, trips, loops_in(lines, function, trips)).run(count);
  }
  return counts;
}

std::vector<SassCount> sass_counts(const kernel::Module& module, const CompiledKernels& compiled) {
  constexpr std::int64_t extent = 4096;  // pixels
  return sass_counts(module, compiled, kernel::nominal_fields(module, extent));
}

// ---- reports ----------------------------------------------------------------------------------------------

std::vector<std::string> sass_columns() {
  return {"kernel",        "threads",      "registers",     "shared B",     "LDL+STL",       "SASS / pixel",
          "clocks / SASS", "global loads", "global stores", "shared loads", "shared stores", "shuffles",
          "float",         "special",      "integer",       "control"};
}

std::vector<std::vector<std::string>> to_rows(const std::vector<SassCount>& kernels) {
  std::vector<std::vector<std::string>> rows;
  for (const SassCount& k : kernels) {
    const auto number = [&](std::initializer_list<SassKind> kinds) {
      double sum = 0;
      for (const SassKind kind : kinds) sum += of(k, kind);
      return fmt::format("{:.2f}", sum);
    };
    rows.push_back({k.kernel.spelling(), std::to_string(k.resources.max_threads),
                    std::to_string(k.resources.registers), std::to_string(k.resources.static_shared),
                    std::to_string(k.local), k.total() > 0 ? fmt::format("{:.2f}", k.total()) : "-",
                    k.total() > 0 ? fmt::format("{:.2f}", k.clocks() / k.total()) : "-",
                    widths_text(k, SassKind::GlobalLoad), widths_text(k, SassKind::GlobalStore),
                    widths_text(k, SassKind::SharedLoad), widths_text(k, SassKind::SharedStore),
                    number({SassKind::Shuffle}), number({SassKind::Float}), number({SassKind::Special}),
                    number({SassKind::Integer}),
                    number({SassKind::Control, SassKind::Barrier, SassKind::Atomic, SassKind::AsyncCopy,
                            SassKind::LocalLoad, SassKind::LocalStore})});
  }
  return rows;
}

std::vector<std::string> sass_loop_columns() {
  return {"kernel", "loop", "iterations / trip", "SASS / trip", "trips / pixel", "SASS / pixel"};
}

std::vector<std::vector<std::string>> to_loop_rows(const std::vector<SassCount>& kernels) {
  std::vector<std::vector<std::string>> rows;
  for (const SassCount& k : kernels) {
    for (const SassLoopCount& loop : k.loops) {
      const double share = loop.instructions * loop.trips;
      if (share < 0.01 * k.total()) continue;
      constexpr std::size_t longest = 60;
      std::string text = loop.text.empty() ? "(outside of loops)" : loop.text;
      if (text.size() > longest) text = text.substr(0, longest - 3) + "...";
      rows.push_back({k.kernel.spelling(), text,
                      fmt::format("{}{}", loop.is_estimated ? "~" : "", loop.unrolled),
                      fmt::format("{:.4g}", loop.instructions), fmt::format("{:.4f}", loop.trips),
                      fmt::format("{:.2f}", share)});
    }
  }
  return rows;
}

nlohmann::ordered_json to_json(const std::vector<SassCount>& kernels) {
  using Json = nlohmann::ordered_json;
  Json list = Json::array();
  for (const SassCount& k : kernels) {
    Json json = {{"kernel", k.kernel.spelling()},
                 {"threads", k.resources.max_threads},
                 {"registers", k.resources.registers},
                 {"static_shared", k.resources.static_shared},
                 {"local_instructions", k.local},
                 {"instructions_per_pixel", k.total()},
                 {"kinds", Json::object()},
                 {"bytes", Json::array()},
                 {"loops", Json::array()}};
    for (int i = 0; i < compile::sass_kinds; ++i)
      json["kinds"][std::string(name_of(static_cast<SassKind>(i)))] = k.kinds.at(static_cast<std::size_t>(i));
    for (const auto& [what, count] : k.widths)
      json["bytes"].push_back({{"kind", name_of(what.first)}, {"bytes", what.second}, {"per_pixel", count}});
    for (const SassLoopCount& loop : k.loops) {
      json["loops"].push_back({{"loop", loop.text},
                               {"unrolled", loop.unrolled},
                               {"estimated", loop.is_estimated},
                               {"instructions", loop.instructions},
                               {"clocks", loop.clocks},
                               {"trips_per_pixel", loop.trips}});
    }
    list.push_back(std::move(json));
  }
  return list;
}

}  // namespace weft::tools
