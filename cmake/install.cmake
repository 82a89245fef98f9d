# What `cmake --install` puts where, and the package that find_package(weft) finds.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(weft_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/weft)

set_target_properties(weft_io PROPERTIES EXPORT_NAME io)
set_target_properties(weft_main PROPERTIES EXPORT_NAME main)
install(TARGETS weft weft_io weft_main simt EXPORT weftTargets)
install(EXPORT weftTargets NAMESPACE weft:: DESTINATION ${weft_package_dir})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/weft DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
# What the SIMT checker compiles texts with.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/simt/cuda ${PROJECT_SOURCE_DIR}/simt/include
        DESTINATION ${CMAKE_INSTALL_DATADIR}/weft/simt)
if(TARGET weft_tool)
  install(TARGETS weft_tool)
endif()

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/weftConfig.cmake.in ${PROJECT_BINARY_DIR}/weftConfig.cmake
                              INSTALL_DESTINATION ${weft_package_dir})
# Before 1.0 every minor version may change the interface.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/weftConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/weftConfig.cmake ${PROJECT_BINARY_DIR}/weftConfigVersion.cmake
              ${CMAKE_CURRENT_LIST_DIR}/FindISL.cmake ${CMAKE_CURRENT_LIST_DIR}/FindxxHash.cmake
        DESTINATION ${weft_package_dir})
