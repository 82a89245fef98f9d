#include "fuzz/recipe.h"

#include <algorithm>

namespace weft::fuzz {

int Window::points() const {
  if (!listed.empty()) return static_cast<int>(listed.size());
  if (coefficients.empty()) return extent(0) * extent(1) * extent(2);
  return static_cast<int>(
      std::count_if(coefficients.begin(), coefficients.end(), [](double c) { return c != 0; }));
}

Box Recipe::box_of(int source) const {
  if (!is_image(source)) return stages[source - first_stage()].box;
  const Image& image = images[source];
  Box box;
  for (int d = 0; d < image.rank; ++d)
    box.push_back({{}, image.extents.empty() ? Size{source, d} : image.extents[d]});
  return box;
}

const char* border_name(Border::Mode mode) {
  constexpr const char* names[] = {"clamp", "mirror", "mirror101", "repeat", "constant"};
  return names[static_cast<int>(mode)];
}

std::string image_name(int image) { return "in" + std::to_string(image); }
std::string parameter_name(int parameter) { return "p" + std::to_string(parameter); }
std::string stage_name(int stage) { return "s" + std::to_string(stage); }
std::string field_name(int stage) { return "f" + std::to_string(stage); }
std::string pipeline_name(const Recipe& recipe) { return "random_" + std::to_string(recipe.seed); }

bool reads(const Term& term) {
  return term.kind == Term::Kind::Read || term.kind == Term::Kind::Interpolated;
}

void each_child(Access& access, const std::function<void(Term&)>& visit) {
  for (Term& t : access.constant) visit(t);
  for (Index& index : access.indices) {
    for (Term& t : index.computed) visit(t);
  }
}

void each_child(Term& term, const std::function<void(Term&)>& visit) {
  for (Term& t : term.operands) visit(t);
  if (reads(term)) each_child(term.access, visit);
}

void each_root(Stage& stage, const std::function<void(Term&)>& visit) {
  each_child(stage.access, visit);
  for (Term& t : stage.post) visit(t);
  for (Term& t : stage.at) visit(t);
  for (Term& t : stage.steps) visit(t);
  for (Case& c : stage.cases) {
    for (Term& t : c.when) visit(t);
    visit(c.value);
  }
}

void each_term(Term& term, const std::function<void(Term&)>& visit) {
  visit(term);
  each_child(term, [&](Term& t) { each_term(t, visit); });
}

void each_access(Stage& stage, const std::function<void(Access&)>& visit) {
  using Kind = Stage::Kind;
  const bool has_terms_alone =
      stage.kind == Kind::Point || stage.kind == Kind::Body || stage.kind == Kind::Reduce;
  if (!has_terms_alone) visit(stage.access);
  each_root(stage, [&](Term& root) {
    each_term(root, [&](Term& t) {
      if (reads(t)) visit(t.access);
    });
  });
}

namespace {

void mark(const Size& size, std::vector<bool>& needed) {
  if (size.image >= 0) needed[size.image] = true;
}
void mark(const Box& box, std::vector<bool>& needed) {
  for (const Range& range : box) mark(range.min, needed), mark(range.extent, needed);
}

void mark_stage(Stage& stage, std::vector<bool>& needed) {
  // The box of others follows from what they read.
  if (stage.kind == Stage::Kind::Body || stage.kind == Stage::Kind::Resize ||
      stage.kind == Stage::Kind::Scatter)
    mark(stage.box, needed);
  mark(stage.over, needed);
  each_access(stage, [&](Access& access) {
    needed[access.source] = true;
    mark(access.crop, needed);
    for (const Index& index : access.indices) mark(index.offset, needed);
  });
  each_root(stage, [&](Term& root) {
    each_term(root, [&](Term& t) {
      if (t.kind == Term::Kind::Position) mark(t.position.offset, needed);
    });
  });
}

}  // namespace

std::vector<bool> needed_sources(const Recipe& recipe) {
  std::vector<bool> needed(recipe.images.size() + recipe.stages.size());
  for (int output : recipe.outputs) needed[recipe.first_stage() + output] = true;
  for (int s = static_cast<int>(recipe.stages.size()) - 1; s >= 0; --s) {
    // A field may need later ones of its evolution, and they others; as many rounds as it has fields find them all.
    const int first = s - recipe.stages[s].field;
    for (int round = 0; round < recipe.stages[s].fields; ++round) {
      for (int f = first; f <= s; ++f) {
        Stage stage = recipe.stages[f];
        if (needed[recipe.first_stage() + f]) mark_stage(stage, needed);
      }
    }
    s = first;
  }
  for (int i = recipe.first_stage() - 1; i >= 0; --i) {
    if (needed[i]) {
      for (const Size& size : recipe.images[i].extents) mark(size, needed);
    }
  }
  return needed;
}

}  // namespace weft::fuzz
