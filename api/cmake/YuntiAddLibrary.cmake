# yunti_add_library(NAME SOURCES...) adds a class library, libNAME.so.
#
# Without a build type it is optimised (-O2). All symbols but yunti_library_v0 are hidden, so two libraries may both
# have a class Tokenizer.
function(yunti_add_library name)
  add_library(${name} MODULE ${ARGN})
  target_link_libraries(${name} PRIVATE Yunti::yunti)
  set_target_properties(${name} PROPERTIES PREFIX lib SUFFIX .so CXX_VISIBILITY_PRESET hidden
                        VISIBILITY_INLINES_HIDDEN ON POSITION_INDEPENDENT_CODE ON)
  if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    target_compile_options(${name} PRIVATE -O2)
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    target_compile_options(${name} PRIVATE -fno-gnu-unique)
  endif()
endfunction()
