-- lib_turn_fence: only the head of the queue may write.
--
-- KEYS: turns, …
-- ARGV: entry (instance:turn), …
--
-- Ends the script with {CONFLICT} unless the entry is the head.

if redis.call('LINDEX', KEYS[1], 0) ~= ARGV[1] then
  return { RC_CONFLICT }
end
