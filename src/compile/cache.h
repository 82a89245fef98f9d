// Keeps what was expensive to make (compiled kernels) on disk, under a name made from everything it depends
// on. Nothing in it ever goes stale, so it can be deleted at any time and needs no locks: a file appears
// whole or not at all.
#pragma once

#include <filesystem>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "compile/scratch_folder.h"

namespace weft::compile {

/// A name for the given parts: 128 bits in hex. ("ab", "c") and ("a", "bc") differ.
std::string content_key(std::initializer_list<std::string_view> parts);

/// A private folder of files named KEY + EXTENSION. Code in it gets executed, so nobody else may be able to
/// write there. Any number of threads and processes may use one folder; what killed ones leave is removed by
/// others.
class ContentCache {
 public:
  /// Writes the content into the given file, which is alone in its folder, and neither is there later.
  using Produce = std::function<void(const std::filesystem::path& temporary)>;

  /// $WEFT_CACHE, else $XDG_CACHE_HOME/weft, else $HOME/.cache/weft. Where that cannot be written or is not
  /// private, new files go to a temporary folder that the whole process shares; the first one that does is
  /// announced by a line on stderr. What can be read and is private is still found.
  ContentCache();
  /// Makes the folder if need be. Throws weft::Error if others could write into it.
  explicit ContentCache(std::filesystem::path folder);

  /// Where files are put.
  std::filesystem::path folder() const;
  /// Whether that is a folder which goes when the process ends.
  bool is_temporary() const { return !why_temporary_.empty(); }

  /// The cached file, if it is there. An empty one, left by a crash, is not.
  std::optional<std::filesystem::path> find(const std::string& key, const std::string& extension) const;
  /// The cached file, made first if it is not there.
  std::filesystem::path get(const std::string& key, const std::string& extension,
                            const Produce& produce) const;
  /// Makes the file and replaces what is there. If several do so at once, the last one wins; whoever reads
  /// sees one of them, whole. If `produce` throws, nothing changes.
  std::filesystem::path put(const std::string& key, const std::string& extension,
                            const Produce& produce) const;
  /// Likewise a few bytes, in a tenth of a millisecond.
  void put_note(const std::string& key, const std::string& extension, const std::string& text) const;

 private:
  std::filesystem::path put(const std::string& key, const std::string& extension, const Produce& produce,
                            Sweep sweep) const;

  std::filesystem::path folder_;  ///< Nothing if it cannot even be read.
  std::string why_temporary_;     ///< Why files are put elsewhere; "" if they are not.
};

}  // namespace weft::compile
