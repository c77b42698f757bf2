-- turn_finish: append messages, log events, and end a turn, all or nothing.
--
-- KEYS: as lib_turn_queue, messages
-- ARGV: entry (instance:turn), reply, timeline, void, the most messages,
--       pending, number of events, events …, messages …, characters
-- Result: {OK, the instance of the new head or nil, seq of the last event,
--         whether a client follows the session, messages and characters since
--         the summary (-1: not known), whether the soul's state is stored},
--         {CONFLICT}

--@include lib_session
--@include lib_turn_queue
--@include lib_turn_end

local n = tonumber(ARGV[7])
local live, dead, head = scan_queue(ARGV[1])
if head ~= ARGV[1] then return { RC_CONFLICT } end
local s = open_session(KEYS[3])
local _, since, chars = append(s, KEYS[6], ARGV[5], 8 + n)
set_pending(s, ARGV[6])
local seq = log_events(s, KEYS[4], 8, n)
save_session(s)
local saved = store_end(ARGV[2], ARGV[3], ARGV[4])
local result = leave(ARGV[1], live, dead, head)
result[3], result[4] = seq, is_followed(s)
result[5], result[6], result[7] = since, chars, saved
return result
