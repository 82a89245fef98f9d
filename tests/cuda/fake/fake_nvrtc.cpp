// NVRTC's functions; compiled code is the text.
#include <algorithm>
#include <cstring>
#include <string>

#include "tests/cuda/fake/fake_cuda.h"

namespace {

using weft::testing_support::FakeNvrtc;

constexpr int success = 0;

FakeNvrtc& state() {
  static FakeNvrtc nvrtc;
  return nvrtc;
}

struct Program {
  std::string text, name, log;
};

std::string complaint_about(const Program& program) {
  const std::size_t kernel = program.text.find("__global__");
  const auto line = 1 + std::count(program.text.begin(), program.text.begin() + kernel, '\n');
  const std::size_t begin = program.text.rfind('\n', kernel) + 1, end = program.text.find('\n', kernel);
  return program.name + "(" + std::to_string(line) + "): error: " + state().complaint + "\n  " +
         program.text.substr(begin, end - begin) + "\n";
}

}  // namespace

extern "C" {

FakeNvrtc* weft_fake_nvrtc() { return &state(); }

const char* nvrtcGetErrorString(int status) { return status == success ? "NVRTC_SUCCESS" : "NVRTC_ERROR"; }

int nvrtcVersion(int* major, int* minor) {
  *major = FAKE_NVRTC_MAJOR;
  *minor = 0;
  return success;
}

int nvrtcGetNumSupportedArchs(int* count) {
  *count = static_cast<int>(state().architectures.size());
  return success;
}

int nvrtcGetSupportedArchs(int* list) {
  std::copy(state().architectures.begin(), state().architectures.end(), list);
  return success;
}

int nvrtcCreateProgram(Program** program, const char* text, const char* name, int, const char* const*,
                       const char* const*) {
  *program = new Program{text, name, ""};
  return success;
}

int nvrtcDestroyProgram(Program** program) {
  delete *program;
  *program = nullptr;
  return success;
}

int nvrtcCompileProgram(Program* program, int, const char* const*) {
  ++state().compilations;
  if (state().complaint.empty()) return success;
  program->log = complaint_about(*program);
  return state().status;
}

int nvrtcGetProgramLogSize(Program* program, std::size_t* bytes) {
  *bytes = program->log.size() + 1;
  return success;
}

int nvrtcGetProgramLog(Program* program, char* text) {
  std::memcpy(text, program->log.c_str(), program->log.size() + 1);
  return success;
}

int nvrtcGetCUBINSize(Program* program, std::size_t* bytes) {
  *bytes = program->text.size();
  return success;
}

int nvrtcGetCUBIN(Program* program, char* bytes) {
  std::memcpy(bytes, program->text.data(), program->text.size());
  return success;
}
}
