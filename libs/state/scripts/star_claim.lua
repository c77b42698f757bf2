-- star_claim: a hub takes over an identity.
--
-- KEYS: client
-- ARGV: hub, user, session
-- Result: {OK, its generation, the hub that had it or nil, that generation,
--         that session or nil, seq of its newest event}, DENIED if it belongs
--         to another user

--@include lib_now
--@include lib_record

local key = KEYS[1]
record(key, STAR_FORMAT)
local fields = redis.call('HMGET', key, 'user', 'gen', 'hub', 'session', 'seq')
if fields[1] and fields[1] ~= ARGV[2] then return RC_DENIED end
local before = tonumber(fields[2] or '') or 0
local gen = math.max(before + 1, now)
redis.call('HSET', key, 'v', STAR_FORMAT, 'hub', ARGV[1], 'user', ARGV[2],
  'session', ARGV[3], 'gen', string.format('%d', gen), 'since',
  string.format('%d', now))
redis.call('PEXPIRE', key, "STAR_CLAIM_MS")
return { RC_OK, gen, fields[3], before, fields[4],
  tonumber(fields[5] or '') or 0 }
