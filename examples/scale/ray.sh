#!/bin/sh
# One run on a Ray cluster, from this folder, which is all that is sent along:
#   ray job submit --address http://HEAD:8265 --working-dir . -- env OUT=/shared/runs/first sh ray.sh
# On a laptop it starts a Ray of its own. The folder OUT has to be one that all nodes see under the same path, and
# sandbox-mcp-eval[ray] has to be installed on all of them. The same command again plays only what is missing.
set -eu
if [ -n "${RAY_ADDRESS:-}" ] && [ -z "${OUT:-}" ]; then
    echo "a submitted job runs in a folder that goes with it; say in OUT where all nodes keep the run" >&2
    exit 2
fi
# SELECTORS is split into words here on purpose.
# shellcheck disable=SC2086
exec sandbox-mcp run ${SELECTORS:-} \
    --agent "${AGENT:-reference}" \
    --trials "${TRIALS:-1000}" \
    --executor ray --jobs "${JOBS:-32}" \
    --pack --no-bounds --quiet \
    --out "${OUT:-runs/ray}"
