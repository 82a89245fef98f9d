// How the window of a local operator is written: what is decided for lowering, and weft explain tells.
//
//     columns       a column times a row: a strip of pixels keeps its columns, neighbours share them
//     unrolled      straight-line code, a tap after the other
//     tap by tap    loops over the taps: around a strip of pixels on a CPU, for each pixel on a GPU
#pragma once

#include <string>
#include <vector>

#include "ir/stage_ir.h"
#include "target/target.h"

namespace weft::plan {

/// Operations of one tap, roughly.
std::size_t operations_of(const std::vector<ir::Expr>& body);

/// Whether a window in a vector loop is straight-line code, which has to compile in reasonable time: what is
/// computed for the indices and borders of each tap counts.
bool is_unrolled_in_vectors(const ir::Fold& fold);
/// Whether it is short enough to be computed in that loop at all.
bool fits_in_vectors(const ir::Fold& fold);
/// Whether a thread of a GPU has it as straight-line code, or a single pixel at a border.
bool is_unrolled_in_thread(const ir::Fold& fold);
bool is_unrolled_at_border(const ir::Fold& fold);

constexpr int most_network_inputs = 49;  ///< Of a median: 7x7. Larger ones are selected pixel by pixel.

struct WindowCode {
  std::string form, why;  ///< "unrolled", "27 operations; up to 1200 are"
};
WindowCode code_of(const ir::Fold& fold, bool strict, target::Processor processor);
WindowCode code_of(const ir::Median& median);

}  // namespace weft::plan
