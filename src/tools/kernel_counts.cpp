#include "tools/kernel_counts.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tools/simt_program.h"

namespace weft::tools {
namespace {

constexpr double sector = 32;  // bytes

double ratio(double value, double least) { return least > 0 ? value / least : 0; }
double bank_passes(const KernelMeasure& k) {
  return ratio(static_cast<double>(k.counts.total.bank_passes),
               static_cast<double>(k.counts.total.least_bank_passes));
}

}  // namespace

std::vector<KernelMeasure> count_kernels(const Pipeline& pipeline, const Arguments& arguments,
                                         const compile::Scheduling& scheduling) {
  const kernel::Module module = cuda_module(pipeline, scheduling);
  const auto traffic =
      traffic_of_kernels(module, pipeline.ir(), ir::bound(arguments.images, arguments.params));
  const std::vector<simt::KernelCounts> counts = counts_on_simt(pipeline, arguments, scheduling);
  std::vector<KernelMeasure> kernels;
  for (const kernel::Function& function : module.functions) {
    const auto found = std::find_if(counts.begin(), counts.end(), [&](const simt::KernelCounts& c) {
      return c.kernel == function.name.spelling();
    });
    if (found != counts.end()) kernels.push_back({*found, traffic.at(function.name)});
  }
  return kernels;
}

nlohmann::ordered_json to_json(const std::vector<KernelMeasure>& kernels, double pixels) {
  auto json = nlohmann::ordered_json::array();
  for (const KernelMeasure& k : kernels) {
    const simt::Counts& c = k.counts.total;
    const auto per_pixel = [&](auto count) { return static_cast<double>(count) / pixels; };
    json.push_back({{"kernel", k.counts.kernel},
                    {"launches", k.counts.launches},
                    {"threads", k.counts.threads},
                    {"sectors_loaded", per_pixel(c.sectors_loaded)},
                    {"compulsory_sectors_loaded", per_pixel(k.compulsory.read) / sector},
                    {"sectors_stored", per_pixel(c.sectors_stored)},
                    {"compulsory_sectors_stored", per_pixel(k.compulsory.written) / sector},
                    {"bank_passes", per_pixel(c.bank_passes)},
                    {"least_bank_passes", per_pixel(c.least_bank_passes)},
                    {"barriers", per_pixel(c.barriers)},
                    {"warp_barriers", per_pixel(c.warp_barriers)},
                    {"shuffles", per_pixel(c.shuffles)},
                    {"votes", per_pixel(c.votes)},
                    {"atomics", per_pixel(c.atomics)}});
  }
  return json;
}

std::vector<std::string> columns() {
  return {"kernel",         "launches",      "threads",     "loaded / pixel", "of compulsory",
          "stored / pixel", "of compulsory", "bank passes", "atomics / pixel"};
}

std::vector<std::vector<std::string>> to_rows(const std::vector<KernelMeasure>& kernels, double pixels) {
  std::vector<std::vector<std::string>> rows;
  for (const KernelMeasure& k : kernels) {
    const simt::Counts& c = k.counts.total;
    const auto loaded = static_cast<double>(c.sectors_loaded), stored = static_cast<double>(c.sectors_stored);
    rows.push_back({k.counts.kernel, std::to_string(k.counts.launches), std::to_string(k.counts.threads),
                    fmt::format("{:.4f}", loaded / pixels),
                    fmt::format("{:.2f}", ratio(loaded * sector, static_cast<double>(k.compulsory.read))),
                    fmt::format("{:.4f}", stored / pixels),
                    fmt::format("{:.2f}", ratio(stored * sector, static_cast<double>(k.compulsory.written))),
                    c.least_bank_passes ? fmt::format("{:.2f}", bank_passes(k)) : "-",
                    fmt::format("{:.4f}", static_cast<double>(c.atomics) / pixels)});
  }
  return rows;
}

}  // namespace weft::tools
