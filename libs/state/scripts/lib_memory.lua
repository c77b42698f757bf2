-- lib_memory: the memories of one soul and user.
--
-- KEYS: memory, items, order, tombstones, vectors, superseded, superseded items
--
-- bump_version(): give it a version that it never had, also if Redis has lost
-- data meanwhile: it counts, but not slower than microseconds do.

--@include lib_record

local call, memory = redis.call, KEYS[1]
local known = record(memory, MEMORY_FORMAT)

local function bump_version()
  local time = call('TIME')
  local version = tonumber(call('HGET', memory, 'ver') or '') or 0
  local us = tonumber(time[1]) * 1000000 + tonumber(time[2])
  call('HSET', memory, 'v', MEMORY_FORMAT, 'ver', math.max(version + 1, us))
end
