#include "ir/print.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "ir/visit.h"

namespace weft::ir {
namespace {

// ---- precedences, as in C++ ----

enum Precedence {
  LogicalOr,
  LogicalAnd,
  BitOr,
  BitXor,
  BitAnd,
  Equality,
  Relation,
  Shift,
  Sum,
  Product,
  Prefix,
  Primary
};

Precedence precedence(BinaryOp op) {
  switch (op) {
    case BinaryOp::Add:
    case BinaryOp::Sub: return Sum;
    case BinaryOp::Mul:
    case BinaryOp::Div:
    case BinaryOp::Rem: return Product;
    case BinaryOp::And: return BitAnd;
    case BinaryOp::Or: return BitOr;
    case BinaryOp::Xor: return BitXor;
    case BinaryOp::Shl:
    case BinaryOp::Shr: return Shift;
    case BinaryOp::Lt:
    case BinaryOp::Le: return Relation;
    case BinaryOp::Eq:
    case BinaryOp::Ne: return Equality;
    default: return Primary;  // written as a call
  }
}

struct Text {
  std::string text;
  Precedence precedence = Primary;
};

std::string within(const Text& t, Precedence least) {
  return t.precedence < least ? "(" + t.text + ")" : t.text;
}

/// A float is told from an integer by its point.
std::string spelt(const Value& value) {
  std::string text = value.to_string();
  const bool plain = text.find_first_not_of("-0123456789") == std::string::npos;
  return is_float(value.type.scalar) && value.type.lanes == 1 && plain ? text + ".0" : text;
}

std::string joined(const std::vector<std::string>& items, const char* separator = ", ") {
  return fmt::format("{}", fmt::join(items, separator));
}

// ---- masks ----

using Masks = std::vector<std::shared_ptr<const Mask>>;

bool same(const Mask& a, const Mask& b) {
  return a.extents == b.extents && a.type == b.type && a.coefficients == b.coefficients;
}

std::size_t number_of(const Mask& mask, const Masks& masks) {
  const auto known = std::find_if(masks.begin(), masks.end(), [&](const auto& m) { return same(*m, mask); });
  return static_cast<std::size_t>(known - masks.begin());
}

void collect(const Expr& root, Masks& masks) {
  visit(root, [&](const Expr& e) {
    const auto* n = std::get_if<Coefficient>(&e->op);
    if (n && number_of(*n->mask, masks) == masks.size()) masks.push_back(n->mask);
  });
}

/// "m0 = 1 2 1\n     2 4 2\n": rows, columns aligned.
std::string to_string(const Mask& mask, const std::string& name) {
  std::size_t width = 0;
  for (const Value& c : mask.coefficients) width = std::max(width, c.to_string().size());
  std::string text = name + " =";
  const std::string indent(text.size(), ' ');
  const auto columns = static_cast<std::size_t>(mask.extents[0]);
  for (std::size_t i = 0; i < mask.coefficients.size(); ++i) {
    if (i > 0 && i % columns == 0) text += "\n" + indent;
    text += fmt::format(" {:>{}}", mask.coefficients[i].to_string(), width);
  }
  return text + "\n";
}

std::string to_string(const Masks& masks) {
  std::string text;
  for (std::size_t i = 0; i < masks.size(); ++i) text += to_string(*masks[i], fmt::format("m{}", i));
  return text;
}

// ---- expressions ----

/// `next` of a fold of one accumulator as op(accumulator, value) from the operator's identity.
struct Reduction {
  const char* name;
  Expr value;
};

std::optional<Reduction> as_reduction(const Fold& fold) {
  if (fold.next.size() != 1) return std::nullopt;
  const auto* initial = std::get_if<Const>(&fold.initial[0]->op);
  const auto* next = std::get_if<Binary>(&fold.next[0]->op);
  if (!initial || !next) return std::nullopt;
  const auto* accumulator = std::get_if<Accumulated>(&next->a->op);
  if (!accumulator || accumulator->loop != fold.loop) return std::nullopt;
  bool value_reads_accumulator = false;
  visit(next->b, [&](const Expr& e) {
    const auto* inner = std::get_if<Accumulated>(&e->op);
    value_reads_accumulator |= inner && inner->loop == fold.loop;
  });
  if (value_reads_accumulator) return std::nullopt;
  const Type type = initial->value.type;
  const auto starts_at = [&](const Value& v) { return initial->value == v; };
  if (next->op == BinaryOp::Add && starts_at(Value::integer(type, 0))) return Reduction{"sum", next->b};
  if (next->op == BinaryOp::Mul && starts_at(Value::integer(type, 1))) return Reduction{"product", next->b};
  if (next->op == BinaryOp::Min && starts_at(largest(type))) return Reduction{"min", next->b};
  if (next->op == BinaryOp::Max && starts_at(least(type))) return Reduction{"max", next->b};
  return std::nullopt;
}

class Printer {
 public:
  explicit Printer(const Masks& masks) : masks_(masks) {}

  /// A scope's shared expressions, folds with state, and loops with shared expressions become lines.
  std::string statements(const std::vector<Expr>& roots, const std::string& indent) {
    std::string text;
    count_uses(roots);
    for (const Expr& root : roots) state(root, indent, text);
    return text;
  }

  Text operator()(const Expr& e) {
    if (auto named = names_.find(e.get()); named != names_.end()) return {named->second};
    return std::visit([&](const auto& n) { return spell(*e, n); }, e->op);
  }
  std::string line(const Expr& e) { return (*this)(e).text; }

 private:
  /// Names given inside a loop are not known after it.
  class Scope {
   public:
    explicit Scope(Printer& printer) : printer_(printer), names_(printer.names_), stated_(printer.stated_) {}
    void close() const { printer_.names_ = names_, printer_.stated_ = stated_; }

   private:
    Printer& printer_;
    std::unordered_map<const Node*, std::string> names_;
    std::unordered_set<const Node*> stated_;
  };

  // ---- which expressions get lines of their own ----

  /// The operands that are evaluated in the scope of the node itself.
  static std::vector<Expr> in_scope(const Node& node) {
    if (const auto* fold = std::get_if<FoldResult>(&node.op)) return fold->fold->initial;
    if (std::holds_alternative<Median>(node.op)) return {};
    return operands(node);
  }
  static bool is_short(const Expr& e) {
    if (const auto* read = std::get_if<Read>(&e->op)) {
      return read->region == read->source->box &&
             std::all_of(read->indices.begin(), read->indices.end(),
                         [](const Index& i) { return std::holds_alternative<Affine>(i); });
    }
    return std::holds_alternative<Const>(e->op) || std::holds_alternative<Quantity>(e->op) ||
           std::holds_alternative<ParamRef>(e->op) || std::holds_alternative<Coefficient>(e->op) ||
           std::holds_alternative<Accumulated>(e->op) || std::holds_alternative<Operand>(e->op) ||
           std::holds_alternative<StepNumber>(e->op);
  }

  void count_uses(const std::vector<Expr>& roots) {
    std::vector<Expr> open = roots;
    while (!open.empty()) {
      const Expr e = open.back();
      open.pop_back();
      if (++uses_[e.get()] > 1) continue;
      for (const Expr& operand : in_scope(*e)) open.push_back(operand);
    }
  }

  void state(const Expr& e, const std::string& indent, std::string& text) {
    if (names_.count(e.get()) || !stated_.insert(e.get()).second) return;
    for (const Expr& operand : in_scope(*e)) state(operand, indent, text);
    if (const auto* fold = std::get_if<FoldResult>(&e->op)) {
      state_fold(e, *fold, indent, text);
    } else if (const auto* median = std::get_if<Median>(&e->op)) {
      state_loop(e, "median", median->loop, median->value, indent, text);
    }
    if (uses_[e.get()] > 1 && !is_short(e) && !names_.count(e.get())) name(e, line(e), indent, text);
  }

  void name(const Expr& e, const std::string& value, const std::string& indent, std::string& text) {
    const std::string fresh = fmt::format("v{}", next_value_++);
    text += indent + fresh + " = " + value + "\n";
    names_[e.get()] = fresh;
  }

  /// Names what a loop's body shares with the expressions around it, before the loop.
  void state_shared(const std::vector<Expr>& body, const std::string& indent, std::string& text) {
    visit(body, [&](const Expr& e) {
      if (!uses_.count(e.get()) || is_short(e)) return;
      state(e, indent, text);
      if (!names_.count(e.get())) name(e, line(e), indent, text);
    });
  }

  static bool reads_an_earlier_accumulator(const Fold& fold) {
    bool found = false;
    for (std::size_t i = 0; i < fold.next.size(); ++i) {
      visit(fold.next[i], [&](const Expr& e) {
        const auto* n = std::get_if<Accumulated>(&e->op);
        found |= n && n->loop == fold.loop && n->accumulator < static_cast<int>(i);
      });
    }
    return found;
  }

  void state_fold(const Expr& e, const FoldResult& n, const std::string& indent, std::string& text) {
    const Fold& fold = *n.fold;
    if (const auto reduction = as_reduction(fold)) {
      state_loop(e, reduction->name, fold.loop, reduction->value, indent, text);
      return;
    }
    const auto known = accumulators_.find(fold.loop.get());
    if (known != accumulators_.end()) {
      names_[e.get()] = known->second[n.accumulator];
      return;
    }
    state_shared(fold.next, indent, text);
    std::vector<std::string>& names = accumulators_[fold.loop.get()];
    std::vector<std::string> initial;
    for (const Expr& start : fold.initial) {
      names.push_back(fmt::format("acc{}", next_accumulator_++));
      initial.push_back(names.back() + " = " + line(start));
    }
    text += fmt::format("{}fold {} in {} {{\n{}  {}\n", indent, tap(*fold.loop), to_string(fold.loop->domain),
                        indent, joined(initial, "; "));
    const Scope scope(*this);
    text += statements(fold.next, indent + "  ");
    std::vector<std::string> next;
    for (const Expr& value : fold.next) next.push_back(line(value));
    if (reads_an_earlier_accumulator(fold)) {  // all are replaced at once
      text += fmt::format("{}  ({}) = ({})\n", indent, joined(names), joined(next));
    } else {
      for (std::size_t i = 0; i < next.size(); ++i)
        text += fmt::format("{}  {} = {}\n", indent, names[i], next[i]);
    }
    text += indent + "}\n";
    scope.close();
    names_[e.get()] = names[n.accumulator];
  }

  /// sum(t in 3x3: value): within the expression if the value needs no lines, else as lines.
  void state_loop(const Expr& e, const std::string& op, const std::shared_ptr<const Loop>& loop,
                  const Expr& value, const std::string& indent, std::string& text) {
    const std::string head = fmt::format("{} in {}", tap(*loop), to_string(loop->domain));
    state_shared({value}, indent, text);
    const Scope scope(*this);
    const std::string body = statements({value}, indent + "  "), result = line(value);
    scope.close();
    if (body.empty()) {
      reductions_[e.get()] = fmt::format("{}({}: {})", op, head, result);
      return;
    }
    const std::string fresh = fmt::format("v{}", next_value_++);
    text += fmt::format("{}{} = {} {} {{\n{}{}  {}\n{}}}\n", indent, fresh, op, head, body, indent, result,
                        indent);
    names_[e.get()] = fresh;
  }

  std::string tap(const Loop& loop) {
    const auto [entry, is_new] = taps_.try_emplace(&loop);
    if (is_new) entry->second = taps_.size() == 1 ? "t" : fmt::format("t{}", taps_.size() - 1);
    return entry->second;
  }

  // ---- the text of one node ----

  std::string affine(const Affine& a) {
    return a.to_string([&](const Atom& atom) {
      const auto* t = std::get_if<TapCoord>(&atom);
      return t ? tap(*t->loop) + "." + dim_name(t->dim) : name_of(atom);
    });
  }

  static Precedence precedence_of(const Affine& a) {
    const std::size_t terms = a.terms().size() + (a.constant() != 0);
    if (terms > 1) return Sum;
    if (a.terms().empty()) return a.constant() < 0 ? Prefix : Primary;
    const bool is_floor = std::holds_alternative<FloorDiv>(a.terms()[0].atom);
    return a.terms()[0].factor == 1 && !is_floor ? Primary : Product;
  }

  Text spell(const Node&, const Const& n) {
    const std::string text = spelt(n.value);
    return {text, text[0] == '-' ? Prefix : Primary};
  }
  Text spell(const Node&, const Quantity& n) { return {affine(n.value), precedence_of(n.value)}; }
  Text spell(const Node&, const ParamRef& n) { return {n.param->name}; }
  Text spell(const Node&, const Unary& n) {
    const std::string op = name_of(n.op);
    if (n.op == UnaryOp::Neg || n.op == UnaryOp::Not || n.op == UnaryOp::BitNot) {
      const Text a = (*this)(n.a);
      return {op + (a.precedence == Prefix ? "(" + a.text + ")" : within(a, Prefix)), Prefix};
    }
    return {op + "(" + line(n.a) + ")"};
  }
  Text spell(const Node& node, const Binary& n) {
    Precedence p = precedence(n.op);
    std::string op = name_of(n.op);
    if (p == Primary) return {fmt::format("{}({}, {})", op, line(n.a), line(n.b))};
    const bool logical = node.type.scalar == Scalar::Bool && (n.op == BinaryOp::And || n.op == BinaryOp::Or);
    if (logical) {
      p = n.op == BinaryOp::And ? LogicalAnd : LogicalOr;
      op += op;
    }
    const auto right = static_cast<Precedence>(p + 1);  // operators group from the left
    return {within((*this)(n.a), p) + " " + op + " " + within((*this)(n.b), right), p};
  }
  Text spell(const Node&, const Select& n) {
    return {fmt::format("select({}, {}, {})", line(n.condition), line(n.a), line(n.b))};
  }
  Text spell(const Node& node, const Cast& n) {
    const std::string type = name_of(node.type);
    return {(n.mode == CastMode::Saturate ? "saturate<" + type + ">" : type) + "(" + line(n.a) + ")"};
  }
  Text spell(const Node&, const Pack& n) {
    std::vector<std::string> lanes;
    for (const Expr& lane : n.lanes) lanes.push_back(line(lane));
    const bool equal =
        std::all_of(n.lanes.begin(), n.lanes.end(), [&](const Expr& l) { return l == n.lanes[0]; });
    if (equal) return {fmt::format("splat{}({})", n.lanes.size(), lanes[0])};
    return {"(" + joined(lanes) + ")"};
  }
  Text spell(const Node&, const Lane& n) {
    return {within((*this)(n.a), Primary) + "[" + std::to_string(n.lane) + "]"};
  }
  Text spell(const Node&, const Read& n) {
    std::vector<std::string> indices;
    for (const Index& index : n.indices) {
      const auto* form = std::get_if<Affine>(&index);
      indices.push_back(form ? affine(*form) : line(std::get<Expr>(index)));
    }
    return {n.source->name + access(n) + "(" + joined(indices) + ")"};
  }
  /// "[clamp]", "[constant 0]", "[clamp within [10 .. 20, 5]]".
  std::string access(const Read& n) {
    if (!n.border) return "";
    std::string text = name_of(n.border->mode);
    if (n.border->constant) text += " " + line(n.border->constant);
    if (n.region != n.source->box) text += " within " + to_string(n.region);
    return "[" + text + "]";
  }
  Text spell(const Node&, const Coefficient& n) {
    return {fmt::format("m{}({})", number_of(*n.mask, masks_), tap(*n.loop))};
  }
  Text spell(const Node&, const Accumulated& n) {
    const auto known = accumulators_.find(n.loop.get());
    return {known == accumulators_.end() ? fmt::format("acc{}", n.accumulator)
                                         : known->second[n.accumulator]};
  }
  Text spell(const Node&, const Operand& n) {
    return {
        fmt::format("{}{}", n.side == 0 ? "a" : "b", n.component == 0 ? "" : std::to_string(n.component))};
  }
  Text spell(const Node&, const StepNumber&) { return {"step"}; }
  Text spell(const Node& node, const FoldResult& n) {
    if (const auto known = reductions_.find(&node); known != reductions_.end()) return {known->second};
    const Fold& fold = *n.fold;
    const std::string head = fmt::format("{} in {}", tap(*fold.loop), to_string(fold.loop->domain));
    if (const auto reduction = as_reduction(fold)) {
      return {fmt::format("{}({}: {})", reduction->name, head, line(reduction->value))};
    }
    std::vector<std::string> steps;
    for (std::size_t i = 0; i < fold.next.size(); ++i)
      steps.push_back(fmt::format("acc{} = {}", i, line(fold.initial[i])));
    for (std::size_t i = 0; i < fold.next.size(); ++i)
      steps.push_back(fmt::format("acc{} = {}", i, line(fold.next[i])));
    return {fmt::format("(fold {} {{{}}}).acc{}", head, joined(steps, "; "), n.accumulator)};
  }
  Text spell(const Node& node, const Median& n) {
    if (const auto known = reductions_.find(&node); known != reductions_.end()) return {known->second};
    return {fmt::format("median({} in {}: {})", tap(*n.loop), to_string(n.loop->domain), line(n.value))};
  }

  const Masks& masks_;
  std::unordered_map<const Node*, int> uses_;
  std::unordered_set<const Node*> stated_;
  std::unordered_map<const Node*, std::string> names_, reductions_;
  std::unordered_map<const Loop*, std::string> taps_;
  std::unordered_map<const Loop*, std::vector<std::string>> accumulators_;
  int next_value_ = 0, next_accumulator_ = 0;
};

// ---- stages ----

std::string head(const Stage& stage) {
  return stage.name + ": " + name_of(stage.type) + " " + to_string(stage.box);
}

std::string text_of(const Pure& pure, Printer& print) {
  if (pure.cases.size() == 1 && !pure.cases[0].when) return "  = " + print.line(pure.cases[0].value) + "\n";
  std::string text;
  for (const Case& c : pure.cases) {
    text +=
        fmt::format("  {}: {}\n", c.when ? "when " + print.line(c.when) : "otherwise", print.line(c.value));
  }
  return text;
}

std::string lines_of(const std::vector<Expr>& list, Printer& print) {
  std::vector<std::string> lines;
  for (const Expr& e : list) lines.push_back(print.line(e));
  return lines.size() == 1 ? lines[0] : "{" + joined(lines) + "}";
}

std::string text_of(const Reduce& reduce, Printer& print) {
  return fmt::format("  reduce over {}: {}\n  from {} by {}{}\n  = {}\n", to_string(reduce.over),
                     lines_of(reduce.element, print), lines_of(reduce.op.identity, print),
                     lines_of(reduce.op.combined, print), reduce.op.commutative ? "" : ", in order",
                     print.line(reduce.result));
}

std::string text_of(const Scatter& scatter, Printer& print) {
  std::string text =
      fmt::format("  scatter over {} from {}\n", to_string(scatter.over), print.line(scatter.initial));
  for (const Update& update : scatter.updates) {
    text += fmt::format("  at {}: {} {}\n", lines_of(update.at, print), name_of(scatter.op),
                        print.line(update.value));
  }
  return text;
}

std::string text_of(const Evolve& evolve, Printer& print) {
  const Evolving& own = evolve.evolution->fields[evolve.field];
  return fmt::format("  evolve from {} by {}, {} steps\n", own.initial->name, own.update->name,
                     print.line(evolve.evolution->steps));
}
std::string text_of(const Input&, Printer&) { return " given\n"; }
std::string text_of(const Past&, Printer&) { return " past\n"; }

std::string to_string(const Stage& stage, const Masks& masks) {
  Printer print(masks);
  const std::string statements = print.statements(expressions(stage), "  ");
  std::string text = std::visit([&](const auto& d) { return text_of(d, print); }, stage.definition);
  const bool one_line = statements.empty() && std::count(text.begin(), text.end(), '\n') == 1;
  if (one_line) return head(stage) + " " + text.substr(text.find_first_not_of(' '));
  return head(stage) + "\n" + statements + text;
}

/// An evolution's updates come before the first stage that it gives.
std::string with_updates(const Stage& stage, const Masks& masks, std::unordered_set<const Stage*>& stated) {
  std::string text;
  for (const StagePtr& update : updates(stage)) {
    if (stated.insert(update.get()).second) text += "each step " + to_string(*update, masks);
  }
  return text + to_string(stage, masks);
}

std::vector<Expr> all_expressions(const Stage& stage) {
  std::vector<Expr> all = expressions(stage);
  for (const StagePtr& update : updates(stage)) {
    const std::vector<Expr> more = expressions(*update);
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

}  // namespace

std::string name_of(BorderMode mode) {
  constexpr const char* names[] = {"clamp", "mirror", "mirror101", "repeat", "constant"};
  return names[static_cast<int>(mode)];
}

std::string to_string(const Box& box) {
  std::vector<std::string> ranges;
  for (const Range& range : box) {
    ranges.push_back(range.min.is_constant(0)
                         ? range.extent.to_string()
                         : range.min.to_string() + " .. " + (range.min + range.extent - 1).to_string());
  }
  return "[" + joined(ranges) + "]";
}

std::string to_string(const Domain& domain) {
  std::vector<int> low = domain.points.at(0), high = low;
  std::size_t dense = 1;
  bool centred = true;
  std::vector<std::string> extents, points;
  for (const auto& point : domain.points) {
    for (std::size_t d = 0; d < point.size(); ++d) {
      low[d] = std::min(low[d], point[d]);
      high[d] = std::max(high[d], point[d]);
    }
    points.push_back("(" + joined({fmt::format("{}", fmt::join(point, ", "))}) + ")");
  }
  for (std::size_t d = 0; d < low.size(); ++d) {
    const int extent = high[d] - low[d] + 1;
    dense *= static_cast<std::size_t>(extent);
    centred &= low[d] == -(extent / 2);
    extents.push_back(std::to_string(extent));
  }
  if (centred && dense == domain.points.size()) return joined(extents, "x");
  if (domain.points.size() <= 16) return "{" + joined(points) + "}";
  std::vector<std::string> spans;
  for (std::size_t d = 0; d < low.size(); ++d) spans.push_back(fmt::format("{} .. {}", low[d], high[d]));
  return fmt::format("{} points of [{}]", points.size(), joined(spans));
}

std::string to_string(const Expr& e) {
  Masks masks;
  collect(e, masks);
  return Printer(masks).line(e);
}

std::string to_string(const Stage& stage) {
  Masks masks;
  for (const Expr& e : all_expressions(stage)) collect(e, masks);
  std::unordered_set<const Stage*> stated;
  return to_string(masks) + with_updates(stage, masks, stated);
}

std::string to_string(const Pipeline& pipeline) {
  std::vector<std::string> inputs, params, outputs;
  for (const StagePtr& input : pipeline.inputs) inputs.push_back(head(*input));
  for (const auto& param : pipeline.params) {
    const std::string range = text_of(param->range);
    params.push_back(param->name + ": " + name_of(param->initial.type) + " = " + spelt(param->initial) +
                     (range.empty() ? "" : " (" + range + ")"));
  }
  for (const StagePtr& output : pipeline.outputs) outputs.push_back(output->name);
  Masks masks;
  for (const StagePtr& stage : pipeline.stages) {
    for (const Expr& e : all_expressions(*stage)) collect(e, masks);
  }
  std::string text = fmt::format("{}pipeline {}({}{}{}) -> {}\n", pipeline.strict ? "strict " : "",
                                 pipeline.name, joined(inputs), inputs.empty() || params.empty() ? "" : "; ",
                                 joined(params), joined(outputs));
  text += to_string(masks);
  std::unordered_set<const Stage*> stated;
  for (const StagePtr& stage : pipeline.stages) text += with_updates(*stage, masks, stated);
  return text;
}

}  // namespace weft::ir
