-- lib_read: reading a computed key.
--
-- read(...): as redis.pcall, but an error other than the type of the key, as
-- while its slot moves to another server, ends the script.

local function read(...)
  local reply = redis.pcall(...)
  if type(reply) == 'table' and reply.err
    and not string.find(reply.err, 'WRONGTYPE', 1, true) then
    error(reply)
  end
  return reply
end
