-- credential_rotate: replace the password of an identity.
--
-- KEYS: credential
-- ARGV: when it began (ms), hash ('': none)
-- Result: OK, NOENT, AGAIN if it began too long ago

--@include lib_now
--@include lib_record
--@include lib_credential_change

local call, key = redis.call, KEYS[1]
if not record(key, CREDENTIAL_FORMAT) or call('HGET', key, 'gone') == '1' then
  return RC_NOENT
end
if is_late(ARGV[1]) then return RC_RETRY end
call('HSET', key, 'changed', now)
if ARGV[2] == '' then
  call('HDEL', key, 'h')
else
  call('HSET', key, 'h', ARGV[2])
end
return RC_OK
