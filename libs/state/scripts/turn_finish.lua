-- turn_finish: append messages, log events, and end a turn, all or nothing.
--
-- KEYS: as lib_turn_queue, messages
-- ARGV: packed: entry (instance:turn), void (1: it had no effect), late (1: the
--       turn began long ago), the most messages, number of events, characters;
--       reply, timeline, approval, inner voice, pending, events …, messages …
-- Result: {OK, the instance of the new head or nil, seq of the last event,
--         whether a client follows the session, messages and characters since
--         the summary (-1: not known), whether the soul's state is stored,
--         whether a summary of these messages was requested lately},
--         {CONFLICT}

--@include lib_session
--@include lib_session_early
--@include lib_turn_queue
--@include lib_turn_end

local entry, void, late, max, n, new_chars = cmsgpack.unpack(ARGV[1])
local live, dead, head, queued = scan_queue(entry)
if head ~= entry then return { RC_CONFLICT } end
local s = open_session(KEYS[3], 'early')
local _, since, chars = append(s, KEYS[6], max, 7 + n, new_chars)
set_open(s, 'ask', ARGV[4])
set_open(s, 'voice', ARGV[5])
set_open(s, 'late', ARGV[6])
local seq = log_events(s, KEYS[4], 7, n, late == 1 and clock())
save_session(s)
local saved = store_end(ARGV[2], ARGV[3], void, late == 1)
local result = leave(live, dead, head, queued)
result[3], result[4] = seq, is_followed(s)
result[5], result[6], result[7] = since, chars, saved
local early = s.fields[10]
result[8] = early and is_requested(early, s.summarised, clock()) and 1 or 0
return result
