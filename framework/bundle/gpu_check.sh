#!/usr/bin/env bash
# gpu-check - tests on a machine with a CUDA device whether loom is right there, and how fast.
#
#   ./loom gpu-check [PART...]      in a bundle; list of the parts: ./loom gpu-check --list
#   OUT=gpu_check      folder for report.txt (the lines below) and logs.tar.gz
#   LIMIT=460          seconds for all parts; parts after the limit are not run
#   JOBS=2             processes side by side in parts contract and matrix; a device serves them in turns, so that
#                      more of them pay only where NVIDIA's multi-process service runs
#   SIZES="224 396 708"  parts time and cpu: two sheets of N x N vertices on a floor (100k, 314k, 1M in all), for each N;
#                      parts profile, methods and beside: the first N
#
# It needs bash, coreutils and a driver; nvcc, compute-sanitizer, ncu and python3 are used if they are installed.
#  Exit code 0: no part failed, 1: a part failed, 2: usage.
# shellcheck disable=SC2317,SC2329  # parts are called by name
set -u
bundle=$(dirname "$(readlink -f "$0")")
loom=$bundle/bin/loom
parts='device probe objects kernels compare contract bits drape fold time profile methods sanitizer counters cpu beside matrix'

describe_parts() {
  cat <<'TEXT'
device     the device, its driver, the machine
probe      bandwidth, and the cost of a launch, a wait, a copy, an allocation (nvcc)
objects    order and errors across shared objects that have a CUDA runtime each (nvcc)
kernels    kernels with random arguments against the CPU, all in one process; sorts, scans, buffers
compare    every launch of short runs against the CPU's launcher with the same arguments
contract   the contract of all plugins, on the device
bits       two sheets in contact: CPU and device agree in every bit
drape      drape_self beside the CPU, twice on the device, with the exact audit
fold       fold_desk likewise
time       milliseconds of a step and an iteration, by phase and size
profile    time by kernel at the first size (python3 with h5py)
methods    the same sheets under other methods: milliseconds of a step
sanitizer  memcheck, initcheck and racecheck of small runs (compute-sanitizer)
counters   bytes, registers and warps by kernel (ncu)
cpu        the same runs as `time` on the CPU, as long as LIMIT lasts
beside     the same runs as `methods` on the CPU, and their distances after them
matrix     every solver with every collision and contact method, on the device
TEXT
}
case ${1:-} in
  --list) describe_parts; exit 0 ;;
  -h | --help) sed -n '2,/usage\.$/s/^# \{0,1\}//p' "$0"; exit 0 ;;
esac
for word in "$@"; do
  case " $parts " in
    *" $word "*) ;;
    *) echo "loom: gpu-check: there is no part '$word'; --list names them" >&2; exit 2 ;;
  esac
done

device=$(sed -n 's/^device //p' "$bundle/BUNDLE")
cores=$(nproc)
limit=${LIMIT:-460}
work=$(mktemp -d "${TMPDIR:-/tmp}/gpu_check.XXXXXX")
trap 'rm -rf "$work"' EXIT
logs=$work/logs out=${OUT:-gpu_check}
mkdir -p "$logs" "$work/run" "$out"
report=$out/report.txt
: >"$report"
export LOOM_PLUGIN_PATH=$bundle/plugins LOOM_SOURCE_DIR=$bundle/source LOOM_BIN=$loom
export LOOM_TEST_DEVICE=cuda
export OMP_WAIT_POLICY=passive OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=$((cores > 8 ? 8 : cores))
# shellcheck source=scenes.sh
. "$bundle/source/scenes.sh"
simulated() { [ "$device" = simulated ]; }
jobs=${JOBS:-$(simulated && echo $(((cores + 1) / 2)) || echo 2)}
sizes=${SIZES:-$(simulated && echo 16 || echo 224 396 708)}

# ---- a part: one line, and the interesting lines of its log ----
begin=$SECONDS failed=0
say() { printf '%s\n' "$*" | tee -a "$report"; }
line() { say "$(printf '%-12s %-12s %s' "$1" "$2" "$3")"; } # name verdict text

# part NAME SECONDS COMMAND...: runs the command with this limit or the rest of the time, if less.  Exit code 77
# of the command: it has printed why it cannot run here.
part() {
  local name=$1 most=$2 rest=$((limit - (SECONDS - begin))) start=$SECONDS code last
  shift 2
  case " $want " in *" ${name%_*} "*) ;; *) return ;; esac
  if [ -n "$no_device" ]; then
    failed=1
    line "$name" FAILED "$no_device"
    return
  fi
  [ $rest -ge 5 ] || { line "$name" 'not run' "the time is up (LIMIT=$limit)"; return; }
  timeout -k 5 $((most < rest ? most : rest)) bash -c '"$@"' part "$@" >"$logs/$name.log" 2>&1
  code=$?
  last=$(grep -v '^ *$' "$logs/$name.log" | tail -n 1)
  case $code in
    0) line "$name" ok "$((SECONDS - start)) s" ;;
    77) line "$name" 'not run' "$last" ;;
    124) failed=1 && line "$name" FAILED "out of time after $((SECONDS - start)) s" ;;
    *) failed=1 && line "$name" FAILED "exit code $code: $last" ;;
  esac
  [ -z "${tell:-}" ] || grep -E "$tell" "$logs/$name.log" | head -n 40 | sed 's/^/    /' | tee -a "$report"
}
cannot() { echo "$*"; exit 77; } # of a part: why it cannot run here
needs() { # TOOL: on a real device
  ! simulated || cannot "the device is simulated"
  command -v "$1" >/dev/null || cannot "there is no $1"
}

# ---- the parts ----
device() {
  simulated || nvidia-smi --query-gpu=name,driver_version,memory.total,clocks.max.sm --format=csv,noheader || true
  simulated && echo "a simulated device: no timing means anything"
  uname -srm
  lscpu | sed -n 's/^Model name: *//p'
  ldd --version | sed -n 1p
  cat "$bundle/BUNDLE"
  "$loom" list >/dev/null
}
probe() {
  needs nvcc
  cd "$work" && nvcc -std=c++17 -arch=native -O2 -o probe "$bundle/source/probe.cu" && ./probe
}
objects() {
  needs nvcc
  cd "$work" || return 1
  for name in one two; do
    nvcc -std=c++17 -arch=native -cudart static -shared -Xcompiler -fPIC -o "$name.so" \
      "$bundle/source/objects_part.cu" || return 1
  done
  nvcc -std=c++17 -arch=native -cudart static -o objects "$bundle/source/objects_main.cu" -ldl && ./objects
}
kernels() {
  local bad=0
  [ -x "$bundle/tests/test_kernels_cuda" ] || cannot "the bundle was made without tests"
  for program in test_exec test_buf test_kernels_cuda; do
    echo "== $program"
    "$bundle/tests/$program" -j1 --timeout 200 --short-filename || bad=1
  done
  return "$bad"
}
compare() { # short runs of several methods, each launch made twice
  local bad=0 name
  export LOOM_KERNEL_COMPARE=$work/compared.txt
  # shellcheck disable=SC2154  # scenes.sh
  for name in $compared; do
    at_small_size "$loom" run "$bundle/configs/$name.ini" --device cuda --quiet --overwrite -n 2 \
      -o "$work/run/compare.h5" || bad=1
  done
  "$loom" run "$bundle/configs/yarn_sleeve.ini" --device cuda --quiet --overwrite -n 1 --set run.dt=1e-4 \
    --set run.substeps=2 --set log.audit=off -o "$work/run/compare.h5" || bad=1
  sort -u "$LOOM_KERNEL_COMPARE" >"$logs/compared.txt"
  grep '^differs' "$logs/compared.txt" && bad=1
  echo "$(grep -c '^same' "$logs/compared.txt") kernels write what their CPU launchers write"
  return "$bad"
}
contract() { # every plugin that has launchers for a device
  local names
  names=$("$loom" list | awk '/^[a-z]+ plugins:/ { kind = $1 } /^  [a-z]/ && $3 ~ /cuda/ { print $1 ":" kind }')
  [ -n "$names" ] || return 1
  # shellcheck disable=SC2016  # expanded by that shell
  printf '%s\n' "$names" | xargs -P "$jobs" -I{} bash -c '
    name=${1%:*} kind=${1#*:}
    told=$(OMP_NUM_THREADS=2 "$LOOM_BIN" contract "$name" --kind "$kind" --backend cuda 2>&1) || {
      printf "%s\n" "$told" | sed "s/^/$name: /"; exit 1; }
    printf "%s: %s checks pass\n" "$name" "$(printf "%s\n" "$told" | grep -c PASS)"' contract {}
}
# Without damping (exp rounds differently on a device) ndb_pd x ndb x patch_bvh gives the same bits on both: no
# contraction, sums in fixed orders, and decisions by reductions use only maxima and counts.
bits() {
  local d
  for d in cpu cuda; do
    two_sheets "$(simulated && echo 12 || echo 30)" 6 20 eigen 0 "$work/run/bits.$d.h5" >"$work/run/bits.$d.ini"
    "$loom" run "$work/run/bits.$d.ini" --device "$d" --quiet || return 1
  done
  "$loom" compare "$work/run/bits.cpu.h5" "$work/run/bits.cuda.h5" | tee "$work/bits.txt"
  grep -q 'largest distance 0.000000e+00' "$work/bits.txt"
}
pair() { # scene: beside the CPU, and twice on the device
  local d run=$work/run/$1 set=()
  ! simulated || set=(--set run.steps=2 --set stop.max_iters=5)
  for d in cpu cuda again; do
    shipped "$1" 12 20 "$run.$d.h5" >"$run.$d.ini"
    "$loom" run "$run.$d.ini" --device "${d/again/cuda}" --quiet "${set[@]}" || return 1
  done
  echo "beside the CPU: $("$loom" compare "$run.cpu.h5" "$run.cuda.h5" | grep 'common frames')"
  echo "twice: $("$loom" compare "$run.cuda.h5" "$run.again.h5" | grep 'common frames' | tee "$run.txt")"
  grep -q 'largest distance 0.000000e+00' "$run.txt"
}
timing() { # N device: phases wait for the device, so that each is charged for its own launches
  local log=$work/run/time_$1
  resting_sheets "$1" 6 20 "$log.h5" >"$log.ini"
  "$loom" run "$log.ini" --device "$2" -o "$log.$2.h5" | sed 's/^ */  /' || return 1
  echo "$((2 * $1 * $1)) vertices on $2: $(steps_of "$log.$2.h5" "time_$1_$2")"
}
steps_of() { # LOG NAME: keeps the steps of the log as NAME.csv, prints their means
  "$loom" export "$1" --format csv -o "$1.csv" >/dev/null 2>&1 || return 1
  cp "$1.csv/steps.csv" "$logs/$2.csv"
  awk -F, 'NR == 1 { for (i = 1; i <= NF; ++i) c[$i] = i; next }
    NR == 2 { first = 1e3 * $c["t_total"]; next }
    { t += 1e3 * $c["t_total"]; m += 1e3 * ($c["t_log"] + $c["t_measure"]); n += $c["iters"]; p += $c["contacts"] }
    END { printf "first step %.1f ms; mean of %d more %.1f ms (%.1f of it measuring and the log), %.2f ms an iteration, \
%.1f steps a second, %.0f contacts\n", first, NR - 2, t / (NR - 2), m / (NR - 2), t / n, 1e3 * (NR - 2) / t, \
      p / (NR - 2) }' "$logs/$2.csv"
}
methods() { # N device: three steps of five iterations under each
  local name file set bad=0 run
  while read -r name file set; do
    run=$work/run/$name
    resting_sheets_by "$file" "$1" 3 5 "$run.h5" >"$run.ini"
    if "$loom" run "$run.ini" --device "$2" --quiet ${set:+--set "$set"} -o "$run.$2.h5" 2>"$run.told"; then
      echo "$name on $2: $(steps_of "$run.$2.h5" "method_${name}_$2")"
    else
      echo "$name on $2: $(tail -n 1 "$run.told")"
      bad=1
    fi
    [ "$2" = cuda ] || [ ! -e "$run.cuda.h5" ] ||
      echo "$name: $("$loom" compare "$run.$2.h5" "$run.cuda.h5" | grep 'common frames')"
  done <<<"$methods_timed"
  return "$bad"
}
sanitizer() {
  needs compute-sanitizer
  local tool bad=0 space
  for space in none eigen; do
    two_sheets 15 2 3 "$space" 0.5 "$work/run/$space.h5" >"$work/run/$space.ini"
    for tool in memcheck initcheck racecheck; do
      echo "== $tool, subspace $space"
      timeout 70 compute-sanitizer --tool "$tool" --error-exitcode 9 --print-limit 20 \
        "$loom" run "$work/run/$space.ini" --device cuda --quiet --overwrite || bad=1
    done
  done
  return "$bad"
}
profile() { # loom waits for each launch and takes its time between two events of the device
  python3 -c 'import h5py' 2>/dev/null || cannot "there is no python3 with h5py"
  local log=$work/run/profile
  resting_sheets "${sizes%% *}" 6 20 "$log.h5" >"$log.ini"
  "$loom" run "$log.ini" --device cuda --quiet --set log.kernels=on || return 1
  python3 "$bundle/source/kernels.py" "$log.h5" 2
}
counters() { # the longest kernels, each a few times; ncu saves and restores the memory of the device for each launch
  needs ncu
  local log=$work/run/counters
  resting_sheets "$(simulated && echo 12 || echo 112)" 3 20 "$log.h5" >"$log.ini"
  ncu --clock-control none --kernel-name "regex:gather_sum|ndb_force|ndb_quad|sweep|element" --launch-skip 300 \
    --launch-count 40 --kill on --csv --page raw --metrics "$counted" \
    "$loom" run "$log.ini" --device cuda --quiet >"$logs/ncu.csv" || [ -s "$logs/ncu.csv" ] || return 1
  python3 "$bundle/source/profile.py" "$logs/ncu.csv"
}
counted=gpu__time_duration.sum,dram__bytes.sum,launch__registers_per_thread
counted+=,sm__warps_active.avg.pct_of_peak_sustained_active
counted+=,l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum,l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum
matrix() {
  [ -x "$bundle/tests/test_matrix" ] || cannot "the bundle was made without tests"
  OMP_NUM_THREADS=2 "$bundle/tests/test_matrix" -j"$jobs" --timeout 100 --short-filename
}
export -f cannot needs simulated at_small_size sheets two_sheets floor resting_sheets resting_sheets_by shipped device \
  probe objects kernels compare contract bits pair timing steps_of methods sanitizer profile counters matrix
export bundle work logs loom jobs sizes device methods_timed compared counted

# ---- the visit ----
want=${*:-$parts}
no_device=
mkdir -p "$work/try"
if ! "$loom" run "$bundle/configs/drape.ini" --device cuda --quiet -n 0 -o "$work/try/out.h5" \
  --set "cloth.sheet.resolution=3 3" >"$work/try/told" 2>&1; then
  no_device=$(sed -n '1s/^loom: //p' "$work/try/told")
  no_device=${no_device:-$(head -n 1 "$work/try/told")}
fi
tell='.' part device 20 device
tell='us|TB/s|of 50' part probe 60 probe
tell='order|launch' part objects 60 objects
tell='==|FAIL|Synthesis' part kernels 200 kernels
tell='kernels write|^differs' part compare 120 compare
tell='FAIL' part contract 300 contract
tell='common frames' part bits 60 bits
tell='beside|twice' part drape 120 pair drape_self
tell='beside|twice' part fold 120 pair fold_desk
for n in $sizes; do tell='vertices|time|memory' part "time_$n" 90 timing "$n" cuda; done
tell='.' part profile 60 profile
tell=' on ' part methods 200 methods "${sizes%% *}" cuda
tell='==|SUMMARY|Invalid|Uninit' part sanitizer 300 sanitizer
tell='.' part counters 90 counters
for n in $sizes; do tell='vertices|time|memory' part "cpu_$n" 120 timing "$n" cpu; done
tell=' on |common frames' part beside 400 methods "${sizes%% *}" cpu
tell='FAIL|Synthesis' part matrix 600 matrix
say "$((SECONDS - begin)) s in all"
tar -C "$work" -czf "$out/logs.tar.gz" logs
exit $failed
