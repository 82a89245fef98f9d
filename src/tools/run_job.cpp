#include "tools/run_job.h"

#include <fmt/format.h>
#include <weft/error.h>

#include <algorithm>

#include "tools/terminal.h"

namespace weft::tools {

std::map<std::string, std::string> files_by_name(const std::vector<std::string>& texts,
                                                 const std::string& kind, const std::string& application,
                                                 const std::vector<std::string>& names) {
  std::map<std::string, std::string> files;
  std::size_t next = 0;
  for (const std::string& text : texts) {
    auto [name, file] = parse_assignment(text);
    if (name.empty()) {
      while (next < names.size() && files.contains(names[next])) ++next;
      if (next == names.size()) {
        throw Error(fmt::format("'{}' has {} {}, and '{}' is one more", application, names.size(),
                                kind + (names.size() == 1 ? "" : "s"), text));
      }
      name = names[next];
    } else if (std::find(names.begin(), names.end(), name) == names.end()) {
      throw unknown(fmt::format("'{}' has no {} '{}'; it has {}", application, kind, name, joined(names)),
                    name, names)
          .help(fmt::format("a file whose name has a '=' is given as ./{}", text));
    }
    if (file.empty()) throw Error(fmt::format("the {} '{}' needs the name of a file", kind, name));
    if (!files.emplace(name, file).second) throw Error(fmt::format("the {} '{}' is given twice", kind, name));
  }
  return files;
}

RunOptions with_outputs_told_apart(RunOptions options, const Built& built) {
  if (options.outputs.empty()) return options;
  const std::vector<std::string> images = names_of(built.images);
  const auto is_among = [](const std::string& name, const std::vector<std::string>& names) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  const auto is_output = [&](const std::string& text) {
    const std::string name = parse_assignment(text).name;
    return !is_among(name, images) && is_among(name, names_of(built.pipeline.ir().stages));
  };
  const auto first = std::stable_partition(options.images.begin(), options.images.end(),
                                           [&](const std::string& text) { return !is_output(text); });
  options.outputs.insert(options.outputs.end(), first, options.images.end());
  options.images.erase(first, options.images.end());
  return options;
}

}  // namespace weft::tools
