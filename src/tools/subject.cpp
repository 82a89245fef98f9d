#include "tools/subject.h"

#include <algorithm>
#include <cstdint>

#include "ir/stage_ir.h"
#include "tools/arguments.h"
#include "tools/scene.h"

namespace weft::tools {
namespace {

Arguments arguments_of(const ir::Pipeline& pipeline, const Prepared& prepared, const Size& size,
                       double range) {
  Arguments arguments;
  arguments.params = prepared.params;
  if (pipeline.inputs.empty()) return arguments;
  const ir::Sizes sizes = input_sizes(pipeline, size);
  fuzz::Random random(1);
  for (const ir::StagePtr& input : pipeline.inputs) {
    const Size own{sizes.at(input->name)};
    check_memory(own, size_of(input->type), static_cast<std::int64_t>(4 * pipeline.inputs.size()));
    arguments.images[input->name] = random_image(input->type, own, range, random);
  }
  return arguments;
}

}  // namespace

Subject subject_of(const Application& application, const std::optional<Size>& size,
                   const std::vector<std::string>& params, const std::map<std::string, Type>& types) {
  const Built declared = prepare(application, params, types).built;
  const Size chosen = bench_size(application, declared, size);
  const Prepared prepared = prepare(application, with_size(declared, params, chosen), types);
  return {prepared.built.pipeline, chosen,
          arguments_of(prepared.built.pipeline.ir(), prepared, chosen, application.about.range)};
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

}  // namespace weft::tools
