#!/bin/sh
# One run on a Ray cluster: ray job submit --address http://HEAD:8265 --working-dir . -- sh examples/scale/ray.sh
# On a laptop it starts a Ray of its own. The folder OUT has to be one that all nodes see under the same path, and
# sandbox-mcp-eval[ray] has to be installed on all of them. The same command again plays only what is missing.
set -eu
# SELECTORS is split into words here on purpose.
# shellcheck disable=SC2086
exec sandbox-mcp run ${SELECTORS:-} \
    --agent "${AGENT:-reference}" \
    --trials "${TRIALS:-1000}" \
    --executor ray --jobs "${JOBS:-32}" \
    --pack --no-bounds --quiet \
    --out "${OUT:-runs/ray}"
