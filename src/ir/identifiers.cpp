#include "ir/identifiers.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <string>

#include "ir/value.h"

namespace weft::ir {
namespace {

bool is_capital(char c) { return c >= 'A' && c <= 'Z'; }
bool is_lower_case(char c) { return c >= 'a' && c <= 'z'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

const std::set<std::string>& reserved_words() {
  static const std::set<std::string> words = {
      "alignas", "alignof", "and", "and_eq", "asm", "auto", "bitand", "bitor", "bool", "break", "case",
      "catch", "char", "class", "compl", "concept", "const", "const_cast", "consteval", "constexpr",
      "constinit", "continue", "decltype", "default", "delete", "do", "double", "dynamic_cast", "else",
      "enum", "explicit", "export", "extern", "false", "float", "for", "friend", "goto", "half", "if",
      "import", "inline", "int", "long", "main", "module", "mutable", "namespace", "new", "noexcept", "not",
      "not_eq", "nullptr", "operator", "or", "or_eq", "private", "protected", "public", "register",
      "reinterpret_cast", "requires", "restrict", "return", "short", "signed", "sizeof", "static",
      "static_assert", "static_cast", "struct", "switch", "template", "this", "thread_local", "throw", "true",
      "try", "typedef", "typeid", "typename", "typeof", "union", "unsigned", "using", "char8_t", "char16_t",
      "char32_t", "co_await", "co_return", "co_yield", "virtual", "void", "volatile", "wchar_t", "while",
      "xor", "xor_eq",
      // What the emitted code itself uses.
      "x", "y", "z", "w", "i", "x0", "frame", "first", "last", "host", "row", "left", "right", "count",
      "order", "data", "mode", "part", "parts", "level", "rows", "strips", "row0", "x1", "rest", "l", "copy",
      "copies", "apart", "band", "bands", "end", "points_from", "points_to", "turn", "strip", "columns",
      "batch", "y0", "y1", "exchange", "std", "int8_t", "int16_t", "int32_t", "int64_t", "uint8_t",
      "uint16_t", "uint32_t", "uint64_t", "half_t", "size_t", "intptr_t", "in_portions", "portions",
      "shared_loop", "standard_host", "host_allocate", "host_release", "host_parallel_for", "out_of_memory",
      "clamp_index", "mirror_index", "mirror101_index", "repeat_index", "floor_div", "flush_subnormals",
      "exceeds_caches", "store_past_caches", "settle_stores", "past_caches_line", "prefetch", "look_up",
      "stand_up", "pick_planes", "permuted_floats", "permuted_places", "permuted_pair", "half_of_sum",
      "vector_of_bytes", "permuted", "found_in", "row_vector", "row_vector_of", "in_vector", "few",
      "vector_at", "store_vector", "vector_before", "vector_that_ends_with", "vector_that_begins_with",
      "vector_after", "is_last", "next_vector", "past_caches", "is_large", "is_line", "cache_line", "is_true",
      "numbers", "numbers_up_to", "first_scalar", "scalar_of", "scalars_of", "place_of", "vector_between",
      "steps_in_lanes", "take_steps", "in_turns", "turn_round", "smaller_of", "larger_of", "converted",
      "saturated", "bytes_of_32", "bytes_of_16", "shorts_of_32", "shorts_of_16", "ints_of_16", "left_over",
      "joined", "shifted", "roots_of", "order_pair", "half_to_float", "float_to_half", "at_edge", "colour",
      "done", "first_end", "first_tile", "last_begin", "layers", "left_end", "levels", "now", "part_rows",
      "plane", "planes", "right_begin", "row_of_part", "rows_at_once", "slice", "stride", "taken",
      "taken_next", "thread", "tile", "warp", "whole", "whole_left", "whole_right", "x_count", "x_first",
      // … and the emitted CUDA.
      "stream", "status", "finished", "launch", "allocate", "release", "blocks", "Room", "find_room", "rooms",
      "copy_row", "copy_rows", "extents", "from", "to", "Extents", "Same", "Pack", "load_pack", "store_pack",
      "update_atomically", "threadIdx", "blockIdx", "blockDim", "gridDim", "dim3", "warpSize", "bench", "kit",
      "on_gpu", "on_cpu",
      // The C library's functions, beside those that the language has.
      "assert", "acos", "asin", "cosh", "fabs", "fmod", "round", "sinh", "acosf", "asinf", "coshf", "fabsf",
      "fmodf", "roundf", "sinhf", "exp2f",
      // Macros that do not look like any: of compilers, and of headers that emitted code includes or that
      // are often included with it.
      "unix", "linux", "i386", "errno", "stdin", "stdout", "stderr", "sched_priority", "math_errhandling"};
  return words;
}

/// Families of names: helpers named after an operation and types (min_f32, saturate_u8_f32), threads' places,
/// what belongs to Weft and to CUDA.
bool is_of_a_reserved_family(const std::string& name) {
  for (const char* beginning :
       {"min_", "max_", "minus_", "abs_", "div_", "rem_", "median_", "truncate_", "whole_", "saturate_",
        "exp_approx_", "pow_approx_", "thread_", "threads_", "wide_", "atomic_", "weft_", "cuda", "hip"}) {
    if (name.rfind(beginning, 0) == 0) return true;
  }
  return false;
}

/// Its first word, up to an underscore, is in capitals. No macro is as short as D0.
bool could_be_a_macro(const std::string& name) {
  const std::string word = name.substr(0, name.find('_'));
  return name.size() > 2 && is_capital(name[0]) && std::none_of(word.begin(), word.end(), is_lower_case);
}

/// C++ keeps such names for compilers and their libraries.
bool is_of_compilers(const std::string& name) {
  return name.size() > 1 && name[0] == '_' && (name[1] == '_' || is_capital(name[1]));
}

/// C's functions that the language has, for doubles or floats.
bool is_of_mathematics(const std::string& name) {
  const auto known = functions();
  return std::any_of(known.begin(), known.end(), [&](const Function& f) {
    return name == f.c_name || name == std::string(f.c_name) + "f";
  });
}

}  // namespace

std::string safe_identifier(const std::string& name) {
  std::string safe;
  for (char c : name) safe += std::isalnum(static_cast<unsigned char>(c)) || c == '_' ? c : '_';
  if (is_of_compilers(safe)) safe.erase(0, safe.find_first_not_of('_'));
  if (safe.empty() || is_digit(safe[0])) safe = "_" + safe;
  const bool reserved = reserved_words().count(safe) || is_of_a_reserved_family(safe) ||
                        is_of_mathematics(safe) || could_be_a_macro(safe);
  return reserved ? safe + "_" : safe;
}

}  // namespace weft::ir
