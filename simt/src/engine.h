// The device behind `simt::Device`: gives the text what it asks for (abi::Services), runs its kernels, and
// checks every access. engine.cpp runs kernels, engine_accesses.cpp checks accesses, engine_host.cpp has the
// host's interface, undefined.cpp names what the compiler's own checks found.
#pragma once

#include "clocks.h"
#include "counters.h"
#include "executor.h"
#include "findings.h"
#include "memory.h"
#include "shadow.h"
#include "timeline.h"

#include <map>
#include <set>

namespace simt {

class Engine final : public abi::Services, private MeetingListener {
 public:
  explicit Engine(Options options);
  ~Engine();

  std::shared_ptr<LoadedText> load(const Compiled& compiled);
  std::vector<Report> reports() const { return findings_.reports(); }
  std::vector<KernelCounts> counts() const { return counters_.counts(); }
  void report_leaks();
  void forget();

  // abi::Services, in kernels.
  abi::Dim thread_index() override { return executor_.current()->thread; }
  abi::Dim block_index() override { return executor_.block_index(); }
  abi::Dim block_size() override { return kernel_.block; }
  abi::Dim grid_size() override { return kernel_.grid; }
  std::uint64_t collective(abi::Collective, unsigned mask, std::uint64_t value, int argument, int width,
                           abi::Site) override;
  int barrier(abi::Barrier, int predicate, abi::Site) override;
  unsigned active_mask(abi::Site) override { return executor_.active_mask(); }
  void fence(abi::Scope) override;
  void access(const void* address, std::size_t size, unsigned flags, const void* pc) override;
  void undefined(abi::Undefined, const void* data, std::uint64_t left, std::uint64_t right) override;
  void trap(const char* why, abi::Site) override;
  void copy_to_shared(void* to, const void* from, std::size_t size, std::size_t zeros,
                      const void* pc) override;
  void commit_copies() override;
  void wait_for_copies(unsigned groups_that_may_be_pending) override;

  // abi::Services, on the host.
  int launch(const abi::Launch&, void* stream, abi::Invocation* owned, abi::Site) override;
  int allocate(void** address, std::size_t bytes, abi::Site) override;
  int release(void* address, abi::Site) override;
  int allocate_async(void** address, std::size_t bytes, void* stream, abi::Site) override;
  int release_async(void* address, void* stream, abi::Site) override;
  int allocate_host(void** address, std::size_t bytes) override;
  int release_host(void* address) override;
  int copy(const abi::Copy&, void* stream, bool asynchronous, abi::Site) override;
  int fill(void* address, int value, std::size_t pitch, std::size_t width, std::size_t height, void* stream,
           bool asynchronous, abi::Site) override;
  int function_attribute(const void* kernel, int attribute, int value) override;
  int device_attribute(int* value, int attribute) override;
  int blocks_at_a_time(int* blocks, const void* kernel, int threads, std::size_t dynamic_shared) override;
  bool is_device_pointer(const void* address) override { return memory_.contains(address); }
  int stream_create(void** stream, bool waits_for_default) override;
  int stream_destroy(void* stream) override;
  int stream_synchronize(void* stream, abi::Site) override;
  int stream_query(void* stream) override;
  int stream_wait(void* stream, void* event, abi::Site) override;
  int event_create(void** event) override;
  int event_destroy(void* event) override;
  int event_record(void* event, void* stream, abi::Site) override;
  int event_synchronize(void* event, abi::Site) override;
  int event_query(void* event) override;
  int synchronize(abi::Site) override;
  int capture_begin(void* stream, abi::Site) override;
  int capture_end(void* stream, void** graph, abi::Site) override;
  abi::CaptureState capture_state(void* stream) override;
  int graph_launch(void* graph, void* stream, abi::Site) override;
  int graph_destroy(void* graph) override;
  int last_error(bool forget) override;

 private:
  /// Memory of one block.
  struct SharedMemory {
    Range range;
    Shadow shadow;
  };
  struct Text {
    std::shared_ptr<LoadedText> loaded;
    SharedMemory shared, dynamic_shared;
    Buffer variables;  ///< Those of the text that are not shared.
  };
  /// The kernel that runs.
  struct Kernel {
    Text* text = nullptr;
    Build build = Build::fast;
    OperationId operation = 0;
    const void* function = nullptr;
    abi::Dim grid{}, block{};
    std::size_t dynamic_bytes = 0;
    std::uint32_t block_number = 0;
  };
  /// Host memory that a copy still reads or writes.
  struct HostRange {
    Range range;
    OperationId operation;
    bool written;
  };
  /// From global to shared memory, asked for by a thread that goes on meanwhile.
  struct PendingCopy {
    const Lane* lane;
    char* to;
    const char* from;
    std::size_t size, zeros;
    const void* pc;
    unsigned group;  ///< Of its thread's, in order.
  };
  struct Checked {
    const Lane& lane;
    const void* address;
    std::size_t size;
    bool write, atomic;
    const void* pc;

    bool updates_atomically() const { return write && atomic; }
  };

  // Running kernels.
  Text* text_of(const void* address);
  void run_kernel(OperationId operation, const abi::Launch& launch, abi::Invocation& invocation);
  bool run_guarded();
  bool run_block(std::uint64_t number);
  void report_crash(int signal, const void* address, const void* pc);

  int report_undefined(abi::Undefined what, const void* data, std::uint64_t left, std::uint64_t right);

  // MeetingListener.
  void collective_done(abi::Collective kind, unsigned warp, std::uint32_t lanes, abi::Site site) override;
  void barrier_done(unsigned warps, abi::Site site) override;
  void complain(Kind kind, const std::string& what, const Lane& first, const std::string& first_action,
                const Lane* second, const std::string& second_action) override;

  // Accesses.
  void device_access(const Checked& access);
  void shared_access(const Checked& access, SharedMemory& memory, const char* what);
  void variable_access(const Checked& access);
  void illegal_access(const Checked& access);
  void host_access(const void* address, std::size_t size, bool write, const void* pc);
  bool inside_global(const Checked& access);
  void check_pending_copies(const Checked& access);
  void note(const Checked& access, const Range& range, Shadow& shadow, bool of_block,
            bool check_uninitialised, const std::string& where);
  void report_race(const Checked& access, const Conflict& conflict, const std::string& where);
  void use_buffer(Buffer& buffer, const Participant& user);
  void note_range(Buffer& buffer, const char* begin, std::size_t size, bool write);
  void note_rows(const void* begin, std::size_t pitch, std::size_t width, std::size_t height, bool write);
  Stamp stamp_of(const Checked& access) const;

  // Who did it.
  Participant thread(const Lane& lane, Location where, std::string action) const;
  Participant thread(const Checked& access, std::string action) const;
  Participant operation(OperationId id, std::string action) const;
  Participant earlier(const Conflict& conflict) const;
  Participant host(abi::Site site, std::string action) const;
  std::string variable_name(const void* address) const;
  bool found(Kind kind, std::string what, Participant first, Participant second = {});

  // The host's interface.
  int failed(int error);
  int after_waiting();
  int misuse(int error, std::string what, abi::Site site, std::string action);
  int check_device_rows(const void* begin, std::size_t pitch, std::size_t width, std::size_t height,
                        abi::Site site, const char* what);
  int allocate_buffer(void** address, std::size_t bytes, OperationId operation, abi::Site site);
  Buffer* releasable(void* address, abi::Site site, int& error);
  void run_copy(const abi::Copy& copy, bool from_device, bool to_device);
  void run_release(OperationId operation, Buffer& buffer, abi::Site site);
  bool is_pinned(const void* address) const;
  void forget_known_host_ranges();

  Options options_;
  Random random_;
  Findings findings_;
  Memory memory_;
  Timeline timeline_;
  Executor executor_;
  Clocks clocks_;
  Counters counters_;
  std::vector<std::unique_ptr<Text>> texts_;
  std::vector<Range> shared_arrays_;  ///< Of the kernel that runs, and its dynamic shared memory.
  Kernel kernel_;
  std::vector<PendingCopy> pending_copies_;             ///< Of the block that runs.
  std::map<std::uint32_t, unsigned> groups_of_copies_;  ///< That its threads have committed.
  bool is_copying_ = false;                             ///< Accesses are those of copies to shared memory.
  bool races_ = false;                                  ///< A text of the race build is loaded.
  std::map<const void*, std::size_t> dynamic_allowed_;
  std::vector<HostRange> host_ranges_;
  std::map<const void*, std::size_t> pinned_;
  std::vector<std::shared_ptr<Graph>> graphs_;
  int last_error_ = 0;
  int kernel_error_ = 0;  ///< Of a kernel that ran; the next function that waits returns it.
};

}  // namespace simt
