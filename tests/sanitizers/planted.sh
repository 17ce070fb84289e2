#!/bin/sh
# planted.sh PROGRAM KIND FAULTY FINE REPORT: PROGRAM ends with the sanitizers' REPORT of KIND with the
# index FAULTY, which names the source's line, and without one with the index FINE, where there is one.
set -eu
program=$1 kind=$2 faulty=$3 fine=$4 report=$5
fail() { printf 'FAILED: %s\n' "$*"; exit 1; }

rc=0
out=$("$program" "$kind" "$faulty" 2>&1) || rc=$?
printf '%s\n' "$out"
[ "$rc" != 0 ] || fail "the fault was not found"
case $out in *"$report"*) ;; *) fail "it was found, but not as '$report'" ;; esac
case $out in *planted.c:[0-9]*) ;; *) fail "the report names no line" ;; esac
[ "$fine" = none ] || "$program" "$kind" "$fine" || fail "index $fine is no fault"
