-- session_index: a user's sessions in short, those of the latest input first.
--
-- KEYS: the user's sessions
-- ARGV: user (token), where the page before ended (ms, token) or '+inf', '';
--       how many at most
-- Result: {OK, {session, soul, terminal, last input (ms), messages, the newest
--         text, …}, where this page ends (ms:token; '': no more)}
-- Computed keys: the sessions, their messages
--
-- The text is that of a user or the soul, at most 480 bytes of it; '': the last
-- two messages have none, or are large.

--@idempotent
--@include lib_bucket
--@include lib_newest
--@include lib_read

local large, shown = 16384, 480

local function text_of(json)
  if #json > large then return nil end
  local ok, message = pcall(cjson.decode, json)
  if not ok or type(message) ~= 'table' or type(message.content) ~= 'string'
    or message.content == ''
    or (message.role ~= 'user' and message.role ~= 'assistant') then
    return nil
  end
  if #message.content <= shown then return message.content end
  return (string.gsub(string.sub(message.content, 1, shown),
    '[\192-\255][\128-\191]*$', ''))
end

local function newest_text(key)
  local last = read('LRANGE', key, -2, -1)
  if last.err then return '' end
  for i = #last, 1, -1 do
    local text = text_of(last[i])
    if text then return text end
  end
  return ''
end

local found = {}
local next = newest_page(KEYS[1], ARGV[2], ARGV[3], tonumber(ARGV[4]),
  function(session, at)
    local ids = ARGV[1] .. ':' .. session
    local f = read('HMGET', bucket_key(KEY_SESSION_PRE, ids), 'soul', 'term')
    local messages = bucket_key(KEY_SESSION_MESSAGES_PRE, ids)
    local n = read('LLEN', messages)
    if f.err or type(n) ~= 'number' then return end
    for _, v in ipairs({ session, f[1] or '', f[2] or '', at, n,
      newest_text(messages) }) do
      found[#found + 1] = v
    end
  end)
return { RC_OK, found, next }
