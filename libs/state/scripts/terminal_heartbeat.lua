-- terminal_heartbeat: a terminal's heartbeat.
--
-- KEYS, ARGV: as lib_terminal_report
-- Result: result()

--@include lib_terminal_report

alive()
if fields[8] then call('HDEL', key, 'ref:h') end
return result(RC_OK, true)
