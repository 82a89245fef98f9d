// Collects what was found. Places are instructions or lines while kernels run; they become text at the end,
// with one look into the line tables.
#pragma once

#include "loaded_text.h"
#include "simt/report.h"

#include <map>
#include <tuple>
#include <vector>

namespace simt {

/// Somewhere in a text: an instruction, or a line.
struct Location {
  const LoadedText* text = nullptr;
  const void* pc = nullptr;
  abi::Site site{};

  std::uintptr_t key() const {
    return pc ? reinterpret_cast<std::uintptr_t>(pc)
              : reinterpret_cast<std::uintptr_t>(site.file) * 31 + site.line;
  }
};

/// Instructions' lines, found many at a time.
class Places {
 public:
  void want(const Location& location);
  Place of(const Location& location);

 private:
  using Known = std::map<std::uintptr_t, Place>;
  std::map<const LoadedText*, std::pair<std::vector<std::uintptr_t>, Known>> texts_;
};

/// An Actor whose place is not text yet.
struct Participant {
  Actor actor;
  Location where;
  bool present = false;
};

class Findings {
 public:
  explicit Findings(std::size_t most) : most_(most) {}

  /// Whether this pair of places was reported before; if so, it is counted once more.
  bool repeated(Kind kind, const Location& first, const Location& second = {});
  /// Call it after `repeated` has said no.
  void add(Kind kind, std::string what, Participant first, Participant second = {});
  void forget();

  /// Reports with their places, at most one for a kind and a pair of lines.
  std::vector<Report> reports() const;

 private:
  struct Finding {
    Report report;
    Location first, second;
    bool has_second = false;
  };
  using Key = std::tuple<Kind, std::uintptr_t, std::uintptr_t>;
  static Key key_of(Kind kind, const Location& first, const Location& second);

  std::size_t most_;
  std::vector<Finding> findings_;
  std::map<Key, std::size_t> index_;
};

}  // namespace simt
