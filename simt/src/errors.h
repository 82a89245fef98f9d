// The values of cudaError_t that the checker returns; cuda/simt/host_api.h has their names.
#pragma once

namespace simt::error {

inline constexpr int none = 0;
inline constexpr int invalid_value = 1;
inline constexpr int memory_allocation = 2;
inline constexpr int invalid_configuration = 9;
inline constexpr int invalid_direction = 21;
inline constexpr int invalid_handle = 400;
inline constexpr int illegal_address = 700;
inline constexpr int launch_out_of_resources = 701;
inline constexpr int misaligned_address = 716;
inline constexpr int launch_failure = 719;
inline constexpr int capture_unsupported = 900;
inline constexpr int capture_unjoined = 904;
inline constexpr int capture_isolation = 905;

}  // namespace simt::error
