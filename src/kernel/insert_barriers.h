// Where the threads of a block have to wait for each other.
//
//     for i, by the threads:  in_rows[…] = in[…]
//     barrier                                        others read what a thread has written
//     for t, by the threads:  dx_rows[…] = in_rows[…]
#pragma once

#include "kernel/ir.h"

namespace weft::kernel {

/// Puts a barrier before each statement that reads what other threads may have written since the last one, or
/// writes what they may have read or written. Statements around those that threads divide among themselves
/// have to be the same for all threads of a block. No barrier stands between statements in which a thread
/// keeps to elements of its own: those that have the number of its turn in a loop from 0; nor between updates
/// that are atomic.
void insert_barriers(Function& function);

}  // namespace weft::kernel
