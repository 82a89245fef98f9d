// Times an application beside functions of others that compute the same, in one process, taking turns:
//
//     race night --peer adams=night-adams.so --peer mullapudi=night-mullapudi.so
//
// A peer is a library with the function of peer.h. All get the same random pixels, Weft interleaved and peers
// planar, each as it prefers. A peer whose outputs differ from Weft's in any pixel is not timed. Weft runs also with plain
// stores where it stores results past the caches, and so does the copy the other way. JSON on stdout.
//
// C++ that Weft emitted for the same application, by another commit or changed by hand, is a peer, too. The cache keeps it:
//
//     race night --source before=$WEFT_CACHE/a8cd.cpp --source changed=night.cpp
#include "bench/peer.h"

#include <fmt/format.h>
#include <weft/error.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "compile/cache.h"
#include "compile/dynamic_library.h"
#include "compile/native_compiler.h"
#include "compile/scheduling.h"
#include "ir/bindings.h"
#include "ir/stage_ir.h"
#include "ir/value.h"
#include "runtime/cpu_program.h"
#include "runtime/thread_pool.h"
#include "tools/arguments.h"
#include "tools/bandwidth.h"
#include "tools/compare.h"
#include "tools/files.h"
#include "tools/subject.h"
#include "tools/targets.h"

namespace weft {
namespace {

using Json = nlohmann::ordered_json;

struct Options {
  std::string application;
  std::optional<tools::Size> size;
  std::int64_t runs = 20;
  double seconds = 0;
  int threads = 0;
  std::vector<std::string> params;
  std::vector<std::pair<std::string, std::string>> peers, sources;  ///< Name and file.
};

Options parse(int argc, char** argv) {
  Options options;
  if (argc < 2) throw Error("race needs an application; what it does stands in bench/race.cpp");
  options.application = argv[1];
  for (int i = 2; i < argc; i += 2) {
    const std::string name = argv[i];
    if (i + 1 == argc) throw Error(name + " needs a value");
    const std::string value = argv[i + 1];
    if (name == "--size") {
      options.size = tools::parse_size(value);
    } else if (name == "--param") {
      options.params.push_back(value);
    } else if (name == "--runs") {
      options.runs = tools::parse_count(name, value);
    } else if (name == "--seconds") {
      options.seconds = tools::parse_number(name, value);
    } else if (name == "--threads") {
      options.threads = static_cast<int>(tools::parse_count(name, value));
    } else if (name == "--peer" || name == "--source") {
      const auto [peer, file] = tools::parse_assignment(value);
      if (peer.empty()) throw Error(name + " '" + value + "' is not of the form NAME=FILE");
      (name == "--peer" ? options.peers : options.sources).emplace_back(peer, file);
    } else {
      throw Error("there is no option '" + name + "'");
    }
  }
  return options;
}

// ---- peers ------------------------------------------------------------------------------------------------

/// An image whose lanes lie one behind the other. It owns its memory.
class Planar {
 public:
  Planar(Type type, const std::vector<std::int64_t>& extents)
      : extents_(extents), type_(type), memory_(Buffer::allocate(type, extents)) {
    if (extents.size() != 2) throw Error("peers compute images of two dimensions only");
  }

  /// The same pixels for those who know nothing of planes.
  Buffer view() const {
    return {memory_.data(), type_, extents_, {1, extents_[0]}, extents_[0] * extents_[1]};
  }
  peer_image image() const { return {memory_.data(), extents_[0], extents_[1], type_.lanes}; }

 private:
  std::vector<std::int64_t> extents_;
  Type type_;
  Buffer memory_;
};

/// The images that all peers read, or those that one of them writes.
std::vector<Planar> planar(const std::vector<ir::StagePtr>& stages,
                           const std::map<std::string, Buffer>& images, bool filled) {
  std::vector<Planar> result;
  for (const ir::StagePtr& stage : stages) {
    const Buffer& image = images.at(stage->name);
    result.emplace_back(image.type(), image.extents());
    if (filled) result.back().view().copy_from(image);
  }
  return result;
}

struct Peer {
  std::string name;
  std::function<void()> run;
  std::vector<Buffer> outputs;  ///< What it writes, in the order of the pipeline's.
  std::string failure;          ///< Why it is not timed.
  Json checks = Json::array();
  std::vector<double> seconds;
};

/// The function of a library, with images that lie in planes.
Peer library(const std::string& name, const std::string& file, const ir::Pipeline& pipeline,
             const Arguments& arguments) {
  const compile::DynamicLibrary loaded(file);
  decltype(&peer_run) run = nullptr;
  if (!loaded.loaded() || !loaded.find("peer_run", run))
    throw Error("'" + file + "' cannot be loaded, or has no function peer_run");
  const auto inputs = planar(pipeline.inputs, arguments.images, true);
  const auto outputs = planar(pipeline.outputs, arguments.outputs, false);
  std::vector<peer_image> images;
  for (const auto* planes : {&inputs, &outputs}) {
    for (const Planar& image : *planes) images.push_back(image.image());
  }
  Peer peer;
  peer.name = name;
  peer.run = [run, images, inputs, outputs] {  // the planes, too: the images lie in them
    if (const char* error = run(images.data(), static_cast<std::int64_t>(images.size()))) throw Error(error);
  };
  for (const Planar& output : outputs) peer.outputs.push_back(output.view());
  return peer;
}

/// Emitted C++, with images as Weft has them.
Peer emitted(const std::string& name, const std::string& file, const ir::Pipeline& pipeline,
             const Arguments& arguments, const compile::CompileFlags& flags, int threads) {
  const std::shared_ptr<const ir::Pipeline> shared(&pipeline, [](const ir::Pipeline*) {});
  const auto object = std::make_shared<const compile::SharedObject>(
      compile::compile_shared(tools::read_text(file), flags, compile::ContentCache()));
  const auto program = std::make_shared<const runtime::CpuProgram>(shared, object, "weft_entry", threads);
  Peer peer;
  peer.name = name;
  std::map<std::string, Buffer> outputs;
  for (const ir::StagePtr& stage : pipeline.outputs) {
    const Buffer& own = arguments.outputs.at(stage->name);
    peer.outputs.push_back(outputs[stage->name] = Buffer::allocate(own.type(), own.extents()));
  }
  peer.run = [program, outputs, bindings = ir::bound(arguments.images, arguments.params)] {
    program->run(bindings, outputs);
  };
  return peer;
}

/// Notes how far the peer's outputs are from Weft's, and whether that is too far.
void check(Peer& peer, const ir::Pipeline& pipeline, const std::map<std::string, Buffer>& expected) {
  const bool rounded = !pipeline.strict && tools::rounds_floats(pipeline);
  for (std::size_t i = 0; i < pipeline.outputs.size(); ++i) {
    const std::string& name = pipeline.outputs[i]->name;
    const tools::Comparison found = tools::compare(name, expected.at(name), peer.outputs[i], {}, rounded);
    peer.checks.push_back({{"output", name},
                           {"pixels", found.pixels},
                           {"wrong", found.wrong},
                           {"off_by_one", found.off_by_one},
                           {"worst", found.worst}});
    if (!tools::agree_but_for_jumps(found, expected.at(name).type()))
      peer.failure = "differs from Weft: " + found.text();
  }
}

/// Brings wide integers into 0 ... range, where an application says what its pictures have: a sensor's raw
/// values have ten bits of sixteen, and what is computed of them does not overflow then.
void confine(Buffer& image, double range) {
  const Scalar s = image.type().scalar;
  if (range <= 255 || is_float(s) || size_of(s) == 1) return;
  const auto values = static_cast<std::int64_t>(range) + 1;
  auto* at = static_cast<std::byte*>(image.data());
  for (std::int64_t i = 0; i < image.pixels() * image.type().lanes; ++i, at += size_of(s)) {
    const std::int64_t value = ir::load(s, at).i % values;
    ir::store(s, at, {.i = value < 0 ? value + values : value});
  }
}

// ---- the race ---------------------------------------------------------------------------------------------

template <class Work>
double seconds_of(Work& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// With the least and the most of the middle four fifths, since a copy may have two speeds.
Json times(std::vector<double> seconds) {
  std::sort(seconds.begin(), seconds.end());
  const std::size_t tenth = seconds.size() / 10;
  return {{"median_ms", tools::median(seconds) * 1e3},
          {"min_ms", seconds.front() * 1e3},
          {"low_ms", seconds[tenth] * 1e3},
          {"high_ms", seconds[seconds.size() - 1 - tenth] * 1e3}};
}

std::int64_t bytes_of(const std::map<std::string, Buffer>& images) {
  std::int64_t bytes = 0;
  for (const auto& entry : images) bytes += entry.second.bytes();
  return bytes;
}

Json race(const Options& options) {
  const Application& application = tools::find_application(options.application);
  auto [built, size, arguments] = tools::subject_of(application, options.size, options.params, {});
  for (auto& entry : arguments.images) confine(entry.second, application.about.range);
  const ir::Pipeline& pipeline = built.ir();
  const Program program = tools::compile(built, tools::RunTarget::Cpu, options.threads);
  arguments.outputs = program.run(arguments);  // later runs write into the same memory

  CompileOptions on_cpu;
  on_cpu.target = Target::Cpu, on_cpu.threads = options.threads;
  std::vector<Peer> peers;
  for (const auto& [name, file] : options.peers) peers.push_back(library(name, file, pipeline, arguments));
  const compile::CompileFlags flags = runtime::flags_for(
      compile::lowered(pipeline, target::Processor::Cpu, compile::scheduling_of(on_cpu)), on_cpu);
  for (const auto& [name, file] : options.sources)
    peers.push_back(emitted(name, file, pipeline, arguments, flags, on_cpu.threads));
  for (Peer& peer : peers) {
    try {
      peer.run();
      check(peer, pipeline, arguments.outputs);
    } catch (const Error& error) {
      peer.failure = "failed: " + error.message();
    }
  }

  const std::int64_t read = bytes_of(arguments.images), written = bytes_of(arguments.outputs);
  runtime::ThreadPool pool(options.threads);
  tools::PlainCopy copy(read, written, pool),
      copy_past_caches(read, written, pool, tools::PlainCopy::Stores::PastCaches);
  CompileOptions plain = on_cpu;
  plain.compiler_flags = {"-DWEFT_CACHE_BYTES=" + std::to_string(std::int64_t{1} << 62)};
  const Program plain_program = built.compile(plain);
  const auto own = [&] { program.run(arguments); };
  const auto own_plain = [&] { plain_program.run(arguments); };
  std::vector<double> own_seconds, plain_seconds, copy_seconds, past_caches_seconds;
  constexpr std::int64_t warming_up = 2;
  double spent = 0;
  for (std::int64_t run = -warming_up; run < options.runs || spent < options.seconds; ++run) {
    const double seconds = seconds_of(own), seconds_plain = seconds_of(own_plain);
    const double copying = seconds_of(copy), copying_past_caches = seconds_of(copy_past_caches);
    for (Peer& peer : peers) {
      if (!peer.failure.empty()) continue;
      const double theirs = seconds_of(peer.run);
      if (run >= 0) peer.seconds.push_back(theirs);
    }
    if (run < 0) continue;
    own_seconds.push_back(seconds), plain_seconds.push_back(seconds_plain);
    copy_seconds.push_back(copying), past_caches_seconds.push_back(copying_past_caches);
    spent += seconds;
  }

  Json json = {
      {"application", options.application}, {"size", size.extents},       {"threads", pool.threads()},
      {"runs", own_seconds.size()},         {"bytes_read", read},         {"bytes_written", written},
      {"copy", times(copy_seconds)},        {"weft", times(own_seconds)}, {"peers", Json::object()}};
  json["copy_past_caches"] = times(past_caches_seconds);
  json["weft_plain_stores"] = times(plain_seconds);
  for (const Peer& peer : peers) {
    Json& entry = json["peers"][peer.name] = {{"checks", peer.checks}};
    if (peer.failure.empty())
      entry.update(times(peer.seconds));
    else
      entry["failure"] = peer.failure;
  }
  return json;
}

}  // namespace
}  // namespace weft

int main(int argc, char** argv) {
  try {
    fmt::print("{}\n", weft::race(weft::parse(argc, argv)).dump(2));
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "race: {}\n", error.what());
    return 2;
  }
}
