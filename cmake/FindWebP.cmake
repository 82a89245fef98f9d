# libwebp with its container, libwebpmux, as the target WebP::WebP. Debian's package brings no CMake files.
find_path(WebP_INCLUDE_DIR webp/mux.h)
find_library(WebP_LIBRARY webp)
find_library(WebP_MUX_LIBRARY webpmux)
mark_as_advanced(WebP_INCLUDE_DIR WebP_LIBRARY WebP_MUX_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(WebP REQUIRED_VARS WebP_LIBRARY WebP_MUX_LIBRARY WebP_INCLUDE_DIR)

if(WebP_FOUND AND NOT TARGET WebP::WebP)
  add_library(WebP::WebP UNKNOWN IMPORTED)
  set_target_properties(WebP::WebP PROPERTIES IMPORTED_LOCATION "${WebP_MUX_LIBRARY}"
                                              INTERFACE_INCLUDE_DIRECTORIES "${WebP_INCLUDE_DIR}"
                                              INTERFACE_LINK_LIBRARIES "${WebP_LIBRARY}")
endif()
