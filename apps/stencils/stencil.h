// What the iterated stencils share: a field that starts as the image `in` and is updated `steps` times.
//
// Its outer pixels, `halo` on every side, keep their values; an image with no others comes back unchanged.
// With the option `border`, reads beyond the edge follow a border mode instead, and every pixel is updated. The option
// `precision` says whether pixels are floats or doubles.
#pragma once

#include <weft/weft.hpp>

#include <optional>
#include <string>
#include <utility>

class Stencil {
 public:
  explicit Stencil(int rank, int halo = 1) : field_(field_of(rank)) {
    const weft::Option<std::string> border("border", "halo",
                                           {"halo", "clamp", "mirror", "mirror101", "repeat", "constant"});
    const weft::Option<double> value("border_value", 0.0);
    if (border.value() == "halo")
      field_.freeze(halo);
    else
      border_ = weft::Border::named(border, weft::Expr(value.value()));
  }

  /// The field some steps back, to be read in the update.
  weft::Accessor before(int steps = 1) const {
    const weft::Accessor past = field_.back(steps);
    return border_ ? past.border(*border_) : past;
  }

  template <class Update>
  weft::Stage evolve(const char* name, Update update) const {
    return weft::evolve(name, field_, steps_, std::move(update));
  }

 private:
  static weft::AnyField field_of(int rank) {
    const weft::Option<std::string> precision("precision", "single", {"single", "double"});
    if (precision.value() == "double") return weft::Field<double>("u", weft::Image<double>("in", rank));
    return weft::Field<float>("u", weft::Image<float>("in", rank));
  }

  weft::Param<int> steps_{"steps", 1, weft::at_least(0)};
  weft::AnyField field_;
  std::optional<weft::Border> border_;
};
