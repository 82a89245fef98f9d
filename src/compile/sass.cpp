#include "compile/sass.h"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <set>
#include <tuple>

#include "compile/cubin_parts.h"

namespace weft::compile {
namespace {

// ---- instructions -----------------------------------------------------------------------------------------

using cubin::instruction_bytes;

/// By the nine bits that name an operation, whatever its operands are.
SassKind kind_of(std::uint64_t operation) {
  switch (operation) {
    case 0x180:
    case 0x181: return SassKind::GlobalLoad;  // LD, LDG
    case 0x185:
    case 0x186: return SassKind::GlobalStore;  // ST, STG
    case 0x184: return SassKind::SharedLoad;   // LDS
    case 0x13b: return SassKind::SharedLoad;   // LDSM
    case 0x188: return SassKind::SharedStore;  // STS
    case 0x1ae: return SassKind::AsyncCopy;    // LDGSTS
    case 0x183: return SassKind::LocalLoad;
    case 0x187: return SassKind::LocalStore;
    case 0x18a:
    case 0x18b:
    case 0x18c:
    case 0x18d:
    case 0x18e:
    case 0x1a8:
    case 0x1a9:
    case 0x1a3:
    case 0x1a6: return SassKind::Atomic;  // ATOM, ATOMS, ATOMG, RED
    case 0x189:
    case 0x1c4:
    case 0x006: return SassKind::Shuffle;  // SHFL, REDUX, VOTE
    case 0x008:
    case 0x009:
    case 0x00a:
    case 0x00b:
    case 0x020:
    case 0x021:
    case 0x022:
    case 0x023:
    case 0x028:
    case 0x029:
    case 0x02a:
    case 0x02b:
    case 0x030:
    case 0x031:
    case 0x032:
    case 0x033:
    case 0x034:
    case 0x035:
    case 0x040:
    case 0x102:
    case 0x10a:
    case 0x10b: return SassKind::Float;
    case 0x03e:
    case 0x045:
    case 0x104:
    case 0x105:
    case 0x106:
    case 0x107:
    case 0x108:
    case 0x110:
    case 0x111:
    case 0x112:
    case 0x113: return SassKind::Special;
    case 0x11d:
    case 0x148:
    case 0x11a:
    case 0x1af: return SassKind::Barrier;
    case 0x141:
    case 0x142:
    case 0x143:
    case 0x144:
    case 0x145:
    case 0x146:
    case 0x147:
    case 0x149:
    case 0x14a:
    case 0x14c:
    case 0x14d:
    case 0x150:
    case 0x155:
    case 0x156:
    case 0x157:
    case 0x118: return SassKind::Control;
    default: return SassKind::Integer;
  }
}

bool moves(SassKind kind) { return kind <= SassKind::LocalStore; }

/// From Hopper on, eight bits of an offset lie apart. A function's text ends in a branch to itself, behind which there
/// is padding: by -16 bytes, so it tells.
bool offsets_have_low_bits(std::string_view text, int count) {
  const std::size_t end = static_cast<std::size_t>(count) * instruction_bytes;
  if (end >= text.size()) return false;
  return (cubin::read_at<std::uint64_t>(text, end) >> 16 & 0xff) == 0xfc;
}

SassInstruction decoded(std::uint64_t low, std::uint64_t high, std::int64_t number, bool has_low_bits) {
  constexpr std::uint64_t branch = 0x147, jump = 0x14a, leave = 0x14d, back = 0x150;
  constexpr int sizes[] = {1, 1, 2, 2, 4, 8, 16, 0};
  SassInstruction result;
  const std::uint64_t operation = low & 0x1ff;
  result.kind = kind_of(operation);
  if (moves(result.kind)) result.bytes = sizes[high >> 9 & 7];
  constexpr int none = 7;
  result.stall = std::max(1, static_cast<int>(high >> 41 & 15));
  if (const int barrier = static_cast<int>(high >> 46 & 7); barrier != none) result.barrier = barrier;
  result.waits = static_cast<unsigned>(high >> 52 & 63);
  const bool always = (low >> 12 & 15) == 7;
  if (operation == branch) {
    // From the next instruction on, in units of four bytes.
    const std::uint64_t bits = (low >> 34 | high << 30) & ((std::uint64_t{1} << 48) - 1);
    const auto words = has_low_bits ? static_cast<std::int64_t>((bits << 8 | (low >> 16 & 0xff)) << 8) >> 8
                                    : static_cast<std::int64_t>(bits << 16) >> 16;
    result.target = number + 1 + words * 4 / static_cast<std::int64_t>(instruction_bytes);
    const bool second_holds = (high >> 23 & 15) == 7;
    result.goes_on = !(always && second_holds && (low & 0xfff) == 0x947);
  } else if (operation == leave || operation == back || operation == jump) {
    result.goes_on = !always;
  }
  return result;
}

// ---- lines ------------------------------------------------------------------------------------------------

/// Bytes that are read one after the other.
class Reader {
 public:
  explicit Reader(std::string_view bytes, std::size_t at = 0) : bytes_(bytes), at_(at) {}
  template <class T>
  T next() {
    const T value = cubin::read_at<T>(bytes_, at_);
    at_ += sizeof(T);
    return value;
  }
  std::uint64_t number() {  // LEB128
    std::uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
      const auto byte = next<unsigned char>();
      if (shift < 64) value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  }
  std::int64_t signed_number() {
    std::uint64_t value = 0;
    for (int shift = 0;;) {
      const auto byte = next<unsigned char>();
      if (shift < 64) value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      shift += 7;
      if (byte >= 0x80) continue;
      if ((byte & 0x40) != 0 && shift < 64) value |= ~std::uint64_t{0} << shift;
      return static_cast<std::int64_t>(value);
    }
  }
  std::string_view text() {
    const std::string_view found = cubin::text_at(bytes_, at_);
    at_ += found.size() + 1;
    return found;
  }
  std::size_t at() const { return at_; }
  void go_to(std::size_t at) { at_ = at; }
  bool ends(std::size_t at) const { return at_ >= at; }

 private:
  std::string_view bytes_;
  std::size_t at_;
};

/// From an address on, code stems from that line.
struct LineRow {
  std::uint64_t address = 0;
  std::int64_t line = 1;
  std::uint64_t caller = 0;  ///< Of inlined code: the row of the call, counted from 1.
};
/// By the place in the table where a function's address stands, which a relocation knows the name of.
using LineTable = std::map<std::size_t, std::vector<LineRow>>;

/// DWARF's line number program, of versions 2 to 4, with NVIDIA's operation for inlined code.
LineTable line_table(std::string_view bytes) {
  constexpr int end_of_function = 1, set_address = 2, inlined = 0x90;
  LineTable table;
  Reader in(bytes);
  while (in.at() + 4 < bytes.size()) {
    const std::size_t length = in.next<std::uint32_t>(), end = std::min(bytes.size(), in.at() + length);
    const auto version = in.next<std::uint16_t>();
    if (version < 2 || version > 4) return {};
    const std::size_t header = in.next<std::uint32_t>(), program = in.at() + header;
    const auto unit = in.next<unsigned char>();
    if (version >= 4) in.next<unsigned char>();
    in.next<unsigned char>();
    const auto line_base = in.next<signed char>();
    const auto line_range = in.next<unsigned char>();
    const auto first_special = in.next<unsigned char>();
    std::vector<int> operands(first_special, 0);
    for (std::size_t i = 1; i < first_special; ++i) operands[i] = in.next<unsigned char>();
    if (line_range == 0) return {};
    in.go_to(program);

    LineRow row;
    std::size_t function = 0;
    while (!in.ends(end)) {
      const auto code = in.next<unsigned char>();
      if (code >= first_special) {
        row.address += static_cast<std::uint64_t>((code - first_special) / line_range * unit);
        row.line += line_base + (code - first_special) % line_range;
        table[function].push_back(row);
      } else if (code == 0) {
        const std::size_t size = in.number(), after = in.at() + size;
        const int extended = in.next<unsigned char>();
        if (extended == set_address) {
          function = in.at();
          row.address = in.next<std::uint64_t>();
        } else if (extended == inlined) {
          row.caller = in.number();
          in.number();
        } else if (extended == end_of_function) {
          row = {};
        }
        in.go_to(std::max(after, in.at()));
      } else if (code == 1) {
        table[function].push_back(row);
      } else if (code == 2) {
        row.address += in.number() * unit;
      } else if (code == 3) {
        row.line += in.signed_number();
      } else if (code == 8) {
        row.address += static_cast<std::uint64_t>((255 - first_special) / line_range * unit);
      } else if (code == 9) {
        row.address += in.next<std::uint16_t>();
      } else {
        for (int i = 0; i < operands[code]; ++i) in.number();
      }
    }
    in.go_to(end);
  }
  return table;
}

void add_lines(SassCode& code, const std::vector<LineRow>& rows) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::size_t row = i;
    for (std::size_t deep = 0; rows[row].caller > 0 && rows[row].caller <= rows.size() && deep < rows.size();
         ++deep)
      row = rows[row].caller - 1;
    const std::size_t first = rows[i].address / instruction_bytes;
    const std::size_t end = i + 1 < rows.size() ? rows[i + 1].address / instruction_bytes : code.size();
    for (std::size_t at = first; at < std::min(end, code.size()); ++at)
      code[at].line = static_cast<int>(rows[row].line);
  }
}

}  // namespace

std::string_view name_of(SassKind kind) {
  constexpr std::array<std::string_view, sass_kinds> names{
      "global loads", "global stores", "shared loads", "shared stores", "async copies",
      "local loads",  "local stores",  "atomics",      "shuffles",      "float",
      "special",      "barriers",      "control",      "integer"};
  return names.at(static_cast<std::size_t>(kind));
}

std::map<std::string, SassCode> sass_of(std::string_view bytes) {
  const cubin::Elf elf(bytes);
  const auto functions = elf.functions();
  std::map<std::string, SassCode> result;
  for (const auto& [number, function] : functions)
    if (function.is_kernel) result[function.name] = {};
  LineTable lines;
  for (const cubin::Section& section : elf.sections()) {
    if (section.name == ".debug_line") lines = line_table(section.bytes);
    const auto name = cubin::after(".text.", section.name);
    const auto kernel = name ? result.find(std::string(*name)) : result.end();
    if (kernel == result.end()) continue;
    const int count = cubin::count_instructions(section.bytes);
    const bool has_low_bits = offsets_have_low_bits(section.bytes, count);
    for (int i = 0; i < count; ++i) {
      const std::size_t at = static_cast<std::size_t>(i) * instruction_bytes;
      kernel->second.push_back(decoded(cubin::read_at<std::uint64_t>(section.bytes, at),
                                       cubin::read_at<std::uint64_t>(section.bytes, at + 8), i,
                                       has_low_bits));
    }
  }
  for (const cubin::Section& section : elf.sections()) {
    const bool addends = section.name == ".rela.debug_line";
    if (!addends && section.name != ".rel.debug_line") continue;
    for (std::size_t at = 0; at + 16 <= section.bytes.size(); at += addends ? 24 : 16) {
      const auto place = cubin::read_at<std::uint64_t>(section.bytes, at);
      const auto symbol =
          static_cast<std::uint32_t>(cubin::read_at<std::uint64_t>(section.bytes, at + 8) >> 32);
      const auto function = functions.find(symbol);
      const auto rows = lines.find(place);
      if (function == functions.end() || rows == lines.end()) continue;
      if (const auto kernel = result.find(function->second.name); kernel != result.end())
        add_lines(kernel->second, rows->second);
    }
  }
  return result;
}

// ---- loops ------------------------------------------------------------------------------------------------

std::vector<SassBlock> blocks_of(const SassCode& code) {
  const auto size = static_cast<std::int64_t>(code.size());
  std::set<std::int64_t> begins = {0};
  for (std::int64_t i = 0; i < size; ++i) {
    const SassInstruction& each = code[static_cast<std::size_t>(i)];
    const bool inside = each.target >= 0 && each.target < size;
    if (inside) begins.insert(each.target);
    if (each.target >= 0 || !each.goes_on) begins.insert(i + 1);
  }
  begins.erase(size);
  if (code.empty()) return {};
  std::map<std::int64_t, int> number;
  std::vector<SassBlock> blocks;
  for (const std::int64_t begin : begins) {
    number[begin] = static_cast<int>(blocks.size());
    if (!blocks.empty()) blocks.back().end = static_cast<int>(begin);
    blocks.push_back({static_cast<int>(begin), static_cast<int>(size), {}});
  }
  for (SassBlock& block : blocks) {
    const SassInstruction& last = code[static_cast<std::size_t>(block.end - 1)];
    if (last.goes_on && block.end < size) block.next.push_back(number.at(block.end));
    if (last.target >= 0 && last.target < size) block.next.push_back(number.at(last.target));
  }
  return blocks;
}

std::vector<SassLoop> loops_of(const std::vector<SassBlock>& blocks) {
  std::vector<std::vector<int>> before(blocks.size());
  std::map<int, std::set<int>> ends;  // of loops, by their heads
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    for (const int next : blocks[b].next) {
      before[static_cast<std::size_t>(next)].push_back(static_cast<int>(b));
      if (next <= static_cast<int>(b)) ends[next].insert(static_cast<int>(b));
    }
  }
  std::vector<SassLoop> loops;
  for (const auto& [head, lasts] : ends) {
    std::set<int> members = {head};
    std::vector<int> open(lasts.begin(), lasts.end());
    bool whole = true;  // a backward jump out of a piece that lies behind the end is no loop
    while (!open.empty()) {
      const int block = open.back();
      open.pop_back();
      if (!members.insert(block).second) continue;
      whole &= block != 0;
      for (const int each : before[static_cast<std::size_t>(block)]) open.push_back(each);
    }
    if (whole || head == 0) loops.push_back({head, {members.begin(), members.end()}, -1});
  }
  std::stable_sort(loops.begin(), loops.end(),
                   [](const SassLoop& a, const SassLoop& b) { return a.blocks.size() < b.blocks.size(); });
  for (std::size_t i = 0; i < loops.size(); ++i) {
    for (std::size_t o = i + 1; o < loops.size() && loops[i].parent < 0; ++o) {
      if (std::includes(loops[o].blocks.begin(), loops[o].blocks.end(), loops[i].blocks.begin(),
                        loops[i].blocks.end()))
        loops[i].parent = static_cast<int>(o);
    }
  }
  return loops;
}

// ---- paths ------------------------------------------------------------------------------------------------

namespace {

class Ways {
 public:
  Ways(const SassCode& code, const std::vector<SassBlock>& blocks, const std::vector<SassLoop>& loops,
       int loop, const std::map<int, SassPath>& inside, const std::vector<bool>& counted)
      : code_(code), blocks_(blocks), loops_(loops), loop_(loop), inside_(inside), counted_(counted) {
    owner_.assign(blocks.size(), loop < 0 ? -1 : -2);  // -2: outside
    if (loop >= 0)
      for (const int b : loops[static_cast<std::size_t>(loop)].blocks)
        owner_[static_cast<std::size_t>(b)] = loop;
    for (std::size_t l = loops.size(); l-- > 0;)  // outer ones first
      if (loops[l].parent == loop)
        for (const int b : loops[l].blocks) owner_[static_cast<std::size_t>(b)] = static_cast<int>(l);
  }

  SassPath best(std::int64_t wanted) {
    const int head = loop_ < 0 ? 0 : loops_[static_cast<std::size_t>(loop_)].head;
    const Ends& ends = from(head);
    SassPath path;
    if (ends.empty()) return path;
    const auto distance = [&](std::int64_t left) { return std::llabs(left - wanted); };
    auto chosen = ends.begin();
    for (auto it = ends.begin(); it != ends.end(); ++it)
      if (distance(it->first) < distance(chosen->first)) chosen = it;
    path.stored = std::get<0>(chosen->second.score);
    path.loaded = std::get<1>(chosen->second.score);
    std::int64_t left = chosen->first;
    for (int block = head; block >= 0;) {
      const Way& way = ways_.at(node_of(block)).at(left);
      if (is_own(block)) path.blocks.push_back(block);
      block = way.next;
      left = way.left;
    }
    return path;
  }

 private:
  using Score = std::tuple<std::int64_t, std::int64_t, std::int64_t>;
  struct Way {
    Score score;
    int next = -1;  ///< A block; -1: the end.
    std::int64_t left = 0;
  };
  using Ends = std::map<std::int64_t, Way>;  ///< By the bytes that counted instructions store on the way.

  bool is_own(int block) const { return owner_[static_cast<std::size_t>(block)] == loop_; }
  /// A loop inside is one node: its head.
  int node_of(int block) const {
    return is_own(block) ? block
                         : loops_[static_cast<std::size_t>(owner_[static_cast<std::size_t>(block)])].head;
  }

  const Ends& from(int block) {
    const int node = node_of(block);
    if (const auto known = ways_.find(node); known != ways_.end()) return known->second;
    ways_[node] = {};  // what leads back to it, other than to the head, is no way
    Score own{0, 0, 0};
    std::int64_t left_over = 0;
    std::vector<int> next;
    bool ends = false;
    const auto follow = [&](int to) {
      if (loop_ >= 0 && to == loops_[static_cast<std::size_t>(loop_)].head)
        ends = true;
      else if (owner_[static_cast<std::size_t>(to)] != -2)
        next.push_back(to);
    };
    if (is_own(node)) {
      for (int i = blocks_[static_cast<std::size_t>(node)].first;
           i < blocks_[static_cast<std::size_t>(node)].end; ++i) {
        const SassInstruction& each = code_[static_cast<std::size_t>(i)];
        const bool stores = each.kind == SassKind::GlobalStore || each.kind == SassKind::SharedStore ||
                            each.kind == SassKind::AsyncCopy;
        const bool loads = each.kind == SassKind::GlobalLoad || each.kind == SassKind::SharedLoad;
        if (stores) std::get<0>(own) += each.bytes;
        if (each.kind == SassKind::Atomic) std::get<0>(own) += 4;
        if (loads) std::get<1>(own) += each.bytes;
        --std::get<2>(own);
        if (stores && counted_[static_cast<std::size_t>(i)]) left_over += each.bytes;
      }
      for (const int to : blocks_[static_cast<std::size_t>(node)].next) follow(to);
      ends |= loop_ < 0 && blocks_[static_cast<std::size_t>(node)].next.empty();
    } else {
      const int loop = owner_[static_cast<std::size_t>(node)];
      if (const auto path = inside_.find(loop); path != inside_.end())
        own = {path->second.stored, path->second.loaded, 0};
      for (const int b : loops_[static_cast<std::size_t>(loop)].blocks)
        for (const int to : blocks_[static_cast<std::size_t>(b)].next)
          if (owner_[static_cast<std::size_t>(to)] != loop) follow(to);
    }
    Ends found;
    const auto offer = [&](std::int64_t total, const Way& way) {
      const auto known = found.find(total);
      if (known == found.end() || known->second.score < way.score) found[total] = way;
    };
    if (ends) offer(left_over, {own, -1, 0});
    for (const int to : next) {
      for (const auto& [rest, way] : from(to)) {
        const Score sum{std::get<0>(own) + std::get<0>(way.score), std::get<1>(own) + std::get<1>(way.score),
                        std::get<2>(own) + std::get<2>(way.score)};
        offer(left_over + rest, {sum, to, rest});
      }
    }
    return ways_[node] = std::move(found);
  }

  const SassCode& code_;
  const std::vector<SassBlock>& blocks_;
  const std::vector<SassLoop>& loops_;
  int loop_;
  const std::map<int, SassPath>& inside_;
  const std::vector<bool>& counted_;
  std::vector<int> owner_;
  std::map<int, Ends> ways_;
};

}  // namespace

double clocks_of(const SassCode& code, const std::vector<SassBlock>& blocks, const SassPath& way,
                 double latency) {
  std::array<double, 6> released{};
  double now = 0, begin = 0;
  for (int trip = 0; trip < 2; ++trip) {
    begin = now;
    for (const int b : way.blocks) {
      const SassBlock& block = blocks[static_cast<std::size_t>(b)];
      for (int i = block.first; i < block.end; ++i) {
        const SassInstruction& each = code[static_cast<std::size_t>(i)];
        for (std::size_t barrier = 0; barrier < released.size(); ++barrier)
          if ((each.waits >> barrier & 1) != 0) now = std::max(now, released[barrier]);
        const bool is_on_chip = each.kind == SassKind::SharedLoad || each.kind == SassKind::Shuffle ||
                                each.kind == SassKind::Special;
        if (each.barrier >= 0 && each.barrier < static_cast<int>(released.size()))
          released[static_cast<std::size_t>(each.barrier)] = now + (is_on_chip ? latency : 0);
        now += each.stall;
      }
    }
  }
  return now - begin;
}

SassPath path_through(const SassCode& code, const std::vector<SassBlock>& blocks,
                      const std::vector<SassLoop>& loops, int loop, const std::map<int, SassPath>& inside,
                      const std::vector<bool>& counted, std::int64_t wanted) {
  if (blocks.empty()) return {};
  return Ways(code, blocks, loops, loop, inside, counted).best(wanted);
}

}  // namespace weft::compile
