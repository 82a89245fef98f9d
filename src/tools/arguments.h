// What command lines are made of: numbers, applications and their parameters. Everything here throws
// weft::Error with one clear line.
#pragma once

#include <weft/application.h>
#include <weft/error.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace weft::tools {

class Command;

/// A whole number of at least `least`; `what` names it in errors.
std::int64_t parse_count(const std::string& what, const std::string& text, std::int64_t least = 1);
/// What --threads says; 0 if it is not given.
int parse_threads(const std::string& text);
double parse_number(const std::string& what, const std::string& text);
std::vector<std::string> split(const std::string& text, char separator);

/// An error about a name that is not among `names`, with those that look like it.
Error unknown(const std::string& message, const std::string& name, const std::vector<std::string>& names);
const Application& find_application(const std::string& name);
/// Those of a list, separated by commas; or for "all" every one but those that are examples of what is
/// refused.
std::vector<const Application*> select_applications(const std::string& name);

/// NAME=VALUE as both halves; without an identifier before a '=', the name is empty.
struct Assignment {
  std::string name, value;
};
Assignment parse_assignment(const std::string& text);

/// Adds --type, "in=f32", as the pixels of the image `in`.
void add_types(Command& command, std::vector<std::string>& types);
std::map<std::string, Type> parse_types(const std::vector<std::string>& texts);

/// An application built with what the command line said.
struct Prepared {
  Built built;
  Settings settings;
  std::map<std::string, double> params;  ///< Run-time parameters, by name.
};
/// Each of `assignments` ("k=v") sets the option or the parameter of that name.
Prepared prepare(const Application& application, const std::vector<std::string>& assignments,
                 const std::map<std::string, Type>& image_types = {});

}  // namespace weft::tools
