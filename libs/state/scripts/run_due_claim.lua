-- run_due_claim: claim the runs of a bucket that are due.
--
-- KEYS: due
-- ARGV: lease (ms), the most runs
-- Result: {OK, when the next one is due (ms; 0: there is none), {id, state,
--         runner or nil, epoch, cancel or nil, changed (ms), …}}
-- Computed keys: the runs.  One that does not exist is no longer due.

--@include lib_bucket
--@include lib_now
--@include lib_read

local call, due, claimed = redis.call, KEYS[1], {}
local members = call('ZRANGEBYSCORE', due, '-inf', now, 'LIMIT', 0, ARGV[2])
local fields = {}
for i, id in ipairs(members) do
  fields[i] = read('HMGET', bucket_key(KEY_RUN_PRE, id), 'v', 'state', 'runner',
    'epoch', 'cancel', 'changed', 'ended')
end
for i, id in ipairs(members) do
  local f = fields[i]
  if not f.err and f[1] == RUN_FORMAT and not f[7] then
    call('ZADD', due, string.format('%d', now + ARGV[1]), id)
    claimed[#claimed + 1] = { id, f[2], f[3], f[4], f[5], f[6] }
  else
    call('ZREM', due, id)
  end
end
local first = call('ZRANGE', due, 0, 0, 'WITHSCORES')
return { RC_OK, tonumber(first[2] or '') or 0, claimed }
