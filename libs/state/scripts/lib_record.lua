-- lib_record: records are hashes with a format version.
--
-- record(key, format): whether the hash exists.  A hash of another format, or
-- a key of another type, ends the script with an error.

local function record(key, format)
  local version = redis.call('HGET', key, 'v')
  if version == format then return true end
  if version or redis.call('EXISTS', key) == 1 then
    error({ err = 'FORMAT ' .. key })
  end
  return false
end
