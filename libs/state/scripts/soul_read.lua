-- soul_read: read a soul's record.
--
-- KEYS: soul
-- Result: {OK, {user, name, mbti, model, created}}, {NOENT}

--@idempotent
--@include lib_record

if not record(KEYS[1], SOUL_FORMAT) then
  return { RC_NOENT }
end
return { RC_OK,
  redis.call('HMGET', KEYS[1], 'u', 'name', 'mbti', 'model', 'created') }
