#include "tools/traffic.h"

#include <weft/error.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "runtime/cpu_program.h"

namespace weft::tools {
namespace {

/// The fields of a module that hold sizes and parameters, by name.
using FieldValues = std::map<std::string, ir::Value>;

ir::Number evaluate(const kernel::Expr& e, const FieldValues& fields) {
  const auto of = [&](const kernel::Expr& operand) { return evaluate(operand, fields); };
  return std::visit(
      ir::overloaded{
          [](const kernel::Const& c) { return c.value.lane[0]; },
          [&](const kernel::Name& n) { return fields.at(n.name).lane[0]; },
          [&](const kernel::Unary& u) { return ir::apply(u.op, u.a->type, of(u.a)); },
          [&](const kernel::Binary& b) { return ir::apply(b.op, b.a->type, of(b.a), of(b.b)); },
          [&](const kernel::Select& s) { return of(of(s.condition).i ? s.a : s.b); },
          [&](const kernel::Cast& c) { return ir::convert(c.mode, c.a->type, e->type, of(c.a)); },
          [&](const kernel::IndexCall& c) -> ir::Number {
            if (c.op != kernel::IndexOp::FloorDiv) throw InternalError("a size follows a border mode");
            return {.i = ir::floor_div(of(c.a).i, of(c.b).i)};
          },
          [](const auto&) -> ir::Number { throw InternalError("a size depends on pixels"); },
      },
      e->op);
}

class Counting {
 public:
  Counting(const kernel::Module& module, const FieldValues& fields) : module_(module), fields_(fields) {
    for (const kernel::Array& array : module.arrays) {
      std::int64_t bytes = size_of(array.type);
      for (const kernel::Expr& extent : array.extents) bytes *= evaluate(extent, fields).i;
      bytes_[array.name] = bytes;
    }
  }

  Traffic traffic() const {
    std::set<std::string> reads, writes;
    Traffic traffic;
    for (const kernel::Step& step : module_.steps) {
      if (const auto* repeat = std::get_if<kernel::Repeat>(&step)) {
        const std::int64_t count = times(*repeat);
        for (const kernel::Launch& launch : repeat->launches) {
          traffic.read += count * bytes_of(launch.reads);
          traffic.written += count * bytes_of(launch.writes);
        }
      } else {
        const auto& launch = std::get<kernel::Launch>(step);
        reads.insert(launch.reads.begin(), launch.reads.end());
        writes.insert(launch.writes.begin(), launch.writes.end());
      }
    }
    traffic.read += bytes_of(reads);
    traffic.written += bytes_of(writes);
    return traffic;
  }

  std::map<std::string, Traffic> traffic_of_kernels() const {
    std::map<std::string, Traffic> result;
    const auto add = [&](const kernel::Launch& launch, std::int64_t count) {
      Traffic& traffic = result[launch.function];
      traffic.read += count * bytes_of(launch.reads);
      traffic.written += count * bytes_of(launch.writes);
    };
    for (const kernel::Step& step : module_.steps) {
      if (const auto* launch = std::get_if<kernel::Launch>(&step)) add(*launch, 1);
      const auto* repeat = std::get_if<kernel::Repeat>(&step);
      for (const kernel::Launch& launch : repeat ? repeat->launches : std::vector<kernel::Launch>())
        add(launch, times(*repeat));
    }
    return result;
  }

 private:
  std::int64_t times(const kernel::Repeat& repeat) const {
    return std::max<std::int64_t>(0, evaluate(repeat.count, fields_).i);
  }

  template <class Names>
  std::int64_t bytes_of(const Names& arrays) const {
    std::int64_t sum = 0;
    for (const std::string& array : arrays) sum += bytes_.at(array);
    return sum;
  }

  const kernel::Module& module_;
  const FieldValues& fields_;
  std::map<std::string, std::int64_t> bytes_;
};

/// `module` was lowered from `pipeline`.
FieldValues field_values(const kernel::Module& module, const ir::Pipeline& pipeline,
                         const ir::Bindings& bindings) {
  FieldValues values;
  const ir::Sizes sizes = ir::sizes_of(bindings);
  auto size = module.sizes.begin();
  for (const ir::StagePtr& input : pipeline.inputs) {
    for (const std::int64_t extent : sizes.at(input->name))
      values[(size++)->name] = ir::Value::integer({Scalar::I64, 1}, extent);
  }
  auto field = module.params.begin();
  for (const auto& param : pipeline.params) values[(field++)->name] = ir::value_of(*param, bindings);
  return values;
}

}  // namespace

Traffic traffic_of(const ir::Pipeline& pipeline, const ir::Bindings& bindings) {
  const kernel::Module module = runtime::lowered(pipeline);
  const FieldValues fields = field_values(module, pipeline, bindings);
  return Counting(module, fields).traffic();
}

std::map<std::string, Traffic> traffic_of_kernels(const kernel::Module& module, const ir::Pipeline& pipeline,
                                                  const ir::Bindings& bindings) {
  const FieldValues fields = field_values(module, pipeline, bindings);
  return Counting(module, fields).traffic_of_kernels();
}

}  // namespace weft::tools
