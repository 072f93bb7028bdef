# SPDX-License-Identifier: GPL-2.0-or-later
import multiprocessing
import os
import signal
import subprocess

print(subprocess.run(["sort"], input=b"b\na\n", capture_output=True).stdout)
with subprocess.Popen(["sh", "-c", "read line; echo got $line; exit 3"], stdin=-1, stdout=-1, text=True) as child:
    print(child.communicate("a line\n"), child.returncode)
with multiprocessing.get_context("fork").Pool(2) as pool:
    print(pool.map(abs, [-1, 2, -3]))
child = os.fork()
if child == 0:
    signal.pause()
os.kill(child, signal.SIGKILL)
print(os.WTERMSIG(os.waitpid(child, 0)[1]))
