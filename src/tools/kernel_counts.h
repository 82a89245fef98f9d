// What the kernels of a pipeline's CUDA do to memory, counted by the SIMT checker, beside what they cannot
// avoid.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include <simt/report.h>
#include <weft/pipeline.h>
#include "tools/traffic.h"

namespace weft::tools {

struct KernelMeasure {
  simt::KernelCounts counts;
  Traffic compulsory;  ///< Of all its launches: every array that it reads or writes, once in each.
};

/// One run of the pipeline; its kernels in the order of the text. Throws weft::Error with a fault that was
/// found.
std::vector<KernelMeasure> count_kernels(const Pipeline& pipeline, const Arguments& arguments,
                                         const compile::Scheduling& scheduling = {});

/// One object per kernel, with memory per pixel of `pixels`.
nlohmann::ordered_json to_json(const std::vector<KernelMeasure>& kernels, double pixels);
/// The most important of it, a row per kernel.
std::vector<std::vector<std::string>> to_rows(const std::vector<KernelMeasure>& kernels, double pixels);
/// The names of a row's columns.
std::vector<std::string> columns();

}  // namespace weft::tools
