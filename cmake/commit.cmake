# SPDX-License-Identifier: GPL-2.0-or-later
# cmake -D SOURCE=DIR -D OUT=FILE -P commit.cmake: a header that has the commit which SOURCE is of, " (4521b5b)", and
# whether it was changed, " (4521b5b, changed)"; empty where SOURCE is no checkout. Written only when it changes.
set(commit "")
execute_process(COMMAND git -C ${SOURCE} rev-parse --show-toplevel OUTPUT_VARIABLE top RESULT_VARIABLE failed
  OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(NOT failed AND top STREQUAL SOURCE)
  execute_process(COMMAND git -C ${SOURCE} rev-parse --short=10 HEAD OUTPUT_VARIABLE hash
    OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  execute_process(COMMAND git -C ${SOURCE} status --porcelain --untracked-files=no OUTPUT_VARIABLE changes ERROR_QUIET)
  if(hash AND changes)
    set(commit " (${hash}, changed)")
  elseif(hash)
    set(commit " (${hash})")
  endif()
endif()
set(header "/* The commit that c2emu was made from. */\n#define C2_COMMIT \"${commit}\"\n")
if(EXISTS ${OUT})
  file(READ ${OUT} before)
endif()
if(NOT "${before}" STREQUAL "${header}")
  file(WRITE ${OUT} "${header}")
endif()
