#include "emit/gpu_prelude.h"

#include <fmt/format.h>
#include <weft/error.h>

#include "emit/c_like.h"
#include "emit/prelude.h"
#include "emit/writer.h"
#include "ir/value.h"

namespace weft::emit {
namespace {

// Updates that no instruction makes: the word around the value is exchanged if nobody else has changed it.
constexpr const char* exchange_loop =
    R"(// *at = change(*at), atomically. Others may change it while it is read: hence volatile.
template <class T, class Change>
__device__ void update_atomically(T* at, Change change) {
  if (sizeof(T) == 8) {
    unsigned long long* word = (unsigned long long*)at;
    unsigned long long seen = *(volatile unsigned long long*)word, assumed;
    do {
      assumed = seen;
      union { unsigned long long bits; T value; } now = {assumed};
      now.value = change(now.value);
      seen = atomicCAS(word, assumed, now.bits);
    } while (seen != assumed);
    return;
  }
  const unsigned byte = (unsigned)((size_t)at & 3), shift = byte * 8;  // of a smaller value in its word
  const unsigned mask = sizeof(T) == 4 ? 0xffffffffu : ((1u << (sizeof(T) * 8 % 32)) - 1) << shift;
  unsigned* word = (unsigned*)((char*)at - byte);
  unsigned seen = *(volatile unsigned*)word, assumed;
  do {
    assumed = seen;
    union { unsigned bits; T value; } now = {(assumed & mask) >> shift};
    now.value = change(now.value);
    seen = atomicCAS(word, assumed, (assumed & ~mask) | (now.bits << shift & mask));
  } while (seen != assumed);
}
)";

constexpr const char* pack_chunk = R"(// The widest accesses that n scalars can be divided into.
template <class T, int n>
struct Pack {
  static const int bytes = n * (int)sizeof(T);
  static const int width = bytes % 16 == 0 ? 16 : bytes % 8 == 0 ? 8 : bytes % 4 == 0 ? 4 : sizeof(T);
  static const int scalars = width / (int)sizeof(T), chunks = bytes / width;
  struct __align__(width) Chunk { T at[scalars]; };
};
)";

constexpr const char* load_whole = R"(// pack = from[0], from[1], ..., which lies at a multiple of the width.
template <class T, int n>
__device__ inline void load_whole(T (&pack)[n], const T* from) {
  typedef Pack<T, n> P;
#pragma unroll
  for (int c = 0; c < P::chunks; ++c) {
    const typename P::Chunk chunk = ((const typename P::Chunk*)from)[c];
#pragma unroll
    for (int i = 0; i < P::scalars; ++i) pack[c * P::scalars + i] = chunk.at[i];
  }
}
)";

constexpr const char* load_columns =
    R"(// row[first], row[first + 1], ... = from[0], from[1], ..., n of them, which lie at a multiple of the width.
template <int first, int n, class T, int columns>
__device__ inline void load_columns(T (&row)[columns], const T* from) {
  T pack[n];
  load_whole(pack, from);
#pragma unroll
  for (int i = 0; i < n; ++i) row[first + i] = pack[i];
}
)";

constexpr const char* load_pack = R"(// pack = from[0], from[1], ...: the first `valid`, then zeros.
template <class T, int n>
__device__ inline void load_pack(T (&pack)[n], const T* from, int64_t valid) {
  if (valid >= n && (size_t)from % Pack<T, n>::width == 0) {
    load_whole(pack, from);
  } else {
#pragma unroll
    for (int i = 0; i < n; ++i) pack[i] = i < valid ? from[i] : T();
  }
}
)";

constexpr const char* store_whole = R"(// to[0], to[1], ... = a pack; they lie at a multiple of the width.
template <class T, int n>
__device__ inline void store_whole(T* to, const T (&pack)[n]) {
  typedef Pack<T, n> P;
#pragma unroll
  for (int c = 0; c < P::chunks; ++c) {
    typename P::Chunk chunk;
#pragma unroll
    for (int i = 0; i < P::scalars; ++i) chunk.at[i] = pack[c * P::scalars + i];
    ((typename P::Chunk*)to)[c] = chunk;
  }
}
)";

constexpr const char* store_pack = R"(// to[0], to[1], ... = the first `valid` of a pack.
template <class T, int n>
__device__ inline void store_pack(T* to, const T (&pack)[n], int64_t valid) {
  if (valid >= n && (size_t)to % Pack<T, n>::width == 0) {
    store_whole(to, pack);
  } else {
#pragma unroll
    for (int i = 0; i < n; ++i) {
      if (i < valid) to[i] = pack[i];
    }
  }
}
)";

bool is_of_packs(const std::string& name) {
  return name.ends_with("_pack") || name.ends_with("_whole") || name == "load_columns";
}

/// What loads and stores of several scalars need of one another.
std::string pack_helpers(const std::set<std::string>& helpers) {
  const bool loads = helpers.count("load_pack") > 0, stores = helpers.count("store_pack") > 0;
  std::string text;
  const auto add = [&](const char* definition) {
    text += (text.empty() ? pack_chunk : std::string()) + "\n" + definition;
  };
  const bool among_others = helpers.count("load_columns") > 0;
  if (loads || among_others || helpers.count("load_whole")) add(load_whole);
  if (among_others) add(load_columns);
  if (loads) add(load_pack);
  if (stores || helpers.count("store_whole")) add(store_whole);
  if (stores) add(store_pack);
  return text;
}

struct AtomicName {
  ir::BinaryOp op;
  Scalar type;
};

AtomicName parse(const std::string& name) {
  for (int s = 0; s <= static_cast<int>(Scalar::F64); ++s) {
    for (const ir::BinaryOp op : {ir::BinaryOp::Add, ir::BinaryOp::Mul, ir::BinaryOp::Min, ir::BinaryOp::Max,
                                  ir::BinaryOp::And, ir::BinaryOp::Or, ir::BinaryOp::Xor}) {
      const auto type = static_cast<Scalar>(s);
      if (name == atomic_helper(op, type)) return {op, type};
    }
  }
  throw InternalError("emitted code has no helper '" + name + "'");
}

/// The instruction for an update, if the target has it.
std::string native(const AtomicName& a, const target::Dialect& dialect) {
  if (size_of(a.type) < 4 || !dialect.has_atomic(a.op, a.type)) return "";
  switch (a.op) {
    case ir::BinaryOp::Add: return "atomicAdd";
    case ir::BinaryOp::Min: return "atomicMin";
    case ir::BinaryOp::Max: return "atomicMax";
    case ir::BinaryOp::And: return "atomicAnd";
    case ir::BinaryOp::Or: return "atomicOr";
    case ir::BinaryOp::Xor: return "atomicXor";
    default: return "";
  }
}

/// The type that its overloads take.
std::string native_type(const AtomicName& a) {
  const bool ordered = a.op == ir::BinaryOp::Min || a.op == ir::BinaryOp::Max;
  switch (a.type) {
    case Scalar::I32: return "int";
    case Scalar::U32: return "unsigned";
    case Scalar::I64: return ordered ? "long long" : "unsigned long long";
    case Scalar::U64: return "unsigned long long";
    default: return c_type(a.type);
  }
}

/// Integers are combined as unsigned ones, which may overflow.
std::string combined(const AtomicName& a) {
  const bool half = a.type == Scalar::F16;
  const bool modular = a.op == ir::BinaryOp::Add || a.op == ir::BinaryOp::Mul;
  const std::string unsigned_type = size_of(a.type) == 8 ? "(uint64_t)" : "(uint32_t)";
  const std::string as = modular && !is_float(a.type) ? unsigned_type : "";
  const std::string old = half ? "half_to_float(old)" : as + "old",
                    next = half ? "half_to_float(value)" : as + "value";
  const auto with = [&](const std::string& text) {
    return half ? "float_to_half(" + text + ")" : fmt::format("({})({})", c_type(a.type), text);
  };
  switch (a.op) {
    case ir::BinaryOp::Add: return with(old + " + " + next);
    case ir::BinaryOp::Mul: return with(old + " * " + next);
    case ir::BinaryOp::Min: return with(fmt::format("{1} < {0} ? {1} : {0}", old, next));
    case ir::BinaryOp::Max: return with(fmt::format("{0} < {1} ? {1} : {0}", old, next));
    case ir::BinaryOp::And: return with(old + " & " + next);
    case ir::BinaryOp::Or: return with(old + " | " + next);
    default: return with(old + " ^ " + next);
  }
}

std::string atomic_definition(const std::string& name, const target::Dialect& dialect) {
  const AtomicName a = parse(name);
  const std::string t = c_type(a.type);
  if (const std::string function = native(a, dialect); !function.empty()) {
    const std::string type = native_type(a);
    return fmt::format("__device__ inline void {0}({1}* at, {1} value) {{ {2}(({3}*)at, ({3})value); }}\n",
                       name, t, function, type);
  }
  return fmt::format(
      "__device__ inline void {0}({1}* at, {1} value) {{\n  update_atomically(at, [=]({1} old) {{ return "
      "{2}; "
      "}});\n}}\n",
      name, t, combined(a));
}

bool is_wide(const std::string& name) { return name.rfind(wide_prefix, 0) == 0; }
std::string without_prefix(const std::string& name) {
  return is_wide(name) ? name.substr(std::string(wide_prefix).size()) : name;
}

bool is_place(const std::string& name) {
  const std::string base = without_prefix(name);
  return base.rfind("thread_", 0) == 0 || base.rfind("threads_", 0) == 0;
}

/// thread_x: the thread's place in the grid; threads_x: how many there are. Both of 32 bits, unless "wide".
std::string place_helper(const std::string& name) {
  const bool wide = is_wide(name), all = name.find("threads_") != std::string::npos;
  const std::string type = wide ? "int64_t" : "int32_t";
  const char d = name.back();
  const std::string value =
      all ? "blockDim.{1} * gridDim.{1}" : "blockIdx.{1} * blockDim.{1} + threadIdx.{1}";
  return fmt::format("__device__ inline {} {}() {{ return {}; }}\n", type, name,
                     fmt::format(fmt::runtime(wide ? "({0})" + value : "({0})(" + value + ")"), type, d));
}

/// clamp_index and its like, for i32 or, if "wide", for i64.
bool is_of_indices(const std::string& name) {
  const std::string base = without_prefix(name);
  return base == "floor_div" || (base.size() > 6 && base.rfind("_index") == base.size() - 6);
}
std::string index_helper(const std::string& name) {
  const std::string base = without_prefix(name);
  // With the last index as one value, NVIDIA's compilers see a minimum and a maximum: two instructions instead of four.
  const std::string text = replaced(prelude({base}), "  i = i < n ? i : n - 1;\n",
                                    "  const int64_t last = n - 1;\n  i = i < last ? i : last;\n");
  return is_wide(name) ? replaced(text, " " + base, " " + name) : replaced(text, "int64_t", "int32_t");
}

/// Helpers that negate the least value, which overflows.
bool negates(const std::string& name) {
  return name == "abs_i32" || name == "abs_i64" || name == "div_i32" || name == "div_i64";
}
std::string negating_helper(const std::string& name) {
  const std::string bits = name.substr(name.size() - 2);
  return replaced(prelude({name}), "-a", fmt::format("(int{0}_t)-(uint{0}_t)a", bits));
}

/// Helpers that the dialect may have an instruction for.
bool truncates(const std::string& name) { return name == "truncate_i32_f32" || name == "truncate_u32_f32"; }
std::string truncating_helper(const std::string& name, const target::Dialect& dialect) {
  const bool is_signed = name == "truncate_i32_f32";
  return fmt::format("__device__ inline {}int32_t {}(float v) {{ return {}(v); }}\n", is_signed ? "" : "u",
                     name, fmt::format(fmt::runtime(dialect.truncation), is_signed ? "int" : "uint"));
}

}  // namespace

std::string atomic_helper(ir::BinaryOp op, Scalar type) {
  const auto verb = [&] {
    switch (op) {
      case ir::BinaryOp::Add: return "add";
      case ir::BinaryOp::Mul: return "multiply";
      case ir::BinaryOp::Min: return "min";
      case ir::BinaryOp::Max: return "max";
      case ir::BinaryOp::And: return "and";
      case ir::BinaryOp::Or: return "or";
      case ir::BinaryOp::Xor: return "xor";
      default: throw InternalError("no atomic update by " + ir::name_of(op));
    }
  };
  return fmt::format("atomic_{}_{}", verb(), name_of(type));
}

std::string gpu_prelude(const std::set<std::string>& helpers, const target::Dialect& dialect) {
  std::set<std::string> common;
  std::string atomics;
  bool exchanges = false;
  std::string places, own;
  for (const std::string& name : helpers) {
    if (is_place(name)) {
      places += place_helper(name);
      continue;
    }
    if (is_of_packs(name)) continue;
    if (is_of_indices(name) || negates(name)) {
      own += negates(name) ? negating_helper(name) : index_helper(name);
      continue;
    }
    if (truncates(name) && !dialect.truncation.empty()) {
      own += truncating_helper(name, dialect);
      continue;
    }
    if (name.rfind("atomic_", 0) != 0) {
      common.insert(name);
      continue;
    }
    const AtomicName a = parse(name);
    if (a.type == Scalar::F16) common.insert({"half_to_float", "float_to_half"});
    exchanges |= native(a, dialect).empty();
    atomics += atomic_definition(name, dialect);
  }
  std::string text = prelude(common) + own;
  text = replaced(text, "static inline", "__host__ __device__ inline");
  text = replaced(text, "__builtin_rint", "rint");
  return places + text + pack_helpers(helpers) + (exchanges ? exchange_loop : "") + atomics;
}

}  // namespace weft::emit
