#include "simt/report.h"

#include <fmt/format.h>

namespace simt {
namespace {

std::string text_of(const Dim3& d) { return fmt::format("({},{},{})", d.x, d.y, d.z); }

std::string line_of(const Actor& actor) {
  std::string text = "  ";
  if (!actor.place.file.empty()) text += fmt::format("{}:{}: ", actor.place.file, actor.place.line);
  if (actor.on_host) {
    text += "the host ";
  } else if (actor.knows_thread) {
    text +=
        fmt::format("{}: thread {} of block {} ", actor.kernel, text_of(actor.thread), text_of(actor.block));
  } else if (!actor.kernel.empty()) {
    text += actor.kernel + " ";
  }
  return text + actor.action + "\n";
}

}  // namespace

std::string_view name_of(Kind kind) {
  switch (kind) {
    case Kind::race: return "race";
    case Kind::divergent_collective: return "divergent collective";
    case Kind::divergent_barrier: return "divergent barrier";
    case Kind::lane_outside_mask: return "lane outside mask";
    case Kind::uninitialised_read: return "uninitialised read";
    case Kind::out_of_bounds: return "out of bounds";
    case Kind::illegal_address: return "illegal address";
    case Kind::misaligned_access: return "misaligned access";
    case Kind::use_after_free: return "use after free";
    case Kind::invalid_release: return "invalid release";
    case Kind::unsynchronised_host_use: return "unsynchronised host use";
    case Kind::launch_limit: return "launch limit";
    case Kind::undefined_behaviour: return "undefined behaviour";
    case Kind::crash: return "crash";
    case Kind::misuse: return "misuse";
    case Kind::leak: return "leak";
  }
  return "?";
}

std::string to_string(const Report& report) {
  std::string text = fmt::format("{}: {}", name_of(report.kind), report.what);
  if (report.count > 1) text += fmt::format(" ({} times)", report.count);
  text += "\n" + line_of(report.first);
  if (!report.second.action.empty()) text += line_of(report.second);
  return text;
}

}  // namespace simt
