#include "kernel/insert_barriers.h"

#include <algorithm>
#include <map>
#include <set>

#include "kernel/build.h"
#include "kernel/visit.h"

namespace weft::kernel {
namespace {

enum class Kind { Read, Write, Update };

struct Access {
  Symbol array;
  Kind kind;
  bool is_own;     ///< Each thread's elements are its own.
  bool is_of_one;  ///< The first thread's alone.

  auto operator<=>(const Access&) const = default;
};
using Accesses = std::set<Access>;

bool conflict(const Access& a, const Access& b) {
  if (a.array != b.array) return false;
  if (a.kind == b.kind && a.kind != Kind::Write) return false;
  return !(a.is_own && b.is_own) && !(a.is_of_one && b.is_of_one);
}

bool meet(const Accesses& a, const Accesses& b) {
  return std::any_of(a.begin(), a.end(), [&](const Access& one) {
    return std::any_of(b.begin(), b.end(), [&](const Access& other) { return conflict(one, other); });
  });
}

bool is_divided(const Stmt& statement) {
  const auto* loop = std::get_if<For>(&statement.op);
  return loop && loop->kind == LoopKind::Threads;
}

bool is_of_warps(const Stmt& statement) {
  const auto* loop = std::get_if<For>(&statement.op);
  return loop && loop->kind == LoopKind::Warps;
}

class Barriers {
 public:
  explicit Barriers(Function& function) : function_(function) {
    visit_statements(function.body, [&](const Stmt& statement) {
      if (const auto* array = std::get_if<LocalArray>(&statement.op);
          array && array->storage == Storage::Local)
        of_threads_.insert(array->name);
      if (const auto* pack = std::get_if<LoadPack>(&statement.op)) of_threads_.insert(pack->name);
      if (const auto* pointer = std::get_if<Pointer>(&statement.op)) {
        for (const Symbol& array : effects_of(statement).mentions)
          pointees_[pointer->name].merge(arrays_of(array));
      }
    });
  }

  void run() {
    bool is_divided_at_all = false;
    visit_statements(function_.body, [&](const Stmt& s) { is_divided_at_all |= is_divided(s); });
    if (!is_divided_at_all) return;  // threads have nothing in common
    Accesses since;
    go_through(function_.body, since);
    insert(function_.body);
  }

 private:
  /// Pointers of different scopes may have one name: then it stands for what any of them points into.
  std::set<Symbol> arrays_of(const Symbol& name) const {
    const auto pointees = pointees_.find(name);
    return pointees == pointees_.end() ? std::set{name} : pointees->second;
  }

  /// Finds where barriers stand; `since` has the accesses since the last one.
  void go_through(const Block& block, Accesses& since) {
    for (const Stmt& statement : block) {
      if (is_divided(statement) || !divides(statement)) {
        access(statement, since);
      } else if (is_of_warps(statement)) {
        is_in_warp_ = true;
        go_through(std::get<For>(statement.op).body, since);
        is_in_warp_ = false;
      } else if (std::holds_alternative<For>(statement.op)) {
        go_around(statement, since);
      } else {
        const Accesses before = since;
        each_block(statement, [&](const Block& inside) {
          Accesses after = before;
          go_through(inside, after);
          since.merge(after);
        });
      }
    }
  }

  /// A loop: what its turns need of one another stands inside, what they need of what was before stands
  /// before it.
  void go_around(const Stmt& loop, Accesses& since) {
    const Block& body = std::get<For>(loop.op).body;
    Accesses inside;
    for (bool is_known = false; !is_known;) {
      Accesses after = inside;
      go_through(body, after);
      const std::size_t known = inside.size();
      inside.merge(after);
      is_known = inside.size() == known;
    }
    Accesses first;  // before the first barrier of a turn
    collect(body, first);
    if (meet(first, since)) wait_before(loop, since);
    since.merge(inside);
  }

  /// Adds what is accessed before a barrier; false if one surely comes.
  bool collect(const Block& block, Accesses& first) const {
    for (const Stmt& statement : block) {
      if (waiting_.count(&statement) > 0) return false;
      const auto* branch = std::get_if<If>(&statement.op);
      const auto* loop = std::get_if<For>(&statement.op);
      if (branch && divides(statement)) {
        const bool then = collect(branch->then, first), otherwise = collect(branch->otherwise, first);
        if (!then && !otherwise) return false;
      } else if (is_of_warps(statement)) {
        if (!collect(loop->body, first)) return false;
      } else if (loop && loop->kind != LoopKind::Threads && divides(statement)) {
        collect(loop->body, first);  // it may have no turns
      } else {
        first.merge(accesses_of(statement));
      }
    }
    return true;
  }

  /// Threads divide work inside.
  static bool divides(const Stmt& statement) {
    bool found = false;
    each_block(statement, [&](const Block& inside) {
      visit_statements(inside, [&](const Stmt& s) { found |= is_divided(s); });
    });
    return found;
  }

  void wait_before(const Stmt& statement, Accesses& since) {
    waiting_[&statement] = {is_in_warp_};
    since.clear();
  }

  void access(const Stmt& statement, Accesses& since) {
    Accesses next = accesses_of(statement);
    if (waiting_.count(&statement) > 0 || meet(next, since)) wait_before(statement, since);
    since.merge(next);
  }

  Accesses accesses_of(const Stmt& statement) const {
    Accesses accesses;
    const For* loop = is_divided(statement) ? &std::get<For>(statement.op) : nullptr;
    const bool is_of_one = loop && is_literal(loop->from, 0) && is_literal(loop->to, 1);
    const auto add = [&](const Symbol& name, Kind kind, const Expr& index) {
      const auto* variable = index ? std::get_if<Name>(&index->op) : nullptr;
      const bool is_turn =
          loop && is_literal(loop->from, 0) && !loop->step && variable && variable->name == loop->variable;
      const bool is_own = is_turn || (is_of_one && index && is_literal(index, 0));
      for (const Symbol& array : arrays_of(name)) {
        if (!of_threads_.count(array))
          accesses.insert({array, kind, is_own && !pointees_.count(name), is_of_one});
      }
    };
    const Block block{statement};
    visit_statements(block, [&](const Stmt& s) {
      if (const auto* store = std::get_if<Store>(&s.op)) return add(store->array, Kind::Write, store->index);
      if (const auto* update = std::get_if<Atomic>(&s.op))
        return add(update->array, Kind::Update, update->index);
      const Effects effects = effects_of(s);
      for (const Symbol& array : effects.reads) add(array, Kind::Read, nullptr);
      for (const Symbol& array : effects.writes) add(array, Kind::Write, nullptr);
    });
    visit_expressions(block, [&](const Expr& e) {
      if (const auto* load = std::get_if<Load>(&e->op)) add(load->array, Kind::Read, load->index);
      if (const auto* median = std::get_if<MedianOf>(&e->op)) add(median->array, Kind::Write, nullptr);
    });
    return accesses;
  }

  void insert(Block& block) const {
    Block with;
    for (Stmt& statement : block) {
      if (const auto waiting = waiting_.find(&statement); waiting != waiting_.end())
        with.push_back({waiting->second});
      each_block(statement, [&](Block& inside) { insert(inside); });
      with.push_back(std::move(statement));
    }
    block = std::move(with);
  }

  Function& function_;
  std::set<Symbol> of_threads_;                  // arrays
  std::map<Symbol, std::set<Symbol>> pointees_;  // by pointer
  std::map<const Stmt*, Barrier> waiting_;       // what stands before it
  bool is_in_warp_ = false;                      // each warp has arrays of its own
};

}  // namespace

void insert_barriers(Function& function) { Barriers(function).run(); }

}  // namespace weft::kernel
