#include "dsl/builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/near_names.h"

namespace weft::dsl {
namespace {

thread_local Builder* current_builder = nullptr;

template <class Items, class Spell>
std::string listed(const Items& items, Spell spell) {
  std::string text;
  for (const auto& item : items) text += (text.empty() ? "" : ", ") + spell(item);
  return text.empty() ? "none" : text;
}

}  // namespace

Builder::Builder(const Settings& settings) : settings_(settings), outer_(current_builder) {
  current_builder = this;
}
Builder::~Builder() { current_builder = outer_; }
Builder* Builder::current() { return current_builder; }

std::string Builder::option(const std::string& name, const std::string& initial,
                            std::vector<std::string> choices, const ValueRange& range) {
  const auto known =
      std::find_if(options.begin(), options.end(), [&](const auto& o) { return o.name == name; });
  if (known == options.end()) options.push_back({name, initial, choices, range});
  const auto given = settings_.options.find(name);
  const std::string value = given == settings_.options.end() ? initial : given->second;
  if (!choices.empty() && std::find(choices.begin(), choices.end(), value) == choices.end()) {
    throw Error(fmt::format("option {}={} is not among its choices", name, value))
        .note("choices", listed(choices, [](const auto& c) { return c; }));
  }
  return value;
}

Type Builder::image_type(const std::string& name, const std::vector<Scalar>& scalars,
                         const std::vector<int>& lanes, int rank) {
  images.push_back({name, scalars, lanes, rank});
  const auto given = settings_.image_types.find(name);
  if (given == settings_.image_types.end()) return {scalars.at(0), lanes.at(0)};
  const Type type = given->second;
  if (std::find(scalars.begin(), scalars.end(), type.scalar) == scalars.end() ||
      std::find(lanes.begin(), lanes.end(), type.lanes) == lanes.end()) {
    throw Error(fmt::format("image '{}' cannot be {}", name, name_of(type)))
        .note("pixels", listed(scalars, [](Scalar s) { return name_of(s); }))
        .note("channels", listed(lanes, [](int l) { return std::to_string(l); }));
  }
  return type;
}

void Builder::check_all_used(const std::string& application) const {
  for (const auto& [name, value] : settings_.options) {
    if (std::none_of(options.begin(), options.end(), [&](const auto& o) { return o.name == name; })) {
      std::vector<std::string> known;
      for (const auto& option : options) known.push_back(option.name);
      for (const auto& param : params) known.push_back(param->name);
      throw Error(
          fmt::format("'{}' has no option or parameter '{}'{}", application, name, did_you_mean(name, known)))
          .note("options", listed(options, [](const auto& o) { return o.name; }))
          .note("parameters", listed(params, [](const auto& p) { return p->name; }));
    }
  }
  for (const auto& [name, type] : settings_.image_types) {
    if (std::none_of(images.begin(), images.end(), [&](const auto& i) { return i.name == name; })) {
      std::vector<std::string> known;
      for (const auto& image : images) known.push_back(image.name);
      throw Error(fmt::format("'{}' has no image '{}'{}", application, name, did_you_mean(name, known)))
          .note("images", listed(images, [](const auto& i) { return i.name; }));
    }
  }
}

}  // namespace weft::dsl

namespace weft {
namespace {

template <class T>
std::string spelt(const T& value) {
  return fmt::format("{}", value);
}

template <class T>
T parsed(const std::string& name, const std::string& text) {
  if constexpr (std::is_same_v<T, std::string>) {
    return text;
  } else {
    T value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) {
      throw Error(fmt::format("option {}={} is not {}", name, text,
                              std::is_integral_v<T> ? "an integer" : "a number"));
    }
    return value;
  }
}

}  // namespace

template <class T>
Option<T>::Option(const char* name, T initial, std::vector<T> choices, const ValueRange& range)
    : value_(initial) {
  if (auto* builder = dsl::Builder::current()) {
    std::vector<std::string> spelt_choices;
    for (const T& c : choices) spelt_choices.push_back(spelt(c));
    value_ = parsed<T>(name, builder->option(name, spelt(initial), std::move(spelt_choices), range));
  }
  if constexpr (std::is_arithmetic_v<T>) {
    if (!range.contains(static_cast<double>(value_)))
      throw Error(fmt::format("option {}={} has to be {}", name, value_, text_of(range)));
  }
}
template class Option<int>;
template class Option<double>;
template class Option<std::string>;

Index Extents::whole(const Option<int>& option) { return option.value(); }

Border border_option(const char* initial, std::source_location here) {
  const Option<std::string> mode("border", initial, {"clamp", "mirror", "mirror101", "repeat", "constant"});
  const Option<double> value("border_value", 0.0);
  return Border::named(mode.value(), Expr(value.value()), here);
}

Built build(const Application& application, const Settings& settings) {
  dsl::Builder builder(settings);
  const Outputs outputs = application.define();
  builder.check_all_used(application.name);
  return {Pipeline(application.name, outputs), builder.options, builder.images};
}

namespace {

/// What is defined in this program: filled before main, where nothing can be refused, and read afterwards.
struct Registry {
  std::map<std::string, Application> by_name;
  std::vector<Application> again;  ///< Those whose name was taken.
};
Registry& registry() {
  static Registry all;
  return all;
}

std::string place_of(const Application& application) {
  return fmt::format("{}:{}", application.file, application.line);
}

}  // namespace

const std::map<std::string, Application>& applications() {
  const Registry& all = registry();
  if (all.again.empty()) return all.by_name;
  Error error("pipelines of this program have the same name");
  for (const auto& [name, first] : all.by_name) {
    std::vector<std::string> places = {place_of(first)};
    for (const Application& other : all.again) {
      if (other.name == name) places.push_back(place_of(other));
    }
    std::sort(places.begin(), places.end());  // whatever the order in which the files were linked
    if (places.size() > 1) error.note(fmt::format("'{}'", name), fmt::format("{}", fmt::join(places, ", ")));
  }
  throw error.help("give each a name of its own: WEFT_PIPELINE(name)");
}

detail::Registration::Registration(const char* name, About about, Outputs (*define)(), const char* file,
                                   int line) {
  Application application{name, about, define, file, line};
  const bool is_new = registry().by_name.emplace(name, application).second;
  if (!is_new) registry().again.push_back(std::move(application));
}

}  // namespace weft
