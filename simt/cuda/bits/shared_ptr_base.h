// GCC's <memory> writes `__noinline__` inside an attribute, where CUDA's word of that name means the whole
// attribute.
#pragma GCC system_header
#pragma push_macro("__noinline__")
#undef __noinline__
#include_next <bits/shared_ptr_base.h>
#pragma pop_macro("__noinline__")
