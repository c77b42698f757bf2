-- credential_read: read an identity.
--
-- KEYS: credential
-- Result: {OK, {tenant, user, hash, created, changed, revoked}}, {NOENT}

--@idempotent
--@include lib_record

if not record(KEYS[1], CREDENTIAL_FORMAT) then
  return { RC_NOENT }
end
return { RC_OK, redis.call('HMGET', KEYS[1], 'ten', 'u', 'h', 'created',
  'changed', 'gone') }
