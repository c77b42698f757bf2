-- profile_zone: the time zone that a user has set.
--
-- KEYS: profile
-- Result: {OK, zone (JSON) or nil}

--@idempotent

local zone = redis.call('HGET', KEYS[1], '/user_profile/timezone')
return { RC_OK, zone and string.match(zone, '^%S* (.+)$') or false }
