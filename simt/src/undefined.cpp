// Names what the compiler's checks for undefined behaviour found. The structures are those that GCC lays down
// for the run-time library of -fsanitize=undefined, whose place the text's hooks take.
#include "engine.h"

#include "errors.h"

#include <fmt/format.h>

namespace simt {
namespace {

using abi::Undefined;

struct SourceLocation {
  const char* file;
  std::uint32_t line, column;
};

struct TypeDescriptor {
  std::uint16_t kind;  // 0: integer, 1: float
  std::uint16_t info;  // of integers: whether signed, and the logarithm of the bits
  char name[1];        // with quotes, and zero at its end
};

struct TypeMismatch {
  SourceLocation where;
  const TypeDescriptor* type;
  unsigned char log_alignment, access;
};

struct OutOfBounds {
  SourceLocation where;
  const TypeDescriptor *array, *index;
};

struct Arithmetic {
  SourceLocation where;
  const TypeDescriptor* type;
};

struct Shift {
  SourceLocation where;
  const TypeDescriptor *left, *right;
};

constexpr const char* kinds_of_access[] = {"reads", "writes", "binds a reference to", "uses a member of",
                                           "calls a member of"};

/// An operand; those wider than a word come as addresses.
std::string value_of(const TypeDescriptor* type, std::uint64_t value) {
  if (type->kind != 0) return "?";
  const unsigned bits = 1u << (type->info >> 1);
  if (bits > 64) return "?";
  if (!(type->info & 1)) return std::to_string(value);
  const unsigned unused = 64 - bits;
  return std::to_string(static_cast<std::int64_t>(value << unused) >> unused);
}

struct Description {
  Kind kind = Kind::undefined_behaviour;
  std::string what, action;
  int fatal = 0;  ///< The error of a kernel that cannot go on.
};

Description describe_pointer(const TypeMismatch& data, std::uint64_t address) {
  const char* does = data.access < std::size(kinds_of_access) ? kinds_of_access[data.access] : "uses";
  const std::uint64_t alignment = std::uint64_t{1} << data.log_alignment;
  if (!address) {
    return {Kind::illegal_address, "the null pointer is used", fmt::format("{} a {}", does, data.type->name),
            error::illegal_address};
  }
  if (address % alignment) {
    return {Kind::misaligned_access, fmt::format("an address is no multiple of {}", alignment),
            fmt::format("{} a {} at {:#x}", does, data.type->name, address), error::misaligned_address};
  }
  return {Kind::out_of_bounds, "an access outside of a variable",
          fmt::format("{} a {} at {:#x}, where too few bytes are left", does, data.type->name, address),
          error::illegal_address};
}

Description describe_arithmetic(Undefined what, const Arithmetic& data, std::uint64_t left,
                                std::uint64_t right) {
  const std::string a = value_of(data.type, left), b = value_of(data.type, right);
  const auto overflow = [&](char sign) {
    return Description{Kind::undefined_behaviour, fmt::format("signed overflow of {}", data.type->name),
                       fmt::format("computes {} {} {}", a, sign, b), 0};
  };
  switch (what) {
    case Undefined::add: return overflow('+');
    case Undefined::subtract: return overflow('-');
    case Undefined::multiply: return overflow('*');
    case Undefined::negate:
      return {Kind::undefined_behaviour, fmt::format("signed overflow of {}", data.type->name),
              "negates " + a, 0};
    default:
      return {Kind::undefined_behaviour, "a division that has no result",
              fmt::format("computes {} / {}", a, b), error::launch_failure};
  }
}

Description describe(Undefined what, const void* data, std::uint64_t left, std::uint64_t right) {
  switch (what) {
    case Undefined::type_mismatch: return describe_pointer(*static_cast<const TypeMismatch*>(data), left);
    case Undefined::out_of_bounds: {
      const auto& bounds = *static_cast<const OutOfBounds*>(data);
      return {Kind::out_of_bounds, fmt::format("an index outside of {}", bounds.array->name),
              fmt::format("uses index {}", value_of(bounds.index, left)), error::illegal_address};
    }
    case Undefined::shift: {
      const auto& shift = *static_cast<const Shift*>(data);
      return {Kind::undefined_behaviour, fmt::format("a shift as wide as {} or wider", shift.left->name),
              fmt::format("shifts by {}", value_of(shift.right, right)), 0};
    }
    case Undefined::pointer_overflow:
      return {Kind::undefined_behaviour, "an offset leads a pointer around the end of memory",
              fmt::format("goes from {:#x} to {:#x}", left, right), 0};
    case Undefined::invalid_value:
      return {Kind::undefined_behaviour, "a value that its type does not have", fmt::format("reads {}", left),
              0};
    case Undefined::vla_bound:
      return {Kind::undefined_behaviour, "an array without elements", "declares it", error::launch_failure};
    case Undefined::unreachable:
      return {Kind::undefined_behaviour, "a place that cannot be reached", "is there", error::launch_failure};
    case Undefined::missing_return:
      return {Kind::undefined_behaviour, "a function ends without its result", "ends", error::launch_failure};
    default: return describe_arithmetic(what, *static_cast<const Arithmetic*>(data), left, right);
  }
}

}  // namespace

void Engine::undefined(Undefined what, const void* data, std::uint64_t left, std::uint64_t right) {
  const int error = report_undefined(what, data, left, right);
  if (!error || !executor_.current()) return;
  kernel_error_ = error;
  executor_.end_kernel();
}

/// Returns the error of a kernel that cannot go on, else 0.
int Engine::report_undefined(Undefined what, const void* data, std::uint64_t left, std::uint64_t right) {
  const auto& where = *static_cast<const SourceLocation*>(data);
  const abi::Site site{where.file, static_cast<int>(where.line)};
  const Lane* lane = executor_.current();
  const Description description = describe(what, data, left, right);
  if (!lane) {
    found(description.kind, description.what, host(site, description.action));
    return description.fatal;
  }
  // Of an access just outside of a variable, the check of the access itself tells more.
  const auto* address = reinterpret_cast<const void*>(left);
  if (what == Undefined::type_mismatch && description.kind == Kind::out_of_bounds &&
      kernel_.text->loaded->checked_global_at(address)) {
    return 0;
  }
  const Location place{kernel_.text->loaded.get(), nullptr, site};
  found(description.kind, description.what, thread(*lane, place, description.action));
  return description.fatal;
}

}  // namespace simt
