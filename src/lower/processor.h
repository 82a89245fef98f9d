// What kernels are lowered for.
#pragma once

namespace weft::lower {

enum class Processor {
  Cpu,  ///< Functions over rows or parts, which threads share out.
  Gpu,  ///< Kernels over grids of blocks of threads.
};

}  // namespace weft::lower
