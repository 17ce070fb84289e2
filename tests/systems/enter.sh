#!/bin/sh
# enter.sh: called by run.sh in mount and process namespaces of its own, as their first process.  Makes the
# system in FOLDER/root unless it is there, mounts file systems that programs expect, and runs inside.sh in it.
set -eu
root=$FOLDER/root out=$FOLDER/out

# The certificate and the proxies that this machine's programs use, for networks that ask for them.
certificate=''
for file in "${PIP_CERT:-}" "${SSL_CERT_FILE:-}" "${REQUESTS_CA_BUNDLE:-}"; do
  [ -n "$certificate" ] || [ ! -f "$file" ] || certificate=$file
done

if [ "$(cat "$FOLDER/made" 2>/dev/null)" != "$SUITE" ]; then
  # No mounts are left of an earlier try: they ended with its namespace.
  rm -rf --one-file-system -- "$root"
  echo "enter.sh: making $SUITE from $MIRROR"
  # a user installs git and ca-certificates to clone.
  debootstrap --variant=minbase --include=git,ca-certificates --components="$COMPONENTS" --keyring="$KEYRING" \
    "$SUITE" "$root" "$MIRROR" "/usr/share/debootstrap/scripts/$SCRIPT" >"$out/debootstrap.log" 2>&1 || {
    tail -n 15 "$out/debootstrap.log"
    echo "enter.sh: debootstrap failed" >&2
    exit 1
  }
  chroot "$root" dpkg-query -W -f '.\n' | grep -c . >"$FOLDER/packages"
  printf '%s\n' "$SUITE" >"$FOLDER/made"
  touch "$out/new"
fi
cp /etc/resolv.conf "$root/etc/resolv.conf"
[ -z "$certificate" ] || cp "$certificate" "$root/etc/ssl/host.pem"
# As apt is told here: a proxy, and whether a mirror that lags behind is taken.
apt-config dump --format '%F "%v";%n' 2>/dev/null |
  grep -E '^Acquire::(http::Proxy|https::Proxy|Check-Valid-Until|Check-Date) ".+";$' >"$root/etc/apt/apt.conf.d/90host" || true

rm -rf --one-file-system -- "$root/root/loom"
git -c advice.detachedHead=false clone -q --no-hardlinks "file://$SOURCE" "$root/root/loom"
git -C "$root/root/loom" checkout -q --detach "$COMMIT"
chown -R 0:0 "$root/root/loom"
cp "$HERE/inside.sh" "$HERE/versions.sh" "$out/"

mkdir -p "$root/results" "$root/ccache" "$root/proc" "$root/sys" "$root/dev/pts" "$root/dev/shm"
mount -t proc proc "$root/proc"
mount -t sysfs -o ro sysfs "$root/sys"
mount -t devpts -o newinstance,ptmxmode=0666 devpts "$root/dev/pts"
mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
mount --bind "$out" "$root/results"
[ -z "$CCACHE" ] || mount --bind "$CCACHE" "$root/ccache"

# Processor seconds of all processes here, ended ones included: fields utime to cstime of proc(5), counted in
# ticks; the times of an ended process are added to its parent's.
spent() {
  cat "$root"/proc/[0-9]*/stat 2>/dev/null | sed 's/.*) //' |
    awk -v hz="$(getconf CLK_TCK)" '{ s += $12 + $13 + $14 + $15 } END { printf "%d\n", s / hz }'
}
# The first process of the namespace is spared by kill -1, and this one too.
(
  while sleep 5; do
    s=$(spent)
    printf '%s\n' "$s" >"$out/cpu_s"
    [ "$s" -lt "$LIMIT_S" ] || {
      echo "enter.sh: $s s of processor time are used up, the limit is $LIMIT_S s"
      printf '%s\n' "$LIMIT_S" >"$out/limit"
      kill -KILL -1
    }
  done
) &

set -- HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin TESTS="$TESTS"
[ -z "$CCACHE" ] || set -- "$@" CCACHE_DIR=/ccache
[ -z "$certificate" ] || set -- "$@" PIP_CERT=/etc/ssl/host.pem
for name in http_proxy https_proxy no_proxy HTTP_PROXY HTTPS_PROXY NO_PROXY PIP_INDEX_URL PIP_DEFAULT_TIMEOUT; do
  eval "value=\${$name:-}"
  [ -z "$value" ] || set -- "$@" "$name=$value"
done
chroot "$root" /usr/bin/env -i "$@" /bin/bash /results/inside.sh
