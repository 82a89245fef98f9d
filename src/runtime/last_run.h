// Those who run a pipeline again and again mostly give the same buffers. What was checked of the last ones then holds, and for small
// images checks take longer than the pixels.
#pragma once

#include <weft/pipeline.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

namespace weft::runtime {

/// How to do the last run again. Any thread may ask.
class LastRun {
 public:
  using Again = std::function<void()>;

  /// Null unless these arguments are those of the last run: the same views of the same memory, and the same parameters.
  std::shared_ptr<const Again> of(const Arguments& arguments) const {
    std::shared_ptr<const Known> last;
    {
      const std::lock_guard lock(mutex_);
      last = last_;
    }
    const bool is_same = last && last->arguments.params == arguments.params &&
                         are_same(last->arguments.images, arguments.images) &&
                         are_same(last->arguments.outputs, arguments.outputs);
    if (!is_same) return nullptr;
    return {last, &last->again};
  }

  void remember(const Arguments& arguments, Again again) {
    auto last = std::make_shared<const Known>(
        Known{{without_owners(arguments.images), arguments.params, without_owners(arguments.outputs)},
              std::move(again)});
    const std::lock_guard lock(mutex_);
    last_ = std::move(last);
  }

 private:
  using Buffers = std::map<std::string, Buffer>;
  struct Known {
    Arguments arguments;
    Again again;
  };

  static bool are_same(const Buffers& known, const Buffers& given) {
    return std::equal(
        known.begin(), known.end(), given.begin(), given.end(),
        [](const auto& a, const auto& b) { return a.first == b.first && a.second.is_same_view(b.second); });
  }
  /// Memory is not kept for a run that may never come.
  static Buffers without_owners(Buffers buffers) {
    for (auto& [name, buffer] : buffers) buffer = buffer.owned_by(nullptr);
    return buffers;
  }

  mutable std::mutex mutex_;
  std::shared_ptr<const Known> last_;
};

}  // namespace weft::runtime
