#!/usr/bin/env bash
#SBATCH --job-name=impact
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=32
#SBATCH --cpus-per-task=1
#SBATCH --hint=nomultithread
#SBATCH --mem-per-cpu=2G
#SBATCH --time=12:00:00
#SBATCH --signal=TERM@300
#SBATCH --open-mode=append
#SBATCH --requeue
set -euo pipefail

help() {
    cat <<'END'
A run on a cluster with SLURM, submitted from the checkout. It keeps itself in a checkpoint; 300 s ahead of its
time limit it is told to stop, and the same command submitted again goes on from there.

  sbatch [OPTIONS OF SBATCH] demos/cluster.sh drop [OPTIONS OF demos/drop_test.py]
  sbatch [OPTIONS OF SBATCH] demos/cluster.sh case CASE SCHEME [--set NAME=VALUE]...

for example
  OUT=results/bracket sbatch --nodes=4 --time=2:00:00 demos/cluster.sh drop --material steel --height 2
  IMAGE=impact.sif sbatch --nodes=1 demos/cluster.sh case cube-drop cd-lagrange --set elements=64

Settings (environment):
  OUT         folder of the results; default results/cluster/drop or results/cluster/CASE-SCHEME
  CHECKPOINT  of a case, default OUT/checkpoint.npz, where that of a drop always is; moved to ....done when
              the run has come to its end, as is the file of samples beside it, CHECKPOINT.history
  EVERY       steps between two checkpoints of a case; default 10000
  IMAGE       Apptainer or Singularity image with DOLFINx; its MPI must fit SLURM's
  MODULES     modules to load, for example "dolfinx openmpi", where there is no image
  PYTHON      default python3
  MPI         of srun, for example pmix (`srun --mpi=list` shows all); default: the site's own
  AGAIN       yes: the job puts itself into the queue again until the run is at its end
Ranks: --nodes times --ntasks-per-node of sbatch; .docs/performance.md says how many pay.
END
}

say() { echo "cluster.sh: $*" >&2; }
fail() { say "$@"; exit 2; }

set_up() {
    # The ranks share the cores: libraries must not start threads of their own.
    export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1 NUMBA_NUM_THREADS=1
    export PYTHONPATH=$PWD${PYTHONPATH:+:$PYTHONPATH}
    command -v srun >/dev/null || fail "srun is not on PATH: submit this script with sbatch"
    launch=(srun --cpu-bind=cores ${MPI:+--mpi="$MPI"})
    if [ -n "${IMAGE:-}" ]; then
        [ -e "$IMAGE" ] || fail "there is no image $IMAGE"
        local engine
        engine=$(command -v apptainer || command -v singularity) || fail "neither apptainer nor singularity is on PATH"
        launch+=("$engine" exec --bind "$PWD" --pwd "$PWD" "$IMAGE")
    elif [ -n "${MODULES:-}" ]; then
        # Functions of the module system may use variables that are not set.
        set +u
        # shellcheck disable=SC2086
        module load $MODULES
        set -u
    fi
}

choose_run() {
    local what=${1:-}
    case $what in
        drop)
            [ -f demos/drop_test.py ] || fail "no demos/drop_test.py in $PWD: submit from the checkout"
            out=${OUT:-results/cluster/drop}
            run=(demos/drop_test.py "${@:2}" --out "$out")
            checkpoint=$out/checkpoint.npz
            ;;
        case)
            [ $# -ge 3 ] || fail "case needs the names of a case and a scheme"
            out=${OUT:-results/cluster/$2-$3}
            run=(-m dolfinx_impact.benchmark run "${@:2}" --out "$out")
            checkpoint=${CHECKPOINT:-$out/checkpoint.npz}
            ;;
        *) help >&2; exit 2 ;;
    esac
    mkdir -p "$out" "$(dirname "$checkpoint")"
    [ "$what" = drop ] || run+=(--checkpoint "$checkpoint" --checkpoint-every "${EVERY:-10000}")
    if [ -e "$checkpoint" ]; then
        say "going on from $checkpoint"
        run+=(--restart "$checkpoint")
    fi
}

# 130 and 143: a run that was told to stop; 15 is what some versions of srun make of it.
told_to_stop() { [[ $1 =~ ^(130|143|15)$ ]]; }

if [[ ${1:-} =~ ^(-h|--help)$ ]]; then help; exit 0; fi
cd "${SLURM_SUBMIT_DIR:-$PWD}"
choose_run "$@"
set_up
stamp=$(mktemp)
trap 'rm -f "$stamp"' EXIT
say "${SLURM_NTASKS:-1} ranks on ${SLURM_JOB_NUM_NODES:-1} nodes: ${run[*]}"
status=0
"${launch[@]}" "${PYTHON:-python3}" "${run[@]}" || status=$?
if [ "$status" = 0 ]; then
    if [ -e "$checkpoint" ]; then mv "$checkpoint" "$checkpoint.done"; fi
    if [ -e "$checkpoint.history" ]; then mv "$checkpoint.history" "$checkpoint.done.history"; fi
    say "the run is at its end: $out"
elif told_to_stop "$status" && [ "$checkpoint" -nt "$stamp" ]; then
    say "stopped; the same command goes on from $checkpoint"
    # A job that kept nothing would come back for ever: hence the look at the time of the file.
    if [ "${AGAIN:-}" = yes ]; then scontrol requeue "$SLURM_JOB_ID"; fi
else
    say "the run failed with status $status; what it kept: $(ls "$checkpoint" 2>/dev/null || echo nothing)"
fi
exit "$status"
