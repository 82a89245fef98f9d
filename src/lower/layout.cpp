#include "lower/layout.h"

#include <algorithm>
#include <cctype>

#include "ir/kernel_build.h"

namespace weft::lower {
namespace {

const std::set<std::string>& reserved_words() {
  static const std::set<std::string> words = {
      "alignas", "alignof", "and", "and_eq", "asm", "auto", "bitand", "bitor", "bool", "break", "case",
      "catch", "char", "class", "compl", "concept", "const", "const_cast", "consteval", "constexpr",
      "constinit", "continue", "decltype", "default", "delete", "do", "double", "dynamic_cast", "else",
      "enum", "explicit", "export", "extern", "false", "float", "for", "friend", "goto", "half", "if",
      "inline", "int", "long", "main", "mutable", "namespace", "new", "noexcept", "not", "not_eq", "nullptr",
      "operator", "or", "or_eq", "private", "protected", "public", "register", "reinterpret_cast", "requires",
      "return", "short", "signed", "sizeof", "static", "static_assert", "static_cast", "struct", "switch",
      "template", "this", "thread_local", "throw", "true", "try", "typedef", "typeid", "typename", "union",
      "unsigned", "using", "char8_t", "char16_t", "char32_t", "co_await", "co_return", "co_yield", "virtual",
      "void", "volatile", "wchar_t", "while", "xor", "xor_eq",
      // What the emitted code itself uses.
      "x", "y", "z", "w", "i", "x0", "frame", "first", "last", "host", "row", "left", "right", "count",
      "order", "data", "mode", "part", "parts", "level", "rows", "strips", "row0", "x1", "rest", "l", "copy",
      "copies", "apart", "turn", "strip", "columns", "batch", "y0", "y1", "exchange", "std", "int8_t",
      "int16_t", "int32_t", "int64_t", "uint8_t", "uint16_t", "uint32_t", "uint64_t", "half_t", "size_t",
      "weft_host", "weft_entry", "standard_host", "host_allocate", "host_release", "host_parallel_for",
      "out_of_memory", "clamp_index", "mirror_index", "mirror101_index", "repeat_index", "floor_div",
      "flush_subnormals", "exceeds_caches", "store_past_caches", "settle_stores", "past_caches_line",
      "order_pair", "half_to_float", "float_to_half",
      // … and the emitted CUDA.
      "stream", "status", "finished", "launch", "allocate", "release", "blocks", "copy_row", "copy_rows",
      "Extents", "Same", "Pack", "load_pack", "store_pack", "update_atomically", "threadIdx", "blockIdx",
      "blockDim", "gridDim", "dim3", "warpSize", "bench", "kit",
      // The C library's, macros and functions.
      "NULL", "EOF", "errno", "assert", "acos", "asin", "atan", "atan2", "ceil", "cos", "cosh", "exp", "fabs",
      "floor", "fmod", "log", "pow", "rint", "round", "sin", "sinh", "sqrt", "tan", "tanh", "trunc", "acosf",
      "asinf", "atanf", "atan2f", "ceilf", "cosf", "coshf", "expf", "fabsf", "floorf", "fmodf", "logf",
      "powf", "rintf", "roundf", "sinf", "sinhf", "sqrtf", "tanf", "tanhf", "truncf"};
  return words;
}

/// Helpers named after an operation and types: min_f32, saturate_u8_f32.
bool is_typed_helper(const std::string& name) {
  for (const char* operation : {"min_", "max_", "minus_", "abs_", "div_", "rem_", "median_", "truncate_",
                                "saturate_", "exp_approx_"}) {
    if (name.rfind(operation, 0) == 0) return true;
  }
  return false;
}

/// True if the form cannot be negative: sizes, coordinates of boxes at 0 and sums of them.
bool is_non_negative(const ir::Affine& a) {
  return a.constant() >= 0 && std::all_of(a.terms().begin(), a.terms().end(), [](const ir::Affine::Term& t) {
           const auto* floor = std::get_if<ir::FloorDiv>(&t.atom);
           return t.factor > 0 &&
                  (std::holds_alternative<ir::Size>(t.atom) || (floor && is_non_negative(*floor->numerator)));
         });
}

}  // namespace

std::string Names::claim(const std::string& wanted) {
  std::string name;
  for (char c : wanted) name += std::isalnum(static_cast<unsigned char>(c)) || c == '_' ? c : '_';
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name[0]))) name = "_" + name;
  if (reserved_words().count(name) || is_typed_helper(name)) name += "_";
  std::string unique = name;
  for (int i = 2; !taken_.insert(unique).second; ++i) unique = name + "_" + std::to_string(i);
  return unique;
}

ArrayLayout Layout::claim_array(const std::string& name, Type type, const ir::Box& box) {
  ArrayLayout array{names.claim(name), type, {}, box};
  constexpr const char* suffix[] = {"", "_pitch", "_slice"};
  for (std::size_t d = 1; d < box.size(); ++d) {
    array.strides.push_back(names.claim(array.name + (d < 3 ? suffix[d] : "_stride" + std::to_string(d))));
  }
  return array;
}

Layout layout_of(const ir::Pipeline& pipeline) {
  Layout layout;
  layout.names.claim(pipeline.name + "_frame");  // the struct that holds what follows
  const auto add_array = [&](const ir::StagePtr& stage) {
    layout.arrays[stage.get()] = layout.claim_array(stage->name, stage->type, stage->box);
  };
  for (const auto& input : pipeline.inputs) {
    add_array(input);
    constexpr const char* suffix[] = {"_w", "_h", "_d"};
    std::vector<std::string>& sizes = layout.sizes[input->name];  // none of a scalar's
    for (int d = 0; d < input->rank(); ++d) {
      sizes.push_back(layout.names.claim(layout.arrays[input.get()].name +
                                         (d < 3 ? suffix[d] : "_n" + std::to_string(d))));
    }
  }
  for (const auto& param : pipeline.params) layout.params[param->name] = layout.names.claim(param->name);
  for (const auto& stage : pipeline.stages) add_array(stage);
  return layout;
}

kernel::Expr lower_affine(const ir::Affine& a, const Layout& layout, const std::vector<kernel::Expr>& coords,
                          const Taps& taps) {
  using kernel::Expr;
  Expr positive, negative;  // summed apart, so that 1 - x is not printed as -x + 1
  const auto accumulate = [](Expr& sum, Expr term) {
    sum = sum ? kernel::add(sum, std::move(term)) : std::move(term);
  };
  for (const auto& [atom, factor] : a.terms()) {
    const Expr value = std::visit(
        ir::overloaded{
            [&](const ir::Coord& c) { return coords.at(c.dim); },
            [&](const ir::TapCoord& t) { return taps.at(t.loop.get()).at(t.dim); },
            [&](const ir::Size& s) { return kernel::name(layout.sizes.at(s.image).at(s.dim)); },
            [&](const ir::FloorDiv& f) {
              const Expr numerator = lower_affine(*f.numerator, layout, coords, taps);
              if (const auto known = kernel::literal_value(numerator))
                return kernel::literal(ir::floor_div(*known, f.divisor));
              if (is_non_negative(*f.numerator)) {
                return kernel::binary(ir::BinaryOp::Div, numerator, kernel::literal(f.divisor));
              }
              if ((f.divisor & (f.divisor - 1)) == 0) {  // a shift rounds down, and there are vectors of it
                int bits = 0;
                while (std::int64_t{1} << bits < f.divisor) ++bits;
                return kernel::binary(ir::BinaryOp::Shr, numerator, kernel::literal(bits));
              }
              return kernel::index_call(kernel::IndexOp::FloorDiv, numerator, kernel::literal(f.divisor));
            },
        },
        atom);
    accumulate(factor > 0 ? positive : negative,
               kernel::mul(value, kernel::literal(factor > 0 ? factor : -factor)));
  }
  Expr sum = positive ? positive : kernel::literal(0);
  sum = kernel::add(sum, kernel::literal(a.constant()));
  return negative ? kernel::sub(sum, negative) : sum;
}

void declare_array(const ArrayLayout& array, kernel::Array::Role role, const Layout& layout,
                   kernel::Module& module) {
  kernel::Array result{array.name, array.type, role, array.strides, {}};
  for (const ir::Range& range : array.box)
    result.extents.push_back(lower_affine(range.extent, layout, {}, {}));
  for (const std::string& stride : array.strides) module.strides.push_back({stride, Scalar::I64});
  module.arrays.push_back(std::move(result));
}

}  // namespace weft::lower
