-- SPDX-License-Identifier: GPL-2.0-or-later
local counts = {}
for line in io.lines("fixture.txt") do
    local word = line:match("%a+")
    counts[word] = (counts[word] or 0) + 1
end
local list = {}
for word, n in pairs(counts) do list[#list + 1] = string.format("%s=%d", word, n) end
table.sort(list)
print(#list, table.concat(list, " ", 1, 20), math.pi, 7 // 2)
print(pcall(error, "failed"))
os.exit(8)
