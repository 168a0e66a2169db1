# Functions for programs with shaders that abort. Include this file; it finds the commands `vkabort` and `glslang` on the PATH,
# or where the variables VKABORT and GLSLANG say.
#
#   vkabort_shader(TARGET SOURCE [OUTPUT FILE] [OPTIONS OPTION..] [DEPENDS FILE..] [WERROR] [ALLOW RULE..] [DENY RULE..]
#                  [FORMAT FORMAT] [SOURCE_ROOT FOLDER])
#
#     Compiles GLSL with the source lines that reports show, when TARGET is built, and prints the warnings of `vkabort check`.
#     OUTPUT is by default the source's name with `.spv`, in the build folder. OPTIONS go to glslang. DEPENDS are the files
#     that the source includes. With WERROR, warnings fail the build. ALLOW, DENY and FORMAT are the options of `vkabort
#     check`. Its warnings name files relative to SOURCE_ROOT, by default the folder of the project.
#
#   vkabort_test(NAME NAME COMMAND PROGRAM [ARGUMENT..] [SETTINGS KEY=VALUE..])
#
#     Adds a CTest test that runs a program under the layer and fails if a shader aborts. Its reports are in the test's
#     output, and as JUnit XML in NAME.xml.

cmake_minimum_required(VERSION 3.20)

find_program(VKABORT vkabort DOC "The command vkabort")
find_program(GLSLANG NAMES glslang glslangValidator DOC "glslang 16.6 or newer")

# Ends with an error if a call of FUNCTION has arguments that it does not know, or keywords without a value.
function(_vkabort_refuse function unparsed missing)
  if(unparsed)
    message(FATAL_ERROR "${function}: unknown arguments: ${unparsed}")
  elseif(missing)
    message(FATAL_ERROR "${function}: no value for ${missing}")
  endif()
endfunction()

function(vkabort_shader target source)
  cmake_parse_arguments(PARSE_ARGV 2 arg "WERROR" "OUTPUT;FORMAT;SOURCE_ROOT" "OPTIONS;DEPENDS;ALLOW;DENY")
  # OPTIONS, DEPENDS, ALLOW and DENY may be lists that are empty.
  list(REMOVE_ITEM arg_KEYWORDS_MISSING_VALUES OPTIONS DEPENDS ALLOW DENY)
  _vkabort_refuse(vkabort_shader "${arg_UNPARSED_ARGUMENTS}" "${arg_KEYWORDS_MISSING_VALUES}")
  if(NOT GLSLANG OR NOT VKABORT)
    message(FATAL_ERROR "vkabort_shader needs glslang and vkabort: set GLSLANG and VKABORT to their paths")
  endif()
  get_filename_component(path "${source}" ABSOLUTE)
  get_filename_component(folder "${path}" DIRECTORY)
  get_filename_component(name "${path}" NAME)
  get_filename_component(stem "${path}" NAME_WLE)
  if(NOT arg_OUTPUT)
    set(arg_OUTPUT "${CMAKE_CURRENT_BINARY_DIR}/${stem}.spv")
  endif()
  if(NOT arg_SOURCE_ROOT)
    set(arg_SOURCE_ROOT "${PROJECT_SOURCE_DIR}")
  endif()
  get_filename_component(root "${arg_SOURCE_ROOT}" ABSOLUTE)
  set(options --source-root "${root}")
  if(arg_WERROR)
    list(APPEND options --werror)
  endif()
  if(arg_FORMAT)
    list(APPEND options --format "${arg_FORMAT}")
  endif()
  foreach(rule IN LISTS arg_ALLOW)
    list(APPEND options --allow "${rule}")
  endforeach()
  foreach(rule IN LISTS arg_DENY)
    list(APPEND options --deny "${rule}")
  endforeach()
  # In the folder of the source, so that debug information names it as the user does.
  add_custom_command(
    OUTPUT "${arg_OUTPUT}"
    COMMAND "${GLSLANG}" -V -gVS --quiet ${arg_OPTIONS} "${name}" -o "${arg_OUTPUT}"
    COMMAND "${VKABORT}" check ${options} "${arg_OUTPUT}"
    WORKING_DIRECTORY "${folder}"
    DEPENDS "${path}" ${arg_DEPENDS}
    COMMENT "Compiling ${name}"
    VERBATIM)
  target_sources("${target}" PRIVATE "${arg_OUTPUT}")
endfunction()

function(vkabort_test)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "NAME" "COMMAND;SETTINGS")
  list(REMOVE_ITEM arg_KEYWORDS_MISSING_VALUES SETTINGS)
  _vkabort_refuse(vkabort_test "${arg_UNPARSED_ARGUMENTS}" "${arg_KEYWORDS_MISSING_VALUES}")
  if(NOT arg_NAME OR NOT arg_COMMAND)
    message(FATAL_ERROR "vkabort_test needs NAME and COMMAND")
  endif()
  if(NOT VKABORT)
    message(FATAL_ERROR "vkabort_test needs vkabort: set VKABORT to its path")
  endif()
  set(options --junit "${CMAKE_CURRENT_BINARY_DIR}/${arg_NAME}.xml")
  foreach(setting IN LISTS arg_SETTINGS)
    list(APPEND options --set "${setting}")
  endforeach()
  list(POP_FRONT arg_COMMAND program)
  if(TARGET "${program}")
    set(program "$<TARGET_FILE:${program}>")
  endif()
  add_test(NAME "${arg_NAME}" COMMAND "${VKABORT}" run ${options} -- "${program}" ${arg_COMMAND})
endfunction()
