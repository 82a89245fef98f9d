// Half of a program with two pipelines of one name; same_name_too.cpp is the other.
#include <weft/weft.hpp>

using namespace weft;

WEFT_PIPELINE(different) { return point("twice", 2 * Image<float>("in")); }

#line 7 "one.cpp"
WEFT_PIPELINE(blur) { return point("twice", 2 * Image<float>("in")); }
