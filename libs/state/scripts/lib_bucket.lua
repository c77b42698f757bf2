-- lib_bucket: further keys of the bucket that KEYS[1] is in.
--
-- bucket_key(prefix, ids, suffix): ids are the tokens with a colon between
-- them, as in the members of sorted sets.

local tag = string.match(KEYS[1], '{[^}]*}') .. ':'

local function bucket_key(prefix, ids, suffix)
  return prefix .. tag .. ids .. suffix
end
