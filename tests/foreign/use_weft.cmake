# Configures and builds project/ against Weft in one WAY, and runs the program where that is cheap.
#   find_package      Weft as this build tree installs it: the program is built and run
#   fetch_content     FetchContent with Weft's sources: configured, and the user's file compiled
#   add_subdirectory  likewise
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "${command}\nended with ${status}:\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${WORK})
set(configure ${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/project -B ${WORK}/build -G ${GENERATOR} -DWAY=${WAY}
              -DCMAKE_BUILD_TYPE=${CONFIG} -DCMAKE_CXX_COMPILER=${COMPILER} -DCMAKE_CXX_FLAGS=${COMPILER_FLAGS})

if(WAY STREQUAL "find_package")
  run(${CMAKE_COMMAND} --install ${WEFT_BUILD} --config ${CONFIG} --prefix ${WORK}/installed)
  run(${configure} -DCMAKE_PREFIX_PATH=${WORK}/installed)
  run(${CMAKE_COMMAND} --build ${WORK}/build)
  run(${WORK}/build/blur list)
  if(NOT output MATCHES "blur")
    message(FATAL_ERROR "the program does not list its own pipeline:\n${output}")
  endif()
else()
  run(${configure} -DFETCHCONTENT_SOURCE_DIR_WEFT=${WEFT_SOURCE} -DWEFT_SOURCE=${WEFT_SOURCE})
  run(${CMAKE_COMMAND} --build ${WORK}/build --target one_object)
endif()
file(REMOVE_RECURSE ${WORK})
