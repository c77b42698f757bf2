-- run_list: one page of a user's runs, the newest first.
--
-- KEYS: the user's runs
-- ARGV: the run before the page or '', the most runs
-- Result: {OK, more (0, 1), {id, fields …, …}}: a list of its fields, as those
--         of lib_run but for the last six
-- Computed keys: the runs.  One that has expired is left out of the list.

--@include lib_bucket
--@include lib_read

local call, runs, max = redis.call, KEYS[1], tonumber(ARGV[2])
local before, page, gone, more = '+', {}, {}, 0
if ARGV[1] ~= '' then before = '(' .. ARGV[1] end
local ids = call('ZREVRANGEBYLEX', runs, before, '-', 'LIMIT', 0, max + 1)
if #ids > max then
  more, ids[#ids] = 1, nil
end
for _, id in ipairs(ids) do
  local f = read('HMGET', bucket_key(KEY_RUN_PRE, id), 'v', 'u', 't', 'engine',
    'mode', 'title', 'state', 'attempt', 'runner', 'epoch', 'handle', 'pf',
    'pr', 'ix', 'until', 'cancel', 'facts', 'resumes', 'ws', 'created',
    'changed', 'ended')
  if not f.err and f[1] == RUN_FORMAT then
    f[1] = id
    page[#page + 1] = f
  elseif not f.err and not f[1] then
    gone[#gone + 1] = id
  end
end
if #gone > 0 then call('ZREM', runs, unpack(gone)) end
-- The caller goes on from the last id even if that one is gone.
return { RC_OK, more, page, ids[#ids] or '' }
