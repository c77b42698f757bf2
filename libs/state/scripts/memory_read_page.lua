-- memory_read_page: one page of memories, oldest first.
--
-- KEYS: as lib_memory
-- ARGV: index of the first, version the caller knows, how many, 0: ids only
-- Result: {OK, version, how many in all, {id, …}, {JSON, …}, {vector, …}};
--         the lists are empty for index 0 if the caller knows the version.

--@idempotent
--@include lib_record

local call = redis.call
record(KEYS[1], MEMORY_FORMAT)
local version = call('HGET', KEYS[1], 'ver') or '0'
local from, room = tonumber(ARGV[1]), MEMORY_PAGE_BYTES
local total, ids, jsons, vectors = call('ZCARD', KEYS[3]), {}, {}, {}
local result = { RC_OK, version, total, ids, jsons, vectors }
if from == 0 and version == ARGV[2] then return result end
local to = from + tonumber(ARGV[3]) - 1
for _, id in ipairs(call('ZRANGE', KEYS[3], from, to)) do
  if ARGV[4] == '1' then
    local json = call('HGET', KEYS[2], id) or ''
    local vector = call('HGET', KEYS[5], id) or ''
    room = room - #json - #vector
    if room < 0 and #ids > 0 then break end
    jsons[#jsons + 1] = json
    vectors[#vectors + 1] = vector
  end
  ids[#ids + 1] = id
end
return result
