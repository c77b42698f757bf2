-- lib_credential_change: the second step of a change of an identity.
--
-- Needs lib_now.
--
-- is_late(began): whether it began (ms) so long ago that others may count on
-- its having failed.
-- unbind_safely(key): unbind the terminal.  One whose record is not readable
-- must not keep its identity alive.  Returns the previous user and soul, or
-- false.

--@include lib_terminal_binding

local function is_late(began)
  return now - tonumber(began) > STEP_MAX_MS
end

local function unbind_safely(key)
  if redis.pcall('HGET', key, 'v') ~= TERMINAL_FORMAT then
    return false, false
  end
  local ok, user, soul = pcall(set_binding, key, false, false)
  return ok and user, ok and soul
end
