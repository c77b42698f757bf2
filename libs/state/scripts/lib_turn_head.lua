-- lib_turn_head: the first turn of a session's queue (lib_turn_queue).
--
-- is_head(queue, entry): whether the entry (instance:turn) is.

local function is_head(queue, entry)
  local text = redis.call('GET', queue) or ''
  return string.sub(text, 1, #entry + 1) == entry .. ' '
end
