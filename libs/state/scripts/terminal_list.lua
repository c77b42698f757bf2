-- terminal_list: the terminals that a user has bound, or begun to bind.
--
-- KEYS: the user's terminals, the user's deletions
-- Result: {OK, {terminal, entry, …}, {souls whose deletion was not completed}}

--@idempotent
--@include lib_now
--@include lib_soul_deleting

local all = redis.call('HGETALL', KEYS[1])
return { RC_OK, all, deletions_left(KEYS[2]) }
