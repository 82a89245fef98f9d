// Iterated stencils: fields that change step by step.
//
//     Field<float> u("u");
//     Stage heat = evolve("heat", u, steps, [&](Var x, Var y) {
//       return .25f * (u(x - 1, y) + u(x + 1, y) + u(x, y - 1) + u(x, y + 1));
//     });
#pragma once

#include <weft/stage.h>

#include <memory>
#include <string>
#include <vector>

namespace weft {

/// What changes. Read in an update, u(x, y) is the value of the step before. A read that needs no border
/// freezes what it cannot reach: the update leaves alone the outer pixels whose neighbourhood would not be
/// inside the field. A read through a border freezes nothing.
class AnyField {
 public:
  Expr operator()(At x) const { return back(1)(x); }
  Expr operator()(At x, At y) const { return back(1)(x, y); }
  Expr operator()(At x, At y, At z) const { return back(1)(x, y, z); }
  Expr operator()(At x, At y, At z, At w) const { return back(1)(x, y, z, w); }
  operator Accessor() const { return back(1); }  // NOLINT(google-explicit-constructor)
  operator Expr() const { return back(1); }      // NOLINT(google-explicit-constructor)
  Accessor border(const Border& border) const { return back(1).border(border); }

  /// The field some steps before the one that is computed, at least 1.
  Accessor back(int steps, std::source_location here = std::source_location::current()) const;
  Accessor now() const;  ///< What an earlier update of the same step has made of it.
  /// The outer `width` pixels on every side keep their first value, also where an update could reach them.
  void freeze(int width) const;

  const std::string& name() const;
  Extents size() const;
  Index width() const { return size()[0]; }
  Index height() const { return size()[1]; }

  struct State;
  const std::shared_ptr<State>& state() const { return state_; }

 protected:
  AnyField(const std::string& name, const Source& initial, Type type, const Where& where);

 private:
  std::shared_ptr<State> state_;
};

template <class T>
class Field : public AnyField {
 public:
  /// Starts as an image of the same name, which the caller gives.
  explicit Field(const char* name, int rank = 2, std::source_location here = std::source_location::current())
      : Field(name, Image<T>(name, rank, here), here) {}
  /// Starts as an image or stage of pixels of type T.
  Field(const char* name, const Source& initial, std::source_location here = std::source_location::current())
      : AnyField(name, initial, type_of<T>(), here) {}
};

/// One statement of a step: the field's new values. They have its type, or one whose values all fit it.
/// What may not fit is a mistake until it is cast.
struct FieldUpdate {
  std::string name;  ///< Of the stage that the field is after the last step.
  std::shared_ptr<AnyField::State> field;
  detail::Body body;
  Where where;
};
template <class F>
FieldUpdate update(const std::string& name, const AnyField& field, F f,
                   std::source_location here = std::source_location::current()) {
  detail::check_arity(name, detail::arity<F>, field.size().rank(), here);
  return {name, field.state(), detail::body_of(std::move(f)), here};
}

/// The fields after `steps` steps, one stage per update. In a step the updates are made in order; each reads
/// what the step before left, and by now() what the updates above it have made. `steps` is an integer
/// constant or parameter; with less than 1 the fields stay as they are.
std::vector<Stage> evolve(const Expr& steps, const std::vector<FieldUpdate>& updates,
                          std::source_location here = std::source_location::current());

/// One field, updated once per step.
template <class F>
Stage evolve(const std::string& name, const AnyField& field, const Expr& steps, F f,
             std::source_location here = std::source_location::current()) {
  return evolve(steps, {update(name, field, std::move(f), here)}, here)[0];
}

/// The number of the step that is computed, from 0; in updates only.
Expr step_number();

}  // namespace weft
