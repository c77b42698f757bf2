-- lib_turn_fence: only the head of the queue may write.
--
-- KEYS: turns, …
-- ARGV: entry (instance:turn), …
--
-- Ends the script with {CONFLICT} unless the entry is the head.

local turns = redis.call('GET', KEYS[1])
if not turns or string.sub(turns, 1, #ARGV[1] + 1) ~= ARGV[1] .. ' ' then
  return { RC_CONFLICT }
end
