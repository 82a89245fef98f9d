#include "lower/layout.h"

#include <algorithm>

#include "kernel/build.h"

namespace weft::lower {
namespace {

/// Of the host's variables for an array.
const kernel::Names::Prefixes prefixes_of_arrays = {kernel::on_device, kernel::when_empty,
                                                    kernel::before_stand_in};

Variables variables_of(const ir::Pipeline& pipeline, const kernel::Names& names) {
  Variables variables{{}, names.local("first"), names.local("last"), names.local("i")};
  std::size_t rank = 0;
  for (const auto* stages : {&pipeline.inputs, &pipeline.stages}) {
    for (const ir::StagePtr& stage : *stages)
      rank = std::max({rank, stage->box.size(), stage->domain().size()});
  }
  // A line may be computed as an image, and values that columns of an image share are kept in planes.
  for (std::size_t d = 0; d < rank + 2; ++d)
    variables.coords.push_back(names.local(ir::dim_name(static_cast<int>(d))));
  return variables;
}

/// True if the form cannot be negative: sizes, coordinates of boxes at 0 and sums of them.
bool is_non_negative(const ir::Affine& a) {
  return a.constant() >= 0 && std::all_of(a.terms().begin(), a.terms().end(), [](const ir::Affine::Term& t) {
           const auto* floor = std::get_if<ir::FloorDiv>(&t.atom);
           return t.factor > 0 &&
                  (std::holds_alternative<ir::Size>(t.atom) || (floor && is_non_negative(*floor->numerator)));
         });
}

}  // namespace

ArrayLayout Layout::claim_array(const std::string& name, Type type, const ir::Box& box) {
  ArrayLayout array{names.claim(name, prefixes_of_arrays), type, {}, box};
  constexpr const char* suffix[] = {"", "_pitch", "_slice"};
  for (std::size_t d = 1; d < box.size(); ++d) {
    const std::string stride = array.name.spelling() + (d < 3 ? suffix[d] : "_stride" + std::to_string(d));
    array.strides.push_back(names.claim(stride, prefixes_of_arrays));
  }
  return array;
}

Layout layout_of(const ir::Pipeline& pipeline) {
  Layout layout;
  // Emitters spell these themselves: the struct that holds what follows, and the functions that users call.
  layout.names.claim(pipeline.name + "_frame");
  for (const char* end : {"", "_on_host"}) layout.names.claim("run_" + pipeline.name + end);
  const auto add_array = [&](const ir::StagePtr& stage) {
    layout.arrays[stage.get()] = layout.claim_array(stage->name, stage->type, stage->box);
  };
  for (const auto& input : pipeline.inputs) {
    add_array(input);
    constexpr const char* suffix[] = {"_w", "_h", "_d"};
    std::vector<kernel::Symbol>& sizes = layout.sizes[input->name];  // none of a scalar's
    for (int d = 0; d < input->rank(); ++d) {
      sizes.push_back(layout.names.claim(layout.arrays[input.get()].name.spelling() +
                                         (d < 3 ? suffix[d] : "_n" + std::to_string(d))));
    }
  }
  for (const auto& param : pipeline.params) layout.params[param->name] = layout.names.claim(param->name);
  for (const auto& stage : pipeline.stages) {
    add_array(stage);
    const bool is_output = std::count(pipeline.outputs.begin(), pipeline.outputs.end(), stage) > 0;
    layout.arrays[stage.get()].is_own = !is_output && !std::holds_alternative<ir::Evolve>(stage->definition);
  }
  layout.variables = variables_of(pipeline, layout.names);
  return layout;
}

kernel::Expr lower_affine(const ir::Affine& a, const Layout& layout, const std::vector<kernel::Expr>& coords,
                          const Taps& taps) {
  using kernel::Expr;
  Expr positive, negative;  // summed apart, so that 1 - x is not printed as -x + 1
  const auto accumulate = [](Expr& sum, Expr term) {
    sum = sum ? kernel::add(sum, std::move(term)) : std::move(term);
  };
  for (const auto& [atom, factor] : a.terms()) {
    const Expr value = std::visit(
        ir::overloaded{
            [&](const ir::Coord& c) { return coords.at(c.dim); },
            [&](const ir::TapCoord& t) { return taps.at(t.loop.get()).at(t.dim); },
            [&](const ir::Size& s) { return kernel::name(layout.sizes.at(s.image).at(s.dim)); },
            [&](const ir::FloorDiv& f) {
              const Expr numerator = lower_affine(*f.numerator, layout, coords, taps);
              if (const auto known = kernel::literal_value(numerator))
                return kernel::literal(ir::floor_div(*known, f.divisor));
              if (is_non_negative(*f.numerator)) {
                return kernel::binary(ir::BinaryOp::Div, numerator, kernel::literal(f.divisor));
              }
              if ((f.divisor & (f.divisor - 1)) == 0) {  // a shift rounds down, and there are vectors of it
                int bits = 0;
                while (std::int64_t{1} << bits < f.divisor) ++bits;
                return kernel::binary(ir::BinaryOp::Shr, numerator, kernel::literal(bits));
              }
              return kernel::index_call(kernel::IndexOp::FloorDiv, numerator, kernel::literal(f.divisor));
            },
        },
        atom);
    accumulate(factor > 0 ? positive : negative,
               kernel::mul(value, kernel::literal(factor > 0 ? factor : -factor)));
  }
  Expr sum = positive ? positive : kernel::literal(0);
  sum = kernel::add(sum, kernel::literal(a.constant()));
  return negative ? kernel::sub(sum, negative) : sum;
}

void declare_array(const ArrayLayout& array, kernel::Array::Role role, const Layout& layout,
                   kernel::Module& module) {
  kernel::Array result{array.name, array.type, role, array.strides, {}};
  for (const ir::Range& range : array.box)
    result.extents.push_back(lower_affine(range.extent, layout, {}, {}));
  for (const kernel::Symbol& stride : array.strides) module.strides.push_back({stride, Scalar::I64});
  module.arrays.push_back(std::move(result));
}

}  // namespace weft::lower
