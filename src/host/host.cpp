#include "host/host.h"

#include <weft/error.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "kernel/build.h"
#include "kernel/visit.h"

namespace weft::host {

using kernel::Array;
using kernel::Atomic;
using kernel::Expr;
using kernel::Field;
using kernel::Function;
using kernel::Launch;
using kernel::literal;
using kernel::Module;
using kernel::Name;
using kernel::name;
using kernel::Repeat;
using kernel::Rotation;
using kernel::Step;
using kernel::Stmt;
using kernel::Uses;

namespace {

std::set<std::string> arrays_of(const Module& module, const Step& step, bool written_ones) {
  std::set<std::string> names;
  const auto add = [&](const Launch& launch) {
    Uses uses = uses_of(module, launch.function);
    names.merge(uses.reads);
    if (written_ones) names.merge(uses.writes);
  };
  if (const auto* repeat = std::get_if<Repeat>(&step)) {
    for (const Launch& launch : repeat->launches) add(launch);
    for (const Rotation& rotation : repeat->rotations) names.insert(rotation.begin(), rotation.end());
  } else {
    add(std::get<Launch>(step));
  }
  return names;
}

constexpr int line_bytes = 128;  // what a warp's loads are made of

}  // namespace

std::vector<Parameter> parameters_of(const Module& module, const Function& function) {
  const auto used = names_in(function.body), written = arrays_written_in(function.body);
  std::vector<Parameter> result;
  for (const Array& a : module.arrays) {
    if (used.count(a.name)) result.push_back({a.name, a.type.scalar, true, !written.count(a.name)});
  }
  for (const auto* list : {&module.sizes, &module.strides, &module.params, &module.counters}) {
    for (const Field& f : *list) {
      if (!used.count(f.name)) continue;
      const bool is_narrow = std::count(function.narrow.begin(), function.narrow.end(), f.name) > 0;
      result.push_back({f.name, is_narrow ? Scalar::I32 : f.type});
    }
  }
  return result;
}

const Launch& launch_of(const Module& module, const Function& function) {
  for (const Step& step : module.steps) {
    if (const auto* launch = std::get_if<Launch>(&step); launch && launch->function == function.name)
      return *launch;
    if (const auto* repeat = std::get_if<Repeat>(&step)) {
      for (const Launch& launch : repeat->launches) {
        if (launch.function == function.name) return launch;
      }
    }
  }
  throw InternalError("nothing launches '" + function.name + "'");
}

Expr is_empty(const Array& a) {
  Expr empty;
  for (const Expr& extent : a.extents) {
    const Expr none = binary(ir::BinaryOp::Eq, extent, literal(0));
    empty = empty ? binary(ir::BinaryOp::Or, empty, none) : none;
  }
  return empty;
}

bool is_read_while_empty(const Module& module, const Array& a) {
  const bool may_be_empty = std::any_of(a.extents.begin(), a.extents.end(), [](const Expr& extent) {
    const auto fixed = literal_value(extent);
    return fixed ? *fixed == 0 : !std::holds_alternative<Name>(extent->op);
  });
  if (a.role != Array::Role::Output || !may_be_empty) return false;
  return std::any_of(module.steps.begin(), module.steps.end(),
                     [&](const Step& step) { return arrays_of(module, step, false).count(a.name); });
}

std::set<std::string> arrays_exchanging_words(const Module& module) {
  std::set<std::string> updated;
  for (const Function& function : module.functions) {
    visit_statements(function.body, [&](const Stmt& s) {
      if (const auto* update = std::get_if<Atomic>(&s.op)) updated.insert(update->array);
    });
  }
  std::set<std::string> names;
  for (const Array& a : module.arrays) {
    if (size_of(a.type.scalar) < 4 && updated.count(a.name)) names.insert(a.name);
  }
  return names;
}

std::vector<Lifetimes> lifetimes_of(const Module& module) {
  std::map<std::string, std::pair<std::size_t, std::size_t>> uses;  // the first and the last
  for (std::size_t i = 0; i < module.steps.size(); ++i) {
    for (const std::string& array : arrays_of(module, module.steps[i], true))
      uses.try_emplace(array, i, i).first->second.second = i;
  }
  std::vector<Lifetimes> lifetimes(module.steps.size());
  for (std::size_t a = 0; a < module.arrays.size(); ++a) {
    const auto use = uses.find(module.arrays[a].name);
    if (module.arrays[a].role != Array::Role::Intermediate || use == uses.end()) continue;
    lifetimes[use->second.first].begin.push_back(a);
    lifetimes[use->second.second].end.push_back(a);
  }
  return lifetimes;
}

std::vector<Expr> allocated_strides(const Array& a, const std::string& prefix) {
  std::vector<Expr> strides;
  for (std::size_t d = 0; d < a.strides.size(); ++d) {
    if (d == 0) {
      const int line = line_bytes / size_of(a.type.scalar);
      const bool is_size = std::holds_alternative<Name>(a.extents[0]->op);  // never 0
      const Expr width = is_size ? a.extents[0] : max(a.extents[0], literal(1));
      const Expr row = add(mul(width, literal(a.type.lanes)), literal(line - 1));
      strides.push_back(mul(div(row, literal(line)), literal(line)));
    } else {
      strides.push_back(mul(name(prefix + a.strides[d - 1]), max(a.extents[d], literal(1))));
    }
  }
  return strides;
}

Expr allocated_scalars(const Array& a, const std::string& prefix) {
  if (a.strides.empty()) return scalars_of_stand_in(a);
  return mul(name(prefix + a.strides.back()), max(a.extents.back(), literal(1)));
}

Expr scalars_of_stand_in(const Array& a) {
  const Expr width = a.extents.empty() ? literal(1) : max(a.extents[0], literal(1));
  return mul(width, literal(a.type.lanes));
}

}  // namespace weft::host
