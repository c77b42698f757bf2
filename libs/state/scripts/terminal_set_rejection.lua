-- terminal_set_rejection: store why a report was rejected.
--
-- KEYS, ARGV: as lib_terminal_report; then the field and its JSON
-- Result: OK

--@include lib_terminal_report

touch(nil)
-- Up to 0.1.0 one field was used for reports of all kinds.
call('HDEL', key, 'ref')
call('HSET', key, ARGV[5], ARGV[6])
return RC_OK
