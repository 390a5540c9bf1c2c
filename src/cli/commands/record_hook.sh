#!/bin/sh
# Written by `checkpointd record --install-hook`, removed by `checkpointd uninstall`. A commit never fails because of it.
command -v checkpointd >/dev/null || exit 0
case "$2" in
merge | squash) ;;
commit) checkpointd record OPTIONS --range "$3^..$3" --trailer "$1" || exit 0 ;;
*) checkpointd record OPTIONS --trailer "$1" || exit 0 ;;
esac
