// A driver and a compiler of CUDA that need no GPU: shared libraries with the names of NVIDIA's functions,
// which Weft loads as it loads NVIDIA's. "Compiled" code is the text itself; the driver's device is the SIMT
// checker. Calls are recorded, and can be made to fail.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace weft::testing_support {

/// The driver, as tests see it.
class FakeCuda {
 public:
  /// As it was when it was loaded; what is alive stays.
  virtual void reset() = 0;

  /// What was asked for, in order: "cuMemcpyHtoDAsync d1 h1 512 s1". Names are given in order, too: d and h
  /// for memory of the device and pinned memory of the host, s for streams, e for events; 0 is the default
  /// stream.
  virtual std::vector<std::string> calls() const = 0;
  virtual void forget_calls() = 0;
  /// The `nth` call of the function from now on, counted from 1, returns the status and does nothing.
  virtual void fail(const std::string& function, int nth, int status) = 0;
  virtual void set_devices(int count) = 0;
  virtual void set_start_status(int status) = 0;  ///< What cuInit returns.
  virtual void set_version(int version) = 0;      ///< 13000 unless set.
  virtual void set_idle(bool is_idle) = 0;  ///< What cuStreamQuery says of any stream; false unless set.
  virtual void set_blocks_at_a_time(int of_a_multiprocessor) = 0;  ///< 3 unless set: fewer than plans expect.
  /// Modules that are loaded from now on are checked for races.
  virtual void find_races() = 0;

  /// Names of memory, streams and events that were not given back, and of modules and contexts.
  virtual std::vector<std::string> alive() const = 0;
  virtual std::uint64_t kept_bytes() const = 0;  ///< Those that the device's pool keeps when somebody waits.
  virtual void keep_bytes(std::uint64_t most) = 0;
  /// What the checker found.
  virtual std::vector<std::string> reports() const = 0;

  // What a user's own program does with the device. Nothing of it is recorded.
  virtual void* memory(std::size_t bytes) = 0;
  virtual void upload(void* to, const void* from, std::size_t bytes) = 0;
  virtual void download(void* to, const void* from, std::size_t bytes) = 0;
  virtual void* stream() = 0;  ///< One that does not wait for the default stream.
  virtual void synchronize(void* stream) = 0;
  /// What is queued on the stream from now on becomes a graph. Until it ends, calls that a driver forbids meanwhile
  /// fail, and spoil it.
  virtual void begin_capture(void* stream) = 0;
  virtual void* end_capture() = 0;  ///< Null: a call spoiled it.
  /// The graph's own memory begins as garbage each time.
  virtual void launch_graph(void* graph, void* stream) = 0;

 protected:
  ~FakeCuda() = default;
};

/// The compiler.
struct FakeNvrtc {
  std::vector<int> architectures = {75, 80, 90};
  std::string complaint;  ///< If there is one, it is the error at the first kernel's line.
  int status = 6;         ///< What compiling returns then; 6 is that the source is rejected.
  int compilations = 0;
};

// Exported by the libraries.
using GetFakeCuda = FakeCuda*();
using GetFakeNvrtc = FakeNvrtc*();
constexpr const char* get_fake_cuda = "weft_fake_cuda";
constexpr const char* get_fake_nvrtc = "weft_fake_nvrtc";

}  // namespace weft::testing_support
