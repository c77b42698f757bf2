-- evolution_swap: store an evolution if nobody else has changed it, and with it
-- what it changes of the user's MCP servers.
--
-- KEYS: the user's evolutions, due, soul, the user's servers
-- ARGV: packed: version it had (0: it is new), id (token), member of due, in
--       how many ms another process publishes its steps (0: all are published),
--       id of another that goes (token, or ''), the most, what happens to the
--       server (0: nothing, 1: it is added, 2: it goes), its name, its JSON,
--       the most servers; record (JSON)
-- Result: {OK}; {CONFLICT, version, record} of another change; {NOENT}: it was
--         deleted, or it is new or adds a server and there is no such soul;
--         {RETRY}: the user has
--         too many of them, or of servers; {DENIED}: another has the name
--
-- A server goes only if it is as it was added.

--@idempotent
--@include lib_now

local call, list, due, servers = redis.call, KEYS[1], KEYS[2], KEYS[4]
local had, id, member, delay, drop, most, change, name, server, most_servers =
  cmsgpack.unpack(ARGV[1])
local is = call('HGET', list, id) or ''
local version = tonumber(string.match(is, '^(%d+) ') or 0)
local new = string.format('%d ', had + 1) .. ARGV[2]

if is == new then return { RC_OK } end
if version ~= had then
  if version == 0 then return { RC_NOENT } end
  return { RC_CONFLICT, version, string.match(is, '^%d+ (.*)$') }
end
if (had == 0 or change == 1) and call('EXISTS', KEYS[3]) == 0 then
  return { RC_NOENT }
end
if had == 0 then
  if call('HLEN', list) - call('HEXISTS', list, drop) >= most then
    return { RC_RETRY }
  end
end
-- A key of another type must fail before the first write.
local old = call('HGET', servers, name)
call('ZSCORE', due, member)
if change == 1 then
  if old and old ~= server then return { RC_DENIED } end
  if not old and call('HLEN', servers) >= most_servers then
    return { RC_RETRY }
  end
  call('HSET', servers, name, server)
elseif change == 2 and old == server then
  call('HDEL', servers, name)
end
if drop ~= '' then call('HDEL', list, drop) end
call('HSET', list, id, new)
if delay > 0 then
  call('ZADD', due, string.format('%d', now + delay), member)
else
  call('ZREM', due, member)
end
return { RC_OK }
