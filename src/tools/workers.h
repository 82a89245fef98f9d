// Threads for work that takes long and is divided coarsely: compiling and running batches of pipelines.
#pragma once

#include <cstdint>
#include <functional>

namespace weft::tools {

/// Calls `work` for each number of [first, end), in about their order, from `workers` threads; 0: one per core.
/// If a call throws, no more are made, and the exception goes to the caller when all threads have ended.
void share_out(std::uint64_t first, std::uint64_t end, int workers,
               const std::function<void(std::uint64_t)>& work);

}  // namespace weft::tools
