#!/bin/sh
# The page on logs says what the header says.
. "${0%/*}/common.sh"
need python3
exec python3 tests/style/log_doc.py .
