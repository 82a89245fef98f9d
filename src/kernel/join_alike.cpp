#include "kernel/join_alike.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "kernel/build.h"
#include "kernel/code_walk.h"
#include "kernel/visit.h"

namespace weft::kernel {
namespace {

constexpr std::size_t most_layers = 16;  // 4 KB of parameters are sure to do

/// What a function is given instead of what it names: arrays, and their strides.
using Others = std::map<Symbol, Symbol>;

/// Code with other names for what it does not declare.
class Renaming : public CodeWalk {
 public:
  explicit Renaming(const Others& names) : names_(names) {}

 protected:
  void tag(const std::string&) override {}
  void enter() override {}
  void leave() override {}
  void refuse() override {}
  Expr number(const Expr& before, const Expr& value) override {
    return before ? binary(ir::BinaryOp::Add, before, value) : value;
  }
  Symbol declared(const Symbol& name) override { return name; }
  Symbol used(const Symbol& name) override {
    const auto found = names_.find(name);
    return found == names_.end() ? name : found->second;
  }

 private:
  const Others& names_;
};

Expr with_name(const Expr& e, const Symbol& name, const Expr& value) {
  return rewritten(e, [&](const Expr& part) -> Expr {
    const auto* named = std::get_if<Name>(&part->op);
    return named && named->name == name ? value : nullptr;
  });
}

/// What steps read and write; of a repeat all that it may.
Uses uses_of(const Module& module, const Step& step) {
  if (const auto* launch = std::get_if<Launch>(&step)) return uses_of(module, launch->function);
  const Repeat& repeat = std::get<Repeat>(step);
  Uses uses;
  const auto add = [&](const Symbol& array) { uses.reads.insert(array), uses.writes.insert(array); };
  for (const Rotation& rotation : repeat.rotations) std::for_each(rotation.begin(), rotation.end(), add);
  for (const StandIn& first : repeat.first) add(first.array), add(first.other);
  for (const Turns& part : repeat.parts) {
    for (const Launch& launch : part.launches) {
      Uses own = uses_of(module, launch.function);
      uses.reads.merge(own.reads), uses.writes.merge(own.writes);
    }
  }
  return uses;
}

bool have_one(const std::set<Symbol>& a, const std::set<Symbol>& b) {
  return std::any_of(a.begin(), a.end(), [&](const Symbol& symbol) { return b.count(symbol) > 0; });
}

/// A kernel that does the same as another with other arrays.
struct Layer {
  Symbol function;
  Others others;  ///< By what the other one has.
};

/// The code of a kernel with layers: it begins with what each of them has.
class LayeredCode {
 public:
  LayeredCode(const Module& module, Function& function, const std::vector<Layer>& layers, Names names)
      : module_(module), function_(function), layers_(layers), names_(std::move(names)) {
    avoid_declared_in(function, names_);
    number_ = names_.claim("layer");
    visit_expressions(function.body, [&](const Expr& e) {
      if (const auto* named = std::get_if<Name>(&e->op)) types_[named->name] = e->type;
    });
  }

  Block block(const std::optional<Room>& room) && {
    choose_arrays();
    choose_strides();
    if (room && types_.count(room->field)) share(room->field);
    append(block_, Renaming(own_).block(function_.body));
    For each{LoopKind::BlocksZ, number_, number(0), number(layers_.size() + 1), std::move(block_)};
    each.has_block_each = true;
    return {{std::move(each)}};
  }

 private:
  static Expr number(std::size_t value) {
    return constant(Scalar::I32, {.i = static_cast<std::int64_t>(value)});
  }

  /// One statement for each layer that has something else: of a new name, the one before it, a condition, and what that layer has.
  template <class Statement>
  void choose(const Symbol& given, const Statement& statement) {
    for (std::size_t l = 0; l < layers_.size(); ++l) {
      const auto found = layers_[l].others.find(given);
      if (found == layers_[l].others.end() || found->second == given) continue;
      const Symbol before = own_.count(given) ? own_.at(given) : given;
      own_[given] = names_.claim("layer_" + given.spelling());
      const Expr is_other = binary(ir::BinaryOp::Eq, name(number_, Scalar::I32), number(l + 1));
      block_.push_back({statement(own_[given], before, is_other, found->second)});
    }
  }

  void choose_arrays() {
    const std::set<Symbol> written = arrays_written_in(function_.body);
    for (const Array& array : module_.arrays) {
      choose(array.name,
             [&](const Symbol& own, const Symbol& before, const Expr& is_other, const Symbol& other) {
               return Pointer{own,      before, array.type.scalar, literal(0), written.count(array.name) == 0,
                              is_other, other};
             });
    }
  }
  void choose_strides() {
    for (const Array& array : module_.arrays) {
      for (const Symbol& stride : array.strides) {
        choose(stride,
               [&](const Symbol& own, const Symbol& before, const Expr& is_other, const Symbol& other) {
                 const Scalar type = types_.at(stride);
                 if (type == Scalar::I32) function_.narrow.push_back(other);
                 return Let{own, select(is_other, name(other, type), name(before, type))};
               });
      }
    }
  }
  void share(const Symbol& room) {
    const Scalar type = types_.at(room);
    own_[room] = names_.claim("layer_" + room.spelling());
    const Expr count = constant(type, {.i = static_cast<std::int64_t>(layers_.size()) + 1});
    block_.push_back({Let{own_[room], binary(ir::BinaryOp::Div, name(room, type), count)}});
  }

  const Module& module_;
  Function& function_;
  const std::vector<Layer>& layers_;
  Names names_;
  Symbol number_;
  std::map<Symbol, Scalar> types_;  // of the scalars that the code names
  Others own_;                      // names of what a layer has, by what the function names
  Block block_;
};

class Joining {
 public:
  Joining(Module& module, const Names& names) : module_(module), names_(names) {
    for (const Array& array : module.arrays) arrays_[array.name] = &array;
    for (const Table& table : module.tables) tables_[table.name] = table;
    for (const Launch* launch : launches_of(std::as_const(module))) ++launches_[launch->function];
    for (const Function& function : module.functions) shapes_.try_emplace(function.name, function.body);
  }

  void run() {
    for (std::size_t first = 0; first < module_.steps.size(); ++first) {
      if (!may_have_layers(first)) continue;
      std::vector<Layer> layers;
      for (std::size_t s = first + 1; s < module_.steps.size() && layers.size() + 1 < most_layers;) {
        std::optional<Layer> layer = layer_of(first, s);
        if (layer && may_come_at(first, layers, s)) {
          layers.push_back(*std::move(layer));
          module_.steps.erase(module_.steps.begin() + static_cast<std::ptrdiff_t>(s));
        } else {
          ++s;
        }
      }
      if (!layers.empty()) join(std::get<Launch>(module_.steps[first]), layers);
    }
  }

 private:
  Function& function(const Symbol& name) {
    return *std::find_if(module_.functions.begin(), module_.functions.end(),
                         [&](const Function& f) { return f.name == name; });
  }

  /// Whether a step is the only launch of a kernel whose grid leaves the third dimension free.
  bool may_have_layers(std::size_t step) {
    const auto* launch = std::get_if<Launch>(&module_.steps[step]);
    if (!launch || !launch->grid || launches_.at(launch->function) > 1) return false;
    if (!is_literal(launch->grid->threads[2], 1) || launch->grid->block[2] != 1) return false;
    bool is_free = true;
    visit_statements(function(launch->function).body, [&](const Stmt& s) {
      const auto* loop = std::get_if<For>(&s.op);
      is_free &= !loop || (loop->kind != LoopKind::GridZ && loop->kind != LoopKind::BlocksZ);
    });
    return is_free;
  }

  /// What the second step is as a layer of the first.
  std::optional<Layer> layer_of(std::size_t first, std::size_t second) {
    if (!may_have_layers(second)) return std::nullopt;
    const Launch &one = std::get<Launch>(module_.steps[first]),
                 &other = std::get<Launch>(module_.steps[second]);
    if (!have_like_grids(*one.grid, *other.grid)) return std::nullopt;
    const CodeShape &a = shapes_.at(one.function), &b = shapes_.at(other.function);
    if (a.is_refused() || !a.is_like(b) || a.numbers() != b.numbers()) return std::nullopt;
    Others others;
    for (std::size_t n = 0; n < a.names().size(); ++n) {
      const Symbol &name = a.names()[n], &instead = b.names()[n];
      if (one.grid->room && name == one.grid->room->field && instead == other.grid->room->field) continue;
      if (are_equal_tables(name, instead)) continue;
      if (others.try_emplace(name, instead).first->second != instead) return std::nullopt;
    }
    return are_arrays(others) ? std::optional<Layer>({other.function, std::move(others)}) : std::nullopt;
  }

  static bool have_like_grids(const Grid& a, const Grid& b) {
    const auto like = [](const Grid& g) {
      return std::tuple(g.block, g.sharing, g.items, g.at_a_time, g.warps, g.room.has_value());
    };
    if (like(a) != like(b)) return false;
    if (a.room && (a.room->registers != b.room->registers || a.room->expected != b.room->expected))
      return false;
    for (std::size_t d = 0; d < a.threads.size(); ++d) {
      const Expr of_b = b.room ? with_name(b.threads[d], b.room->field, name(a.room->field)) : b.threads[d];
      if (!same(a.threads[d], of_b)) return false;
    }
    return true;
  }

  /// Whether nothing but arrays, of the same type, and their strides differ. Two names of one array would not do: compilers are
  /// promised that pointers differ.
  bool are_arrays(const Others& others) const {
    std::set<Symbol> taken;
    Others strides;
    for (const auto& [name, instead] : others) {
      const auto a = arrays_.find(name), b = arrays_.find(instead);
      if (a == arrays_.end() || b == arrays_.end()) continue;
      if (!taken.insert(instead).second || a->second->type != b->second->type) return false;
      if (a->second->strides.size() != b->second->strides.size()) return false;
      for (std::size_t s = 0; s < a->second->strides.size(); ++s)
        strides[a->second->strides[s]] = b->second->strides[s];
    }
    return std::all_of(others.begin(), others.end(), [&](const auto& pair) {
      const auto& [name, instead] = pair;
      const auto stride = strides.find(name);
      return name == instead || (arrays_.count(name) && arrays_.count(instead)) ||
             (stride != strides.end() && stride->second == instead);
    });
  }

  bool are_equal_tables(const Symbol& a, const Symbol& b) const {
    const auto one = tables_.find(a), other = tables_.find(b);
    return one != tables_.end() && other != tables_.end() && one->second.type == other->second.type &&
           one->second.values == other->second.values;
  }

  /// Whether the second step can be done along with the first, and with layers of it.
  bool may_come_at(std::size_t first, const std::vector<Layer>& layers, std::size_t second) const {
    const Uses own = uses_of(module_, module_.steps[second]);
    const auto are_apart = [&](const Uses& other) {
      return !have_one(own.reads, other.writes) && !have_one(own.writes, other.reads) &&
             !have_one(own.writes, other.writes);
    };
    return std::all_of(module_.steps.begin() + static_cast<std::ptrdiff_t>(first),
                       module_.steps.begin() + static_cast<std::ptrdiff_t>(second),
                       [&](const Step& step) { return are_apart(uses_of(module_, step)); }) &&
           std::all_of(layers.begin(), layers.end(), [&](const Layer& layer) {
             return are_apart(kernel::uses_of(module_, layer.function));
           });
  }

  void join(Launch& launch, const std::vector<Layer>& layers) {
    const Expr count = literal(std::ssize(layers) + 1);
    Grid& grid = *launch.grid;
    Function& joined = function(launch.function);
    joined.body = LayeredCode(module_, joined, layers, names_).block(grid.room);
    joined.comment += fmt::format(" Each of {} layers of blocks has arrays of its own.", layers.size() + 1);
    grid.layers = static_cast<int>(layers.size()) + 1;
    grid.threads[2] = count;
    if (grid.room) {
      const Symbol& room = grid.room->field;
      for (Expr& threads : grid.threads) threads = with_name(threads, room, div(name(room), count));
    }
    for (const Layer& layer : layers)
      std::erase_if(module_.functions, [&](const Function& f) { return f.name == layer.function; });
    drop_tables();
  }

  /// Those that no function reads any more.
  void drop_tables() {
    std::set<Symbol> named;
    for (const Function& f : module_.functions) named.merge(names_in(f.body));
    std::erase_if(module_.tables, [&](const Table& table) { return named.count(table.name) == 0; });
  }

  Module& module_;
  const Names& names_;
  std::map<Symbol, const Array*> arrays_;
  std::map<Symbol, Table> tables_;
  std::map<Symbol, int> launches_;
  std::map<Symbol, CodeShape> shapes_;
};

}  // namespace

void join_alike(Module& module, const Names& names) { Joining(module, names).run(); }

}  // namespace weft::kernel
