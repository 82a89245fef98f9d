#include "fuzz/shrink.h"

namespace weft::fuzz {
namespace {

/// Changes a recipe; false if there is nothing to change.
using Change = std::function<bool(Recipe&)>;

/// Assigns, and says whether that is a change.
template <class T>
bool set(T& place, const T& value) {
  if (place == value) return false;
  place = value;
  return true;
}

// ---- finding things by number, since a copy of the recipe is changed ----

template <class Thing, class Each>
int count(Each each, Stage stage) {
  int n = 0;
  each(stage, [&](Thing&) { ++n; });
  return n;
}

void each_stage_term(Stage& stage, const std::function<void(Term&)>& visit) {
  each_root(stage, [&](Term& root) { each_term(root, visit); });
}

/// Applies `change` to the n-th of what `each` visits.
template <class Thing, class Each>
bool at(Each each, Stage& stage, int n, const std::function<bool(Thing&)>& change) {
  bool changed = false;
  Thing* found = nullptr;
  each(stage, [&](Thing& thing) {
    if (n-- == 0) found = &thing;
  });
  if (found != nullptr) changed = change(*found);
  return changed;
}

// ---- changes ----

void change_outputs(const Recipe& recipe, std::vector<Change>& all) {
  for (std::size_t r = 0; recipe.runs.size() > 1 && r < recipe.runs.size(); ++r)
    all.push_back([r](Recipe& x) { return x.runs = {x.runs.at(r)}, true; });
  for (int s = 0; s < static_cast<int>(recipe.stages.size()); ++s) {
    // An earlier output needs less.
    if (recipe.outputs.size() > 1 || s < recipe.outputs[0])
      all.push_back([s](Recipe& x) { return set(x.outputs, {s}); });
  }
  for (std::size_t o = 0; recipe.outputs.size() > 1 && o < recipe.outputs.size(); ++o)
    all.push_back([o](Recipe& x) { return x.outputs.erase(x.outputs.begin() + static_cast<int>(o)), true; });
}

Term one(Scalar scalar) {
  return {.kind = Term::Kind::Literal, .type = {scalar, 1}, .literal = ir::Value::integer({scalar, 1}, 1)};
}

void change_terms(int s, const Recipe& recipe, std::vector<Change>& all) {
  Stage stage = recipe.stages[s];
  int n = 0;
  each_stage_term(stage, [&](Term& t) {
    const auto replace = [&](const std::function<bool(Term&)>& change) {
      all.push_back([s, n, change](Recipe& x) { return at<Term>(each_stage_term, x.stages[s], n, change); });
    };
    if (t.kind != Term::Kind::Literal) {
      replace([](Term& x) { return x = one(is_float(x.type.scalar) ? Scalar::F32 : Scalar::I32), true; });
      replace([](Term& x) { return x = one(x.type.scalar), true; });
    } else {
      replace([](Term& x) { return set(x.literal, one(x.type.scalar).literal); });
    }
    for (std::size_t o = 0; o < t.operands.size(); ++o) {
      replace([o](Term& x) {
        Term operand = x.operands[o];
        return x = std::move(operand), true;
      });
    }
    if (t.kind == Term::Kind::Position) {
      replace([](Term& x) { return set(x.position.modulo, 0); });
      replace([](Term& x) { return set(x.position.divisor, 1); });
      replace([](Term& x) { return set(x.position.offset, Size()); });
    }
    if (t.kind == Term::Kind::Fold && accumulators_of(t) > 1) {
      replace([](Term& x) {  // one accumulator less
        const int last = accumulators_of(x) - 1;
        x.operands.erase(x.operands.begin() + 2 * last + 1);
        x.operands.erase(x.operands.begin() + last);
        return true;
      });
    }
    ++n;
  });
}

bool narrower(Window& w) {
  if (w.width <= 1) return false;
  std::vector<double> kept;
  for (std::size_t i = 0; i < w.coefficients.size(); ++i) {
    if (static_cast<int>(i) % w.width + 1 < w.width) kept.push_back(w.coefficients[i]);
  }
  w.coefficients = kept;
  --w.width;
  return true;
}

bool lower(Window& w) {
  if (w.height <= 1) return false;
  --w.height;
  if (!w.coefficients.empty()) w.coefficients.resize(static_cast<std::size_t>(w.width * w.height));
  return true;
}

bool fewer(Window& w) {
  if (w.listed.empty()) return false;
  w.listed.pop_back();
  return true;
}

bool plainer(Window& w) {
  bool changed = set(w.scalar, Scalar::I32);
  for (double& c : w.coefficients) changed |= c != 0 && set(c, 1.);
  return changed;
}

void each_window(Stage& stage, const std::function<void(Window&)>& visit) {
  if (stage.kind == Stage::Kind::Convolve || stage.kind == Stage::Kind::Local) visit(stage.window);
  each_stage_term(stage, [&](Term& t) {
    if (t.kind == Term::Kind::Window || t.kind == Term::Kind::Fold) visit(t.window);
  });
}

void change_windows(int s, const Recipe& recipe, std::vector<Change>& all) {
  for (int n = count<Window>(each_window, recipe.stages[s]); n-- > 0;) {
    for (bool (*change)(Window&) : {narrower, lower, fewer, plainer}) {
      all.push_back([s, n, change](Recipe& x) { return at<Window>(each_window, x.stages[s], n, change); });
    }
    all.push_back([s, n](Recipe& x) {
      return at<Window>(each_window, x.stages[s], n, [](Window& w) { return set(w.depth, 0); });
    });
  }
}

void change_accesses(int s, const Recipe& recipe, std::vector<Change>& all) {
  Stage stage = recipe.stages[s];
  int n = 0;
  each_access(stage, [&](Access& access) {
    const auto change = [&](const std::function<bool(Access&)>& f) {
      all.push_back([s, n, f](Recipe& x) { return at<Access>(each_access, x.stages[s], n, f); });
    };
    for (int source = 0; source < access.source; ++source)
      change([source](Access& a) { return a.source = source, true; });
    if (access.age > 1) change([](Access& a) { return set(a.age, 1); });
    if (stage.kind != Stage::Kind::Pyramid && stage.kind != Stage::Kind::Resize)  // they need one
      change([](Access& a) { return set(a.border, {}) && (a.constant.clear(), true); });
    if (access.border && access.border != Border::Mode::Clamp)
      change([](Access& a) { return a.constant.clear(), set(a.border, {Border::Mode::Clamp}); });
    if (!access.crop.empty()) change([](Access& a) { return a.crop.clear(), true; });
    for (std::size_t i = 0; i < access.indices.size(); ++i) {
      const auto index = [&](const std::function<bool(Index&)>& f) {
        change([i, f](Access& a) { return f(a.indices.at(i)); });
      };
      if (!access.indices[i].computed.empty()) {
        index([i](Index& x) { return x = Index{.coordinate = static_cast<int>(i)}, true; });
        continue;
      }
      index([](Index& x) { return set(x.modulo, 0); });
      index([](Index& x) { return set(x.divisor, 1); });
      index([](Index& x) { return set(x.offset, Size()); });
      index([](Index& x) { return set(x.other, -1); });
      index([](Index& x) { return set(x.loop, -1); });
      index([](Index& x) { return set(x.scale, 1); });
      index([](Index& x) { return set(x.offset.offset, x.offset.offset / 2); });
    }
    ++n;
  });
}

void change_stage(int s, const Recipe& recipe, std::vector<Change>& all) {
  const Stage& stage = recipe.stages[s];
  if (!stage.post.empty()) all.push_back([s](Recipe& x) { return x.stages[s].post.clear(), true; });
  if (stage.kind == Stage::Kind::Pyramid)
    all.push_back([s](Recipe& x) { return set(x.stages[s].levels, 2); });
  for (std::size_t d = 0; d < stage.over.size(); ++d)
    all.push_back([s, d](Recipe& x) { return set(x.stages[s].over[d], Range{{}, {.offset = 1}}); });
  if (stage.frozen > 0) all.push_back([s](Recipe& x) { return set(x.stages[s].frozen, 0); });
  for (std::size_t c = 0; c + 1 < stage.cases.size(); ++c) {
    all.push_back([s, c](Recipe& x) {
      return x.stages[s].cases.erase(x.stages[s].cases.begin() + static_cast<int>(c)), true;
    });
    all.push_back([s, c](Recipe& x) {  // the first value alone
      Stage& stage_ = x.stages[s];
      stage_.cases = {{{}, stage_.cases.at(c).value}};
      return true;
    });
  }
  for (std::size_t d = 0; stage.kind == Stage::Kind::Body && d < stage.box.size(); ++d) {
    all.push_back([s, d](Recipe& x) { return set(x.stages[s].box[d].min, Size()); });
    const Size extent = stage.box[d].extent;
    const auto resize = [&](const Size& size) {
      all.push_back([s, d, size](Recipe& x) { return set(x.stages[s].box[d].extent, size); });
    };
    if (extent.image >= 0) resize({extent.image, extent.dim});
    if (extent.image >= 0 || extent.offset > 1) resize({.offset = 1});
    if (extent.image < 0 && extent.offset > 1) resize({.offset = extent.offset / 2});
  }
  change_terms(s, recipe, all);
  change_accesses(s, recipe, all);
  change_windows(s, recipe, all);
}

void change_images(const Recipe& recipe, std::vector<Change>& all) {
  for (std::size_t i = 0; i < recipe.images.size(); ++i) {
    all.push_back([i](Recipe& x) { return set(x.images[i].extreme, false); });
    all.push_back([i](Recipe& x) { return set(x.images[i].special, false); });
    all.push_back([i](Recipe& x) { return set(x.images[i].type.lanes, 1); });
    for (Scalar simple : {Scalar::I32, Scalar::U8, Scalar::F32}) {
      const Scalar now = recipe.images[i].type.scalar;
      if (now == Scalar::I32 || (now == Scalar::U8 && simple != Scalar::I32) || now == Scalar::F32) continue;
      all.push_back([i, simple](Recipe& x) { return set(x.images[i].type.scalar, simple); });
    }
    for (std::size_t d = 0; d < recipe.runs[0].extents.at(i).size(); ++d) {
      const auto extent = [&](const std::function<std::int64_t(std::int64_t)>& f) {
        all.push_back([i, d, f](Recipe& x) {
          std::int64_t& e = x.runs[0].extents[i][d];
          return e > 1 && set(e, f(e));
        });
      };
      extent([](std::int64_t) { return 1; });
      extent([](std::int64_t e) { return e / 2; });
      extent([](std::int64_t e) { return e - 1; });
    }
  }
}

/// The compiler's groups, no tiles, a kernel less, a group less, or a stage less in one. What is then not legal goes, too.
void change_groups(const Recipe& recipe, std::vector<Change>& all) {
  if (!recipe.grouping) return;
  all.push_back([](Recipe& x) { return x.grouping.reset(), true; });
  if (!recipe.grouping->tiles.empty())
    all.push_back([](Recipe& x) { return x.grouping->tiles.clear(), true; });
  for (const auto& [result, choices] : recipe.grouping->kernels)
    all.push_back([name = result](Recipe& x) { return x.grouping->kernels.erase(name) > 0; });
  const schedule::Groups& groups = recipe.grouping->groups;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const auto group = [g](Recipe& x) { return x.grouping->groups.begin() + static_cast<std::ptrdiff_t>(g); };
    all.push_back([group](Recipe& x) { return x.grouping->groups.erase(group(x)), true; });
    for (std::size_t s = 0; groups[g].size() > 2 && s < groups[g].size(); ++s) {
      all.push_back([group, s](Recipe& x) {
        return group(x)->erase(group(x)->begin() + static_cast<std::ptrdiff_t>(s)), true;
      });
    }
  }
}

std::vector<Change> changes_of(const Recipe& recipe) {
  std::vector<Change> all;
  change_groups(recipe, all);
  change_outputs(recipe, all);
  const std::vector<bool> needed = needed_sources(recipe);
  for (int s = static_cast<int>(recipe.stages.size()) - 1; s >= 0; --s) {
    if (needed[recipe.first_stage() + s]) change_stage(s, recipe, all);
  }
  change_images(recipe, all);
  return all;
}

}  // namespace

Recipe shrink(Recipe recipe, const std::function<bool(Recipe&)>& fails) {
  bool smaller = true;
  while (smaller) {
    smaller = false;
    std::vector<Change> changes = changes_of(recipe);
    for (std::size_t c = 0; c < changes.size();) {
      Recipe candidate = recipe;
      if (!changes[c](candidate) || !fails(candidate)) {
        ++c;
        continue;
      }
      recipe = std::move(candidate);
      changes = changes_of(recipe);
      smaller = true;
    }
  }
  return recipe;
}

}  // namespace weft::fuzz
