// What a pipeline's definition declares while it runs: images, parameters and options, in order. A Builder is
// installed for the time of one build() on one thread; without one (a pipeline written out in a user's main),
// declarations take their defaults and are found through the graph.
#pragma once

#include <weft/application.h>

#include <memory>
#include <string>
#include <vector>

#include "ir/stage_ir.h"

namespace weft::dsl {

class Builder {
 public:
  explicit Builder(const Settings& settings);
  ~Builder();
  Builder(const Builder&) = delete;
  Builder& operator=(const Builder&) = delete;
  static Builder* current();

  /// The value given for an option, or `initial`; records the declaration.
  std::string option(const std::string& name, const std::string& initial, std::vector<std::string> choices,
                     const ValueRange& range);
  /// The type given for an image that takes any of `scalars` x `lanes`; records the declaration.
  Type image_type(const std::string& name, const std::vector<Scalar>& scalars, const std::vector<int>& lanes,
                  int rank);
  /// Throws weft::Error if a setting was given that nothing declared.
  void check_all_used(const std::string& application) const;

  std::vector<ir::StagePtr> inputs;
  std::vector<std::shared_ptr<const ir::Param>> params;
  std::vector<DeclaredOption> options;
  std::vector<DeclaredImage> images;

 private:
  const Settings& settings_;
  Builder* outer_;
};

}  // namespace weft::dsl
