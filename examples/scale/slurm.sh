#!/bin/sh
# One run, shared by the tasks of a Slurm array: sbatch examples/scale/slurm.sh
# The folder OUT has to be on a file system that all nodes see. The same command again plays only what is missing.
# Some of its tasks alone, as after a failure: PARTS=64 sbatch --array=3,17 examples/scale/slurm.sh
#SBATCH --job-name=sandbox-mcp
#SBATCH --array=1-64
#SBATCH --cpus-per-task=2
#SBATCH --mem-per-cpu=1G
#SBATCH --time=04:00:00
#SBATCH --requeue
set -eu
part=$((SLURM_ARRAY_TASK_ID - SLURM_ARRAY_TASK_MIN + 1))
if [ -n "${PARTS:-}" ]; then
    part=$SLURM_ARRAY_TASK_ID
elif [ "$((SLURM_ARRAY_TASK_MAX - SLURM_ARRAY_TASK_MIN + 1))" -ne "$SLURM_ARRAY_TASK_COUNT" ]; then
    echo "the array has gaps; say in PARTS how many parts the run has, which are counted from 1" >&2
    exit 2
fi
# SELECTORS is split into words here on purpose.
# shellcheck disable=SC2086
exec sandbox-mcp run ${SELECTORS:-} \
    --agent "${AGENT:-reference}" \
    --trials "${TRIALS:-1000}" \
    --executor processes --jobs "${SLURM_CPUS_PER_TASK:-1}" \
    --shard "$part/${PARTS:-$SLURM_ARRAY_TASK_COUNT}" \
    --pack --no-bounds --quiet \
    --out "${OUT:-runs/array}"
