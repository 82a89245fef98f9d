// Rows whose neighbouring scalars a loop for vectors reads.
//
//     for (i = 0; i < n; ++i)                    before = what ends at in[-1]
//       out[i] = in[i - 1] + in[i];              for (i = 0; i + 16 <= n; i += 16)
//                                           →      here = in[i .. i + 15]
//                                                  out[i .. i + 15] = what ends at here[14], begins in before + here
//                                                  before = here
//
// A vector of 64 bytes from in[i - 1] on lies on two lines of the cache, so that loading it takes twice as long; but its
// scalars are in registers already. Compilers of C++ load it nevertheless. Hence emitted C++ spells such loops out
// (emit/vector_loop.cpp).
//
// Where the loop has those pixels of a row that read nothing beyond it (RowEnds), vectors take the whole row: what is before its
// first pixel is in `before` of the first vector, and what is behind the last one in a vector `beyond`.
#pragma once

#include "kernel/ir.h"
#include "kernel/names.h"

namespace weft::kernel {

/// Notes which loops emitted C++ spells out in vectors (For::vectors): those that do nothing but arithmetic with neighbours, roots
/// included, of floats of one type; and those over rows of columns (row_columns.h), of integers, too. A function with whole rows
/// gets another one that has them in vectors (Function::in_vectors). New names are of `names`, those of the module, and none that a
/// function has.
void find_neighbours(Module& module, const Names& names);

/// The row that array[index] belongs to in such a loop, and how far from its scalar at the loop's variable; or null.
std::pair<const Neighbours*, int> neighbour_at(const For& loop, const Load& load);
std::pair<const Columns*, int> columns_at(const For& loop, const Load& load);

}  // namespace weft::kernel
