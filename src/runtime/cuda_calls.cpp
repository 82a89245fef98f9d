#include "runtime/cuda_calls.h"

#include "ir/stage_ir.h"

namespace weft::runtime {

std::vector<void*> KernelCall::pointers() {
  std::vector<void*> all;
  for (std::array<std::byte, 8>& argument : arguments) all.push_back(argument.data());
  return all;
}

void queue(CudaCall& call, const CudaDriver& driver, void* stream) {
  const int status = std::visit(
      ir::overloaded{
          [&](KernelCall& c) {
            return driver->launch(c.function, c.blocks[0], c.blocks[1], c.blocks[2], c.threads[0],
                                  c.threads[1], c.threads[2], 0, stream, c.pointers().data(), nullptr);
          },
          [&](const FillCall& c) { return driver->fill(as_address(c.memory), 0, c.bytes, stream); },
      },
      call.what);
  driver.check(status, call.failure);
}

}  // namespace weft::runtime
