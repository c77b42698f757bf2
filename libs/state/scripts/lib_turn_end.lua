-- lib_turn_end: how a turn ends.
--
-- Needs lib_turn_queue and its KEYS.
--
-- leave(entry, live, dead): take the turn out of the queue, of which
--               scan_queue(entry) has returned the others.  Returns {OK, the
--               instance of the turn that became the head, or false}, or
--               {NOENT}.
-- store_end(reply, timeline, void): store the turn's end unless it has one;
--               reply '': none.  void '1': the turn had no effect, so the same
--               input is not a retry of it.

local function leave(entry, live, dead)
  local head, new_head = call('LINDEX', queue, 0), live[1]
  if call('LREM', queue, 1, entry) == 0 then return { RC_NOENT } end
  evict(dead)
  if not new_head or new_head == head then return { RC_OK, false } end
  return { RC_OK, string.match(new_head, '^([^:]+):') }
end

local function store_end(reply, timeline, void)
  local turn = KEYS[5]
  if reply == '' or call('EXISTS', turn) == 0 then return end
  if call('HSETNX', turn, 'end', reply) == 0 then return end
  if timeline ~= '' then call('HSET', turn, 'tl', timeline) end
  call('PEXPIRE', turn, TURN_TTL_MS)
  if void == '1' then call('HSET', turn, 'void', '1') end
end
