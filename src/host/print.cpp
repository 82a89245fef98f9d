#include <fmt/format.h>
#include <fmt/ranges.h>
#include <weft/error.h>

#include <cctype>

#include "base/counted.h"
#include "host/plan.h"
#include "ir/stage_ir.h"
#include "kernel/symbol_format.h"

namespace weft::host {
namespace {

using kernel::Expr;

// ---- expressions, as in C ----

enum Level { choice, disjunction, conjunction, comparison, sum, product, prefix };

Level level_of(ir::BinaryOp op) {
  using enum ir::BinaryOp;
  switch (op) {
    case Or: return disjunction;
    case And: return conjunction;
    case Lt:
    case Le:
    case Eq:
    case Ne: return comparison;
    case Add:
    case Sub: return sum;
    case Mul:
    case Div:
    case Rem: return product;
    case Min:
    case Max: return prefix;
    default: throw InternalError("no operation on sizes");
  }
}

/// In parentheses where an operator of `level` would take a part of it.
std::string text(const Expr& e, Level level = choice) {
  const auto enclosed = [&](Level own, const std::string& text) {
    return own < level ? "(" + text + ")" : text;
  };
  const auto no_size = []() -> std::string { throw InternalError("no expression of sizes"); };
  return std::visit(
      ir::overloaded{
          [&](const kernel::Const& n) {
            const std::int64_t value = n.value.lane[0].i;
            return e->type != Scalar::Bool ? std::to_string(value) : value ? "true" : "false";
          },
          [](const kernel::Name& n) { return n.name.spelling(); },
          [](const kernel::Unary& n) { return ir::name_of(n.op) + text(n.a, prefix); },
          [&](const kernel::Binary& n) {
            const std::string op = ir::name_of(n.op);
            const Level own = level_of(n.op);
            if (own == prefix) return fmt::format("{}({}, {})", op, text(n.a), text(n.b));
            const bool is_logical = (own == disjunction || own == conjunction) && e->type == Scalar::Bool;
            return enclosed(own, fmt::format("{} {} {}", text(n.a, own), is_logical ? op + op : op,
                                             text(n.b, static_cast<Level>(own + 1))));
          },
          [&](const kernel::Select& n) {
            return enclosed(choice, fmt::format("{} ? {} : {}", text(n.condition, disjunction),
                                                text(n.a, disjunction), text(n.b)));
          },
          [&](const kernel::Cast& n) { return text(n.a, level); },
          [](const kernel::IndexCall& n) {
            return fmt::format("floor({} / {})", text(n.a, product), text(n.b, prefix));
          },
          [&](const kernel::Load&) { return no_size(); },
          [&](const kernel::MedianOf&) { return no_size(); },
          [&](const kernel::HalfOfSum&) { return no_size(); },
      },
      e->op);
}

// ---- nodes ------------------------------------------------------------------------------------------------

std::string text(const Allocate& n) {
  std::string text = fmt::format("allocate {}: {} {}", n.array, host::text(n.scalars), weft::name_of(n.type));
  for (const Symbolic& stride : n.strides)
    text += (&stride == &n.strides[0] ? ", rows " : ", planes ") + host::text(stride) + " apart";
  if (!kernel::is_literal(n.zeroed, 0)) text += ", zeros";
  if (!kernel::literal_value(n.zeroed)) text += " if " + host::text(n.zeroed);
  return text;
}
std::string text(const Free& n) { return "free " + n.array.spelling(); }
std::string text(const Copy& n) {
  return fmt::format("copy {}: rows {} to {}, {} to {}", n.array, host::text(n.first), host::text(n.last),
                     name_of(n.from), name_of(n.to));
}
std::string text(const Launch& n) {
  std::vector<std::string> work;
  for (const Symbolic& extent : n.work)
    work.push_back(host::text(extent, n.work.size() > 1 ? prefix : choice));
  std::string text = fmt::format("launch {}: {}", n.function, fmt::join(work, " x "));
  if (n.work.size() > 1) text += fmt::format(" threads, blocks of {}", fmt::join(n.block, "x"));
  if (n.picoseconds) text += fmt::format(" in portions, {} ps each", host::text(*n.picoseconds));
  return text;
}
std::string text(const Repeat& n) {
  std::string text = "repeat";
  for (const Turns& part : n.parts) {
    if (&part != n.parts.data()) text += ", then";
    text += fmt::format(" for {} from {} to {}", n.counter, host::text(part.from, prefix),
                        host::text(part.to, prefix));
    if (part.by > 1) text += fmt::format(" by {}", part.by);
    if (part.places > 1) text += fmt::format(", {} places on", part.places);
  }
  for (const kernel::Rotation& arrays : n.rotations)
    text += fmt::format(", rotating {}", fmt::join(arrays, " "));
  for (const kernel::StandIn& one : n.first)
    text += fmt::format(", first with {} as {}", one.other, one.array);
  return text;
}

std::string list(const std::string& title, const std::set<Place>& places) {
  std::string text;
  for (const Place& place : places) text += " " + place.array.spelling();
  return places.empty() ? "" : "; " + title + text;
}

/// Where nodes run is said of each unless it is the same for all.
void print(const std::vector<Node>& nodes, const std::string& margin, bool with_place, std::string& out) {
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    const Node& node = nodes[n];
    const bool computes =
        std::holds_alternative<Launch>(node.what) || std::holds_alternative<Repeat>(node.what);
    out += fmt::format("{}{:<4} {}", margin, fmt::format("n{}", n), to_string(node));
    if (computes) out += list("reads", node.uses.reads) + list("writes", node.uses.writes);
    for (const std::size_t other : node.after)
      out += (other == node.after[0] ? "; after n" : " n") + std::to_string(other);
    if (with_place) out += fmt::format("; {}, stream {}", name_of(node.device), node.stream);
    if (node.when == When::HostImage) out += "; if the image is the host's";
    if (node.when == When::EmptyImage) out += "; if the image has no pixels";
    out += "\n";
    const auto* repeat = std::get_if<Repeat>(&node.what);
    if (!repeat) continue;
    for (const Turns& part : repeat->parts) {
      if (repeat->parts.size() > 1) out += fmt::format("{}     by {}\n", margin, part.by);
      print(part.nodes, margin + "     ", with_place, out);
    }
  }
}

}  // namespace

std::string name_of(int device) { return device == the_host ? "host" : fmt::format("device {}", device); }

std::string to_string(const Node& node) {
  return std::visit([](const auto& what) { return host::text(what); }, node.what);
}

std::string to_string(const Plan& plan) {
  std::string out;
  const bool is_one_place = is_on_one_stream(plan);
  if (is_one_place && !plan.nodes.empty())
    out += fmt::format("on {}, stream {}\n", name_of(plan.nodes[0].device), plan.nodes[0].stream);
  for (const Limit& limit : plan.limits) out += fmt::format("{} is {} at most\n", limit.size, limit.most);
  for (const RoomFor& room : plan.rooms)
    out += fmt::format("{} is how many blocks of {} the device has room for at a time; expected: {}\n",
                       room.room, room.function, room.expected);
  if (const auto& reach = plan.rows.reach) {
    out += fmt::format("images of the host move in parts, each with {} above and {} below{}\n",
                       counted(reach->above, "row"), reach->below,
                       reach->step == 1 ? "" : fmt::format(", from multiples of {} rows on", reach->step));
  } else if (!plan.rows.why.empty()) {
    out += fmt::format("images of the host move whole: {}\n", plan.rows.why);
  }
  print(plan.nodes, "", !is_one_place, out);
  return out;
}

}  // namespace weft::host
