// Types as a user of the library writes them: "std::uint8_t", "Vec<float, 3>".
#pragma once

#include <weft/types.h>

#include <string>

namespace weft {

std::string cpp_name(Scalar s);
std::string cpp_name(Type t);

}  // namespace weft
