#include "simt/simt.h"

#include "engine.h"
#include "errors.h"

namespace simt {

std::string_view name_of(Build build) {
  switch (build) {
    case Build::fast: return "fast";
    case Build::race: return "race";
    case Build::address: return "address";
  }
  return "?";
}

Build build_of(std::string_view name) {
  for (const Build build : {Build::fast, Build::race, Build::address}) {
    if (name == name_of(build)) return build;
  }
  throw Failure("there is no build '" + std::string(name) + "', only fast, race and address");
}

Device::Device(Options options) : engine_(std::make_unique<Engine>(std::move(options))) {}
Device::~Device() = default;
Device::Device(Device&&) noexcept = default;
Device& Device::operator=(Device&&) noexcept = default;

abi::Services& Device::services() { return *engine_; }

void* Device::allocate(std::size_t bytes) {
  void* address = nullptr;
  engine_->allocate(&address, bytes, {});
  return address;
}

int Device::release(void* address) { return engine_->release(address, {}); }

int Device::copy_to_device(void* device, const void* host, std::size_t bytes) {
  constexpr int to_device = 1;
  return engine_->copy({device, host, bytes, bytes, bytes, 1, to_device}, nullptr, false, {});
}

int Device::copy_to_host(void* host, const void* device, std::size_t bytes) {
  constexpr int to_host = 2;
  return engine_->copy({host, device, bytes, bytes, bytes, 1, to_host}, nullptr, false, {});
}

void* Device::create_stream(bool waits_for_default) {
  void* stream = nullptr;
  engine_->stream_create(&stream, waits_for_default);
  return stream;
}

int Device::synchronize() { return engine_->synchronize({}); }
int Device::last_error() { return engine_->last_error(true); }
std::vector<Report> Device::reports() const { return engine_->reports(); }
void Device::report_leaks() { engine_->report_leaks(); }
std::vector<KernelCounts> Device::counts() const { return engine_->counts(); }
void Device::forget() { engine_->forget(); }

struct Module::State {
  std::shared_ptr<LoadedText> text;
  Engine& engine;
};

Module::Module(Device& device, const Compiled& compiled)
    : state_(std::make_unique<State>(State{device.engine_->load(compiled), *device.engine_})) {}
Module::~Module() = default;
Module::Module(Module&&) noexcept = default;
Module& Module::operator=(Module&&) noexcept = default;

void* Module::symbol(const std::string& name) const { return state_->text->symbol(name); }

int Module::launch(const std::string& kernel, Dim3 grid, Dim3 block, void** arguments,
                   std::size_t shared_bytes, void* stream) const {
  using Prepare = const void*(void** arguments, abi::Invocation** call);
  auto* prepare = reinterpret_cast<Prepare*>(symbol("simt_kernel_" + kernel));
  abi::Invocation* call = nullptr;
  const void* function = prepare(arguments, &call);
  const abi::Launch launch{function, {grid.x, grid.y, grid.z}, {block.x, block.y, block.z}, shared_bytes};
  return state_->engine.launch(launch, stream, call, {});
}

std::vector<std::string> Module::functions() const {
  std::vector<std::string> names;
  for (const auto& [address, function] : state_->text->symbols().functions()) names.push_back(function.name);
  return names;
}

}  // namespace simt
