#include "analysis/operations.h"

#include <algorithm>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

#include "analysis/median_network.h"
#include "ir/operation.h"
#include "ir/print.h"
#include "ir/visit.h"

namespace weft::analysis {
namespace {

enum class Unit { Alu, Sfu };

Unit unit_of(const ir::Function& function) {
  return function.cost == ir::Function::Cost::Low ? Unit::Alu : Unit::Sfu;
}

Unit unit_of(ir::UnaryOp op) {
  const ir::Function* function = ir::function_of(op);
  return function ? unit_of(*function) : Unit::Alu;
}

Unit unit_of(ir::BinaryOp op, Type operands) {
  if (const ir::Function* function = ir::function_of(op)) return unit_of(*function);
  const bool divides = op == ir::BinaryOp::Div || op == ir::BinaryOp::Rem;
  return is_float(operands.scalar) && divides ? Unit::Sfu : Unit::Alu;
}

/// Counts the distinct expressions of a stage. Equal expressions get one number, found by what they are made
/// of, so that dx * dx reads dx once although it was written twice.
class Counter {
 public:
  /// All operations; with a dimension only those without its coordinate: along z the product of in(x, y) * 2 + z.
  explicit Counter(std::optional<int> alike_along = std::nullopt, const Neighbours& neighbours = {})
      : alike_along_(alike_along), neighbours_(neighbours) {}

  Operations count(const ir::Stage& stage) {
    for (const ir::Expr& root : ir::expressions(stage)) number_of(root);
    return total_;
  }

 private:
  struct Info {
    std::set<const ir::Loop*> loops;  // that the value depends on
    bool is_constant = false;
    bool differs = false;  // along the dimension
  };

  int number_of(const ir::Expr& e) {
    if (const auto known = numbers_.find(e.get()); known != numbers_.end()) return known->second;
    std::vector<int> operands;
    for (const ir::Expr& operand : ir::operands(*e)) operands.push_back(number_of(operand));
    std::string key = key_of(*e);
    for (int operand : operands) key += " " + std::to_string(operand);
    const auto [entry, is_new] = distinct_.try_emplace(key, static_cast<int>(infos_.size()));
    if (is_new) {
      infos_.push_back(info_of(*e, operands));
      add(*e);
    }
    return numbers_[e.get()] = entry->second;
  }

  // ---- what makes expressions equal ----

  std::string number(const void* identity) {
    return std::to_string(identities_.try_emplace(identity, identities_.size()).first->second);
  }
  std::string spelt(const ir::Affine& form) {
    return form.to_string([&](const ir::Atom& atom) {
      const auto* tap = std::get_if<ir::TapCoord>(&atom);
      return tap ? "t" + number(tap->loop.get()) + "." + std::to_string(tap->dim) : ir::name_of(atom);
    });
  }
  std::string key_of(const ir::Node& node) {
    const std::string detail = std::visit(
        ir::overloaded{
            [&](const ir::Const& n) { return n.value.to_string(); },
            [&](const ir::Quantity& n) { return spelt(n.value); },
            [&](const ir::ParamRef& n) { return n.param->name; },
            [&](const ir::Unary& n) { return ir::name_of(n.op); },
            [&](const ir::Binary& n) { return ir::name_of(n.op); },
            [&](const ir::Cast& n) { return std::to_string(static_cast<int>(n.mode)); },
            [&](const ir::Lane& n) { return std::to_string(n.lane); },
            [&](const ir::Read& n) { return key_of(n); },
            [&](const ir::Coefficient& n) { return number(n.loop.get()) + " of " + number(n.mask.get()); },
            [&](const ir::Accumulated& n) {
              return number(n.loop.get()) + "." + std::to_string(n.accumulator);
            },
            [&](const ir::FoldResult& n) { return number(n.fold.get()); },  // its accumulators come together
            [&](const ir::Median& n) { return number(n.loop.get()); },
            [&](const ir::Operand& n) { return std::to_string(n.side) + "." + std::to_string(n.component); },
            [](const ir::Select&) { return std::string(); },
            [](const ir::Pack&) { return std::string(); },
            [](const ir::StepNumber&) { return std::string(); },
        },
        node.op);
    const bool per_fold = std::holds_alternative<ir::FoldResult>(node.op);
    return std::to_string(node.op.index()) + (per_fold ? "" : name_of(node.type)) + " " + detail;
  }
  std::string key_of(const ir::Read& n) {
    std::string key = n.source->name;
    for (const ir::Index& index : n.indices) {
      const auto* form = std::get_if<ir::Affine>(&index);
      key += ", " + (form ? spelt(*form) : "computed");
    }
    if (n.border) key += ", " + ir::name_of(n.border->mode) + ir::to_string(n.region);
    return key;
  }

  // ---- what a distinct expression costs ----

  Info info_of(const ir::Node& node, const std::vector<int>& operands) {
    Info info;
    info.is_constant = std::holds_alternative<ir::Const>(node.op) || !operands.empty();
    for (int operand : operands) {
      info.loops.insert(infos_[operand].loops.begin(), infos_[operand].loops.end());
      info.is_constant &= infos_[operand].is_constant;
      info.differs |= infos_[operand].differs;
    }
    const auto depend_on = [&](const ir::Affine& form) {
      info.differs |= alike_along_ && ir::mentions_coord(form, *alike_along_);
      form.mentions([&](const ir::Atom& atom) {
        if (const auto* tap = std::get_if<ir::TapCoord>(&atom)) info.loops.insert(tap->loop.get());
        return false;
      });
    };
    std::visit(ir::overloaded{
                   [&](const ir::Quantity& n) { depend_on(n.value); },
                   [&](const ir::Read& n) {
                     info.is_constant = false;
                     for (const ir::Index& index : n.indices) {
                       if (const auto* form = std::get_if<ir::Affine>(&index)) depend_on(*form);
                     }
                   },
                   [&](const ir::Coefficient& n) { info.loops.insert(n.loop.get()); },
                   [&](const ir::Accumulated& n) { info.loops.insert(n.loop.get()); },
                   [&](const ir::FoldResult& n) { info.loops.erase(n.fold->loop.get()); },
                   [&](const ir::Median& n) { info.loops.erase(n.loop.get()); },
                   [](const ir::Operation auto&) {},
                   [](const ir::Const&) {},
                   [](const ir::ParamRef&) {},
                   [](const ir::Operand&) {},
                   [](const ir::StepNumber&) {},
               },
               node.op);
    return info;
  }

  void add(const ir::Node& node) {
    const Info& info = infos_.back();
    if (info.is_constant || info.differs) return;
    std::int64_t times = 1;
    for (const ir::Loop* loop : info.loops) times *= static_cast<std::int64_t>(loop->domain.points.size());
    const auto spend = [&](Unit unit, std::int64_t lanes) {
      (unit == Unit::Alu ? total_.alu : total_.sfu) += times * lanes;
    };
    std::visit(ir::overloaded{
                   [&](const ir::Unary& n) { spend(unit_of(n.op), node.type.lanes); },
                   [&](const ir::Binary& n) { spend(unit_of(n.op, n.a->type), node.type.lanes); },
                   [&](const ir::Select&) { spend(Unit::Alu, node.type.lanes); },
                   [&](const ir::Quantity& n) {
                     const auto parts = static_cast<std::int64_t>(n.value.terms().size());
                     spend(Unit::Alu,
                           std::max<std::int64_t>(parts - 1, 0) + (n.value.constant() != 0 && parts > 0));
                   },
                   [&](const ir::Median& n) {
                     const ir::Domain& window = n.loop->domain;
                     const int along = std::min(neighbours_.along, window.rank - 1);
                     spend(Unit::Alu,
                           node.type.lanes * operations_of_medians(window.points, along, neighbours_.count));
                   },
                   [&](const ir::Read& n) {
                     total_.loads += times;
                     add_remainders(n, times);
                   },
                   // What the compiler knows, registers, and conversions, which instructions often include.
                   [](const ir::Const&) {},
                   [](const ir::ParamRef&) {},
                   [](const ir::Cast&) {},
                   [](const ir::Pack&) {},
                   [](const ir::Lane&) {},
                   [](const ir::Coefficient&) {},
                   [](const ir::Accumulated&) {},
                   [](const ir::FoldResult&) {},
                   [](const ir::Operand&) {},
                   [](const ir::StepNumber&) {},
               },
               node.op);
  }

  /// Of the indices that are not affine; reads with the same ones share them.
  void add_remainders(const ir::Read& read, std::int64_t times) {
    const bool takes_them = read.border && (read.border->mode == ir::BorderMode::Mirror ||
                                            read.border->mode == ir::BorderMode::Mirror101 ||
                                            read.border->mode == ir::BorderMode::Repeat);
    for (std::size_t d = 0; takes_them && d < read.indices.size(); ++d) {
      const auto* index = std::get_if<ir::Expr>(&read.indices[d]);
      if (!index || !found_.emplace(number_of(*index), read.region[d].extent.to_string()).second) continue;
      total_.remainders += times, total_.alu += of_remainder * times;
    }
  }

  const std::optional<int> alike_along_;
  const Neighbours neighbours_;
  std::set<std::pair<int, std::string>> found_;  // indices, by number, in extents
  Operations total_;
  std::vector<Info> infos_;
  std::unordered_map<std::string, int> distinct_;
  std::unordered_map<const ir::Node*, int> numbers_;
  std::unordered_map<const void*, std::size_t> identities_;
};

}  // namespace

Operations operations(const ir::Stage& stage, const Neighbours& neighbours) {
  return Counter(std::nullopt, neighbours).count(stage);
}

Operations operations_alike(const ir::Stage& stage, int dim) { return Counter(dim).count(stage); }

}  // namespace weft::analysis
