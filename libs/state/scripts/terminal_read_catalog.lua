-- terminal_read_catalog: read the catalog, if it has the expected hash.
--
-- KEYS: terminal
-- ARGV: hash
-- Result: {OK, catalog}, NOENT, CONFLICT

--@idempotent
--@include lib_record

record(KEYS[1], TERMINAL_FORMAT)
local hash = redis.call('HGET', KEYS[1], 'ch')
if not hash then return RC_NOENT end
if hash ~= ARGV[1] then return RC_CONFLICT end
return { RC_OK, redis.call('HGET', KEYS[1], 'ct') }
