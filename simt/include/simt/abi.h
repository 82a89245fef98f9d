// What a kernel's text, compiled by g++, and the checker know of one another. The text asks the checker for
// everything through `Services`; the checker calls the text through `Invocation`. Both sides include this
// file.
#pragma once

#include <cstddef>
#include <cstdint>

#if __cplusplus > 201703L
#include <source_location>
#elif !defined(__clang__)
// What g++ tells of a place, which C++17 has no header for.
namespace std {
struct source_location {
  struct __impl {
    const char* _M_file_name;
    const char* _M_function_name;
    unsigned _M_line, _M_column;
  };
};
}  // namespace std
#endif

namespace simt::abi {

struct Dim {
  unsigned x, y, z;
};

/// A call in the text. Functions of CUDA's interface take one as their last, defaulted argument.
struct Site {
  const char* file = nullptr;
  int line = 0, column = 0;

#if __cplusplus > 201703L
  static constexpr Site here(std::source_location place = std::source_location::current()) {
    return Site{place.file_name(), static_cast<int>(place.line()), static_cast<int>(place.column())};
  }
#elif defined(__clang__)
  static constexpr Site here(const char* file = __builtin_FILE(), int line = __builtin_LINE(),
                             int column = __builtin_COLUMN()) {
    return Site{file, line, column};
  }
#else
  static Site here(const char* file = __builtin_FILE(), int line = __builtin_LINE(),
                   const void* place = __builtin_source_location()) {
    return Site{file, line,
                static_cast<int>(static_cast<const std::source_location::__impl*>(place)->_M_column)};
  }
#endif

  bool is_at(const Site& other) const {
    return line == other.line && column == other.column && file == other.file;
  }
};

/// What the lanes of a warp do together.
enum class Collective : std::uint8_t {
  syncwarp,
  shuffle,
  shuffle_up,
  shuffle_down,
  shuffle_xor,
  ballot,
  any,
  all,
  match_any,
  reduce_add,
  reduce_min,
  reduce_max,
  reduce_min_signed,
  reduce_max_signed,
  reduce_and,
  reduce_or,
  reduce_xor,
};

enum class Barrier : std::uint8_t { plain, count, conjunction, disjunction };

enum class Scope : std::uint8_t { block, device, system };

/// Bits of an access. A read that is atomic without a write is one of a volatile variable.
enum AccessFlags : unsigned { is_read = 0, is_write = 1, is_atomic = 2 };

/// What the compiler's undefined-behaviour checks found. `data` points to what the compiler laid down about
/// it.
enum class Undefined : std::uint8_t {
  type_mismatch,
  out_of_bounds,
  add,
  subtract,
  multiply,
  negate,
  divide,
  shift,
  pointer_overflow,
  invalid_value,
  vla_bound,
  unreachable,
  missing_return,
};

/// A global variable as the compiler describes it to the address sanitizer's run-time library.
struct Global {
  const void* begin;
  std::size_t size;
  std::size_t size_with_redzone;
  const char* name;
  const char* module_name;
  std::size_t has_dynamic_initialisation;
  const void* location;
  std::size_t odr_indicator;
};

/// One kernel and its arguments, copied when it was launched.
class Invocation {
 public:
  virtual ~Invocation() = default;
  virtual void run() = 0;  ///< The kernel, for one thread.
};

struct Launch {
  const void* kernel;
  Dim grid, block;
  std::size_t dynamic_shared;
};

struct Copy {
  void* to;
  const void* from;
  std::size_t to_pitch, from_pitch;  ///< Bytes from row to row.
  std::size_t width, height;         ///< Bytes of a row; rows.
  int direction;                     ///< cudaMemcpyKind
};

enum class CaptureState : std::uint8_t { none, active };

/// The checker, as the text sees it. Handles of streams, events and graphs are opaque; results of host
/// functions are values of cudaError_t.
class Services {
 public:
  // In kernels.
  virtual Dim thread_index() = 0;
  virtual Dim block_index() = 0;
  virtual Dim block_size() = 0;
  virtual Dim grid_size() = 0;
  virtual std::uint64_t collective(Collective, unsigned mask, std::uint64_t value, int argument, int width,
                                   Site) = 0;
  virtual int barrier(Barrier, int predicate, Site) = 0;
  virtual unsigned active_mask(Site) = 0;
  virtual void fence(Scope) = 0;
  virtual void access(const void* address, std::size_t size, unsigned flags, const void* pc) = 0;
  virtual void undefined(Undefined, const void* data, std::uint64_t left, std::uint64_t right) = 0;
  virtual void trap(const char* why, Site) = 0;
  /// The last `zeros` of `size` bytes become zeros.
  virtual void copy_to_shared(void* to, const void* from, std::size_t size, std::size_t zeros,
                              const void* pc) = 0;
  virtual void commit_copies() = 0;
  virtual void wait_for_copies(unsigned groups_that_may_be_pending) = 0;

  // On the host.
  virtual int launch(const Launch&, void* stream, Invocation* owned, Site) = 0;
  virtual int allocate(void** address, std::size_t bytes, Site) = 0;
  virtual int release(void* address, Site) = 0;
  virtual int allocate_async(void** address, std::size_t bytes, void* stream, Site) = 0;
  virtual int release_async(void* address, void* stream, Site) = 0;
  virtual int allocate_host(void** address, std::size_t bytes) = 0;
  virtual int release_host(void* address) = 0;
  virtual int copy(const Copy&, void* stream, bool asynchronous, Site) = 0;
  virtual int fill(void* address, int value, std::size_t pitch, std::size_t width, std::size_t height,
                   void* stream, bool asynchronous, Site) = 0;
  virtual int function_attribute(const void* kernel, int attribute, int value) = 0;
  virtual int device_attribute(int* value, int attribute) = 0;
  /// Of a multiprocessor.
  virtual int blocks_at_a_time(int* blocks, const void* kernel, int threads, std::size_t dynamic_shared) = 0;
  virtual bool is_device_pointer(const void* address) = 0;
  virtual int stream_create(void** stream, bool waits_for_default) = 0;
  virtual int stream_destroy(void* stream) = 0;
  virtual int stream_synchronize(void* stream, Site) = 0;
  virtual int stream_query(void* stream) = 0;
  virtual int stream_wait(void* stream, void* event, Site) = 0;
  virtual int event_create(void** event) = 0;
  virtual int event_destroy(void* event) = 0;
  virtual int event_record(void* event, void* stream, Site) = 0;
  virtual int event_synchronize(void* event, Site) = 0;
  virtual int event_query(void* event) = 0;
  virtual int synchronize(Site) = 0;
  virtual int capture_begin(void* stream, Site) = 0;
  virtual int capture_end(void* stream, void** graph, Site) = 0;
  virtual CaptureState capture_state(void* stream) = 0;
  virtual int graph_launch(void* graph, void* stream, Site) = 0;
  virtual int graph_destroy(void* graph) = 0;
  virtual int last_error(bool forget) = 0;

 protected:
  ~Services() = default;
};

/// The text's side of the meeting: a function of this name and type is in every compiled text.
struct TextMemory {
  const void *shared_begin, *shared_end;  ///< __shared__ variables.
  const void* dynamic_shared;             ///< Dynamic shared memory, of dynamic_shared_bytes.
  const Global* globals;                  ///< In the address build.
  std::size_t global_count;
};
using Attach = void(Services* services, TextMemory* memory);
inline constexpr std::size_t dynamic_shared_bytes = 512 * 1024;  ///< More than any architecture has.
/// A constant in the kernels that have __launch_bounds__: as many numbers as these have, threads first.
inline constexpr const char* launch_bounds_name = "simt_launch_bounds";
inline constexpr const char* attach_name = "simt_attach_text";

}  // namespace simt::abi
