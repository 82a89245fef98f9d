// What emitted HIP needs of AMD's header of this name, so that tests need no ROCm. For clang, which knows
// AMD's processors by itself, it declares the runtime; for the SIMT checker it gives CUDA's names HIP's.
#pragma once

#ifdef __HIP__

#include <__clang_hip_runtime_wrapper.h>  // clang's own: __global__ and the like, and functions of mathematics
#include <stddef.h>

#define __launch_bounds__(threads) __attribute__((amdgpu_flat_work_group_size(1, threads)))
#define __align__(n) __attribute__((aligned(n)))
#define __forceinline__ inline __attribute__((always_inline))

struct dim3 {
  unsigned x, y, z;
  dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};
#define PLACES(name, builtin_x, builtin_y, builtin_z)            \
  struct name##_type {                                           \
    struct X {                                                   \
      __device__ operator unsigned() const { return builtin_x; } \
    } x;                                                         \
    struct Y {                                                   \
      __device__ operator unsigned() const { return builtin_y; } \
    } y;                                                         \
    struct Z {                                                   \
      __device__ operator unsigned() const { return builtin_z; } \
    } z;                                                         \
  };                                                             \
  static constexpr name##_type name {}
PLACES(threadIdx, __builtin_amdgcn_workitem_id_x(), __builtin_amdgcn_workitem_id_y(),
       __builtin_amdgcn_workitem_id_z());
PLACES(blockIdx, __builtin_amdgcn_workgroup_id_x(), __builtin_amdgcn_workgroup_id_y(),
       __builtin_amdgcn_workgroup_id_z());
PLACES(blockDim, __builtin_amdgcn_workgroup_size_x(), __builtin_amdgcn_workgroup_size_y(),
       __builtin_amdgcn_workgroup_size_z());
PLACES(gridDim, (__builtin_amdgcn_grid_size_x() / __builtin_amdgcn_workgroup_size_x()),
       (__builtin_amdgcn_grid_size_y() / __builtin_amdgcn_workgroup_size_y()),
       (__builtin_amdgcn_grid_size_z() / __builtin_amdgcn_workgroup_size_z()));

__device__ inline void __syncthreads() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

// Values of other lanes, of 32 bits.
template <class T>
__device__ T of_lane(T value, int lane) {
  if constexpr (sizeof(T) < 4)
    return (T)__builtin_amdgcn_ds_bpermute(lane * 4, (int)value);
  else
    return __builtin_bit_cast(T, __builtin_amdgcn_ds_bpermute(lane * 4, __builtin_bit_cast(int, value)));
}
__device__ inline int own_lane() { return (int)__builtin_amdgcn_workitem_id_x() & 31; }
template <class T>
__device__ T __shfl(T value, int lane, int) {
  return of_lane(value, lane);
}
template <class T>
__device__ T __shfl_up(T value, unsigned lanes, int) {
  return of_lane(value, own_lane() - (int)lanes);
}
template <class T>
__device__ T __shfl_down(T value, unsigned lanes, int) {
  return of_lane(value, own_lane() + (int)lanes);
}

// The updates that ROCm 5.2 has.
#define UPDATE(function, type, operation)                                                         \
  __device__ inline type function(type* at, type value) {                                         \
    return __hip_atomic_fetch_##operation(at, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT); \
  }
UPDATE(atomicAdd, int, add)
UPDATE(atomicAdd, unsigned, add)
UPDATE(atomicAdd, unsigned long long, add)
UPDATE(atomicAdd, float, add)
UPDATE(atomicAdd, double, add)
#define UPDATES_OF_INTEGERS(function, operation) \
  UPDATE(function, int, operation)               \
  UPDATE(function, unsigned, operation)          \
  UPDATE(function, unsigned long long, operation)
UPDATES_OF_INTEGERS(atomicMin, min)
UPDATES_OF_INTEGERS(atomicMax, max)
UPDATES_OF_INTEGERS(atomicAnd, and)
UPDATES_OF_INTEGERS(atomicOr, or)
UPDATES_OF_INTEGERS(atomicXor, xor)
#define COMPARE_AND_SWAP(type)                                                                    \
  __device__ inline type atomicCAS(type* at, type assumed, type value) {                          \
    __hip_atomic_compare_exchange_strong(at, &assumed, value, __ATOMIC_RELAXED, __ATOMIC_RELAXED, \
                                         __HIP_MEMORY_SCOPE_AGENT);                               \
    return assumed;                                                                               \
  }
COMPARE_AND_SWAP(unsigned)
COMPARE_AND_SWAP(unsigned long long)

enum [[nodiscard]] hipError_t{hipSuccess, hipErrorInvalidValue};
enum hipMemcpyKind { hipMemcpyHostToDevice, hipMemcpyDeviceToHost };
typedef struct ihipStream_t* hipStream_t;
hipError_t hipStreamCreate(hipStream_t* stream);
hipError_t hipStreamDestroy(hipStream_t stream);
hipError_t hipStreamSynchronize(hipStream_t stream);
hipError_t hipMallocAsync(void** memory, size_t bytes, hipStream_t stream);
hipError_t hipFreeAsync(void* memory, hipStream_t stream);
hipError_t hipMemsetAsync(void* memory, int value, size_t bytes, hipStream_t stream);
hipError_t hipMemcpyAsync(void* to, const void* from, size_t bytes, hipMemcpyKind kind, hipStream_t stream);
hipError_t hipMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                            size_t height, hipMemcpyKind kind, hipStream_t stream);
enum hipDeviceAttribute_t { hipDeviceAttributeMultiprocessorCount };
hipError_t hipGetDevice(int* device);
hipError_t hipDeviceGetAttribute(int* value, hipDeviceAttribute_t attribute, int device);
hipError_t hipOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* kernel, int threads,
                                                        size_t shared);
hipError_t hipLaunchKernel(const void* kernel, dim3 grid, dim3 block, void** arguments, size_t shared,
                           hipStream_t stream);

#else

#include <cuda_runtime.h>

template <class T>
__device__ T __shfl(T value, int lane, int width) {
  return (T)__shfl_sync(~0u, value, lane, width);
}
template <class T>
__device__ T __shfl_up(T value, unsigned lanes, int width) {
  return (T)__shfl_up_sync(~0u, value, lanes, width);
}
template <class T>
__device__ T __shfl_down(T value, unsigned lanes, int width) {
  return (T)__shfl_down_sync(~0u, value, lanes, width);
}

using hipError_t = cudaError_t;
using hipStream_t = cudaStream_t;
using hipMemcpyKind = cudaMemcpyKind;
constexpr auto hipSuccess = cudaSuccess, hipErrorInvalidValue = cudaErrorInvalidValue;
constexpr auto hipMemcpyHostToDevice = cudaMemcpyHostToDevice, hipMemcpyDeviceToHost = cudaMemcpyDeviceToHost;
#define hipStreamCreate cudaStreamCreate
#define hipStreamDestroy cudaStreamDestroy
#define hipStreamSynchronize cudaStreamSynchronize
#define hipMallocAsync cudaMallocAsync
#define hipFreeAsync cudaFreeAsync
#define hipMemsetAsync cudaMemsetAsync
#define hipMemcpyAsync cudaMemcpyAsync
#define hipMemcpy2DAsync cudaMemcpy2DAsync
#define hipGetDevice cudaGetDevice
#define hipDeviceGetAttribute cudaDeviceGetAttribute
#define hipDeviceAttributeMultiprocessorCount cudaDevAttrMultiProcessorCount
#define hipOccupancyMaxActiveBlocksPerMultiprocessor cudaOccupancyMaxActiveBlocksPerMultiprocessor
#define hipLaunchKernel cudaLaunchKernel

#endif
