// Stands in for CUDA's header of this name when g++ compiles CUDA C++ for the SIMT checker: with it,
// unmodified kernels and the host code that launches them become C++ whose threads, memory and streams the
// checker plays.
//
// SIMT_CHECKER is defined, for texts that want to know. Dynamic shared memory is written
// `extern __shared__ T name[];` inside a kernel, as ever: `simt::compile` replaces it, since it is not C++.
#pragma once

#define SIMT_CHECKER 1

#include <cfloat>
#include <climits>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "simt/abi.h"
#include "simt/vector_types.h"

#include "simt/text.h"

#include "simt/atomics.h"
#include "simt/host_api.h"
#include "simt/host_memory.h"
#include "simt/math.h"
#include "simt/packed.h"
#include "simt/sanitizer_hooks.h"
#include "simt/threads.h"
#include "simt/warp.h"

#include <cassert>
