-- soul_state_swap: compare and set the states of many souls.
--
-- KEYS: state, …
-- ARGV: of each, the head it must have (format and version), new string
-- Result: {1 if it was set, else 0, …}
--
-- One script for all, because Redis flushes its append-only file between the
-- parts of a pipeline.

local swapped = {}
for i, key in ipairs(KEYS) do
  local head = redis.pcall('GETRANGE', key, 0, 8)
  if head == ARGV[2 * i - 1] then
    redis.call('SET', key, ARGV[2 * i])
    swapped[i] = 1
  else
    swapped[i] = 0
  end
end
return swapped
