# What `cmake --install` puts where, and the package that find_package(weft) finds.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(weft_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/weft)
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME library)  # the other one is `command`; they become packages
set(weft_simt_dir ${CMAKE_INSTALL_DATADIR}/weft/simt)

# Each component has targets of its own, so that only who asks for it needs what it links to.
foreach(part weft ${weft_components})
  get_target_property(target weft::${part} ALIASED_TARGET)
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${part})
  install(TARGETS ${target} EXPORT weft_${part}Targets)
  install(EXPORT weft_${part}Targets NAMESPACE weft:: DESTINATION ${weft_package_dir})
endforeach()

install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/weft DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
if(TARGET simt)  # its interface, and what it compiles texts with
  target_include_directories(simt PUBLIC $<INSTALL_INTERFACE:${weft_simt_dir}/include>)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/simt/cuda ${PROJECT_SOURCE_DIR}/simt/include DESTINATION ${weft_simt_dir}
          COMPONENT command)
endif()
if(TARGET weft_tool)
  install(TARGETS weft_tool simt_check COMPONENT command)
endif()
# Where Debian looks for licences and for examples, which are the applications.
if(WEFT_PACKAGE)
  install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/weft RENAME copyright
          COMPONENT command)
  install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/libweft-dev RENAME copyright)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/apps/ DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/libweft-dev/examples
          FILES_MATCHING PATTERN *.cpp PATTERN *.h)
endif()

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/weftConfig.cmake.in ${PROJECT_BINARY_DIR}/weftConfig.cmake
                              INSTALL_DESTINATION ${weft_package_dir})
# Before 1.0 every minor version may change the interface.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/weftConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/weftConfig.cmake ${PROJECT_BINARY_DIR}/weftConfigVersion.cmake
              ${CMAKE_CURRENT_LIST_DIR}/FindISL.cmake ${CMAKE_CURRENT_LIST_DIR}/FindWebP.cmake
              ${CMAKE_CURRENT_LIST_DIR}/FindxxHash.cmake
        DESTINATION ${weft_package_dir})
