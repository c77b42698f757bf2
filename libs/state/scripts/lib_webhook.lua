-- lib_webhook: the keys of a webhook.
--
-- webhook_key(ids, suffix): ids are "<user>:<webhook>" (tokens).

--@include lib_bucket

local function webhook_key(ids, suffix)
  return bucket_key(KEY_WEBHOOK_PRE, ids, suffix)
end
