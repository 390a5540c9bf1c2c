#!/bin/sh
# Written by `checkpointd record --install-hook`, removed by `checkpointd uninstall`.
command -v checkpointd >/dev/null && checkpointd record OPTIONS --notes >/dev/null
