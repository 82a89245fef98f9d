// Remembers which object of the cache something became, so that what leads there is not done again: for a
// pipeline, choosing its schedule, lowering and printing, which take up to 0.2 s.
//
//     KEY.known     8e41…d2 0f6a…31      this build of Weft made of KEY the object 0f6a…31
//                   57b0…9c 0f6a…31      so did another
//
// KEY is the hash of what the object depends on but for the build (build_identity.h), since programs with
// different builds, such as a user's and its tests, may compile the same pipelines.
#pragma once

#include <optional>
#include <string>

#include "compile/cache.h"

namespace weft::compile {

/// The key of the object that this build made. It may be gone from the cache.
std::optional<std::string> known_object(const ContentCache& cache, const std::string& key);
/// If that cannot be written, it is not remembered.
void remember_object(const ContentCache& cache, const std::string& key, const std::string& object);

}  // namespace weft::compile
