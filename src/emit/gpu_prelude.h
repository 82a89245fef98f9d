// The helper functions of code emitted for GPUs: those of C++ (prelude.h), for both sides, and atomic
// updates.
#pragma once

#include <set>
#include <string>

#include "ir/value.h"
#include "target/dialect.h"

namespace weft::emit {

/// Before the names of helpers that have a version for i32 and one for i64: the latter.
constexpr const char* wide_prefix = "wide_";

/// The definitions of the helpers, each once. Throws InternalError for an unknown name.
std::string gpu_prelude(const std::set<std::string>& helpers, const target::Dialect& dialect);

/// The helper that updates memory atomically: "atomic_add_f32".
std::string atomic_helper(ir::BinaryOp op, Scalar type);

}  // namespace weft::emit
