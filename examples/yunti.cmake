# Makes the target Yunti::yunti and yunti_add_library(NAME SOURCES...): of this source tree, or of an installed Yunti where an example was
# copied out of it.
if(NOT TARGET Yunti::yunti)
  if(EXISTS ${CMAKE_CURRENT_LIST_DIR}/../api/CMakeLists.txt)
    add_subdirectory(${CMAKE_CURRENT_LIST_DIR}/../api ${CMAKE_BINARY_DIR}/yunti-api)
  else()
    find_package(Yunti REQUIRED)
  endif()
endif()
