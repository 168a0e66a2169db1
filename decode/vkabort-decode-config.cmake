# find_package(vkabort-decode CONFIG) defines the target vkabort::decode. Installed as
# LIBDIR/cmake/vkabort-decode/vkabort-decode-config.cmake; it may be moved together with the library and the header.
set(_libdir "${CMAKE_CURRENT_LIST_DIR}/../..")
find_library(VKABORT_DECODE_LIBRARY vkabort_decode HINTS "${_libdir}" NO_DEFAULT_PATH)
find_path(VKABORT_DECODE_INCLUDE_DIR vkabort_decode.h HINTS "${_libdir}/../include" "${_libdir}/../../include" NO_DEFAULT_PATH)
unset(_libdir)
if(NOT VKABORT_DECODE_LIBRARY OR NOT VKABORT_DECODE_INCLUDE_DIR)
  set(vkabort-decode_FOUND FALSE)
  set(vkabort-decode_NOT_FOUND_MESSAGE "libvkabort_decode or vkabort_decode.h is not installed beside ${CMAKE_CURRENT_LIST_FILE}")
  return()
endif()
if(NOT TARGET vkabort::decode)
  add_library(vkabort::decode UNKNOWN IMPORTED)
  set_target_properties(vkabort::decode PROPERTIES
    IMPORTED_LOCATION "${VKABORT_DECODE_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${VKABORT_DECODE_INCLUDE_DIR}")
endif()
mark_as_advanced(VKABORT_DECODE_LIBRARY VKABORT_DECODE_INCLUDE_DIR)
