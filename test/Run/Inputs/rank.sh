#!/bin/sh
# rank.sh PROGRAM RANK: the process of that rank races, the others do not.
if [ "$OMPI_COMM_WORLD_RANK" = "$2" ]; then
  exec "$1" racy
fi
exec "$1" clean
