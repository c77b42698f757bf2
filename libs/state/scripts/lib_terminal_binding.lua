-- lib_terminal_binding: the binding in a terminal's record.
--
-- set_binding(key, user, soul): tokens; false: none.  A record that held
-- nothing but the binding is deleted.  Returns the previous user and soul.
--
-- Needs lib_now.

local function set_binding(key, user, soul)
  local fields = redis.call('HMGET', key, 'u', 's', 'bg')
  local generation = math.max((tonumber(fields[3] or '') or 0) + 1, now)
  if user then
    redis.call('HSET', key, 'v', TERMINAL_FORMAT, 'u', user, 's', soul,
      'bg', generation)
    -- Who completes the binding must know whose entry goes.
    if fields[1] == user and fields[2] and fields[2] ~= soul then
      redis.call('HSET', key, 'ps', fields[2])
    end
  elseif fields[1] or fields[2] then
    redis.call('HDEL', key, 'u', 's', 'bg', 'ps')
    if redis.call('HLEN', key) == 1 then
      redis.call('DEL', key)
    else
      redis.call('HSET', key, 'bg', generation)
    end
  end
  return fields[1], fields[2]
end
