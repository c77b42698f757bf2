-- star_outdated: the identities that a hub is to give up.
--
-- KEYS: outdated claims of the hub
-- ARGV: how many at most; then those that it has given up since: identity,
--       generation of the newer claim, …
-- Result: {OK, {identity, generation, …}}

--@idempotent

local call, key = redis.call, KEYS[1]
for i = 2, #ARGV, 2 do
  local gen = call('ZSCORE', key, ARGV[i])
  if gen and tonumber(gen) <= tonumber(ARGV[i + 1]) then
    call('ZREM', key, ARGV[i])
  end
end
return { RC_OK, call('ZRANGE', key, 0, ARGV[1] - 1, 'WITHSCORES') }
