// What emitted C++ does with vectors of one kind of processor, and otherwise scalar by scalar: texts of the prelude.
#pragma once

namespace weft::emit {

/// Bytes of small tables (kernel::LookUp), with AVX-512 VBMI.
extern const char* const look_up_text;
/// Planes of a coarse table (kernel::PickPlanes), stood up and picked by permutations of 8 or 16 floats.
extern const char* const pick_planes_text;
/// row_vector<T>, and in_vector<T>, the scalars of one; vector_at, vector_before, store_vector,
/// shifted: with registers of 64 bytes (kernel/neighbours.h), or parts of them.
extern const char* const row_vector_text;
/// Several updates of a line in registers (kernel::StepsInLanes). After row_vector_text.
extern const char* const steps_in_lanes_text;
/// Of integers of up to 32 bits: converted, saturated, smaller_of, larger_of. After row_vector_text.
extern const char* const integer_vectors_text;

}  // namespace weft::emit
