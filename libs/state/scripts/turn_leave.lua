-- turn_leave: take a turn out of the queue and store its end.
--
-- KEYS: as lib_turn_queue
-- ARGV: entry (instance:turn), reply or '', timeline or '', void (0, 1), 1: the
--       events are logged only if the turn has begun, events …
-- Result: {OK, the instance of the new head or nil, seq of the last event,
--         whether a client follows the session},
--         {NOENT} if it was not queued: the end is stored all the same

--@include lib_session
--@include lib_turn_queue
--@include lib_turn_end

local live, dead, head, queued = scan_queue(ARGV[1])
store_end(ARGV[2], ARGV[3], tonumber(ARGV[4]), true)
local result = leave(live, dead, head, queued)
local logs = #ARGV > 5
  and (ARGV[5] == '0' or call('HEXISTS', KEYS[5], 'begun') == 1)
if result[2] ~= nil and logs then
  local s = open_session(KEYS[3])
  result[3] = log_events(s, KEYS[4], 6, #ARGV - 5, clock())
  save_session(s)
  result[4] = is_followed(s)
elseif result[2] ~= nil then
  result[3], result[4] = 0, 0
end
return result
