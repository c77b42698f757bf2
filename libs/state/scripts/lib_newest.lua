-- lib_newest: pages of a sorted set by times (ms), the newest first.
--
-- newest_page(key, at, member, max, take): call take(member, its time) for at
-- most max members after those of the page before, which ended with (at,
-- member); '+inf', '': from the newest.  Returns where this page ends
-- ("ms:member"), '' if it is the last.

local ties = 16 -- members that may have the same time

local function newest_page(key, at, member, max, take)
  local all = redis.call('ZRANGE', key, at, '-inf', 'BYSCORE', 'REV', 'LIMIT',
    0, max + ties + 1, 'WITHSCORES')
  local seen, last = 0, ''
  for i = 1, #all, 2 do
    local m, t = all[i], string.format('%.0f', tonumber(all[i + 1]))
    if t ~= at or m < member then
      if seen == max then return last end
      seen, last = seen + 1, t .. ':' .. m
      take(m, t)
    end
  end
  return ''
end
