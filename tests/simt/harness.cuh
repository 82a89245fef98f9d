// What the texts of this folder share. They are CUDA C++: nvcc takes them, too.
#pragma once

#include <cuda_runtime.h>

#include <cstdio>
#include <tuple>
#include <utility>
#include <vector>

/// A kernel's arguments, converted to its parameters.
template <class... Parameters>
struct Arguments {
  std::tuple<Parameters...> values;
  void* pointers[sizeof...(Parameters) + 1];

  explicit Arguments(Parameters... parameters) : values(parameters...) {
    fill(std::index_sequence_for<Parameters...>());
  }

 private:
  template <std::size_t... indices>
  void fill(std::index_sequence<indices...>) {
    (void)std::initializer_list<int>{(pointers[indices] = (void*)&std::get<indices>(values), 0)...};
  }
};

template <class... Parameters, class... Given>
Arguments<Parameters...> arguments_of(void (*)(Parameters...), Given... given) {
  return Arguments<Parameters...>(given...);
}

#define LAUNCH(kernel, grid, block, shared, stream, ...)                                  \
  do {                                                                                    \
    auto arguments = arguments_of(kernel, __VA_ARGS__);                                   \
    cudaLaunchKernel(kernel, dim3(grid), dim3(block), arguments.pointers, shared, stream); \
  } while (0)

/// A buffer with 0, 1, 2 … 250, 0, 1 …
template <class T>
T* ramp(std::size_t count) {
  std::vector<T> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<T>(i % 251);
  T* device = nullptr;
  cudaMalloc(&device, count * sizeof(T));
  cudaMemcpy(device, values.data(), count * sizeof(T), cudaMemcpyHostToDevice);
  return device;
}

template <class T>
T* zeros(std::size_t count) {
  T* device = nullptr;
  cudaMalloc(&device, count * sizeof(T));
  cudaMemset(device, 0, count * sizeof(T));
  return device;
}

template <class T>
std::vector<T> fetch(const T* device, std::size_t count) {
  std::vector<T> values(count);
  cudaMemcpy(values.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost);
  return values;
}

/// The number of values that differ; the first is printed.
template <class T, class Expected>
int differences(const std::vector<T>& values, Expected expected) {
  int count = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const T wanted = static_cast<T>(expected(i));
    if (values[i] == wanted) continue;
    if (count++ == 0) std::printf("[%zu] is %g, not %g\n", i, double(values[i]), double(wanted));
  }
  return count;
}
