#!/bin/sh
# The folders of framework/ are layers: a file includes only files of the same folder or of one
# that comes before it here.  Plugins see the public headers, kits, geometry for kernels and their own
# folder; kits each other, and no plugin.
. "${0%/*}/common.sh"
layers='loom  core  mem  geom  audit  linalg  config  log  mesh  sewing_pattern  untangle  yarn  rig  ssdf  elements  bodies  scene  run  contract  app'
bad=$(files 'framework/*.c' 'framework/*.h' | grep -vE '^framework/(include|doc|cmake)/' |
  xargs grep -noE '^#include "[a-z_]+/' | sed 's/:#include "/:/; s|/$||' |
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
# In the folders run/ and scene/ the same holds for their own folders.  run.h names the type `run`, run_state.h has its
# members: the files of every folder of run/ see them.
hall_layers() {
  case $1 in
    run) echo 'base  objects  plugins  objective  services  checks  replay  record  step' ;;
    scene) echo 'base  moving  rest  objects  starts' ;;
  esac
}
for hall in run scene; do
  order=$(hall_layers $hall)
  bad=$(files "framework/$hall/*.c" "framework/$hall/*.h" | xargs grep -noE "^#include \"$hall/[a-z_]+/" |
    sed "s/:#include \"$hall\//:/; s|/\$||" |
    while IFS=: read -r file line used; do
      folder=${file#framework/"$hall"/}
      case $folder in */*) folder=${folder%%/*} ;; *) continue ;; esac
      [ "$folder" = "$used" ] && continue
      case " $order " in
        *" $used "*" $folder "*) ;;
        *) echo "$file:$line: $hall/$folder includes $hall/$used" ;;
      esac
    done)
  [ -z "$bad" ] || { echo "included from a higher layer of $hall/ ($order):"; echo "$bad"; exit 1; }
done
above=$(files 'plugins/*.c' 'plugins/*.h' | xargs grep -nE '^#include "[^"]*/' |
  grep -vE '"(loom|kit)/[a-z0-9_.]+"|"geom/([a-z_]+\.kern\.h)"')
[ -z "$above" ] || { echo "a plugin includes more than loom/, kit/ and kernels of geom/:"; echo "$above"; exit 1; }
own=$(files 'plugins/kit/*.c' 'plugins/kit/*.h' | xargs grep -nE '^#include "[^/"]*"')
[ -z "$own" ] || { echo "a kit includes its headers as kit/...:"; echo "$own"; exit 1; }
