#include "kernel/verify.h"

#include <weft/error.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "ir/stage_ir.h"
#include "kernel/build.h"
#include "kernel/vector_body.h"
#include "kernel/visit.h"

namespace weft::kernel {
namespace {

struct Declared {
  enum class Kind { Scalar, MutableScalar, Array, ConstArray } kind;
  Scalar type;
  Symbol symbol = {};
};

class FunctionVerifier {
 public:
  FunctionVerifier(const Module& module, const Function& function, const std::string& after)
      : module_(module), function_(function), after_(after) {}

  void verify() {
    using enum Declared::Kind;
    for (const Field& f : fields_of(module_)) {
      const bool is_narrow = std::count(function_.narrow.begin(), function_.narrow.end(), f.name) > 0;
      define(f.name, {Scalar, is_narrow ? weft::Scalar::I32 : f.type});
    }
    for (const kernel::Array& a : module_.arrays) {
      define(a.name, {a.role == kernel::Array::Role::Input ? ConstArray : Array, a.type.scalar});
    }
    for (const Table& t : module_.tables) define(t.name, {ConstArray, t.type});
    for (const Symbol& p : function_.parameters) define(p, {Scalar, weft::Scalar::I64});
    if (function_.in_vectors) {
      const Function* other = function_called(function_.in_vectors);
      require(other && other->parameters == function_.parameters, "its function in vectors");
    }
    check(function_.body);
  }

 private:
  void require(bool condition, const std::string& what) const {
    if (!condition)
      throw InternalError("after " + after_ + ": function '" + function_.name.spelling() + "': " + what);
  }
  /// No two that can be seen at one place are spelt alike: emitted code would mean the other one.
  void define(const Symbol& name, Declared declared) {
    require(static_cast<bool>(name), "a declaration without a symbol");
    declared.symbol = name;
    require(visible_.emplace(name.spelling(), declared).second, "'" + name.spelling() + "' is defined twice");
  }
  const Declared& find(const Symbol& name) const {
    const auto found = visible_.find(name.spelling());
    require(found != visible_.end(), "'" + name.spelling() + "' is used before it is defined");
    require(found->second.symbol == name, "'" + name.spelling() + "' is another symbol than the one defined");
    return found->second;
  }
  const Declared& array(const Symbol& name) const {
    const Declared& symbol = find(name);
    require(symbol.kind == Declared::Kind::Array || symbol.kind == Declared::Kind::ConstArray,
            "'" + name.spelling() + "' is no array");
    return symbol;
  }
  const Function* function_called(const Symbol& name) const {
    const auto& functions = module_.functions;
    const auto found = std::find_if(functions.begin(), functions.end(),
                                    [&](const Function& function) { return function.name == name; });
    return found == functions.end() ? nullptr : &*found;
  }
  void require_index(const Expr& e) const { require(e->type == weft::Scalar::I64, "an index is not an i64"); }

  void check(const Block& block) {
    const auto outer = visible_;  // what a block defines ends with it
    for (const Stmt& s : block) check(s);
    visible_ = outer;
  }

  void check(const Stmt& statement) {
    using enum Declared::Kind;
    std::visit(
        ir::overloaded{
            [&](const Let& s) {
              check(s.value);
              define(s.name, {s.is_mutable ? MutableScalar : Scalar, s.value->type});
            },
            [&](const Assign& s) {
              check(s.value);
              const Declared& symbol = find(s.name);
              require(symbol.kind == MutableScalar && symbol.type == s.value->type,
                      "assignment to '" + s.name.spelling() + "'");
            },
            [&](const Pointer& s) {
              check(s.offset);
              require_index(s.offset);
              const Declared& symbol = array(s.array);
              require(symbol.type == s.type,
                      "pointer '" + s.name.spelling() + "' has another type than its array");
              require(s.is_const || symbol.kind == Array,
                      "pointer '" + s.name.spelling() + "' may write what is constant");
              if (s.unless) {
                check(s.unless);
                const Declared& other = array(s.instead);
                require(s.unless->type == weft::Scalar::Bool && other.type == s.type &&
                            (s.is_const || other.kind == Array),
                        "pointer '" + s.name.spelling() + "' into one of two arrays");
              }
              define(s.name, {s.is_const ? ConstArray : Array, s.type});
            },
            [&](const LocalArray& s) {
              require(s.count > 0, "local array '" + s.name.spelling() + "' is empty");
              define(s.name, {Array, s.type});
            },
            [&](const Store& s) {
              check(s.index), check(s.value);
              require_index(s.index);
              const Declared& symbol = array(s.array);
              require(symbol.kind == Array && symbol.type == s.value->type,
                      "store to '" + s.array.spelling() + "'");
            },
            [&](const LoadPack& s) {
              require(s.count > 0, "local array '" + s.name.spelling() + "' is empty");
              check_pack(s.array, s.has_several ? array(s.array).type : s.type, s.offset, s.valid);
              require(!s.has_several || s.is_whole, "a pack of several scalars each may not be whole");
              require(s.scalars() == s.count || s.is_whole, "a pack with columns beside it is not whole");
              define(s.name, {Array, s.type});
            },
            [&](const StorePack& s) {
              const Declared pack = array(s.name);
              check_pack(s.array, pack.type, s.offset, s.valid);
              require(array(s.array).kind == Array, "store to '" + s.array.spelling() + "'");
            },
            [&](const Prefetch& s) {
              check(s.offset), check(s.count);
              require_index(s.offset), require_index(s.count);
              require(array(s.array).type == s.type,
                      "'" + s.array.spelling() + "' is prefetched as another type");
            },
            [&](const LookUp& s) {
              check(s.count), require_index(s.count);
              const weft::Scalar place = array(s.places).type;
              require(s.size > 0 && array(s.to).kind == Array && array(s.to).type == weft::Scalar::U8 &&
                          array(s.table).type == weft::Scalar::U8 && !is_float(place),
                      "bytes looked up in '" + s.table.spelling() + "'");
            },
            [&](const PickPlanes& s) {
              check(s.scalars), check(s.start), check(s.count);
              require_index(s.scalars), require_index(s.start), require_index(s.count);
              const auto is_of = [&](const Symbol& name, weft::Scalar type) {
                return array(name).kind == Array && array(name).type == type;
              };
              bool is_right = s.planes > 0 && s.planes <= PickPlanes::most_planes &&
                              s.shift >= PickPlanes::least_shift && s.lanes > 0 &&
                              is_of(s.table, weft::Scalar::F32) && is_of(s.upright, weft::Scalar::F32);
              for (const PickPlanes::Pick& pick : s.picks) {
                is_right &= is_of(pick.places, weft::Scalar::I32) && !pick.to.empty();
                for (const Symbol& to : pick.to) is_right &= is_of(to, weft::Scalar::F32);
              }
              require(is_right, "planes picked of '" + s.table.spelling() + "'");
            },
            [&](const ExceedsCaches& s) {
              check(s.bytes), require_index(s.bytes);
              define(s.name, {Scalar, weft::Scalar::Bool});
            },
            [&](const StorePastCaches& s) {
              check(s.offset), check(s.count);
              require_index(s.offset), require_index(s.count);
              require(array(s.array).kind == Array && array(s.array).type == s.type &&
                          array(s.from).type == s.type,
                      "a store past caches to '" + s.array.spelling() + "'");
            },
            [&](const Shuffle& s) {
              check(s.value);
              if (s.lane) check(s.lane), require_index(s.lane);
              define(s.name, {Scalar, s.value->type});
            },
            [&](const IsAligned& s) {
              check(s.offset), require_index(s.offset), array(s.array);
              define(s.name, {Scalar, weft::Scalar::Bool});
            },
            [&](const Atomic& s) {
              check(s.index), check(s.value);
              require_index(s.index);
              const Declared& symbol = array(s.array);
              require(symbol.kind == Array && symbol.type == s.value->type,
                      "an update of '" + s.array.spelling() + "'");
            },
            [](const Barrier&) {},
            [&](const For& s) {
              check(s.from), check(s.to);
              require(s.from->type == s.to->type, "the ends of a loop differ");
              if (s.from->type != weft::Scalar::I32) require_index(s.from);
              if (s.step) {
                check(s.step);
                require(s.step->type == s.from->type, "the step of a loop is not of its type");
                require(literal_value(s.step).value_or(1) > 0, "a loop does not advance");
              }
              if (s.ends) {
                check(s.ends->pixels), require_index(s.ends->pixels);
                if (s.ends->constant) check(s.ends->constant);
                check(s.ends->bytes), require_index(s.ends->bytes);
              }
              const auto outer = visible_;
              define(s.variable, {Scalar, s.from->type});
              if (s.vectors) check(*s.vectors);
              check(s.body);
              visible_ = outer;
            },
            [&](const If& s) {
              check(s.condition);
              require(s.condition->type == weft::Scalar::Bool, "an if's condition is not a bool");
              check(s.then), check(s.otherwise);
            },
            [&](const IfVectors& s) {
              if (s.condition) check(s.condition), define(s.name, {Scalar, s.condition->type});
              require(find(s.name).type == weft::Scalar::Bool, "the condition of vectors is not a bool");
              check(s.then), check(s.otherwise);
            },
            [&](const StepsInLanes& s) {
              check(s.bytes), check(s.update);
              require(is_update_of_line(s), "steps of no line in lanes");
            },
            [&](const Scope& s) { check(s.body); },
            [&](const CallFunction& s) {
              const Function* callee = function_called(s.function);
              require(callee && callee->parameters.size() == s.arguments.size(),
                      "call of '" + s.function.spelling() + "'");
              for (const Expr& e : s.arguments) check(e), require_index(e);
            },
            [&](const Order& s) {
              require(array(s.array).kind == Array, "order of a constant array");
              require(std::any_of(module_.networks.begin(), module_.networks.end(),
                                  [&](const Network& network) { return network.name == s.network; }),
                      "order by '" + s.network.spelling() + "', which is no network");
            },
            [](const Continue&) {},
            [](const Comment&) {},
        },
        statement.op);
  }

  void check(const InVectors& vectors) {
    const auto check_row = [&](const auto& row) {
      check(row.index), require_index(row.index);
      for (const Expr& value : row.left_of_row) check(value);
      for (const Expr& value : row.right_of_row) check(value);
    };
    for (const Neighbours& row : vectors.neighbours) {
      check_row(row), array(row.array);
      const bool has_neighbours = (row.left > 0 && row.before) || !row.right_of_row.empty();
      require(has_neighbours && row.here && row.right_of_row.empty() == !row.beyond,
              "neighbours of '" + row.array.spelling() + "'");
    }
    for (const Columns& row : vectors.columns) {
      check_row(row);
      const auto outer = visible_;
      for (const Stmt& statement : row.lets) check(statement);
      check(row.value);
      visible_ = outer;
      require(row.from && row.here && row.after && row.beyond && row.left_of_row.empty() == !row.before,
              "columns of '" + row.array.spelling() + "'");
      define(row.array, {Declared::Kind::ConstArray, row.value->type});
    }
    require(vectors.columns.empty() || vectors.neighbours.empty(), "columns and neighbours of one loop");
    if (vectors.bytes) check(vectors.bytes), require_index(vectors.bytes);
  }

  void check_pack(const Symbol& from, weft::Scalar type, const Expr& offset, const Expr& valid) const {
    check(offset), check(valid);
    require_index(offset), require_index(valid);
    require(array(from).type == type, "a pack has another type than '" + from.spelling() + "'");
  }

  void check(const Expr& e) const {
    require(e != nullptr, "a missing expression");
    std::visit(
        ir::overloaded{
            [&](const Const& n) {
              require(n.value.type == Type{e->type, 1}, "a constant's type");
            },
            [&](const Name& n) {
              const Declared& symbol = find(n.name);
              require(symbol.kind == Declared::Kind::Scalar || symbol.kind == Declared::Kind::MutableScalar,
                      "'" + n.name.spelling() + "' is no scalar");
              require(symbol.type == e->type, "'" + n.name.spelling() + "' is used as " + name_of(e->type));
            },
            [&](const Unary& n) {
              check(n.a), require(n.a->type == e->type, "the type of " + name_of(n.op));
            },
            [&](const Binary& n) {
              check(n.a), check(n.b);
              require(n.a->type == n.b->type, "the operands of " + name_of(n.op) + " differ");
              require(e->type == (ir::is_comparison(n.op) ? weft::Scalar::Bool : n.a->type),
                      "the type of " + name_of(n.op));
            },
            [&](const Select& n) {
              check(n.condition), check(n.a), check(n.b);
              require(n.condition->type == weft::Scalar::Bool && n.a->type == e->type && n.b->type == e->type,
                      "a select");
            },
            [&](const Cast& n) { check(n.a); },
            [&](const IndexCall& n) {
              check(n.a), check(n.b);
              require(n.a->type == n.b->type && e->type == n.a->type, "index arithmetic of different types");
              if (e->type != weft::Scalar::I32) require_index(e);
            },
            [&](const Load& n) {
              check(n.index), require_index(n.index);
              require(array(n.array).type == e->type, "a load from '" + n.array.spelling() + "'");
            },
            [&](const HalfOfSum& n) {
              check(n.a), check(n.b);
              require(n.a->type == e->type && n.b->type == e->type && e->type == weft::Scalar::I16,
                      "half of a sum");
            },
            [&](const MedianOf& n) {
              require(array(n.array).type == e->type, "a median of '" + n.array.spelling() + "'");
            },
        },
        e->op);
  }

  const Module& module_;
  const Function& function_;
  const std::string& after_;
  std::map<std::string, Declared> visible_;  // by spelling
};

}  // namespace

void verify(const Module& module, const std::string& after) {
  for (const Function& function : module.functions) FunctionVerifier(module, function, after).verify();
}

}  // namespace weft::kernel
