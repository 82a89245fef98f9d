// What users call their stages, images, parameters and pipelines, as identifiers of emitted code. Any name
// will do for them: "INT8_MAX", "unix", "__LINE__", "my image". In C++ and CUDA these are macros, keywords or
// nothing at all, with some compiler or with some header; so a rule keeps far from what could be one, instead
// of a list that is right for one compiler:
//
//   sobel      as it is
//   my image   my_image       3rd        _3rd         what is no letter or digit, and no digit first
//   __LINE__   LINE___        _Complex   Complex      such underscores belong to compilers
//   INT8_MAX   INT8_MAX_      M_PIf      M_PIf_       begins with a word in capitals, as macros do
//   int        int_           cudaFree   cudaFree_    keywords, and what emitted code uses itself
#pragma once

#include <string>

namespace weft::ir {

/// Two names may become the same identifier: kernel::Names keeps them apart.
std::string safe_identifier(const std::string& name);

}  // namespace weft::ir
