#include "compile/known_objects.h"

#include "compile/build_identity.h"

#include <weft/error.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <vector>

namespace weft::compile {
namespace {

constexpr const char* extension = ".known";
/// The file is rewritten whenever a build is new, so it has an end.
constexpr std::size_t most_builds = 8;

struct Known {
  std::string build, object;
};

bool is_key(const std::string& text) {
  return text.size() == content_key({}).size() &&
         text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

/// The builds that made something, the last first.
std::vector<Known> known_of(const ContentCache& cache, const std::string& key) {
  std::vector<Known> all;
  const auto path = cache.find(key, extension);
  if (!path) return all;
  std::ifstream file(*path);
  for (std::string line; std::getline(file, line) && all.size() < most_builds;) {
    std::istringstream words(line);
    Known known;
    if (words >> known.build >> known.object && is_key(known.object)) all.push_back(std::move(known));
  }
  return all;
}

}  // namespace

std::optional<std::string> known_object(const ContentCache& cache, const std::string& key) {
  const auto& build = identity_of_this_build();
  if (!build) return std::nullopt;
  for (const Known& known : known_of(cache, key)) {
    if (known.build == *build) return known.object;
  }
  return std::nullopt;
}

void remember_object(const ContentCache& cache, const std::string& key, const std::string& object) {
  const auto& build = identity_of_this_build();
  if (!build || cache.is_temporary()) return;
  std::vector<Known> all = known_of(cache, key);
  std::erase_if(all, [&](const Known& known) { return known.build == *build; });
  all.insert(all.begin(), {*build, object});
  if (all.size() > most_builds) all.pop_back();
  std::string text;
  for (const Known& known : all) text += known.build + ' ' + known.object + '\n';
  try {
    cache.put_note(key, extension, text);
  } catch (const Error&) {
    // A disk is full, say: the next time it is found out again.
  }
}

}  // namespace weft::compile
