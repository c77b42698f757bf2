-- speech_settings_put: what a soul may speak unasked, and when it may not.
--
-- KEYS: soul
-- ARGV: quiet hours ("HH:MM HH:MM <1: urgent>") or '', proactive
-- Result: {OK}, {NOENT}

--@idempotent
--@include lib_record

if not record(KEYS[1], SOUL_FORMAT) then return { RC_NOENT } end
redis.call('HSET', KEYS[1], 'quiet', ARGV[1], 'pro', ARGV[2])
return { RC_OK }
