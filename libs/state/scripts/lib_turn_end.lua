-- lib_turn_end: how a turn ends.
--
-- Needs lib_turn_queue and its KEYS.
--
-- leave(live, dead, head, queued): take a turn out of the queue, about which
--               scan_queue() has returned these.  Returns {OK, the instance of
--               the turn that became the head, or false}, or {NOENT}.
-- store_end(reply, timeline, void, late): store the turn's end unless it has
--               one; reply '': none.  void 1: the turn had no effect, so the
--               same input is not a retry of it.  late: the record's lifetime
--               begins anew.  Returns 1 if the record says that the soul's
--               state is stored (soul_state_swap_log.lua), else 0.

local function leave(live, dead, head, queued)
  local new_head = live[1]
  if not queued then return { RC_NOENT } end
  save_queue(live)
  end_lost(dead)
  if not new_head or new_head == head then return { RC_OK, false } end
  return { RC_OK, string.match(new_head, '^([^:]+):') }
end

local function store_end(reply, timeline, void, late)
  local turn = KEYS[5]
  if reply == '' then return 0 end
  local fields = call('HMGET', turn, 'v', 'end', 'saved')
  local saved = fields[3] and 1 or 0
  if not fields[1] or fields[2] then return saved end
  local ending = { 'end', reply }
  if timeline ~= '' then
    ending[3], ending[4] = 'tl', timeline
  end
  if void == 1 then
    ending[#ending + 1], ending[#ending + 2] = 'void', '1'
  end
  call('HSET', turn, unpack(ending))
  if late then call('PEXPIRE', turn, "TURN_TTL_MS") end
  return saved
end
