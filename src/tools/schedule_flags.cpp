#include "tools/schedule_flags.h"

#include <weft/error.h>

#include "schedule/groups.h"
#include "tools/files.h"

namespace weft::tools {
namespace {

Tile parse_tile(const std::string& text) {
  if (text == "auto") return Tile::Auto;
  if (text == "none") return Tile::None;
  if (text == "march") return Tile::March;
  if (text == "block") return Tile::Block;
  if (text == "warp") return Tile::Warp;
  if (text == "hybrid") return Tile::Hybrid;
  if (text == "overlap") return Tile::Overlap;
  if (text == "split") return Tile::Split;
  throw Error("there is no tile '" + text +
              "'; there are auto, none, march, block, warp, hybrid, overlap and split");
}

Fuse parse_fuse(const std::string& text) {
  if (text == "auto") return Fuse::Auto;
  if (text == "none") return Fuse::None;
  if (text == "basic") return Fuse::Basic;
  if (text == "mincut") return Fuse::MinCut;
  if (text == "dp") return Fuse::Dp;
  throw Error("there is no fusion '" + text + "'; there are auto, none, basic, mincut and dp");
}

Cost parse_cost(const std::string& text) {
  if (text == "weft") return Cost::Weft;
  if (text == "paper") return Cost::Paper;
  throw Error("there is no cost '" + text + "'; there are weft and paper");
}

}  // namespace

void add_schedule_flags(Command command, ScheduleFlags& flags) {
  command
      .add_option("--fuse", flags.fuse,
                  "which stages become one kernel. none: each is stored; basic, mincut: what a\n"
                  "search along edges or by cuts finds; dp, auto: what should take least time")
      .capture_default_str();
  command
      .add_option("--tile", flags.tile,
                  "none: stages one after another; march: together down strips, some rows of each\n"
                  "at a time; block: in tiles, all of a stage before the next, of a GPU's block or a\n"
                  "CPU's core; warp: in tiles of a GPU's warp; hybrid: likewise, with some of their\n"
                  "rows in registers; overlap, split: time steps several at a time, in tiles that\n"
                  "compute again what they need of one another, or in upright and inverted ones;\n"
                  "auto: in strips or tiles where that should take less time")
      .capture_default_str();
  command
      .add_option("--cost", flags.cost,
                  "what a GPU's kernels are chosen by. weft: the time that they should take; paper:\n"
                  "the cost function of the paper on warp overlapped tiling")
      .capture_default_str();
  command.add_option("--schedule", flags.file,
                     "a JSON file of groups of stages instead, each to be one kernel; explain\n"
                     "--json prints them");
}

compile::Scheduling parse(const ScheduleFlags& flags) {
  compile::Scheduling scheduling{parse_tile(flags.tile), parse_fuse(flags.fuse), {}, {}, nullptr,
                                 parse_cost(flags.cost)};
  if (!flags.file.empty()) {
    scheduling.groups = read_text(flags.file);
    try {
      schedule::grouping_from_json(scheduling.groups);
    } catch (const Error& error) {
      throw error.within("'" + flags.file + "'", {});
    }
  }
  check(scheduling);
  return scheduling;
}

}  // namespace weft::tools
