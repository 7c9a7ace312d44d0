#!/bin/sh
# parallel.sh N PROGRAM ARGUMENTS...: starts N processes at the same time, as mpirun does, with
# its exit code and the variable by which a process of Open MPI knows its rank.
count=$1
shift
rank=0
children=
while [ "$rank" -lt "$count" ]; do
  OMPI_COMM_WORLD_RANK=$rank "$@" &
  children="$children $!"
  rank=$((rank + 1))
done
status=0
for child in $children; do
  wait "$child" || status=$?
done
exit "$status"
