# Debian packages, which scripts/package makes: `weft` is the command with its applications and the checker,
# `libweft-dev` the library.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME weft)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_CONTACT "Weft's maintainers <maintainers@weft.invalid>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS  # whatever the umask
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)

set(CPACK_COMPONENTS_ALL command library)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION graphics)

# Running a pipeline compiles it. The shared libraries come on top of this.
set(CPACK_DEBIAN_COMMAND_PACKAGE_NAME weft)
set(CPACK_COMPONENT_COMMAND_DESCRIPTION
    "The command runs image pipelines on pictures, explains what was decided about
them, and emits their code as C++ and CUDA. It comes with applications, from
blurs to camera pipelines, and with a checker that runs CUDA on the CPU.")
set(CPACK_DEBIAN_COMMAND_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_COMMAND_PACKAGE_DEPENDS "g++ (>= 4:12) | clang (>= 1:14)")
set(CPACK_DEBIAN_COMMAND_PACKAGE_SUGGESTS "libweft-dev")

# The libraries are static: programs are linked with what they need. Only weft::weft has to work at once.
set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME libweft-dev)
set(CPACK_COMPONENT_LIBRARY_DESCRIPTION
    "The library: headers, static libraries and a CMake package, find_package(weft).
What its components io, simt and main need is recommended.")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_DEPENDS
    "weft (= ${PROJECT_VERSION}), g++ (>= 4:12) | clang (>= 1:19), libfmt-dev, libisl-dev, libxxhash-dev")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_RECOMMENDS
    "cmake, libpng-dev, libjpeg-dev, libtiff-dev (>= 4.5), libwebp-dev, libboost-context-dev")

include(CPack)
