# SPDX-License-Identifier: GPL-2.0-or-later
import asyncio
import queue
import socket
import threading
from concurrent.futures import ThreadPoolExecutor

found = queue.Queue()
threads = [threading.Thread(target=lambda n=n: found.put(sum(range(n * 1000)))) for n in range(5)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(sorted(found.queue))
with ThreadPoolExecutor(3) as pool:
    print(list(pool.map(lambda n: n * n, range(8))))
ready = threading.Condition()
done = []


def wait():
    with ready:
        print(ready.wait_for(lambda: done, timeout=5))


waiter = threading.Thread(target=wait)
waiter.start()
with ready:
    done.append(1)
    ready.notify_all()
waiter.join()


async def main():
    results = await asyncio.gather(*(asyncio.sleep(0.01 * n, n) for n in (3, 1, 2)))
    print(results, await asyncio.get_running_loop().run_in_executor(None, len, "word"))


asyncio.run(main())
one, other = socket.socketpair()
threading.Thread(target=lambda: one.sendall(b"x" * 300000) or one.close()).start()
print(sum(iter(lambda: len(other.recv(65536)), 0)))
