// How the window of a local operator is written: what is decided for lowering, and weft explain tells.
//
//     columns       a column times a row: a strip of pixels keeps its columns, neighbours share them
//     unrolled      straight-line code, a tap after the other
//     tap by tap    loops over the taps: around a strip of pixels on a CPU, for each pixel on a GPU
#pragma once

#include <string>
#include <vector>

#include "ir/stage_ir.h"
#include "plan/code_limits.h"
#include "target/target.h"

namespace weft::plan {

/// Operations of one tap, roughly.
std::size_t operations_of(const std::vector<ir::Expr>& body);

/// Whether a window in a vector loop is straight-line code, which has to compile in reasonable time: what is
/// computed for the indices and borders of each tap counts.
bool is_unrolled_in_vectors(const ir::Fold& fold, const CodeLimits& limits);
/// Whether it is short enough to be computed in that loop at all.
bool fits_in_vectors(const ir::Fold& fold, const CodeLimits& limits);
/// Whether a thread of a GPU has it as straight-line code, or a single pixel at a border.
bool is_unrolled_in_thread(const ir::Fold& fold, const CodeLimits& limits);
bool is_unrolled_at_border(const ir::Fold& fold, const CodeLimits& limits);
/// Neighbouring taps that a pass over a strip makes: the most that are allowed and divide a row of the window evenly. In a
/// window that is no box, each tap has a row pointer and an offset of its own.
int taps_of_pass(const ir::Fold& fold, const CodeLimits& limits);
/// Whether a sorting network sorts its values.
bool has_network(const ir::Median& median, const CodeLimits& limits);
/// Whether networks sort those of all its medians.
bool has_networks(const ir::Stage& stage, const CodeLimits& limits);

struct WindowCode {
  std::string form, why;  ///< "unrolled", "27 operations; up to 1200 are"
};
WindowCode code_of(const ir::Fold& fold, bool strict, target::Processor processor, const CodeLimits& limits);
WindowCode code_of(const ir::Median& median, const CodeLimits& limits);

}  // namespace weft::plan
