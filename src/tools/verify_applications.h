// Applications on random images, against the interpreter, on every pixel: each in all its variants, at
// several sizes, on several targets.
#pragma once

#include <weft/application.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tools/compare.h"
#include "tools/sizes.h"
#include "tools/targets.h"

namespace weft::tools {

struct VerifyPlan {
  std::vector<Size> sizes;  ///< Empty: a pixel, lines, less than a window, and more.
  std::vector<RunTarget> targets;
  compile::Scheduling scheduling;
  std::vector<std::string> borders;  ///< Empty: all.
  std::vector<std::string> params;
  std::uint64_t seed = 0;
  Tolerance tolerance;
  bool quick = false;  ///< Each application as it comes, or with the borders alone if there are some.
  int workers = 0;     ///< Each compiles and runs; 0: one per core.
};

struct VerifyTotals {
  std::int64_t passed = 0, failed = 0, off_by_one = 0;
  double worst = 0;

  VerifyTotals& operator+=(const VerifyTotals& o) {
    passed += o.passed, failed += o.failed, off_by_one += o.off_by_one;
    worst = worst < o.worst ? o.worst : worst;
    return *this;
  }
};

/// Called by one thread at a time.
struct VerifyListener {
  std::function<void(const Application&, const VerifyTotals&)>
      finished;  ///< In the order of the applications.
  std::function<void(const std::string& what)> failed;
  std::function<void(const std::string& state)> progress;  ///< Now and then.
};

/// Throws weft::Error for parameters that an application does not have, and if something does not compile.
void verify_applications(const std::vector<const Application*>& applications, const VerifyPlan& plan,
                         const VerifyListener& listener);

}  // namespace weft::tools
