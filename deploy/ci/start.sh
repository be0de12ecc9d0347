#!/usr/bin/env bash
# Starts a Creel for one CI job, on a database of its own in a new folder, and prints how it is reached, a NAME=value a line:
# CREEL_URL, CREEL_KEY, CREEL_HOOK_URL (a capture endpoint) and CREEL_PID. It ends with the job, or by `kill $CREEL_PID`.
#
# Usage: start.sh [executable]      CREEL_PORT and the other variables of Creel count.
set -euo pipefail

creel=${1:-creel}
folder=$(mktemp -d)
CREEL_DATA_DIR="$folder/data" nohup "$creel" serve >"$folder/out" 2>"$folder/log" </dev/null &
pid=$!

# The first boot makes a key and an endpoint, and says when it is ready.
for (( tenths = 0; tenths < 600; tenths++ )); do
  grep -q '^creel ready ' "$folder/out" && break
  kill -0 "$pid" 2>/dev/null || break
  sleep 0.1
done
if ! grep -q '^creel ready ' "$folder/out"; then
  echo "Creel did not start; its log:" >&2
  tail -n 40 "$folder/log" >&2
  kill "$pid" 2>/dev/null || true
  exit 1
fi

echo "CREEL_URL=$(sed -n 's/^creel ready base=\([^ ]*\).*/\1/p' "$folder/out")"
echo "CREEL_KEY=$(sed -n 's/^creel key //p' "$folder/out")"
echo "CREEL_HOOK_URL=$(sed -n 's/^creel endpoint //p' "$folder/out")"
echo "CREEL_PID=$pid"
