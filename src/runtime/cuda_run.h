// One run of a pipeline on a GPU.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "host/host.h"
#include "ir/bindings.h"
#include "kernel/evaluate.h"
#include "runtime/cuda_memory.h"
#include "runtime/launch_progress.h"

namespace weft::runtime {

/// What runs of a pipeline share.
struct CudaCode {
  struct Kernel {
    void* function = nullptr;
    std::vector<host::Parameter> parameters;
  };

  explicit CudaCode(kernel::Module lowered);

  kernel::Module module;
  std::vector<host::Lifetimes> lifetimes;
  std::set<std::string> exchanging_words;  ///< See host::arrays_exchanging_words.
  std::map<std::string, Kernel> kernels = {};
};

/// Queues on a stream whose device's context is current.
class CudaRun {
 public:
  CudaRun(const CudaCode& code, std::shared_ptr<const CudaDevice> device, CudaPool& of_device,
          CudaPool& pinned, void* stream);

  /// The sizes of the images, and the parameters. Throws weft::Error for sizes that the kernels are not made
  /// for.
  void bind(const ir::Pipeline& pipeline, const ir::Bindings& bindings);
  /// Images and outputs by name: those in the GPU's memory are taken as they are, the others are copied
  /// there.
  void take_images(const std::map<std::string, Buffer>& images);
  void take_outputs(const std::map<std::string, Buffer>& outputs);
  /// Lets it know of each launch as the next one is queued, and of the last when all is done: the queue is
  /// short where there are many.
  void watch(LaunchProgress& progress) { progress_ = &progress; }
  void launch_all();
  /// Copies to the host's outputs, if there are any, and waits for them.
  void fetch_outputs();
  void wait();  ///< Until all that was queued is done.

 private:
  void limit_sizes() const;
  std::int64_t value(const kernel::Expr& e) const { return kernel::evaluate(e, fields_); }
  bool is_empty(const kernel::Array& a) const;
  void* allocate(const kernel::Array& a, std::size_t scalars);
  void clear(const kernel::Array& a, std::size_t scalars);
  void place_on_device(const kernel::Array& a);
  void place(const kernel::Array& a, const Buffer& buffer);
  std::size_t bytes_of(const kernel::Array& a) const;
  Buffer staging(const kernel::Array& a, const Buffer& like);
  void launch(const kernel::Launch& launch);
  void repeat(const kernel::Repeat& repeat);
  void rotate(const kernel::Rotation& arrays);
  const kernel::Array& array_named(const std::string& name) const;
  void check(int status, const std::string& what) const;

  const CudaCode& code_;
  const kernel::Module& module_;
  std::shared_ptr<const CudaDevice> device_;
  void* stream_;
  CudaRunMemory memory_;
  kernel::FieldValues fields_;
  std::map<std::string, void*> addresses_;
  std::vector<std::pair<const kernel::Array*, Buffer>> on_host_;  ///< Outputs.
  bool waited_ = false;
  LaunchProgress* progress_ = nullptr;  ///< Of whoever watches.
  bool launched_ = false;
};

}  // namespace weft::runtime
