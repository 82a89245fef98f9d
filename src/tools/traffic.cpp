#include "tools/traffic.h"

#include <algorithm>
#include <map>
#include <set>

#include "host/plan.h"
#include "kernel/visit.h"

namespace weft::tools {
namespace {

class Counting {
 public:
  Counting(const kernel::Module& module, const kernel::FieldValues& fields)
      : module_(module), fields_(fields) {
    for (const kernel::Array& array : module.arrays) {
      std::int64_t bytes = size_of(array.type);
      for (const std::int64_t extent : kernel::extents_of(array, fields)) bytes *= extent;
      bytes_[array.name] = bytes;
    }
  }

  Traffic traffic() const {
    std::set<kernel::Symbol> reads, writes;
    Traffic traffic;
    for (const kernel::Step& step : module_.steps) {
      if (const auto* repeat = std::get_if<kernel::Repeat>(&step)) {
        for (const kernel::Turns& part : repeat->parts) {
          const std::int64_t count = times(part);
          for (const kernel::Launch& launch : part.launches) add(launch.function, count, traffic);
        }
      } else {
        kernel::Uses uses = kernel::uses_of(module_, std::get<kernel::Launch>(step).function);
        reads.merge(uses.reads);
        writes.merge(uses.writes);
      }
    }
    traffic.read += bytes_of(reads);
    traffic.written += bytes_of(writes);
    return traffic;
  }

  std::map<kernel::Symbol, std::int64_t> launches_of_kernels() const {
    std::map<kernel::Symbol, std::int64_t> launches;
    for (const kernel::Step& step : module_.steps) {
      if (const auto* launch = std::get_if<kernel::Launch>(&step)) ++launches[launch->function];
      if (const auto* repeat = std::get_if<kernel::Repeat>(&step)) {
        for (const kernel::Turns& part : repeat->parts) {
          for (const kernel::Launch& launch : part.launches) launches[launch.function] += times(part);
        }
      }
    }
    return launches;
  }

  std::map<kernel::Symbol, Traffic> traffic_of_kernels() const {
    std::map<kernel::Symbol, Traffic> result;
    for (const auto& [function, launches] : launches_of_kernels()) add(function, launches, result[function]);
    return result;
  }

 private:
  void add(const kernel::Symbol& function, std::int64_t count, Traffic& traffic) const {
    const kernel::Uses uses = kernel::uses_of(module_, function);
    traffic.read += count * bytes_of(uses.reads);
    traffic.written += count * bytes_of(uses.writes);
  }

  std::int64_t times(const kernel::Turns& part) const {
    return std::max<std::int64_t>(0, kernel::evaluate(host::times_of(part.from, part.to, part.by), fields_));
  }

  std::int64_t bytes_of(const std::set<kernel::Symbol>& arrays) const {
    std::int64_t sum = 0;
    for (const kernel::Symbol& array : arrays) sum += bytes_.at(array);
    return sum;
  }

  const kernel::Module& module_;
  const kernel::FieldValues& fields_;
  std::map<kernel::Symbol, std::int64_t> bytes_;
};

}  // namespace

Traffic traffic_of(const ir::Pipeline& pipeline, const ir::Bindings& bindings,
                   const compile::Scheduling& scheduling) {
  const kernel::Module module = compile::lowered(pipeline, target::Processor::Cpu, scheduling);
  return traffic_of(module, kernel::field_values(module, pipeline, bindings));
}

Traffic traffic_of(const kernel::Module& module, const kernel::FieldValues& fields) {
  return Counting(module, fields).traffic();
}

std::map<kernel::Symbol, std::int64_t> launches_of_kernels(const kernel::Module& module,
                                                           const kernel::FieldValues& fields) {
  return Counting(module, fields).launches_of_kernels();
}

std::map<kernel::Symbol, Traffic> traffic_of_kernels(const kernel::Module& module,
                                                     const kernel::FieldValues& fields) {
  return Counting(module, fields).traffic_of_kernels();
}

std::map<kernel::Symbol, Traffic> traffic_of_kernels(const kernel::Module& module,
                                                     const ir::Pipeline& pipeline,
                                                     const ir::Bindings& bindings) {
  return traffic_of_kernels(module, kernel::field_values(module, pipeline, bindings));
}

}  // namespace weft::tools
