-- star_claim: a hub takes over an identity.
--
-- KEYS: client
-- ARGV: hub, user, session, whether it may belong to another user (0, 1)
-- Result: {OK, its generation, the hub that had it or nil, that generation,
--         that session or nil, seq of its newest event}, DENIED if it belongs
--         to another user

--@include lib_now
--@include lib_record

local key = KEYS[1]
record(key, STAR_FORMAT)
local fields = redis.call('HMGET', key, 'user', 'gen', 'hub', 'session', 'seq')
local user = fields[1] or ARGV[2]
if user ~= ARGV[2] and ARGV[4] ~= '1' then return RC_DENIED end
local before = tonumber(fields[2] or '') or 0
local gen = math.max(before + 1, now)
redis.call('HSET', key, 'v', STAR_FORMAT, 'hub', ARGV[1], 'user', user,
  'session', ARGV[3], 'gen', string.format('%d', gen), 'since',
  string.format('%d', now))
redis.call('PEXPIRE', key, "STAR_CLAIM_MS")
return { RC_OK, gen, fields[3], before, fields[4],
  tonumber(fields[5] or '') or 0 }
