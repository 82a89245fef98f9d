// Where a number about hardware comes from. Models are only as good as their numbers, and not all of these
// were measured: whoever reads one can ask.
#pragma once

#include <string_view>

namespace weft::machine {

enum class Source {
  OccupancyHeader,   ///< NVIDIA's occupancy calculator.
  ProgrammingGuide,  ///< NVIDIA's table of technical specifications.
  ThreadTraits,      ///< NVIDIA's table of architecture traits in CCCL.
  Papers,            ///< The publications whose experiments Weft reproduces.
  GpuBenches,        ///< Published raw results of RRZE-HPC/gpu-benches.
  OwnRun,            ///< Measured by this project.
  DeviceQuery,       ///< A device's own answer, published with somebody's results.
  VendorData,        ///< Vendors' data sheets, from memory: not verified.
  Assumed,           ///< Carried over from a similar board.
};

/// One line, such as "measured by RRZE-HPC/gpu-benches (raw results of February 2025)".
std::string_view describe(Source source);

}  // namespace weft::machine
