-- terminal_set_online: a terminal goes online or offline.
--
-- KEYS, ARGV: as lib_terminal_report; ARGV[5]: online (0, 1)
-- Result: result()

--@include lib_terminal_report

local present = was_present
if ARGV[5] == '1' and not replayed then
  present = true
  alive()
elseif not here then
  touch(nil)
elseif ARGV[5] == '1' then
  present = recent
  touch('1')
else
  present = false
  touch('0')
end
if not replayed then call('HDEL', key, 'ref:o') end
return result(RC_OK, present)
