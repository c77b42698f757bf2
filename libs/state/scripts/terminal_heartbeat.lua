-- terminal_heartbeat: a terminal's heartbeat.
--
-- KEYS, ARGV: as lib_terminal_report
-- Result: {OK, presence changed, present}

--@include lib_terminal_report

alive()
if fields[8] then call('HDEL', key, 'ref:h') end
return { RC_OK, was_present and 0 or 1, 1 }
