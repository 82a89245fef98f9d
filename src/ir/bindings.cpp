#include "ir/bindings.h"

#include <algorithm>
#include <cmath>

#include "base/near_names.h"

namespace weft::ir {
namespace {

template <class Container, class Name>
std::string names(const Container& container, Name name) {
  std::string text;
  for (const auto& item : container) text += (text.empty() ? "" : ", ") + name(item);
  return text.empty() ? "none" : text;
}

/// Before those that are missing: one that is misspelt is both.
void check_image_names(const Pipeline& pipeline, const Bindings& bindings) {
  for (const auto& [name, buffer] : bindings.images) {
    if (std::any_of(pipeline.inputs.begin(), pipeline.inputs.end(),
                    [&, &name = name](const StagePtr& input) { return input->name == name; }))
      continue;
    std::vector<std::string> known;
    for (const StagePtr& input : pipeline.inputs) known.push_back(input->name);
    if (known.empty()) throw Error("pipeline '" + pipeline.name + "' takes no images; '" + name + "' is one");
    std::string has;
    for (std::size_t i = 0; i < known.size(); ++i)
      has += (i == 0 ? "'" : i + 1 == known.size() ? " and '" : ", '") + known[i] + "'";
    throw Error("pipeline '" + pipeline.name + "' has " + has + "; '" + name + "' is not one of its images" +
                (known.size() > 1 ? did_you_mean(name, known) : ""));
  }
}

void check_sizes(const Pipeline& pipeline, const Bindings& bindings) {
  const Sizes sizes = sizes_of(bindings);
  for (const StagePtr& input : pipeline.inputs) {
    for (int d = 0; d < input->rank(); ++d) {
      const std::int64_t needed = evaluate(input->box[d].extent, sizes), given = sizes.at(input->name)[d];
      if (needed != given) {
        throw Error("image '" + input->name + "' has the wrong size", input->where)
            .note("given", dim_name(d) + ": " + std::to_string(given))
            .note("needs",
                  dim_name(d) + ": " + input->box[d].extent.to_string() + " = " + std::to_string(needed));
      }
    }
  }
}

/// "12x40"
std::string spelt(const std::vector<std::int64_t>& extents) {
  std::string text;
  for (const std::int64_t e : extents) text += (text.empty() ? "" : "x") + std::to_string(e);
  return text;
}

[[noreturn]] void fail_small(const Stage& stage, std::size_t dim, std::int64_t extent) {
  const std::string problem = extent < 0 ? "have a negative size" : "be empty";
  throw Error("stage '" + stage.name + "' would " + problem + " for these images", stage.where)
      .note("extent", dim_name(static_cast<int>(dim)) + ": " + stage.box[dim].extent.to_string() + " = " +
                          std::to_string(extent))
      .help(stage.need ? stage.need->remedy : "give a larger image");
}

[[noreturn]] void fail_empty(const Stage& stage, const Sizes& sizes) {
  const Need& need = *stage.need;
  std::vector<std::int64_t> given;
  for (const Affine& extent : need.extents) given.push_back(evaluate(extent, sizes));
  throw Error(need.who + " needs an image of at least " +
                  spelt(std::vector<std::int64_t>(given.size(), need.least)) + ", not " + spelt(given),
              need.where)
      .note("empty", "stage '" + stage.name + "'")
      .help(need.remedy);
}

std::string spelt(const Param& param, double value) {
  return "parameter '" + param.name + "' is " + Value::real(type_of<double>(), value).to_string();
}

void check_value(const Param& param, double value) {
  const std::string why = misfit(param, value);
  if (!why.empty()) throw Error(spelt(param, value) + ", which " + why, param.where);
  check_range(param, value);
}

}  // namespace

Bindings bound(std::map<std::string, Buffer> images, const std::map<std::string, double>& params) {
  Bindings bindings{std::move(images), {}};
  for (const auto& [name, value] : params) bindings.params[name] = Value::real({Scalar::F64, 1}, value);
  return bindings;
}

void check_bindings(const Pipeline& pipeline, const Bindings& bindings) {
  check_kinds(pipeline, bindings);
  check_sizes(pipeline, bindings);
}

void check_kinds(const Pipeline& pipeline, const Bindings& bindings) {
  check_image_names(pipeline, bindings);
  for (const StagePtr& input : pipeline.inputs) {
    const auto bound = bindings.images.find(input->name);
    if (bound == bindings.images.end()) {
      throw Error("pipeline '" + pipeline.name + "' needs image '" + input->name + "'", input->where);
    }
    const Buffer& buffer = bound->second;
    if (buffer.empty() && buffer.pixels() != 0)
      throw Error("image '" + input->name + "' is null: its buffer points to no memory", input->where);
    if (buffer.type() != input->type || buffer.rank() != input->rank()) {
      throw Error("image '" + input->name + "' is " + std::to_string(buffer.rank()) + "-D " +
                      name_of(buffer.type()) + ", the pipeline declares it " + std::to_string(input->rank()) +
                      "-D " + name_of(input->type),
                  input->where);
    }
    if (buffer.pixels() == 0) throw Error("image '" + input->name + "' is empty", input->where);
  }
  for (const auto& [name, value] : bindings.params) {
    const auto param = std::find_if(pipeline.params.begin(), pipeline.params.end(),
                                    [&, &name = name](const auto& p) { return p->name == name; });
    if (param == pipeline.params.end()) {
      std::vector<std::string> known;
      for (const auto& p : pipeline.params) known.push_back(p->name);
      throw Error("pipeline '" + pipeline.name + "' has no parameter '" + name + "'" +
                  did_you_mean(name, known))
          .note("parameters", names(pipeline.params, [](const auto& p) { return p->name; }));
    }
    for (int l = 0; l < value.type.lanes; ++l) check_value(**param, value.as_double(l));
  }
}

Sizes sizes_of(const Bindings& bindings) {
  Sizes sizes;
  for (const auto& [name, buffer] : bindings.images) sizes[name] = buffer.extents();
  return sizes;
}

std::int64_t evaluate(const Affine& size, const Sizes& sizes) {
  return size.evaluate([&](const Atom& atom) {
    const auto* of_image = std::get_if<Size>(&atom);
    if (!of_image) throw InternalError("a size depends on " + name_of(atom));
    return sizes.at(of_image->image).at(of_image->dim);
  });
}

ConcreteBox evaluate(const Stage& stage, const Sizes& sizes) {
  ConcreteBox box;
  const bool needs_itself = stage.need && stage.need->extents.empty();
  for (std::size_t d = 0; d < stage.box.size(); ++d) {
    box.min.push_back(evaluate(stage.box[d].min, sizes));
    box.extent.push_back(evaluate(stage.box[d].extent, sizes));
    if (box.extent[d] < (needs_itself ? 1 : 0)) fail_small(stage, d, box.extent[d]);
  }
  if (stage.need && std::find(box.extent.begin(), box.extent.end(), 0) != box.extent.end())
    fail_empty(stage, sizes);
  checked_pixels(box.extent, size_of(stage.type), "stage '" + stage.name + "'");
  return box;
}

std::string misfit(const Param& param, double value) {
  const Scalar scalar = param.initial.type.scalar;
  const std::string too_large = "does not fit in its type, " + weft::name_of(scalar);
  if (scalar == Scalar::Bool) return value == 0 || value == 1 ? "" : "is neither 0 nor 1";
  if (is_float(scalar)) {
    const double held = convert(CastMode::Convert, Scalar::F64, scalar, {.f = value}).f;
    return std::isinf(held) && !std::isinf(value) ? too_large : "";
  }
  if (value != std::trunc(value) || std::isinf(value)) return "is not a whole number";
  // The greatest integer need not be a double, but the power of two above it is.
  const double above = std::ldexp(1.0, 8 * size_of(scalar) - (is_signed(scalar) ? 1 : 0));
  return value < (is_signed(scalar) ? -above : 0) || value >= above ? too_large : "";
}

void check_range(const Param& param, double value) {
  if (param.range.contains(value)) return;
  throw Error(spelt(param, value) + ", and has to be " + text_of(param.range), param.where);
}

Value value_of(const Param& param, const Bindings& bindings) {
  const auto bound = bindings.params.find(param.name);
  if (bound == bindings.params.end()) return param.initial;
  Value value{param.initial.type, {}};
  for (int l = 0; l < value.type.lanes; ++l) {
    value.lane[l] = convert(CastMode::Convert, bound->second.type.scalar, value.type.scalar,
                            bound->second.lane[bound->second.type.lanes == 1 ? 0 : l]);
  }
  return value;
}

}  // namespace weft::ir
