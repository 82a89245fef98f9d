// Prints kernel expressions and statements as C. The spelling of what C lacks is left to helper functions of
// the prelude; the printer notes which ones it used.
#pragma once

#include <fmt/format.h>

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "emit/index_values.h"
#include "emit/truncated_floats.h"
#include "emit/writer.h"
#include "kernel/ir.h"

namespace weft::emit {

std::string c_type(Scalar s);

class CLike {
 public:
  CLike(Writer& out, bool strict) : out_(out), strict_(strict) {}
  virtual ~CLike() = default;

  /// For C++, before the body of each function: looks for what is to be converted with care.
  void enter(const kernel::Function& function, const kernel::Module& module);
  void print(const kernel::Block& block);
  std::string text(const kernel::Expr& e);  ///< The expression, without outer parentheses.
  /// Likewise, with a prefix before some variables: fields of a frame, say.
  std::string text(const kernel::Expr& e, const std::string& prefix,
                   const std::vector<kernel::Symbol>& prefixed);

  /// Of a function with whole rows in vectors: what a compiler has to define, and when rows are long enough. Empty of others.
  static std::string instructions_for(const kernel::Function& in_vectors);
  std::string fills_vectors(const kernel::Function& in_vectors);

  /// What an element of an array is. On CPUs bools are bytes that are compared: GCC 12 makes vectors of few loops that
  /// load bools.
  virtual std::string stored_type(Scalar s) const { return c_type(s == Scalar::Bool ? Scalar::U8 : s); }

  /// The name of a helper function, noted as used.
  std::string helper(const std::string& name);
  const std::set<std::string>& used_helpers() const { return helpers_; }
  /// C's mathematical functions that were called: "expf", "pow", …
  const std::set<std::string>& used_functions() const { return functions_; }

 protected:
  // What the languages spell differently. Only those for GPUs have barriers, atomics and shared memory.
  virtual void open_loop(const kernel::For& loop);
  virtual void print(const kernel::LocalArray& array);
  virtual void print(const kernel::LoadPack& load);
  virtual void print(const kernel::StorePack& store);
  virtual void print(const kernel::Shuffle& shuffle);
  virtual void print(const kernel::IsAligned& test);
  virtual void print(const kernel::Atomic& update);
  virtual void print(const kernel::Barrier&);
  /// The helper of index arithmetic, for i32 or i64; on CPUs it is always i64.
  virtual std::string index_function(const std::string& name, Scalar) { return helper(name); }
  /// What stands in for the library's functions of floats, unless `strict`: e^v, and x^y for the exponents of is_gamma.
  virtual std::string fast_exp(const std::string& v) { return helper("exp_approx_f32") + "(" + v + ")"; }
  virtual std::string fast_pow(const std::string& x, const std::string& y) {
    function("pow", Scalar::F32);  // the helper's way where products and sums are not fused
    return fmt::format("{}({}, {})", helper("pow_approx_f32"), x, y);
  }

  std::string operand_of_comparison(const kernel::Expr& e);
  std::string initializer(const kernel::Expr& e);  ///< Without a conversion that C makes by itself.
  static constexpr int tightest = 100;             ///< The context that always asks for parentheses.
  std::string spelt(const kernel::Expr& e, int context);
  std::string call(const std::string& function, const kernel::Expr& argument);
  std::string address(const kernel::Symbol& array, const kernel::Expr& offset);
  std::string function(const std::string& name, Scalar type);
  void line(const std::string& text) { out_.line(text); }
  void open(const std::string& text) { out_.open(text); }

 private:
  void print(const kernel::Stmt& statement);
  void print(const kernel::Prefetch& prefetch);
  void print(const kernel::LookUp& look_up);
  void print(const kernel::PickPlanes& picks);
  void print(const kernel::StorePastCaches& store);
  void print_loop(const kernel::For& loop);
  void print(const kernel::IfVectors& branch);
  void print(const kernel::StepsInLanes& steps);
  void print_in_vectors(const kernel::For& loop);
  void print_vectors_and_rest(const kernel::For& loop);
  void print_whole_row(const kernel::For& loop);
  void print_columns(const kernel::For& loop);
  void print_columns_from(const kernel::For& loop, const kernel::Columns& row);
  void print_vector_variables(const kernel::For& loop, const kernel::Block& block);
  void print_vector(const kernel::For& loop);
  std::string goes_past_caches(const kernel::For& loop, const kernel::Expr& bytes);
  std::string vector_at(const kernel::Load& load, Scalar type);
  bool is_vector(const kernel::Expr& e) const;
  std::string list(const std::vector<kernel::Expr>& values);
  std::string vector_before(const kernel::Neighbours& row);
  bool is_hidden(const kernel::Expr& e) const;
  bool is_float_of_index(const kernel::Expr& e) const;
  const kernel::Cast* silent_cast(const kernel::Expr& e) const;
  std::string binary(const kernel::Node& node, const kernel::Binary& n, int context);
  std::string operand(const kernel::Expr& e, const kernel::Expr& other, int context);
  std::string wide(const kernel::Expr& e, int context);
  std::string cast(const kernel::Node& node, const kernel::Cast& n);
  std::string stored(const kernel::Expr& e);
  std::string as_value(const std::string& element, Scalar type, int context) const;

  Writer& out_;
  bool strict_;
  TruncatedFloats truncated_;
  IndexValues indices_;
  bool in_vectors_ = false;               // in a loop that compilers make vectors of
  const kernel::For* vectors_ = nullptr;  // the loop whose vectors are spelt out
  /// What the update of steps in lanes reads, from `left` columns before its own on.
  struct Taps {
    kernel::Symbol name;
    int left;
  };
  std::optional<Taps> taps_;               // of the update that is spelt out
  std::set<kernel::Symbol> vector_names_;  // of its variables, those that are vectors
  std::string prefix_;
  std::set<kernel::Symbol> prefixed_;
  std::set<std::string> helpers_, functions_;
};

/// A literal of the type; floats with the fewest digits that read back exactly.
std::string c_literal(Scalar type, ir::Number value);

}  // namespace weft::emit
