-- lib_soul_deleting: deletions that were not completed.
--
-- Needs lib_now.
--
-- deletions_left(key): the souls (tokens) whose deletion began so long ago that
-- nobody completes it any more.

local function deletions_left(key)
  local left, all = {}, redis.call('HGETALL', key)
  for i = 1, #all, 2 do
    if now - (tonumber(all[i + 1]) or 0) > STEP_MAX_MS then
      left[#left + 1] = all[i]
    end
  end
  return left
end
