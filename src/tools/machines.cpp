#include "tools/machines.h"

#include <fmt/format.h>
#include <weft/error.h>

#include "machine/board.h"

namespace weft::tools {
namespace {

using Json = nlohmann::ordered_json;

Json as_json(const machine::Fact& fact) {
  return {{"value", fact.value}, {"source", machine::describe(fact.source)}};
}

Json as_json(const std::optional<machine::Fact>& fact) { return fact ? as_json(*fact) : Json(nullptr); }

}  // namespace

void check_machine(const std::string& name) {
  if (name != "cpu" && !machine::find_board(name))
    throw Error("there is no machine '" + name + "'").note("known", machine_names());
}

std::string machine_names() { return "cpu, " + machine::board_names(); }

std::string machine_text(const std::string& name) {
  const machine::Board* board = machine::find_board(name);
  return board ? fmt::format("machine {}\n{}", name, machine::describe(*board)) : "";
}

Json machine_json(const std::string& name) {
  const machine::Board* board = machine::find_board(name);
  if (!board) return nullptr;
  return {{"title", board->title},
          {"architecture", board->architecture().name()},
          {"multiprocessors", board->multiprocessors},
          {"base_mhz", board->base_mhz},
          {"boost_mhz", board->boost_mhz},
          {"gflops", board->gflops()},
          {"bandwidth_gb_s", board->bandwidth()},
          {"l2_bytes", board->l2},
          {"instructions_per_byte", board->instructions_per_byte()},
          {"source", machine::describe(board->source)},
          {"copy_fraction", as_json(board->copy_fraction)},
          {"read_fraction", as_json(board->read_fraction)},
          {"l2_bandwidth_gb_s", as_json(board->l2_bandwidth)},
          {"dram_latency_clocks", as_json(board->dram_latency)},
          {"shared_latency_clocks", as_json(board->shared_latency)},
          {"code_fetch_clocks", as_json(board->code_fetch)},
          {"stream_launch_us", as_json(board->stream_launch)},
          {"graph_launch_us", as_json(board->graph_launch)}};
}

}  // namespace weft::tools
