#include "runtime/executable.h"

namespace weft::runtime {

EntryArguments::EntryArguments(const ir::Pipeline& pipeline, const ir::Bindings& bindings,
                               const std::map<std::string, Buffer>& outputs)
    : values_(pipeline.params.size()) {
  std::vector<std::int64_t> strides;
  arrays_.reserve(pipeline.inputs.size() + pipeline.outputs.size());
  integers_.reserve(4 * arrays_.capacity()), strides.reserve(2 * arrays_.capacity());
  const auto pass = [&](const Buffer& buffer) {
    arrays_.push_back(buffer.data());
    for (int d = 1; d < buffer.rank(); ++d) strides.push_back(buffer.stride(d));
  };
  for (const ir::StagePtr& input : pipeline.inputs) {
    const Buffer& image = bindings.images.at(input->name);
    pass(image);
    integers_.insert(integers_.end(), image.extents().begin(), image.extents().end());
  }
  for (const ir::StagePtr& output : pipeline.outputs) pass(outputs.at(output->name));
  integers_.insert(integers_.end(), strides.begin(), strides.end());
  for (std::size_t p = 0; p < values_.size(); ++p) {
    const ir::Value value = ir::value_of(*pipeline.params[p], bindings);
    ir::store(value.type.scalar, values_[p].data(), value.lane[0]);
    params_.push_back(values_[p].data());
  }
}

}  // namespace weft::runtime
