-- lib_turn_fence: only the head of the queue may write.
--
-- KEYS: turns, …
-- ARGV: entry (instance:turn), …
--
-- Ends the script with {CONFLICT} unless the entry is the head.

--@include lib_turn_head

if not is_head(KEYS[1], ARGV[1]) then return { RC_CONFLICT } end
