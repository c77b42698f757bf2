-- credential_rotate: replace the password of an identity.
--
-- KEYS: credential, version
-- ARGV: hash ('': none)
-- Result: OK, NOENT

--@include lib_clock
--@include lib_record

local call, key = redis.call, KEYS[1]
if not record(key, CREDENTIAL_FORMAT) or call('HGET', key, 'gone') == '1' then
  return RC_NOENT
end
call('INCR', KEYS[2])
call('HSET', key, 'changed', now)
if ARGV[1] == '' then
  call('HDEL', key, 'h')
else
  call('HSET', key, 'h', ARGV[1])
end
return RC_OK
