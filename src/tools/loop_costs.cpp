#include "tools/loop_costs.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "emit/cpp.h"
#include "emit/module_text.h"
#include "runtime/cpu_program.h"

namespace weft::tools {

LoopsOfModule loops_of(const kernel::Module& module) {
  return {emit::file_name(module) + ".cpp",
          compile::report_on_loops(emit::emit_for_users(module), runtime::flags_for(module, {}))};
}

std::string LoopsOfModule::text() const {
  const std::size_t vectors = static_cast<std::size_t>(report.independent) - report.scalar.size();
  std::string text = fmt::format("loops over pixels, by {}: {} of {} in vectors\n", report.compiler, vectors,
                                 report.independent);
  for (const compile::ScalarLoop& loop : report.scalar) {
    text += fmt::format("  {} (line {} of {}) goes pixel by pixel: {}\n", loop.function, loop.line, file,
                        loop.cause.empty() ? loop.words : loop.cause);
    if (!loop.cause.empty() && !loop.words.empty())
      text += fmt::format("    the compiler says: {}\n", loop.words);
  }
  return text;
}

nlohmann::ordered_json LoopsOfModule::json() const {
  nlohmann::ordered_json json = {{"compiler", report.compiler},
                                 {"file", file},
                                 {"loops", report.independent},
                                 {"scalar", nlohmann::ordered_json::array()}};
  for (const compile::ScalarLoop& loop : report.scalar) {
    json["scalar"].push_back({{"function", loop.function},
                              {"line", loop.line},
                              {"cause", loop.cause},
                              {"compiler_says", loop.words}});
  }
  return json;
}

}  // namespace weft::tools
