-- turn_poll: how many turns are ahead of a waiting one, and which is the head.
--
-- KEYS: as lib_turn_queue
-- ARGV: entry (instance:turn), alive (ms), an entry that nobody runs, or ''
-- Result: {OK, turns ahead, the head's instance and turn}, {NOENT}

--@include lib_turn_queue

local live, dead = scan_queue(nil, ARGV[3])
stay_alive(ARGV[2])
if #dead > 0 then
  save_queue(live)
  end_lost(dead)
end
for n, entry in ipairs(live) do
  if entry == ARGV[1] then
    call('PEXPIRE', queue, "TURN_QUEUE_TTL_MS")
    return { RC_OK, n - 1, string.match(live[1], '^([^:]+):(.+)$') }
  end
end
return { RC_NOENT }
