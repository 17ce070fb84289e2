#!/bin/sh
# The page on logs agrees with the header.
. "${0%/*}/common.sh"
need python3
exec python3 tests/style/log_doc.py .
