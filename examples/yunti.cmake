# Defines the target Yunti::yunti and yunti_add_library(NAME SOURCES...): from this source tree, or from an installed
# Yunti if the example was copied elsewhere.
if(NOT TARGET Yunti::yunti)
  if(EXISTS ${CMAKE_CURRENT_LIST_DIR}/../api/CMakeLists.txt)
    add_subdirectory(${CMAKE_CURRENT_LIST_DIR}/../api ${CMAKE_BINARY_DIR}/yunti-api)
  else()
    find_package(Yunti REQUIRED)
  endif()
endif()
