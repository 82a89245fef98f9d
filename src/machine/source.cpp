#include "machine/source.h"

#include <weft/error.h>

namespace weft::machine {

std::string_view describe(Source source) {
  switch (source) {
    case Source::NvidiaTables: return "cuda_occupancy.h of CUDA 13.0 and the CUDA C++ Programming Guide";
    case Source::Papers: return "publications that Weft reproduces";
    case Source::PapersAndVendor: return "publications that Weft reproduces, and vendor's data from memory";
    case Source::GpuBenches: return "RRZE-HPC/gpu-benches, raw results of February 2025";
    case Source::OwnRun: return "this project's own run on the board";
    case Source::DeviceQuery: return "device query in pytorch/ao pull request 4002";
    case Source::VendorData: return "vendor's data from memory, not verified";
    case Source::Assumed: return "assumed, from a similar board";
  }
  throw InternalError("a source without a description");
}

}  // namespace weft::machine
