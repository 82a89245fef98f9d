#include "emit/row_vectors.h"

namespace weft::emit {

const char* const row_vectors = R"(#if defined(__AVX512F__)
// Neighbouring scalars of a row, as many as a register has: a line of the cache.
template <class T> struct row_vector_of;
template <> struct row_vector_of<float> {
  typedef float type __attribute__((vector_size(64)));
  typedef int32_t places __attribute__((vector_size(64)));
};
template <> struct row_vector_of<double> {
  typedef double type __attribute__((vector_size(64)));
  typedef int64_t places __attribute__((vector_size(64)));
};
template <class T> using row_vector = typename row_vector_of<T>::type;
template <class T> constexpr int in_vector = 64 / (int)sizeof(T);
template <class T> static inline row_vector<T> vector_at(const T* from) {
  row_vector<T> v;
  __builtin_memcpy(&v, from, sizeof v);
  return v;
}
template <class T> static inline void store_vector(T* to, row_vector<T> v) { __builtin_memcpy(to, &v, sizeof v); }
// The `count` scalars before an address, at the end of a vector.
template <int count, class T> static inline row_vector<T> vector_before(const T* address) {
  row_vector<T> v = {};
  for (int k = 1; k <= count; ++k) v[in_vector<T> - k] = address[-k];
  return v;
}
// Of two vectors that follow each other, the one that begins `count` scalars before the second.
template <int... k> struct numbers {};
template <int n, int... k> struct numbers_up_to : numbers_up_to<n - 1, n - 1, k...> {};
template <int... k> struct numbers_up_to<0, k...> { typedef numbers<k...> type; };
template <class T, int first, int... k>
static inline row_vector<T> picked(row_vector<T> a, row_vector<T> b, numbers<k...>) {
#if defined(__clang__)
  return __builtin_shufflevector(a, b, (first + k)...);
#else
  return __builtin_shuffle(a, b, typename row_vector_of<T>::places{(first + k)...});
#endif
}
template <int count> static inline row_vector<float> shifted(row_vector<float> a, row_vector<float> b) {
  return picked<float, 16 - count>(a, b, numbers_up_to<16>::type());
}
template <int count> static inline row_vector<double> shifted(row_vector<double> a, row_vector<double> b) {
  return picked<double, 8 - count>(a, b, numbers_up_to<8>::type());
}
#endif
)";

}  // namespace weft::emit
