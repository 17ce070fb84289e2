#!/bin/sh
# The folders of framework/ are layers: a file includes only what stands in the same folder or in one
# that comes before it here.  Plugins see the public headers, geometry for kernels and each other's
# shared folders.
. "${0%/*}/common.sh"
layers='loom  core  mem  geom  audit  linalg  config  log  elements  scene  run  contract  app'
bad=$(files 'framework/*.c' 'framework/*.h' | grep -vE '^framework/(include|doc|cmake)/' |
  xargs grep -noE '^#include "[a-z]+/' | sed 's/:#include "/:/; s|/$||' |
  while IFS=: read -r file line used; do
    folder=${file#framework/}
    folder=${folder%%/*}
    [ "$folder" = "$used" ] && continue
    case " $layers " in
      *" $used "*" $folder "*) ;;
      *) echo "$file:$line: $folder includes $used" ;;
    esac
  done)
[ -z "$bad" ] || { echo "included from a higher layer ($layers):"; echo "$bad"; exit 1; }
above=$(files 'plugins/*.c' 'plugins/*.h' | xargs grep -nE '^#include "(app|run|contract|scene|log|config|audit)/')
[ -z "$above" ] || { echo "a plugin knows the core's inside:"; echo "$above"; exit 1; }
