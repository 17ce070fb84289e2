#!/bin/sh
# Every row of a kernel says what it moves: LK_ENTRY_MOVES or LK_ENTRY_NEAR_MOVES, with 0, 0 where its caller adds all of
# it by lk_moved().  LK_ENTRY and LK_ENTRY_NEAR are for plugins outside of the tree.
. "${0%/*}/common.sh"
bad=$(files 'framework/*.c' 'framework/*.h' 'plugins/*.c' 'plugins/*.h' |
  grep -vE '^framework/(include/loom/kernel\.h|doc/)' | xargs grep -nE 'LK_ENTRY(_NEAR)?\(')
[ -z "$bad" ] || { echo "the row declares no bytes; see LK_ENTRY_MOVES in loom/kernel.h:"; echo "$bad"; exit 1; }
