// What emitted C++ does with vectors of one kind of processor, and otherwise scalar by scalar: texts of the prelude.
#pragma once

namespace weft::emit {

/// Bytes of small tables (kernel::LookUp), with AVX-512 VBMI.
extern const char* const look_up_text;
/// Planes of a coarse table (kernel::PickPlanes), stood up and picked by permutations of 8 or 16 floats.
extern const char* const pick_planes_text;
/// row_vector<T>, for T = float and double, and in_vector<T>, the scalars of one; vector_at, vector_before, store_vector,
/// shifted: with registers of 64 bytes (kernel/neighbours.h).
extern const char* const row_vector_text;

}  // namespace weft::emit
