// Images of other libraries without a copy, through DLPack: what PyTorch, CuPy, JAX and NumPy give out and
// take, in the host's memory or a GPU's.
//
//     Buffer image = from_dlpack(tensor);          // of the shape (height, width)
//     Buffer colour = from_dlpack(tensor, 3);      // of the shape (height, width, 3)
//
// A tensor counts its dimensions from the slowest, Weft from the fastest. On a GPU, what computes the pixels
// has to be ordered before what reads them: run the program on the stream of the other library, or let that
// wait.
#pragma once

#include <weft/buffer.h>

struct DLManagedTensor;  // of dlpack/dlpack.h, which only those need who look into one

namespace weft {

/// A view that keeps the tensor, and calls its deleter with its last copy. With `lanes` above 1, the last
/// dimension is that of the lanes. Throws weft::Error, and leaves the tensor to the caller, if its elements
/// are no pixels of Weft, or it lies on neither the host nor a GPU of CUDA.
Buffer from_dlpack(DLManagedTensor* tensor, int lanes = 1);

/// A tensor over the buffer's pixels, to be given to another library, which calls its deleter; it keeps the
/// buffer's memory if the buffer owns it. Lanes become the last dimension.
DLManagedTensor* to_dlpack(const Buffer& buffer);

}  // namespace weft
