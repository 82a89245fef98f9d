// Applications: named pipelines with a command line.
//
//     WEFT_PIPELINE(blur, {.summary = "3x3 binomial blur"}) {
//       Image<float> in("in");
//       return convolve("blur", in.border(border_option()), Mask{{1, 2, 1}, {2, 4, 2}, {1, 2, 1}} / 16.f);
//     }
//
// A file with one or more of them, linked with weft::main, is a program with the commands of `weft`.
#pragma once

#include <weft/pipeline.h>

#include <concepts>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace weft {

struct About {
  const char* summary = "";
  const char* source = "";  ///< Where the definition comes from; groups applications in `weft list`.
  /// The images that `weft bench` takes unless told, "640x480": those of the source, where it names some.
  const char* size = "";
  /// Integer image files are scaled so that their full range is 0 … range in float images, and pictures show
  /// float results of 0 … range from black to white. If it is more than 255, synthetic images of wider
  /// integers have it, too.
  double range = 255;
  /// The value of a result that pictures show as white, where it is not `range`, or for integers the largest
  /// of their type.
  double white = 0;
  bool bgr = false;  ///< The lanes of a result are blue, green, red; files hold red first.
  /// An example of what Weft refuses: building it throws weft::Error. Commands that run `all` leave it out.
  bool refused = false;
  /// What to do with a picture whose pixels the application does not take.
  const char* advice = "";
};

/// A choice made when the pipeline is built (sizes of windows, numbers of levels, variants): `--param
/// name=value`.
template <class T>
class Option {
  static_assert(std::is_same_v<T, int> || std::is_same_v<T, double> || std::is_same_v<T, std::string>,
                "an option is an int, a double or a std::string");

 public:
  /// `choices`, if given, lists all that is allowed.
  Option(const char* name, T initial, std::vector<T> choices = {})
      : Option(name, initial, std::move(choices), ValueRange{}) {}
  /// Any number in the range: Option<int> levels("levels", 4, between(1, 16)).
  template <std::same_as<ValueRange> R>  // a template, so that {3, 5} is a list of choices
  Option(const char* name, T initial, const R& range) : Option(name, initial, {}, range) {}
  operator const T&() const { return value_; }  // NOLINT(google-explicit-constructor)
  const T& value() const { return value_; }

 private:
  Option(const char* name, T initial, std::vector<T> choices, const ValueRange& range);
  T value_;
};
extern template class Option<int>;
extern template class Option<double>;
extern template class Option<std::string>;

// An option among coordinates and sizes: in.width() / levels. It is templates, so that an option and an
// integer stay C++'s business.
template <std::same_as<Index> I>
Index operator+(const I& a, const Option<int>& b) {
  return a + b.value();
}
template <std::same_as<Index> I>
Index operator+(const Option<int>& a, const I& b) {
  return a.value() + b;
}
template <std::same_as<Index> I>
Index operator-(const I& a, const Option<int>& b) {
  return a - b.value();
}
template <std::same_as<Index> I>
Index operator-(const Option<int>& a, const I& b) {
  return a.value() - b;
}
template <std::same_as<Index> I>
Index operator*(const I& a, const Option<int>& b) {
  return a * b.value();
}
template <std::same_as<Index> I>
Index operator*(const Option<int>& a, const I& b) {
  return a.value() * b;
}
template <std::same_as<Index> I>
Index operator/(const I& a, const Option<int>& b) {
  return a / b.value();
}
template <std::same_as<Index> I>
Index operator%(const I& a, const Option<int>& b) {
  return a % b.value();
}

/// The options `border` (clamp unless said) and `border_value` (0) as a border mode.
Border border_option(const char* initial = "clamp",
                     std::source_location here = std::source_location::current());

/// The caller's choices for one build of an application.
struct Settings {
  std::map<std::string, std::string> options;
  std::map<std::string, Type> image_types;  ///< For images that accept several.
};

struct DeclaredOption {
  std::string name, initial;
  std::vector<std::string> choices;
  ValueRange range;
};
struct DeclaredImage {
  std::string name;
  std::vector<Scalar> scalars;
  std::vector<int> lanes;
  int rank;
};

/// A pipeline and all that its builder declared, in order of declaration.
struct Built {
  Pipeline pipeline;
  std::vector<DeclaredOption> options;
  std::vector<DeclaredImage> images;
};

struct Application {
  std::string name;
  About about;
  std::function<Outputs()> define;
  std::string file;  ///< Where it is defined.
  int line = 0;
};

/// Builds the pipeline. Throws weft::Error for an option that was not declared or has an unusable value, and
/// for an image type that the application does not take.
Built build(const Application& application, const Settings& settings = {});

/// The applications linked into this program, by name. Throws weft::Error if two have one name.
const std::map<std::string, Application>& applications();

namespace detail {
inline About about(const About& given = {}) { return given; }
struct Registration {
  Registration(const char* name, About about, Outputs (*define)(), const char* file, int line);
};
}  // namespace detail

#define WEFT_PIPELINE(name, ...)                                                          \
  static ::weft::Outputs weft_define_##name();                                            \
  static const ::weft::detail::Registration weft_registration_##name(                     \
      #name, ::weft::detail::about(__VA_ARGS__), weft_define_##name, __FILE__, __LINE__); \
  static ::weft::Outputs weft_define_##name()

}  // namespace weft
