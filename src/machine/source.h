// Where a number about hardware comes from. Models are only as good as their numbers, and not all of these
// were measured: whoever reads one can ask.
#pragma once

#include <string_view>

namespace weft::machine {

enum class Source {
  NvidiaTables,     ///< NVIDIA's occupancy calculator and table of technical specifications.
  Papers,           ///< The publications whose experiments Weft reproduces.
  PapersAndVendor,  ///< The same, completed from memory of vendors' data sheets.
  GpuBenches,       ///< Published raw results of RRZE-HPC/gpu-benches.
  OwnRun,           ///< Asked of the board, or measured on it, by this project.
  DeviceQuery,      ///< A device's own answer, published with somebody's results.
  VendorData,       ///< Vendors' data sheets, from memory: not verified.
  Assumed,          ///< Carried over from a similar board.
};

/// Such as "RRZE-HPC/gpu-benches, raw results of February 2025".
std::string_view describe(Source source);

}  // namespace weft::machine
