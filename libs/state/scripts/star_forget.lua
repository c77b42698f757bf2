-- star_forget: delete the record of an identity.
--
-- KEYS: client
-- ARGV: user
-- Result: OK, NOENT if it is not the user's

--@include lib_record

if not record(KEYS[1], STAR_FORMAT)
  or redis.call('HGET', KEYS[1], 'user') ~= ARGV[1] then
  return RC_NOENT
end
redis.call('DEL', KEYS[1])
return RC_OK
