// What emitted C++ has for vectors of neighbouring scalars, where processors have registers for 64 bytes.
#pragma once

namespace weft::emit {

/// row_vector<T>, for T = float and double, and in_vector<T>, the scalars of one; vector_at, vector_before, store_vector, shifted.
extern const char* const row_vectors;

}  // namespace weft::emit
