-- run_note_put: the next turn of any session of a user is to report something.
--
-- KEYS: the user's notes
-- ARGV: id (token), JSON
-- Result: {OK}

--@idempotent

local call, notes = redis.call, KEYS[1]
if call('HLEN', notes) < RUN_NOTES_MAX then
  call('HSET', notes, '* ' .. ARGV[1], ARGV[2])
  call('PEXPIRE', notes, "RUN_NOTES_TTL_MS")
end
return { RC_OK }
