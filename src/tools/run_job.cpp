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

}  // namespace weft::tools
