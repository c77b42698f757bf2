-- session_user_input: a user's input makes the session active.
--
-- KEYS: session, idle, the user's sessions
-- ARGV: soul, terminal, idle after (ms), user:session (tokens)
-- Result: OK
-- Computed keys: see lib_session_active.

--@include lib_now
--@include lib_session
--@include lib_session_active

local s = open_session(KEYS[1])
set_active(s, { idle = KEYS[2], sessions = KEYS[3] }, ARGV[1], ARGV[2],
  tonumber(ARGV[3]), ARGV[4])
save_session(s)
return RC_OK
