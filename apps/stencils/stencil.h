// What the iterated stencils share: a field that starts as the image `in` and is updated `steps` times.
//
// Its outer pixels, `halo` on every side, keep their values; an image with no others comes back unchanged.
// With the option `border`, reads beyond the edge follow a border mode instead, and every pixel is updated.
#pragma once

#include <weft/weft.hpp>

#include <optional>
#include <string>
#include <utility>

class Stencil {
 public:
  explicit Stencil(int rank, int halo = 1) : in_("in", rank), field_("u", in_) {
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
  weft::Image<float> in_;
  weft::Param<int> steps_{"steps", 1, weft::at_least(0)};
  weft::Field<float> field_;
  std::optional<weft::Border> border_;
};
