-- terminal_is_reachable: whether a terminal is present at a broker.
--
-- KEYS: terminal
-- ARGV: ttl (ms), broker or '' (any)
-- Result: {OK, 1 if it is, else 0}

--@idempotent
--@include lib_terminal_reachable

return { RC_OK, reachable and 1 or 0 }
