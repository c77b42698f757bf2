-- star_home_put: a soul lives in an environment.
--
-- KEYS: soul, its home
-- ARGV: tenant, environment (tokens), their ids and the agent's and terminal's:
--       environment, agent, terminal; at (ms)
-- Result: {OK, {the fields of its home before}}, {NOENT} if there is no such
--         soul, {RETRY} if its entry among the residents is too old

--@include lib_now
--@include lib_record

local call = redis.call
if not record(KEYS[1], SOUL_FORMAT) then return { RC_NOENT } end
if now - tonumber(ARGV[6]) > STEP_MAX_MS then return { RC_RETRY } end
local fields = record(KEYS[2], STAR_FORMAT) and call('HMGET', KEYS[2],
  't', 'r', 'env', 'agent', 'term', 'at') or {}
call('HSET', KEYS[2], 'v', STAR_FORMAT, 't', ARGV[1], 'r', ARGV[2], 'env',
  ARGV[3], 'agent', ARGV[4], 'term', ARGV[5], 'at', ARGV[6])
return { RC_OK, fields }
