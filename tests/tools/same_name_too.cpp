#include <weft/weft.hpp>

using namespace weft;

#line 12 "two.cpp"
WEFT_PIPELINE(blur) { return point("half", Image<float>("in") / 2); }
