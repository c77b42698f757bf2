-- star_guest_add: a soul has a guest.
--
-- KEYS: soul, its guests
-- ARGV: guest (token), the most guests
-- Result: {OK, name, mbti, model, created (ms)} of the soul, {NOENT}, {RETRY}
--         if there are too many

--@include lib_record

local call = redis.call
if not record(KEYS[1], SOUL_FORMAT) then return { RC_NOENT } end
if call('SISMEMBER', KEYS[2], ARGV[1]) == 0 then
  if call('SCARD', KEYS[2]) >= tonumber(ARGV[2]) then return { RC_RETRY } end
  call('SADD', KEYS[2], ARGV[1])
end
local fields = call('HMGET', KEYS[1], 'name', 'mbti', 'model', 'created')
return { RC_OK, fields[1], fields[2], fields[3], fields[4] }
