-- terminal_unbind_end: take a terminal that is not bound any more out of the
-- bucket of its user.
--
-- KEYS: the user's terminals
-- ARGV: user, terminal, soul or '' (tokens), when it was unbound (ms)
-- Result: OK
-- Computed keys: the terminals of that soul, and of the one that the user's
-- entry has.
--
-- What is younger belongs to a later binding.

--@include lib_bucket

local call, terminals, terminal = redis.call, KEYS[1], ARGV[2]
local before = tonumber(ARGV[4])

local function forget(soul)
  local bodies = bucket_key(KEY_BODIES_PRE, ARGV[1] .. ':' .. soul,
    KEY_BODIES_POST)
  local body = call('HGET', bodies, terminal)
  local at = body and tonumber(string.match(body, '^%d+ (%d+) ') or '') or 0
  if at <= before then call('HDEL', bodies, terminal) end
end

local entry = call('HGET', terminals, terminal)
if ARGV[3] ~= '' then forget(ARGV[3]) end
if entry then
  local soul, at = string.match(entry, '^(%S+) (%d+)$')
  if not soul or tonumber(at) <= before then
    if soul and soul ~= ARGV[3] then forget(soul) end
    call('HDEL', terminals, terminal)
  end
end
return RC_OK
