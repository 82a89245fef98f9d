#include "counters.h"

#include <fmt/format.h>

#include <algorithm>

namespace simt {
namespace {

constexpr std::uintptr_t sector = 32;
constexpr std::uintptr_t bank_width = 4;
constexpr std::size_t banks = 32;

template <class T>
std::size_t count_distinct(std::vector<T>& items) {
  std::sort(items.begin(), items.end());
  items.erase(std::unique(items.begin(), items.end()), items.end());
  return items.size();
}

/// All units of a width that the lanes touch.
template <class Group>
std::vector<std::uintptr_t> units(const Group& group, std::uint32_t lanes, std::size_t size,
                                  std::uintptr_t width) {
  std::vector<std::uintptr_t> touched;
  for (std::uint32_t rest = lanes; rest; rest &= rest - 1) {
    const auto begin = reinterpret_cast<std::uintptr_t>(group.address[std::countr_zero(rest)]);
    for (std::uintptr_t unit = begin / width; unit <= (begin + size - 1) / width; ++unit)
      touched.push_back(unit);
  }
  return touched;
}

/// Each pass serves one word of every bank.
std::size_t passes_of(std::vector<std::uintptr_t> words) {
  count_distinct(words);
  std::array<std::size_t, banks> used{};
  for (const std::uintptr_t word : words) ++used[word % banks];
  return *std::max_element(used.begin(), used.end());
}

}  // namespace

Counts& Counts::operator+=(const Counts& other) {
  sectors_loaded += other.sectors_loaded;
  sectors_stored += other.sectors_stored;
  least_sectors_loaded += other.least_sectors_loaded;
  least_sectors_stored += other.least_sectors_stored;
  bank_passes += other.bank_passes;
  least_bank_passes += other.least_bank_passes;
  barriers += other.barriers;
  warp_barriers += other.warp_barriers;
  shuffles += other.shuffles;
  votes += other.votes;
  atomics += other.atomics;
  return *this;
}

void Counters::begin_kernel(const LoadedText* text, const void* kernel, std::uint64_t threads) {
  text_ = text;
  kernel_ = &kernels_[kernel];
  kernel_->text = text;
  ++kernel_->launches;
  kernel_->threads += threads;
  instructions_.clear();
}

void Counters::end_kernel() {
  for (unsigned warp = 0; warp < most_warps; ++warp) lanes_met(warp);
}

Counts& Counters::at(const Location& location) {
  Entry& entry = kernel_->entries[location.key()];
  entry.location = location;
  return entry.counts;
}

void Counters::access(const Lane& lane, const void* address, std::size_t size, bool write, Space space,
                      const void* pc) {
  Instruction& instruction = instructions_[pc];
  instruction.pc = pc;
  instruction.size = size;
  instruction.write = write;
  instruction.space = space;
  Series& series = instruction.warps[lane.warp];
  const std::uint64_t execution = series.next[lane.lane]++;
  const std::uint64_t index = execution - series.first;
  if (index >= series.open.size()) series.open.resize(index + 1);
  Group& group = series.open[index];
  group.lanes |= 1u << lane.lane;
  group.address[lane.lane] = static_cast<const char*>(address);
  while (!series.open.empty() && series.open.front().lanes == ~0u) {
    finish(instruction, series.open.front());
    series.open.pop_front();
    ++series.first;
  }
}

void Counters::finish(const Instruction& instruction, const Group& group) {
  if (!group.lanes) return;
  Counts& counts = at(Location{text_, instruction.pc, {}});
  const std::size_t size = instruction.size;
  if (instruction.space == Space::device) {
    auto touched = units(group, group.lanes, size, sector);
    auto bytes = units(group, group.lanes, size, 1);
    const std::size_t sectors = count_distinct(touched);
    const std::size_t least = (count_distinct(bytes) + sector - 1) / sector;
    (instruction.write ? counts.sectors_stored : counts.sectors_loaded) += sectors;
    (instruction.write ? counts.least_sectors_stored : counts.least_sectors_loaded) += least;
    return;
  }
  // Wide accesses are served for a part of the warp at a time: all lanes of a part fill the banks once.
  const unsigned lanes_at_once = size <= 4 ? 32 : size <= 8 ? 16 : 8;
  for (unsigned from = 0; from < warp_size; from += lanes_at_once) {
    const std::uint32_t part = lanes_at_once == 32 ? ~0u : ((1u << lanes_at_once) - 1) << from;
    if (!(group.lanes & part)) continue;
    auto words = units(group, group.lanes & part, size, bank_width);
    counts.bank_passes += passes_of(words);
    counts.least_bank_passes += (count_distinct(words) + banks - 1) / banks;
  }
}

void Counters::finish_all(Instruction& instruction, unsigned warp) {
  Series& series = instruction.warps[warp];
  for (const Group& group : series.open) finish(instruction, group);
  series = {};
}

void Counters::lanes_met(unsigned warp) {
  for (auto& [pc, instruction] : instructions_) finish_all(instruction, warp);
}

void Counters::collective(abi::Collective kind, abi::Site site) {
  Counts& counts = at(Location{text_, nullptr, site});
  switch (kind) {
    case abi::Collective::syncwarp: ++counts.warp_barriers; break;
    case abi::Collective::shuffle:
    case abi::Collective::shuffle_up:
    case abi::Collective::shuffle_down:
    case abi::Collective::shuffle_xor: ++counts.shuffles; break;
    default: ++counts.votes; break;
  }
}

std::vector<KernelCounts> Counters::counts() const {
  Places places;
  for (const auto& [address, kernel] : kernels_) {
    for (const auto& [key, entry] : kernel.entries) places.want(entry.location);
  }
  std::vector<KernelCounts> result;
  for (const auto& [address, kernel] : kernels_) {
    KernelCounts counts{kernel.text->kernel_name(address), kernel.launches, kernel.threads, {}, {}};
    std::map<std::pair<std::string, int>, Counts> lines;
    for (const auto& [key, entry] : kernel.entries) {
      const Place place = places.of(entry.location);
      lines[{place.file, place.line}] += entry.counts;
      counts.total += entry.counts;
    }
    for (const auto& [line, sum] : lines) counts.lines.push_back({{line.first, line.second}, sum});
    result.push_back(std::move(counts));
  }
  return result;
}

namespace {

std::string json_string(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    if (static_cast<unsigned char>(c) < 0x20) {
      quoted += fmt::format("\\u{:04x}", static_cast<int>(c));
    } else {
      quoted += c;
    }
  }
  return quoted + '"';
}

std::string json_members(const Counts& c) {
  return fmt::format(
      R"("sectors_loaded": {}, "sectors_stored": {}, "least_sectors_loaded": {}, "least_sectors_stored": {}, )"
      R"("bank_passes": {}, "least_bank_passes": {}, "barriers": {}, "warp_barriers": {}, "shuffles": {}, )"
      R"("votes": {}, "atomics": {})",
      c.sectors_loaded, c.sectors_stored, c.least_sectors_loaded, c.least_sectors_stored, c.bank_passes,
      c.least_bank_passes, c.barriers, c.warp_barriers, c.shuffles, c.votes, c.atomics);
}

}  // namespace

std::string to_json(const std::vector<KernelCounts>& counts) {
  std::string text = "[";
  const char* before_kernel = "\n";
  for (const KernelCounts& kernel : counts) {
    text += fmt::format("{}  {{\"kernel\": {}, \"launches\": {}, \"threads\": {}, {},\n   \"lines\": [",
                        before_kernel, json_string(kernel.kernel), kernel.launches, kernel.threads,
                        json_members(kernel.total));
    const char* before_line = "\n";
    for (const LineCounts& line : kernel.lines) {
      text += fmt::format("{}    {{\"file\": {}, \"line\": {}, {}}}", before_line,
                          json_string(line.place.file), line.place.line, json_members(line.counts));
      before_line = ",\n";
    }
    text += "]}";
    before_kernel = ",\n";
  }
  return text + "\n]\n";
}

}  // namespace simt
