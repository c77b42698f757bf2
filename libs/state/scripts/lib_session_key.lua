-- lib_session_key: a session's two tokens.
--
-- split_session(member): "user:session" as two tokens.

local function split_session(member)
  return string.match(member, '^([^:]*):([^:]*)$')
end
