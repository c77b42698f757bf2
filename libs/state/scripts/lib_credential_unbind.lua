-- lib_credential_unbind: unbind a terminal whose identity changes owner or
-- ends.
--
-- unbind_safely(key, terminal): as unbind(), but a terminal's record that is
-- not readable must not keep its identity alive: false then.

--@include lib_terminal_unbind

local function unbind_safely(key, terminal)
  if redis.pcall('HGET', key, 'v') ~= TERMINAL_FORMAT then
    return false
  end
  local ok, user = pcall(unbind, key, terminal)
  return ok and user
end
