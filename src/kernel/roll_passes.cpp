#include "kernel/roll_passes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "ir/stage_ir.h"
#include "kernel/build.h"
#include "kernel/code_walk.h"
#include "kernel/vector_body.h"
#include "kernel/visit.h"

namespace weft::kernel {
namespace {

constexpr std::size_t least_passes = 3;     // which a loop is shorter than
constexpr std::size_t most_statements = 4;  // of a pass: one for each field

template <class... Kinds>
bool is_one_of(const Stmt& s) {
  return (std::holds_alternative<Kinds>(s.op) || ...);
}

/// Passes with such code stay as they are: there is none in rows that follow one another.
bool has_more_than_rows(const Stmt& s) {
  bool found = false;
  visit_statements({s}, [&](const Stmt& each) {
    found |= is_one_of<LocalArray, LoadPack, StorePack, Shuffle, Atomic, Barrier, Order, Comment>(each);
  });
  visit_expressions({s}, [&](const Expr& e) { found |= std::holds_alternative<MedianOf>(e->op); });
  return found;
}

/// A text with a number in it: "u_step", 1 and "_row". Of two texts that differ in that number alone; nothing if they differ otherwise.
struct Spelling {
  std::string before, after;
  int number;
};
std::optional<Spelling> difference(const std::string& a, const std::string& b) {
  std::size_t begin = 0;
  while (begin < a.size() && begin < b.size() && a[begin] == b[begin]) ++begin;
  while (begin > 0 && std::isdigit(static_cast<unsigned char>(a[begin - 1]))) --begin;
  std::size_t end = begin, other = begin;
  while (end < a.size() && std::isdigit(static_cast<unsigned char>(a[end]))) ++end;
  while (other < b.size() && std::isdigit(static_cast<unsigned char>(b[other]))) ++other;
  const bool differ_there =
      end > begin && other > begin && end - begin < 9 && a.substr(end) == b.substr(other);
  if (!differ_there) return std::nullopt;
  return Spelling{a.substr(0, begin), a.substr(end), std::stoi(a.substr(begin, end - begin))};
}

/// Arrays of one size, which a loop goes through: `u_step1_rows` in its first pass, `u_step2_rows` in its second.
class Families {
 public:
  struct Place {
    std::size_t family;
    std::int64_t index;
  };

  explicit Families(const Function& function) {
    for (const Stmt& s : function.body) {
      const auto* array = std::get_if<LocalArray>(&s.op);
      const bool is_of_lines =
          array && array->count * size_of(array->type) % vector_bytes == 0;  // all are aligned alike
      if (is_of_lines && array->storage == Storage::Local) arrays_.emplace(array->name, *array);
    }
  }

  /// Whether the arrays can follow one another in this order; if so, they do from now on.
  bool follow(const std::vector<Symbol>& sequence) {
    std::optional<Place> first;
    for (std::size_t k = 0; k < sequence.size(); ++k) {
      if (!is_like(sequence[k], sequence[0])) return false;
      const auto known = places_.find(sequence[k]);
      if (known == places_.end()) continue;
      const Place begin{known->second.family, known->second.index - static_cast<std::int64_t>(k)};
      if (first && (first->family != begin.family || first->index != begin.index)) return false;
      first = begin;
    }
    if (!first) first = Place{families_++, 0};
    for (std::size_t k = 0; k < sequence.size(); ++k) {
      const Place place{first->family, first->index + static_cast<std::int64_t>(k)};
      const auto taken = std::find_if(places_.begin(), places_.end(), [&](const auto& other) {
        return other.second.family == place.family && other.second.index == place.index;
      });
      if (taken != places_.end() && taken->first != sequence[k]) return false;
      const Place& own = places_.try_emplace(sequence[k], place).first->second;
      if (own.family != place.family || own.index != place.index) return false;  // it comes twice
    }
    return true;
  }

  /// Whether there are arrays enough for a loop to go through.
  bool may_be() const { return arrays_.size() >= least_passes; }
  const std::map<Symbol, Place>& places() const { return places_; }
  std::size_t count() const { return families_; }
  std::int64_t size(std::size_t family) const {
    return std::count_if(places_.begin(), places_.end(),
                         [&](const auto& one) { return one.second.family == family; });
  }
  /// Makes the first array of each family number 0.
  void count_from_first() {
    std::map<std::size_t, std::int64_t> least;
    for (const auto& [name, place] : places_) {
      std::int64_t& first = least.try_emplace(place.family, place.index).first->second;
      first = std::min(first, place.index);
    }
    for (auto& [name, place] : places_) place.index -= least.at(place.family);
  }
  /// What is the same at both ends of its arrays' names.
  std::string spelling(std::size_t family) const {
    std::vector<std::string> names;
    for (const auto& [name, place] : places_)
      if (place.family == family) names.push_back(name.spelling());
    const auto found = difference(names[0], names[1]);
    return found ? found->before + "s" + found->after : names[0];
  }
  const LocalArray& array(const Symbol& name) const { return arrays_.at(name); }

 private:
  bool is_like(const Symbol& a, const Symbol& b) const {
    const auto one = arrays_.find(a), other = arrays_.find(b);
    return one != arrays_.end() && other != arrays_.end() && one->second.type == other->second.type &&
           one->second.count == other->second.count && one->second.is_zeroed == other->second.is_zeroed;
  }

  std::map<Symbol, LocalArray> arrays_;
  std::map<Symbol, Place> places_;
  std::size_t families_ = 0;
};

/// Passes from a statement of a block on.
struct Run {
  std::size_t begin, statements, passes;
};

/// The loop that a run becomes.
class Loop : public CodeWalk {
 public:
  /// `shapes` are those of all statements of the run.
  Loop(const Run& run, const std::vector<CodeShape>& shapes, Names& names)
      : run_(run), shapes_(shapes), names_(names), pass_(names.claim("pass")) {
    spell();
    find_ahead();
  }

  /// `merged`: by family.
  Stmt of(const Block& block, const Families& families, const std::vector<Symbol>& merged) {
    Block body;
    if (ahead_) body.push_back({Let{*ahead_, sub(literal(first_), name(pass_))}});
    const Block first(block.begin() + static_cast<std::ptrdiff_t>(run_.begin),
                      block.begin() + static_cast<std::ptrdiff_t>(run_.begin + run_.statements));
    const std::set<Symbol> written = arrays_written_in(first);
    for (const Symbol& array : arrays_of_first()) {
      const Families::Place place = families.places().at(array);
      const LocalArray& one = families.array(array);
      const Symbol pointer = names_.claim(spelt(array));
      body.push_back(
          {Pointer{pointer, merged.at(place.family), one.type,
                   mul(offset(name(pass_), place.index), literal(one.count)), written.count(array) == 0}});
      renamed_[array] = pointer;
    }
    scopes_ = {names_};
    for (const Stmt& s : first) {
      numbers_ = 0;
      body.push_back(statement(s));
      ++at_;
    }
    return {For{LoopKind::Serial, pass_, literal(0), literal(static_cast<std::int64_t>(run_.passes)),
                std::move(body)}};
  }

 private:
  const CodeShape& first(std::size_t s) const { return shapes_[s]; }
  const CodeShape& second(std::size_t s) const { return shapes_[run_.statements + s]; }

  std::vector<Symbol> arrays_of_first() const {
    std::vector<Symbol> arrays;
    for (const auto& [array, next] : varying(&CodeShape::names)) {
      if (std::find(arrays.begin(), arrays.end(), array) == arrays.end()) arrays.push_back(array);
    }
    return arrays;
  }

  /// Arrays, and what is named after them, lose the number of a pass: of `u_step2_row` and `u_step1_p1` remain `u_step_row`
  /// and `u_past_p1`.
  void spell() {
    std::map<std::string, int> newest;  // number, by what stands before it
    for (const auto& [array, next] : varying(&CodeShape::names)) {
      if (const auto found = difference(array.spelling(), next.spelling())) {
        int& number = newest.try_emplace(found->before, found->number).first->second;
        number = std::max(number, found->number);
      }
    }
    for (const auto list : {&CodeShape::names, &CodeShape::locals}) {
      for (const auto& [symbol, next] : varying(list)) {
        const auto found = difference(symbol.spelling(), next.spelling());
        if (!found || !newest.count(found->before)) continue;
        std::string before = found->before;
        if (found->number < newest.at(before)) {
          while (!before.empty() && std::isalpha(static_cast<unsigned char>(before.back())))
            before.pop_back();
          before += "past";
        }
        spelt_[symbol] = before + found->after;
      }
    }
  }

  /// Names of the first pass, and what stands there in the second, where that is another.
  std::vector<std::pair<Symbol, Symbol>> varying(const std::vector<Symbol>& (CodeShape::*list)()
                                                     const) const {
    std::vector<std::pair<Symbol, Symbol>> names;
    for (std::size_t s = 0; s < run_.statements; ++s) {
      const std::vector<Symbol>&one = (first(s).*list)(), &next = (second(s).*list)();
      for (std::size_t n = 0; n < one.size(); ++n)
        if (one[n] != next[n]) names.emplace_back(one[n], next[n]);
    }
    return names;
  }

  std::string spelt(const Symbol& symbol) const {
    const auto known = spelt_.find(symbol);
    return known == spelt_.end() ? symbol.spelling() : known->second;
  }

  /// The first number that becomes one less with each pass counts them down.
  void find_ahead() {
    for (std::size_t s = 0; s < run_.statements && !ahead_; ++s) {
      for (std::size_t n = 0; n < first(s).numbers().size() && !ahead_; ++n) {
        if (second(s).numbers()[n] != first(s).numbers()[n] - 1) continue;
        first_ = first(s).numbers()[n];
        ahead_ = names_.claim("ahead");
      }
    }
  }

  void tag(const std::string&) override {}
  void refuse() override {}
  void enter() override { scopes_.push_back(scopes_.back()); }
  void leave() override { scopes_.pop_back(); }

  Expr number(const Expr& before, const Expr& value) override {
    const std::int64_t first = *literal_value(value), by = second(at_).numbers()[numbers_++] - first;
    if (by == 0) return before ? binary(ir::BinaryOp::Add, before, value) : value;
    if (value->type != Scalar::I64)
      return binary(ir::BinaryOp::Add, before,
                    cast(ir::CastMode::Convert, value->type, changed(literal(0), first, by)));
    return changed(before ? before : literal(0), first, by);
  }
  /// `before` plus a number that changes by so much with each pass.
  Expr changed(const Expr& before, std::int64_t first, std::int64_t by) const {
    if (ahead_ && by == -1) return offset(add(before, name(*ahead_)), first - first_);
    if (ahead_ && by == 1 && first == -first_) return sub(before, name(*ahead_));
    return offset(add(before, mul(name(pass_), literal(by))), first);
  }
  Symbol used(const Symbol& name) override {
    const auto known = renamed_.find(name);
    return known == renamed_.end() ? name : known->second;
  }
  Symbol declared(const Symbol& name) override {
    const auto spelling = spelt_.find(name);
    if (spelling == spelt_.end()) return name;
    const auto [renamed, is_new] = renamed_.try_emplace(name);
    if (is_new)
      renamed->second = scopes_.back().claim(spelling->second);  // or a vector has the name of what it holds
    return renamed->second;
  }

  const Run run_;
  const std::vector<CodeShape>& shapes_;
  Names& names_;
  const Symbol pass_;
  std::optional<Symbol> ahead_;
  std::int64_t first_ = 0;
  std::map<Symbol, std::string> spelt_;
  std::map<Symbol, Symbol> renamed_;
  std::vector<Names> scopes_;         // blocks beside one another may spell alike
  std::size_t at_ = 0, numbers_ = 0;  // the statement, and the number in it
};

class Rolling {
 public:
  Rolling(Function& function, Names& names) : function_(function), names_(names), families_(function) {}

  void run() {
    if (families_.may_be()) find(function_.body);
    if (found_.empty()) return;
    families_.count_from_first();
    for (std::size_t family = 0; family < families_.count(); ++family)
      merged_.push_back(names_.claim(families_.spelling(family)));
    for (auto found = found_.rbegin(); found != found_.rend(); ++found) replace(*found);
    declare();
  }

 private:
  struct Found {
    Block* block;
    Run run;
    std::vector<CodeShape> shapes;
  };

  void find(Block& block) {
    std::vector<std::optional<CodeShape>> shapes;
    for (const Stmt& s : block) shapes.push_back(shape_of(s));
    std::size_t at = 0;
    while (at < block.size()) {
      const std::optional<Run> run = longest_from(at, shapes);
      if (!run || !follow(*run, shapes)) {
        each_block(block[at++], [&](Block& inside) { find(inside); });
        continue;
      }
      Found found{&block, *run, {}};
      at = run->begin + run->statements * run->passes;
      for (std::size_t s = run->begin; s < at; ++s) found.shapes.push_back(*std::move(shapes[s]));
      found_.push_back(std::move(found));
    }
  }

  /// Of a statement that may be a pass.
  static std::optional<CodeShape> shape_of(const Stmt& s) {
    const bool is_pass = std::holds_alternative<If>(s.op) || std::holds_alternative<For>(s.op) ||
                         std::holds_alternative<Scope>(s.op);
    if (!is_pass || has_more_than_rows(s)) return std::nullopt;
    CodeShape shape(s);
    return shape.is_refused() ? std::nullopt : std::optional(std::move(shape));
  }

  static std::optional<Run> longest_from(std::size_t begin,
                                         const std::vector<std::optional<CodeShape>>& shapes) {
    std::optional<Run> longest;
    for (std::size_t statements = 1; statements <= most_statements; ++statements) {
      Run run{begin, statements, 1};
      while (goes_on(run, shapes)) ++run.passes;
      const bool is_longer = !longest || run.statements * run.passes > longest->statements * longest->passes;
      if (run.passes >= least_passes && is_longer) longest = run;
    }
    return longest;
  }

  /// Whether another pass follows whose numbers go on like those before.
  static bool goes_on(const Run& run, const std::vector<std::optional<CodeShape>>& shapes) {
    for (std::size_t s = 0; s < run.statements; ++s) {
      const std::size_t first = run.begin + s, next = first + run.statements * run.passes;
      if (next >= shapes.size() || !shapes[first] || !shapes[next] || !shapes[first]->is_like(*shapes[next]))
        return false;
      if (run.passes == 1) continue;
      const CodeShape& second = *shapes[first + run.statements];
      for (std::size_t n = 0; n < second.numbers().size(); ++n) {
        const std::int64_t from = shapes[first]->numbers()[n], by = second.numbers()[n] - from;
        if (shapes[next]->numbers()[n] != from + static_cast<std::int64_t>(run.passes) * by) return false;
      }
    }
    return true;
  }

  /// Whether the names of the passes are the same, or arrays that can follow one another.
  bool follow(const Run& run, const std::vector<std::optional<CodeShape>>& shapes) {
    const Families before = families_;
    std::set<Symbol> same, others;  // names of the first pass
    for (std::size_t s = 0; s < run.statements; ++s) {
      const std::size_t first = run.begin + s;
      for (std::size_t n = 0; n < shapes[first]->names().size(); ++n) {
        std::vector<Symbol> sequence;
        for (std::size_t pass = 0; pass < run.passes; ++pass)
          sequence.push_back(shapes[first + pass * run.statements]->names()[n]);
        const bool is_same = std::all_of(sequence.begin(), sequence.end(),
                                         [&](const Symbol& one) { return one == sequence[0]; });
        (is_same ? same : others).insert(sequence[0]);
        if (!is_same && !families_.follow(sequence)) return families_ = before, false;
      }
    }
    const bool is_told_apart =
        std::none_of(others.begin(), others.end(), [&](const Symbol& name) { return same.count(name) > 0; });
    if (others.empty() || !is_told_apart) return families_ = before, false;
    return true;
  }

  void replace(const Found& found) {
    const auto begin = found.block->begin() + static_cast<std::ptrdiff_t>(found.run.begin);
    Stmt loop = Loop(found.run, found.shapes, names_).of(*found.block, families_, merged_);
    const auto end = begin + static_cast<std::ptrdiff_t>(found.run.statements * found.run.passes);
    const auto next = found.block->erase(begin + 2, end);
    *(next - 1) = std::move(loop);
    *(next - 2) = {Comment{
        fmt::format("{} passes that are alike, each over what the one before has left", found.run.passes)}};
  }

  /// The arrays of each family become one, and what is named elsewhere a pointer into it.
  void declare() {
    const std::set<Symbol> named = names_in(function_.body), written = arrays_written_in(function_.body);
    std::set<std::size_t> declared;
    Block body;
    for (Stmt& s : function_.body) {
      const auto* array = std::get_if<LocalArray>(&s.op);
      const auto place = array ? families_.places().find(array->name) : families_.places().end();
      if (place == families_.places().end()) {
        body.push_back(std::move(s));
        continue;
      }
      const auto [family, index] = place->second;
      LocalArray all = *array;
      all.name = merged_.at(family), all.count *= static_cast<int>(families_.size(family));
      if (declared.insert(family).second) body.push_back({all});
      if (named.count(array->name))
        body.push_back({Pointer{array->name, all.name, all.type, literal(index * array->count),
                                written.count(array->name) == 0}});
    }
    function_.body = std::move(body);
  }

  Function& function_;
  Names& names_;
  Families families_;
  std::vector<Found> found_;
  std::vector<Symbol> merged_;  // by family
};

}  // namespace

void roll_passes(Function& function, Names names) { Rolling(function, names).run(); }

}  // namespace weft::kernel
