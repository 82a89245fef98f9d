#include "emit/c_like.h"

#include <fmt/format.h>
#include <weft/error.h>

#include <cmath>
#include <cstdint>
#include <limits>

#include "ir/stage_ir.h"
#include "kernel/build.h"
#include "kernel/symbol_format.h"

namespace weft::emit {

using ir::BinaryOp;
using ir::UnaryOp;
using kernel::Expr;

namespace {

// C's precedence levels, loosest first.
enum Level {
  ternary,
  logical_or,
  logical_and,
  bit_or,
  bit_xor,
  bit_and,
  equality,
  relational,
  shift,
  additive,
  multiplicative,
  prefix,
  postfix
};

struct Operator {
  const char* text;
  Level level;
};

Operator spelling(BinaryOp op, bool on_bools) {
  switch (op) {
    case BinaryOp::Add: return {"+", additive};
    case BinaryOp::Sub: return {"-", additive};
    case BinaryOp::Mul: return {"*", multiplicative};
    case BinaryOp::Div: return {"/", multiplicative};
    case BinaryOp::Rem: return {"%", multiplicative};
    case BinaryOp::And: return on_bools ? Operator{"&&", logical_and} : Operator{"&", bit_and};
    case BinaryOp::Or: return on_bools ? Operator{"||", logical_or} : Operator{"|", bit_or};
    case BinaryOp::Xor: return on_bools ? Operator{"!=", equality} : Operator{"^", bit_xor};
    case BinaryOp::Shl: return {"<<", shift};
    case BinaryOp::Shr: return {">>", shift};
    case BinaryOp::Lt: return {"<", relational};
    case BinaryOp::Le: return {"<=", relational};
    case BinaryOp::Eq: return {"==", equality};
    case BinaryOp::Ne: return {"!=", equality};
    default: throw InternalError("no operator in C");
  }
}

std::string parenthesised(std::string text, Level level, int context) {
  return level < context ? "(" + text + ")" : text;
}

bool is_conjunction(const Expr& e) {
  const auto* binary = std::get_if<kernel::Binary>(&e->op);
  return binary && binary->op == BinaryOp::And && e->type == Scalar::Bool;
}

bool is_negation(const Expr& e) {
  if (const auto* cast = std::get_if<kernel::Cast>(&e->op)) return is_negation(cast->a);
  const auto* unary = std::get_if<kernel::Unary>(&e->op);
  return unary && unary->op == UnaryOp::Not;
}

/// Whether an exponent is one that the approximation of powers is for.
bool is_gamma(const Expr& e) {
  const auto* constant = std::get_if<kernel::Const>(&e->op);
  if (!constant) return false;
  const double exponent = constant->value.as_double();
  return exponent > 0 && exponent <= 4 && exponent != std::floor(exponent);
}

/// Whether C converts without a word and without a warning: every value of `from` is one of `to`.
bool widens_silently(Scalar from, Scalar to) {
  if (from == Scalar::F16 || to == Scalar::F16 || to == Scalar::Bool) return false;
  if (is_float(from)) return is_float(to) && size_of(from) <= size_of(to);
  const bool loses_sign = is_signed(from) && !is_float(to) && !is_signed(to);
  return size_of(from) < size_of(to) && !loses_sign;
}

/// Clang takes the widened -u for a mistake.
bool is_negated_unsigned(const Expr& e) {
  const auto* unary = std::get_if<kernel::Unary>(&e->op);
  return unary && unary->op == UnaryOp::Neg && !is_signed(e->type);
}

/// Whether C takes the 64-bit expression for an int, as small literals are written without a suffix.
bool is_int_in_c(const Expr& e) {
  if (e->type != Scalar::I64) return false;
  const auto value = kernel::literal_value(e);
  if (value) return *value == static_cast<std::int32_t>(*value);
  if (const auto* n = std::get_if<kernel::Unary>(&e->op))
    return (n->op == ir::UnaryOp::Neg || n->op == ir::UnaryOp::BitNot) && is_int_in_c(n->a);
  const auto* n = std::get_if<kernel::Select>(&e->op);
  return n && is_int_in_c(n->a) && is_int_in_c(n->b);
}

/// Whether C computes it as an int, which is to become the narrower type that the expression has here.
bool is_promoted(const Expr& e) {
  if (!is_integer(e->type) || size_of(e->type) >= 4) return false;
  if (const auto* n = std::get_if<kernel::Select>(&e->op)) return is_promoted(n->a) || is_promoted(n->b);
  const auto* n = std::get_if<kernel::Binary>(&e->op);
  return n && n->op != BinaryOp::Min && n->op != BinaryOp::Max;
}

/// Whether it is a bool in C, too, and not an int that is to become one.
bool is_bool_in_c(const Expr& e) {
  if (const auto* n = std::get_if<kernel::Select>(&e->op)) return is_bool_in_c(n->a) && is_bool_in_c(n->b);
  if (const auto* n = std::get_if<kernel::Unary>(&e->op)) return n->op == UnaryOp::Not;
  const auto* n = std::get_if<kernel::Binary>(&e->op);
  if (!n || ir::is_comparison(n->op)) return true;
  return n->op == BinaryOp::And || n->op == BinaryOp::Or || n->op == BinaryOp::Xor ||
         n->op == BinaryOp::Min || n->op == BinaryOp::Max;
}

/// What GCC 12 knows to be no -0: it then takes 0 - i for -i, which is -0 where i is 0.
bool is_float_of_integer(const kernel::Node& node) {
  const auto* cast = std::get_if<kernel::Cast>(&node.op);
  return cast && is_float(node.type) && !is_float(cast->a->type);
}

}  // namespace

std::string c_type(Scalar s) {
  constexpr const char* names[] = {"bool",     "int8_t",   "int16_t",  "int32_t", "int64_t", "uint8_t",
                                   "uint16_t", "uint32_t", "uint64_t", "half_t",  "float",   "double"};
  return names[static_cast<int>(s)];
}

std::string c_literal(Scalar type, ir::Number value) {
  if (type == Scalar::F16) return fmt::format("0x{:04x}", half(static_cast<float>(value.f)).bits);
  if (is_float(type)) {
    const bool wide = type == Scalar::F64;
    if (std::isnan(value.f)) return wide ? "__builtin_nan(\"\")" : "__builtin_nanf(\"\")";
    if (std::isinf(value.f))
      return fmt::format("{}__builtin_inf{}()", value.f < 0 ? "-" : "", wide ? "" : "f");
    ir::Value v{Type{type, 1}, {}};
    v.lane[0] = value;
    std::string text = v.to_string();
    if (text.find_first_of(".e") == std::string::npos) text += ".0";
    return text + (wide ? "" : "f");
  }
  switch (type) {
    case Scalar::Bool: return value.i ? "true" : "false";
    case Scalar::U32: return fmt::format("{}u", static_cast<std::uint32_t>(value.i));
    case Scalar::U64: return fmt::format("{}ull", static_cast<std::uint64_t>(value.i));
    default: break;
  }
  if (value.i == std::numeric_limits<std::int64_t>::min()) return "(-9223372036854775807ll - 1)";
  if (type == Scalar::I32 && value.i == std::numeric_limits<std::int32_t>::min()) return "(-2147483647 - 1)";
  return std::to_string(value.i);
}

std::string CLike::helper(const std::string& name) {
  helpers_.insert(name);
  return name;
}

std::string CLike::function(const std::string& name, Scalar type) {
  const std::string full = type == Scalar::F64 ? name : name + "f";
  functions_.insert(full);
  return full;
}

std::string CLike::text(const Expr& e) { return spelt(e, ternary); }

std::string CLike::text(const Expr& e, const std::string& prefix,
                        const std::vector<kernel::Symbol>& prefixed) {
  prefix_ = prefix, prefixed_ = {prefixed.begin(), prefixed.end()};
  std::string result = text(e);
  prefixed_.clear();
  return result;
}

void CLike::enter(const kernel::Function& function, const kernel::Module& module) {
  truncated_ = strict_ ? TruncatedFloats(function.body) : TruncatedFloats();
  indices_ = IndexValues(function, module);
}

/// Whether GCC 12 may not see that it is an integer as a float: of float(int(x)) it makes a truncation, which keeps
/// the sign of a zero.
bool CLike::is_hidden(const Expr& e) const {
  const auto* cast = std::get_if<kernel::Cast>(&e->op);
  const bool is_of_integer = cast && is_float(e->type) && e->type != Scalar::F16 && !is_float(cast->a->type);
  return is_of_integer && size_of(cast->a->type) >= 4 && truncated_.may_be(cast->a);
}

/// Whether it is to be converted by a sum, as in vectors not all processors do so otherwise.
bool CLike::is_float_of_index(const Expr& e) const {
  const auto* cast = std::get_if<kernel::Cast>(&e->op);
  return in_vectors_ && cast && (e->type == Scalar::F32 || e->type == Scalar::F64) &&
         cast->a->type == Scalar::I64 && indices_.is_one(cast->a);
}

/// The operand of a conversion that C makes by itself between `from` and `to` when it meets a `to`.
const kernel::Cast* CLike::silent_cast(const Expr& e) const {
  const auto* cast = std::get_if<kernel::Cast>(&e->op);
  const bool silent = cast && cast->mode == ir::CastMode::Convert &&
                      widens_silently(cast->a->type, e->type) && !is_negated_unsigned(cast->a);
  return silent && !is_hidden(e) && !is_vector(cast->a) ? cast : nullptr;
}

/// Conversions that C makes by itself are not written in initialisers and stores.
std::string CLike::initializer(const Expr& e) {
  if (is_promoted(e)) return fmt::format("({}){}", c_type(e->type), spelt(e, prefix));
  const auto* cast = silent_cast(e);
  return text(cast ? cast->a : e);
}

std::string CLike::operand(const Expr& e, const Expr& other, int context) {
  if (const auto* cast = silent_cast(e)) {
    // Integral promotion happens anyway; other conversions do if the other operand has the type already.
    const bool promoted = e->type == Scalar::I32 && size_of(cast->a->type) < 4;
    if (promoted || !silent_cast(other)) {
      if (!is_int_in_c(other)) return spelt(cast->a, context);
    }
  }
  return spelt(e, context);
}

std::string CLike::binary(const kernel::Node& node, const kernel::Binary& n, int context) {
  const Scalar type = n.a->type;
  const auto call = [&](const std::string& name) {
    return fmt::format("{}({}, {})", name, text(n.a), text(n.b));
  };
  switch (n.op) {
    case BinaryOp::Min:
    case BinaryOp::Max:
      if (is_vector(n.a)) return call(n.op == BinaryOp::Min ? "smaller_of" : "larger_of");
      return call(helper(fmt::format("{}_{}", n.op == BinaryOp::Min ? "min" : "max", name_of(type))));
    case BinaryOp::Pow:
      if (!strict_ && type == Scalar::F32 && is_gamma(n.b)) return fast_pow(text(n.a), text(n.b));
      return call(function("pow", type));
    case BinaryOp::Sub:
      if (strict_ && is_float_of_integer(*n.b)) return call(helper("minus_" + name_of(type)));
      break;
    case BinaryOp::Rem:
      if (is_float(type)) return call(function("fmod", type));
      [[fallthrough]];
    case BinaryOp::Div:
      if (!is_float(type)) {
        const auto divisor = kernel::literal_value(n.b);
        if (!divisor || *divisor == 0 || *divisor == -1) {
          return call(helper(fmt::format("{}_{}", n.op == BinaryOp::Div ? "div" : "rem", name_of(type))));
        }
      }
      break;
    case BinaryOp::Shl:
    case BinaryOp::Shr: {
      const int width = size_of(type) * 8;
      const auto count = kernel::literal_value(n.b);
      const std::string by = count ? std::to_string(*count & (width - 1))
                                   : fmt::format("({} & {})", spelt(n.b, multiplicative), width - 1);
      const Operator op = spelling(n.op, false);
      const kernel::Cast* promotion = type == Scalar::I32 ? silent_cast(n.a) : nullptr;
      const std::string a = promotion ? spelt(promotion->a, multiplicative) : wide(n.a, multiplicative);
      return parenthesised(fmt::format("{} {} {}", a, op.text, by), shift, context);
    }
    default:
      if (const ir::Function* f = ir::function_of(n.op)) return call(function(f->c_name, type));
      break;
  }
  const Operator op = spelling(n.op, type == Scalar::Bool && node.type == Scalar::Bool);
  // Operands of the same level need parentheses on the right only.
  int left = op.level, right = op.level + 1;
  // Compilers and readers want more of them: around sums and ! among bits, comparisons in comparisons, && in
  // ||.
  if (op.level >= bit_or && op.level <= bit_and) {
    left = is_negation(n.a) ? postfix : multiplicative;
    right = multiplicative;
  }
  if (op.level == equality || op.level == relational) left = right = shift;
  if (op.level == logical_or) {
    if (is_conjunction(n.a)) left = prefix;
    if (is_conjunction(n.b)) right = prefix;
  }
  const std::string a = is_int_in_c(n.b) ? wide(n.a, left) : operand(n.a, n.b, left);
  return parenthesised(fmt::format("{} {} {}", a, op.text, operand(n.b, n.a, right)), op.level, context);
}

/// Of the type that it has here, also in C.
std::string CLike::wide(const Expr& e, int context) {
  if (!is_int_in_c(e)) return spelt(e, context);
  return parenthesised(fmt::format("({}){}", c_type(e->type), spelt(e, prefix)), prefix, context);
}

std::string CLike::cast(const kernel::Node& node, const kernel::Cast& n) {
  const Scalar from = n.a->type, to = node.type;
  if (is_vector(n.a)) {
    const char* conversion = n.mode == ir::CastMode::Saturate ? "saturated" : "converted";
    return fmt::format("{}<{}>({})", conversion, c_type(to), text(n.a));
  }
  if (from == Scalar::F16 && to == Scalar::F32)
    return fmt::format("{}({})", helper("half_to_float"), text(n.a));
  if (to == Scalar::F16) {
    const bool is_float_in_c = from == Scalar::F32 || widens_silently(from, Scalar::F32);
    return fmt::format("{}({})", helper("float_to_half"),
                       is_float_in_c ? text(n.a) : "(float)" + spelt(n.a, prefix));
  }
  if (n.mode == ir::CastMode::Saturate && !is_float(to) && to != Scalar::Bool) {
    return fmt::format("{}({})", helper(fmt::format("saturate_{}_{}", name_of(to), name_of(from))),
                       text(n.a));
  }
  if (is_float(from) && !is_float(to) && to != Scalar::Bool) {
    const char* operation = n.fits ? "whole" : "truncate";
    return fmt::format("{}({})", helper(fmt::format("{}_{}_{}", operation, name_of(to), name_of(from))),
                       text(n.a));
  }
  return fmt::format("({}){}", c_type(to), spelt(n.a, prefix));
}

std::string CLike::operand_of_comparison(const Expr& e) { return spelt(e, shift); }

std::string CLike::call(const std::string& function, const Expr& argument) {
  return fmt::format("{}({})", function, text(argument));
}

/// What is stored into an array.
std::string CLike::stored(const Expr& e) {
  const bool as_byte = stored_type(e->type) != c_type(e->type) && !is_bool_in_c(e);
  return as_byte ? spelt(e, relational) + " != 0" : initializer(e);
}

/// What is loaded from one.
std::string CLike::as_value(const std::string& element, Scalar type, int context) const {
  return stored_type(type) == c_type(type) ? element : parenthesised(element + " != 0", equality, context);
}

std::string CLike::spelt(const Expr& e, int context) {
  return std::visit(
      ir::overloaded{
          [&](const kernel::Const& n) {
            const std::string literal = c_literal(e->type, n.value.lane[0]);
            return literal[0] == '-' ? parenthesised(literal, prefix, context) : literal;
          },
          [&](const kernel::Name& n) {
            return prefixed_.count(n.name) ? prefix_ + n.name.spelling() : n.name.spelling();
          },
          [&](const kernel::Unary& n) -> std::string {
            switch (n.op) {
              case UnaryOp::Neg: return parenthesised("-" + spelt(n.a, postfix), prefix, context);
              case UnaryOp::Not: return parenthesised("!" + spelt(n.a, prefix), prefix, context);
              case UnaryOp::BitNot: return parenthesised("~" + spelt(n.a, prefix), prefix, context);
              case UnaryOp::Abs:
                return is_float(e->type) ? call(function("fabs", e->type), n.a)
                                         : call(helper("abs_" + name_of(e->type)), n.a);
              case UnaryOp::Sqrt: return call(is_vector(n.a) ? "roots_of" : function("sqrt", e->type), n.a);
              case UnaryOp::Exp:
                if (!strict_ && e->type == Scalar::F32) return fast_exp(text(n.a));
                return call(function("exp", e->type), n.a);
              default: return call(function(name_of(n.op), e->type), n.a);
            }
          },
          [&](const kernel::Binary& n) { return binary(*e, n, context); },
          [&](const kernel::Select& n) {
            return parenthesised(fmt::format("{} ? {} : {}", spelt(n.condition, logical_or),
                                             spelt(n.a, ternary + 1), spelt(n.b, ternary)),
                                 ternary, context);
          },
          [&](const kernel::Cast& n) {
            if (e->type == Scalar::Bool)
              return parenthesised(spelt(n.a, equality) + " != 0", equality, context);
            if (is_float_of_index(e))
              return fmt::format("{}({})", helper("index_" + name_of(e->type) + "_i64"), text(n.a));
            if (is_hidden(e)) {
              const std::string name = fmt::format("convert_{}_{}", name_of(e->type), name_of(n.a->type));
              return fmt::format("{}({})", helper(name), text(n.a));
            }
            std::string text = cast(*e, n);
            return text[0] == '(' ? parenthesised(text, prefix, context) : text;
          },
          [&](const kernel::IndexCall& n) {
            constexpr const char* names[] = {"clamp_index", "mirror_index", "mirror101_index", "repeat_index",
                                             "floor_div"};
            return fmt::format("{}({}, {})", index_function(names[static_cast<int>(n.op)], e->type),
                               text(n.a), text(n.b));
          },
          [&](const kernel::Load& n) {
            if (taps_)
              return fmt::format("{}[{}]", taps_->name, kernel::split_constant(n.index).second + taps_->left);
            if (vectors_) return vector_at(n, e->type);
            return as_value(fmt::format("{}[{}]", n.array, initializer(n.index)), e->type, context);
          },
          [&](const kernel::MedianOf& n) {
            const bool of_bytes = stored_type(e->type) != c_type(e->type);
            const std::string median = helper("median_" + name_of(of_bytes ? Scalar::U8 : e->type));
            return as_value(fmt::format("{}({}, {})", median, n.array, n.count), e->type, context);
          },
          [&](const kernel::HalfOfSum& n) {
            return fmt::format("{}({}, {})", helper("half_of_sum"), text(n.a), text(n.b));
          },
      },
      e->op);
}

// ---- statements ------------------------------------------------------------------------------------------

void CLike::print(const kernel::Block& block) {
  for (const kernel::Stmt& s : block) print(s);
}

void CLike::open_loop(const kernel::For& loop) {
  if (loop.kind == kernel::LoopKind::Vector) out_.line("WEFT_INDEPENDENT");
  const std::string step =
      loop.step ? fmt::format("{} += {}", loop.variable, text(loop.step)) : "++" + loop.variable.spelling();
  out_.open(fmt::format("for ({4} {0} = {1}; {0} < {2}; {3})", loop.variable, text(loop.from),
                        operand_of_comparison(loop.to), step, c_type(loop.from->type)));
  if (loop.kind == kernel::LoopKind::Scalar) out_.line("WEFT_SCALAR");
}

void CLike::print_loop(const kernel::For& loop) {
  const bool around = in_vectors_;
  open_loop(loop);
  in_vectors_ |= loop.kind == kernel::LoopKind::Vector;
  print(loop.body);
  in_vectors_ = around;
  out_.close();
}

// Aligned for vectors, and since GCC 12 may store by 16 bytes at once where it gives an array 8 of the stack.
void CLike::print(const kernel::LocalArray& array) {
  out_.line(fmt::format("alignas(64) {} {}[{}]{};", stored_type(array.type), array.name, array.count,
                        array.is_zeroed ? " = {}" : ""));
}
std::string CLike::address(const kernel::Symbol& array, const kernel::Expr& offset) {
  return kernel::is_literal(offset, 0) ? array.spelling()
                                       : fmt::format("{} + {}", array, spelt(offset, additive));
}
void CLike::print(const kernel::LoadPack&) { throw InternalError("a pack on a CPU"); }
void CLike::print(const kernel::StorePack&) { throw InternalError("a pack on a CPU"); }
void CLike::print(const kernel::Prefetch& s) {
  const kernel::Expr bytes = kernel::mul(s.count, kernel::literal(size_of(s.type)));
  out_.line(fmt::format("{}({}, {});", helper("prefetch"), address(s.array, s.offset), text(bytes)));
}
void CLike::print(const kernel::LookUp& s) {
  out_.line(fmt::format("{}<{}>({}, {}, {}, {});", helper("look_up"), s.size, s.table, s.places, s.to,
                        text(s.count)));
}
void CLike::print(const kernel::PickPlanes& s) {
  const std::string pick_planes = helper("pick_planes");
  out_.line(
      fmt::format("stand_up({}, {}, {}, {}, {});", s.table, s.planes, s.pitch, text(s.scalars), s.upright));
  for (const kernel::PickPlanes::Pick& pick : s.picks) {
    out_.line(fmt::format("{}<{}, {}>({}, {}, {}, {}, {}, {}, {{{}}}, {});", pick_planes, s.shift, s.lanes,
                          s.upright, s.table, s.pitch, pick.places, text(s.start), pick.lane,
                          fmt::join(pick.to, ", "), text(s.count)));
  }
}
void CLike::print(const kernel::StorePastCaches& s) {
  const kernel::Expr bytes = kernel::mul(s.count, kernel::literal(size_of(s.type)));
  out_.line(fmt::format("{}({}, {}, {});", helper("store_past_caches"), address(s.array, s.offset), s.from,
                        text(bytes)));
}
void CLike::print(const kernel::Shuffle&) { throw InternalError("a shuffle on a CPU"); }
void CLike::print(const kernel::IsAligned&) { throw InternalError("a test of an address on a CPU"); }
void CLike::print(const kernel::Atomic&) { throw InternalError("an atomic update on a CPU"); }
void CLike::print(const kernel::Barrier&) { throw InternalError("a barrier on a CPU"); }

void CLike::print(const kernel::Stmt& statement) {
  std::visit(
      ir::overloaded{
          [&](const kernel::Let& s) {
            const bool is_changed = s.is_mutable || s.is_opaque;
            out_.line(fmt::format("{}{} {} = {};", is_changed ? "" : "const ", c_type(s.value->type), s.name,
                                  initializer(s.value)));
            if (s.is_opaque) out_.line(fmt::format("WEFT_OPAQUE({})", s.name));
          },
          [&](const kernel::Assign& s) { out_.line(fmt::format("{} = {};", s.name, initializer(s.value))); },
          [&](const kernel::Pointer& s) {
            const auto* cast = silent_cast(s.offset);
            const std::string otherwise =
                s.unless ? fmt::format("{} ? {} : ", spelt(s.unless, tightest), s.instead) : "";
            out_.line(fmt::format("{}{}* {} = {}{};", s.is_const ? "const " : "", stored_type(s.type), s.name,
                                  otherwise, address(s.array, cast ? cast->a : s.offset)));
            if (s.is_opaque) out_.line(fmt::format("WEFT_OPAQUE({})", s.name));
          },
          [&](const kernel::LocalArray& s) { print(s); },
          [&](const kernel::Store& s) {
            out_.line(fmt::format("{}[{}] = {};", s.array, initializer(s.index), stored(s.value)));
          },
          [&](const kernel::LoadPack& s) { print(s); },
          [&](const kernel::StorePack& s) { print(s); },
          [&](const kernel::Prefetch& s) { print(s); },
          [&](const kernel::LookUp& s) { print(s); },
          [&](const kernel::PickPlanes& s) { print(s); },
          [&](const kernel::ExceedsCaches& s) {
            out_.line(
                fmt::format("const bool {} = {}({});", s.name, helper("exceeds_caches"), text(s.bytes)));
          },
          [&](const kernel::StorePastCaches& s) { print(s); },
          [&](const kernel::Shuffle& s) { print(s); },
          [&](const kernel::IsAligned& s) { print(s); },
          [&](const kernel::Atomic& s) { print(s); },
          [&](const kernel::Barrier& s) { print(s); },
          [&](const kernel::For& s) { s.vectors ? print_in_vectors(s) : print_loop(s); },
          [&](const kernel::If& s) {
            out_.open(fmt::format("if ({})", text(s.condition)));
            print(s.then);
            if (!s.otherwise.empty()) {
              out_.close("} else {");
              out_.indent();
              print(s.otherwise);
            }
            out_.close();
          },
          [&](const kernel::IfVectors& s) { print(s); },
          [&](const kernel::StepsInLanes& s) { print(s); },
          [&](const kernel::Scope& s) {
            out_.open("");
            print(s.body);
            out_.close();
          },
          [&](const kernel::Continue&) { out_.line("continue;"); },
          [&](const kernel::CallFunction& s) {
            std::string arguments = "frame";
            for (const Expr& e : s.arguments) arguments += ", " + text(e);
            out_.line(fmt::format("{}({});", s.function, arguments));
          },
          [&](const kernel::Order& s) {
            helper("order_pair");  // the network calls it
            out_.line(fmt::format("{}({});", s.network, s.array));
          },
          [&](const kernel::Comment& s) { out_.comment(s.text); },
      },
      statement.op);
}

}  // namespace weft::emit
