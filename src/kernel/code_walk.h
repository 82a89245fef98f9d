// Code, gone through in one order and copied: what two pieces of code are compared by, and copied with other names and numbers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernel/ir.h"

namespace weft::kernel {

/// What it meets can be noted, or made something else.
class CodeWalk {
 public:
  virtual ~CodeWalk() = default;

  Stmt statement(const Stmt& original);
  Block block(const Block& original);

 protected:
  /// What else makes a statement or an expression what it is.
  virtual void tag(const std::string& what) = 0;
  /// Blocks.
  virtual void enter() = 0;
  virtual void leave() = 0;
  /// An index, or `before` plus an integer of 32 or 64 bits: others are what pixels are made with, and remain constants.
  virtual Expr number(const Expr& before, const Expr& value) = 0;
  virtual Symbol used(const Symbol& name) = 0;
  virtual Symbol declared(const Symbol& name) = 0;
  /// There is a statement for CPUs that it does not go through: such code stays as it is.
  virtual void refuse() = 0;

 private:
  void tag(int what) { tag(std::to_string(what)); }
  Expr expression(const Expr& e);
  void note(Stmt& s);
  void note(For& loop);
  void declare(Stmt& s);
};

/// Code but for its numbers and names.
class CodeShape : public CodeWalk {
 public:
  explicit CodeShape(const Stmt& s) { statement(s); }
  explicit CodeShape(const Block& code) { block(code); }

  bool is_refused() const { return is_refused_; }
  bool is_like(const CodeShape& other) const { return text_ == other.text_; }
  const std::vector<std::int64_t>& numbers() const { return numbers_; }
  /// That the code does not declare itself, and that it does.
  const std::vector<Symbol>& names() const { return names_; }
  const std::vector<Symbol>& locals() const { return locals_; }

 protected:
  void tag(const std::string& what) override { text_ += what + ' '; }
  void enter() override { text_ += "{ "; }
  void leave() override { text_ += "} "; }
  Expr number(const Expr& before, const Expr& value) override;
  Symbol used(const Symbol& name) override;
  Symbol declared(const Symbol& name) override { return locals_.push_back(name), name; }
  void refuse() override { is_refused_ = true; }

 private:
  std::string text_;
  std::vector<std::int64_t> numbers_;
  std::vector<Symbol> names_, locals_;
  bool is_refused_ = false;
};

}  // namespace weft::kernel
