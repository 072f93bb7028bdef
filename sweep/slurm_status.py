#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""slurm_status.py JOB: "running", "success" or "failed", as Snakemake wants to know it of a job of Slurm."""

import re
import subprocess
import sys
import time

WAITS = ("PENDING", "CONFIGURING", "RUNNING", "COMPLETING", "SUSPENDED", "REQUEUED", "REQUEUE_HOLD", "RESIZING",
         "SIGNALING", "STAGE_OUT", "STOPPED")


def main(job):
    for attempt in range(5):  # the controller may be busy, or begin anew
        shown = subprocess.run(["scontrol", "-o", "show", "job", job], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               text=True, check=False)
        state = re.search(r"\bJobState=(\w+)", shown.stdout)
        if state:
            return ("success" if state[1] == "COMPLETED" else "running" if state[1] in WAITS else "failed")
        if "Invalid job id" in shown.stderr:
            return "failed"  # it ended so long ago that it was forgotten: a file that is there is taken all the same
        time.sleep(2 * attempt + 1)
    return "running"


print(main(sys.argv[1]))
