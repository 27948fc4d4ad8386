-- SPDX-License-Identifier: GPL-2.0-or-later
local function one(x) return (x * 1103515245 + 12345) % 2147483648 end
local function two(x) return one(x) + one(x + 1) end
local function words(n)
    local counts = {}
    for i = 1, n do local key = "word" .. i % 17; counts[key] = (counts[key] or 0) + 1 end
    local keys = {}
    for key in pairs(counts) do keys[#keys + 1] = key end
    table.sort(keys, function(a, b) return a < b end)
    return #table.concat(keys, ",")
end
io.write("ready\n") io.flush()
local x = 1
while true do
    for i = 1, 1000 do x = two(x) % 1000003 end
    x = x + words(50) + #string.gsub(tostring(x), "%d", "a")
end
