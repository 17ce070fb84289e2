#!/bin/sh
# Every service of loom/host.h is called by a plugin, or by a fixture that compares the result;
# the hostile one calls services only to be refused.
. "${0%/*}/common.sh"
header=framework/include/loom/host.h
services=$(sed -n '/^struct loom_host {/,/^};/p' "$header" | sed -nE 's/^  [a-z].*\(\*([a-z0-9_]+)\)\(.*/\1/p')
[ "$(echo "$services" | wc -l)" -ge 20 ] || { echo "$header: its table of services was not found"; exit 1; }
callers=$(files 'plugins/*.c' 'plugins/*.h' 'tests/plugins/*.c' 'framework/include/loom/*.h' |
  grep -v '^tests/plugins/hostile/')
bad=$(for s in $services; do
  # shellcheck disable=SC2086
  grep -qE -- "\)?->$s\(" $callers || echo "$s"
done)
[ -z "$bad" ] || { echo "$header: nobody calls"; echo "$bad"; exit 1; }
