// Walking kernel code.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <vector>

#include "kernel/ir.h"
#include "kernel/names.h"

namespace weft::kernel {

/// The expressions that a statement or a node itself holds, in order; not those of the blocks inside a
/// statement, nor the operands of operands. All that walks over kernel code finds them here, so that a new
/// kind of statement or node is described once.
void each_operand(const Stmt& statement, const std::function<void(const Expr&)>& visitor);
void each_operand(Stmt& statement, const std::function<void(Expr&)>& change);
void each_operand(const Node& node, const std::function<void(const Expr&)>& visitor);
void each_operand(Node& node, const std::function<void(Expr&)>& change);
/// The blocks inside a statement.
void each_block(const Stmt& statement, const std::function<void(const Block&)>& visitor);
void each_block(Stmt& statement, const std::function<void(Block&)>& change);

/// What a statement itself does to the names of a function, besides what its operands read.
struct Effects {
  std::vector<Symbol> declares = {};            ///< Variables, pointers and arrays of the function.
  std::vector<Symbol> assigns = {};             ///< Variables.
  std::vector<Symbol> reads = {}, writes = {};  ///< Arrays, or pointers into them.
  std::vector<Symbol> mentions = {};            ///< Arrays that are prefetched, or pointed into.
};
Effects effects_of(const Stmt& statement);

/// Every expression of a block, operands before users.
void visit_expressions(const Block& block, const std::function<void(const Expr&)>& visitor);
void visit_statements(const Block& block, const std::function<void(const Stmt&)>& visitor);

/// Whether a part of `e`, or `e` itself, has the property.
bool any_of(const Expr& e, const std::function<bool(const Node&)>& property);

/// `e`, with every part for which `rewrite` returns another replaced, users before operands; `e` itself if
/// there are none. Null keeps a part.
Expr rewritten(const Expr& e, const std::function<Expr(const Expr&)>& rewrite);
/// Replaces every expression of a block for which `rewrite` returns another, and the parts of the rest for
/// which it does: users before operands. Null keeps an expression.
void rewrite_expressions(Block& block, const std::function<Expr(const Expr&)>& rewrite);

/// Keeps what a function declares in its body out of what `names` may claim.
void avoid_declared_in(const Function& function, Names& names);

/// What is assigned to each variable, besides what it is declared with.
std::map<Symbol, std::vector<Expr>> assigned_in(const Block& block);

/// All variables, arrays and fields that a block uses, but for what it only declares; a call passes the
/// frame, so a callee's are not among them.
std::set<Symbol> names_in(const Block& block);
/// The arrays that a block stores to, or makes writable pointers into.
std::set<Symbol> arrays_written_in(const Block& block);

/// The arrays of the module that a function reads and writes, itself or in functions that it calls, through
/// pointers, too. What an atomic operation updates is written.
struct Uses {
  std::set<Symbol> reads, writes;
};
Uses uses_of(const Module& module, const Symbol& function);
/// All launches of a module in order, those of a repeat once.
std::vector<const Launch*> launches_of(const Module& module);
std::vector<Launch*> launches_of(Module& module);
/// The launches whose grids depend on what a device has room for, one of each function.
std::vector<const Launch*> launches_with_room(const Module& module);

/// All that functions may be given besides arrays: sizes, strides, parameters, counters, and what devices have room for.
std::vector<Field> fields_of(const Module& module);

/// Throws InternalError if there is no such function.
const Function& function_named(const Module& module, const Symbol& name);

}  // namespace weft::kernel
