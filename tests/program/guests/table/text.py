# SPDX-License-Identifier: GPL-2.0-or-later
import collections, hashlib, itertools, json, math, re, struct, zlib
data = [{"n": i, "root": math.sqrt(i), "name": "item%d" % i} for i in range(200)]
text = json.dumps(data)
print(json.loads(text) == data, len(text), hashlib.sha256(text.encode()).hexdigest())
print(re.findall(r"(\d+)\.(\d{3})", text)[:5], re.sub("item(\\d)", r"<\1>", text)[:80])
print(math.sin(1e3), math.exp(1.5), math.gamma(7.5), math.log1p(1e-9), 0.1 + 0.2, 10 ** 40 // 7)
print(sorted(collections.Counter(text).items())[:6], "%.3e" % sum(math.atan(i) for i in range(1000)))
print(zlib.crc32(text.encode()), len(zlib.compress(text.encode())), struct.pack("<dIq", 2.5, 7, -1).hex())
print(sum(1 for p in itertools.permutations(range(6)) if p[0] < p[-1]))
