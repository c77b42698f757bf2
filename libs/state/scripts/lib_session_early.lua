-- lib_session_early: requests for the summary of a session that is long.
--
-- is_requested(early, summarised, now): whether there was one lately, by the
-- session's field early, since as many messages were summarised.

local function is_requested(early, summarised, now)
  local requested_for, at = string.match(early, '^(%d+):(%d+)$')
  return tonumber(requested_for or '') == summarised
    and now - tonumber(at) < SUMMARY_RETRY_MS
end
