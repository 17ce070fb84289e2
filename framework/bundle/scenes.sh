# scenes.sh - configs that gpu-check writes; sourced by it.
# shellcheck shell=bash disable=SC2154,SC2034  # bundle, work: of gpu_check.sh, which reads the lists

# Two sheets of N x N vertices, one a little above the other, that meet in the first step; no method.
sheets() { # N steps iterations damping log
  local size
  size=$(awk -v n="$1" 'BEGIN { printf "%.4f", (n - 1) * 0.005 }')
  cat <<INI
[run]
up_axis = z
gravity = 0 0 0
dt      = 0.01
steps   = $2
[cloth.low]
size       = $size $size
resolution = $1 $1
pattern    = regular
model      = arap+isometric
density    = 0.2
membrane   = 300
k_b        = 5e-5
thickness  = 1 mm
damping    = $4
[cloth.high]
size       = $size $size
resolution = $1 $1
pattern    = regular
model      = arap+isometric
transform  = rotate 0 0 1 1 translate 0.0017 0.0013 0.0018
velocity   = 0 0 -0.05
density    = 0.2
membrane   = 300
k_b        = 5e-5
thickness  = 1 mm
damping    = $4
[stop]
tol_abs   = 1e-12
tol_rel   = 0
max_iters = $3
[log]
file             = $5
audit            = off
frames_every     = 1
checkpoint_every = 0
INI
}

# The same under ndb_pd and ndb.
two_sheets() { # N steps iterations subspace damping log
  echo "include = $bundle/configs/methods/ndb.ini"
  sheets "$1" "$2" "$3" "$5" "$6"
  cat <<INI
[solver]
plugin   = ndb_pd
weights  = exact
subspace = $4
warm     = 0
r1       = 40
cache    = $work/cache
[contact.all]
slack = 2e-4
INI
}

# Gravity and a floor under the sheets.
floor() {
  cat <<INI
[run]
gravity = 0 0 -9.81
[body.floor]
shape    = plane
normal   = 0 0 1
position = 0 0 -0.0008
friction = 0.3
INI
}

# The same sheets fall onto a floor and onto each other: from the second step on, contacts of both kinds.
resting_sheets() { # N steps iterations log
  two_sheets "$1" "$2" "$3" none 0.5 "$4" >"$work/run/sheets_$1.ini"
  cat <<INI
include = $work/run/sheets_$1.ini
$(floor)
[collision.bodies]
plugin = sdf
[contact.all]
collision = self bodies
[log]
state = off
INI
}

# The same scene under a method of configs/methods/.
resting_sheets_by() { # method N steps iterations log
  sheets "$2" "$3" "$4" 0.5 "$5" >"$work/run/plain_$2.ini"
  cat <<INI
include = $bundle/configs/methods/$1.ini
include = $work/run/plain_$2.ini
$(floor)
[log]
state = off
INI
}

# A scene of configs/ under ndb_pd and ndb.
shipped() { # scene steps iterations log
  cat <<INI
include = $bundle/configs/scenes/$1.ini
include = $bundle/configs/methods/ndb.ini
[run]
steps = $2
dt    = 0.01
guess = velocity
[solver]
plugin    = ndb_pd
weights   = exact
precision = double
r1        = 40
warm      = 0
cache     = $work/cache
[stop]
tol_abs   = 1e-12
tol_rel   = 0
max_iters = $3
[contact.all]
slack = 2e-4
[log]
file             = $4
audit            = every
frames_every     = 1
checkpoint_every = 0
INI
}

# A name, a file of configs/methods/, and a setting beside it.  The thickness of cama_bodies.ini is more than the
# distance of the sheets.
methods_timed='ndb_pd_ndb        ndb_bodies     solver.plugin=ndb_pd
ndb_pd_dbb        dbb_bodies     solver.plugin=ndb_pd
ndb_pd_pd_ipc     pd_ipc_bodies
pd_bfgs_ipc       pd_bfgs_bodies
pcg_newton_ipc    barrier_bodies solver.plugin=pcg_newton
cama_pcg_cama     cama_bodies    contact.all.thickness=1.2mm
pcg_newton_pen    penalty_self
chebyshev_pd_pen  penalty_self   solver.plugin=chebyshev_pd
vbd_pen           penalty_self   solver.plugin=vbd
xpbd_pen          penalty_self   solver.plugin=xpbd'

# Shipped configs whose launches are made twice, at a small size.
compared='drape drape_ipc drape_subspace drape_torus drape_self drape_self_ndb drape_self_dbb drape_self_cama
drape_self_pd_bfgs drape_self_pd_ipc'
at_small_size() { # COMMAND...
  "$@" --set "cloth.sheet.resolution=9 9" --set log.audit=off --set stop.max_iters=5
}
