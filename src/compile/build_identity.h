// Tells one build of Weft from another: what one has decided, another may decide otherwise.
#pragma once

#include <optional>
#include <string>

namespace weft::compile {

/// The build id of the program or library that has Weft's code: a hash of it that the linker puts there, in
/// hex. It is read from memory, as the file may have been replaced since the program was started. Nothing if
/// the linker was not asked for one.
const std::optional<std::string>& identity_of_this_build();

}  // namespace weft::compile
