#include "tools/arguments.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>

#include "base/near_names.h"
#include "ir/bindings.h"
#include "ir/stage_ir.h"
#include "runtime/thread_pool.h"
#include "tools/parser.h"
#include "tools/terminal.h"

namespace weft::tools {
namespace {

template <class T>
std::errc parse(const std::string& text, T& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return error;
  return end == text.data() + text.size() ? std::errc() : std::errc::invalid_argument;
}

bool is_name(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(),
                                      [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
}

double parse_param(const ir::Param& param, const std::string& text) {
  const std::string what = "parameter " + param.name + "=" + text;
  const Scalar scalar = param.initial.type.scalar;
  if (scalar == Scalar::Bool) {
    if (text == "true" || text == "1") return 1;
    if (text == "false" || text == "0") return 0;
    throw Error(what + " is neither true nor false");
  }
  double value = 0;
  const std::errc error = parse(text, value);
  if (error == std::errc::result_out_of_range) throw Error(what + " is beyond what numbers can be");
  if (error != std::errc() || std::isnan(value)) throw Error(what + " is not a number");
  if (std::isinf(value)) throw Error(what + " is infinite");
  if (const std::string why = ir::misfit(param, value); !why.empty()) throw Error(what + " " + why);
  if (!is_float(scalar) && std::abs(value) > 0x1p53)
    throw Error(what + " is beyond 2^53, where whole numbers are not exact");
  if (!param.range.contains(value)) throw Error(what + " has to be " + text_of(param.range));
  return value;
}

const ir::Param* find_param(const Built& built, const std::string& name) {
  for (const auto& param : built.pipeline.ir().params) {
    if (param->name == name) return param.get();
  }
  return nullptr;
}

std::map<std::string, std::string> parse_assignments(const std::vector<std::string>& texts) {
  std::map<std::string, std::string> given;
  for (const std::string& text : texts) {
    const auto [name, value] = parse_assignment(text);
    if (name.empty()) throw Error("--param '" + text + "' is not of the form NAME=VALUE");
    if (!given.emplace(name, value).second) throw Error("--param " + name + " is given twice");
  }
  return given;
}

Type parse_type(const std::string& text) {
  for (int scalar = 0; scalar <= static_cast<int>(Scalar::F64); ++scalar) {
    for (int lanes = 1; lanes <= 4; ++lanes) {
      const Type type{static_cast<Scalar>(scalar), lanes};
      if (weft::name_of(type) == text) return type;
    }
  }
  throw Error("--type: '" + text + "' is not a pixel type, such as u8, f32 or u8x3");
}

}  // namespace

std::int64_t parse_count(const std::string& what, const std::string& text, std::int64_t least) {
  std::int64_t value = 0;
  const std::errc error = parse(text, value);
  if (error == std::errc::result_out_of_range) throw Error(what + " " + text + " is too large");
  if (error != std::errc()) throw Error(what + " '" + text + "' is not a whole number");
  if (value < least) throw Error(what + " has to be at least " + std::to_string(least) + ", not " + text);
  return value;
}

int parse_threads(const std::string& text) {
  if (text.empty()) return 0;
  const std::int64_t threads = parse_count("--threads", text);
  if (threads > runtime::most_threads)
    throw Error("--threads has to be at most " + std::to_string(runtime::most_threads) + ", not " + text);
  return static_cast<int>(threads);
}

double parse_number(const std::string& what, const std::string& text) {
  double value = 0;
  if (parse(text, value) != std::errc() || !(value >= 0) || !std::isfinite(value))
    throw Error(what + " '" + text + "' is not a number of at least 0");
  return value;
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::size_t from = 0;
  for (std::size_t at; (at = text.find(separator, from)) != std::string::npos; from = at + 1)
    parts.push_back(text.substr(from, at - from));
  parts.push_back(text.substr(from));
  return parts;
}

Error unknown(const std::string& message, const std::string& name, const std::vector<std::string>& names) {
  return Error(message + did_you_mean(name, names));
}

const Application& find_application(const std::string& name) {
  const auto found = applications().find(name);
  if (found != applications().end()) return found->second;
  std::vector<std::string> names;
  for (const auto& entry : applications()) names.push_back(entry.first);
  throw unknown("there is no application '" + name + "'", name, names).help("weft list shows all of them");
}

std::vector<const Application*> select_applications(const std::string& name) {
  std::vector<const Application*> all;
  if (name != "all" || applications().contains("all")) {
    for (const std::string& one : split(name, ',')) all.push_back(&find_application(one));
    return all;
  }
  for (const auto& entry : applications()) {
    if (!entry.second.about.refused) all.push_back(&entry.second);
  }
  if (all.empty()) throw Error("this program has no applications");
  return all;
}

Assignment parse_assignment(const std::string& text) {
  const std::size_t at = text.find('=');
  if (at == std::string::npos || !is_name(text.substr(0, at))) return {"", text};
  return {text.substr(0, at), text.substr(at + 1)};
}

void add_types(Command& command, std::vector<std::string>& types) {
  command.add_repeatable("--type", types,
                         "NAME=TYPE: the pixels of an image that accepts several, such as in=f32");
}

std::map<std::string, Type> parse_types(const std::vector<std::string>& texts) {
  std::map<std::string, Type> types;
  for (const std::string& text : texts) {
    const auto [name, type] = parse_assignment(text);
    if (name.empty()) throw Error("--type '" + text + "' is not of the form NAME=TYPE");
    if (!types.emplace(name, parse_type(type)).second) throw Error("--type " + name + " is given twice");
  }
  return types;
}

Prepared prepare(const Application& application, const std::vector<std::string>& assignments,
                 const std::map<std::string, Type>& image_types) {
  std::map<std::string, std::string> given = parse_assignments(assignments);
  Settings settings;
  Built built = build(application, {{}, image_types});
  // An option may bring further options and parameters with it, so this goes on until nothing new is found.
  for (bool found = true; found;) {
    found = false;
    for (const DeclaredOption& option : built.options) {
      const auto match = given.find(option.name);
      if (match == given.end()) continue;
      settings.options.insert(*match);
      given.erase(match);
      found = true;
    }
    if (found) built = build(application, {settings.options, image_types});
  }
  settings.image_types = image_types;

  std::map<std::string, double> params;
  for (const auto& [name, text] : given) {
    const ir::Param* param = find_param(built, name);
    if (param == nullptr) {  // let the builder say so, with what there is
      settings.options[name] = text;
      build(application, settings);
    }
    params[name] = parse_param(*param, text);
  }
  return {std::move(built), std::move(settings), std::move(params)};
}

}  // namespace weft::tools
