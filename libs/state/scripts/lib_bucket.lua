-- lib_bucket: further keys of the bucket of KEYS[1].
--
-- bucket_key(prefix, ids, suffix): the key of a record with these ids (tokens,
-- with ':' between them).
--
-- While the bucket's slot moves to another server, a call with a computed key
-- that has moved, or does not exist, fails: what may fail comes before the
-- first write, or is left out with redis.pcall.

local bucket_tag = string.match(KEYS[1], '{b%d+}')

local function bucket_key(prefix, ids, suffix)
  return prefix .. bucket_tag .. ':' .. ids .. (suffix or '')
end
