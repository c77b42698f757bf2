/*
 * migration_scripts: the Lua scripts that move records.  Each replies with the
 * list of keys that are taken by another record; the last ones only read.
 */
#ifndef CHAT_GATEWAY_MIGRATION_SCRIPTS_H
#define CHAT_GATEWAY_MIGRATION_SCRIPTS_H

/*
 * A guard is a list, because no record that it stands for is one.
 *
 * is_guard(key), guard(key), move(from, to)
 */
#define SCRIPT_HEAD                                                          \
	"local call, conflicts = redis.call, {}\n"                           \
	"local note = 'moved to format 2 by chat-gateway migrate'\n"         \
	"local function is_guard(key)\n"                                     \
	"  return call('TYPE', key).ok == 'list'\n"                          \
	"    and call('LINDEX', key, 0) == note\n"                           \
	"end\n"                                                              \
	"local function guard(key)\n"                                        \
	"  if call('EXISTS', key) == 0 then call('RPUSH', key, note) end\n"  \
	"end\n"                                                              \
	"local function is_taken(key)\n"                                     \
	"  if call('EXISTS', key) == 0 or is_guard(key) then return false\n" \
	"  end\n"                                                            \
	"  conflicts[#conflicts + 1] = key\n"                                \
	"  return true\n"                                                    \
	"end\n"                                                              \
	"local function is_record(key)\n"                                    \
	"  return call('EXISTS', key) == 1 and not is_guard(key)\n"          \
	"end\n"                                                              \
	"local function move(from, to)\n"                                    \
	"  if not is_record(from) or is_taken(to) then return false end\n"   \
	"  call('RENAME', from, to)\n"                                       \
	"  return true\n"                                                    \
	"end\n"

/* KEYS: from, to, …; ARGV: for each pair a key to guard, or ''. */
static const char script_move[] =
    SCRIPT_HEAD "for i = 1, #KEYS, 2 do\n"
		"  move(KEYS[i], KEYS[i + 1])\n"
		"  local name = ARGV[(i + 1) / 2]\n"
		"  if name ~= '' then guard(name) end\n"
		"end\n"
		"return conflicts\n";

/* KEYS: from, to; ARGV: its field again, or ''. */
static const char script_turn[] =
    SCRIPT_HEAD "if move(KEYS[1], KEYS[2]) and ARGV[1] ~= '' then\n"
		"  call('HSET', KEYS[2], 'again', ARGV[1])\n"
		"end\n"
		"return conflicts\n";

/* KEYS: soul, state, log, bodies; the same in format 2. */
static const char script_soul_up[] =
    SCRIPT_HEAD "if not is_record(KEYS[1]) then return {} end\n"
		"for i = 5, 8 do is_taken(KEYS[i]) end\n"
		"if #conflicts > 0 then return conflicts end\n"
		"for i = 1, 3 do move(KEYS[i], KEYS[i + 4]) end\n"
		"for _, terminal in ipairs(call('SMEMBERS', KEYS[4])) do\n"
		"  call('HSET', KEYS[8], terminal, '0 0 -')\n"
		"end\n"
		"call('DEL', KEYS[4])\n"
		"guard(KEYS[1])\n"
		"return {}\n";

/*
 * binding(terminal): the soul that a terminal's record has; nil unless ARGV[1]
 * is its user.  What it does not confirm is dropped.
 */
#define SCRIPT_BINDING                                                     \
	"local function binding(terminal)\n"                               \
	"  local b = redis.pcall('HMGET', 'soul:terminal:{' .. terminal\n" \
	"    .. '}', 'u', 's')\n"                                          \
	"  return not b.err and b[1] == ARGV[1] and b[2]\n"                \
	"end\n"

/*
 * KEYS: soul, state, log, bodies of format 2; the same in format 1; ARGV: user,
 * soul.  0.1 reads no drives: of a state it gets the first 209 bytes, in which
 * the tenth is their format.
 */
static const char script_soul_back[] = SCRIPT_HEAD SCRIPT_BINDING
    "if not is_record(KEYS[1]) then return {} end\n"
    "for i = 5, 8 do is_taken(KEYS[i]) end\n"
    "if #conflicts > 0 then return conflicts end\n"
    "for i = 1, 3 do move(KEYS[i], KEYS[i + 4]) end\n"
    "local state = call('GET', KEYS[6])\n"
    "if state and #state > 209 then\n"
    "  call('SET', KEYS[6], string.sub(state, 1, 9) .. string.char(1)\n"
    "    .. string.sub(state, 11, 209))\n"
    "end\n"
    "for _, terminal in ipairs(call('HKEYS', KEYS[4])) do\n"
    "  if binding(terminal) == ARGV[2] then\n"
    "    call('SADD', KEYS[8], terminal)\n"
    "  end\n"
    "end\n"
    "call('DEL', KEYS[4])\n"
    "return {}\n";

/*
 * KEYS: a user's terminals of format 2; ARGV: user, what stands before the
 * token in the keys of the user's souls and of their bodies, and after it.  A
 * binding that was made, but not entered with its soul, is.
 */
static const char script_bindings_end[] = SCRIPT_HEAD SCRIPT_BINDING
    "for _, terminal in ipairs(call('HKEYS', KEYS[1])) do\n"
    "  local soul = binding(terminal)\n"
    "  if soul and call('EXISTS', ARGV[2] .. soul) == 1 then\n"
    "    call('HSETNX', ARGV[3] .. soul .. ARGV[4], terminal, '0 0 -')\n"
    "  end\n"
    "end\n"
    "return {}\n";

/* KEYS: a user's terminals, the same in format 2; ARGV: user. */
static const char script_bindings_up[] = SCRIPT_HEAD SCRIPT_BINDING
    "if not is_record(KEYS[1]) or is_taken(KEYS[2]) then\n"
    "  return conflicts\n"
    "end\n"
    "local t = call('TIME')\n"
    "local now = string.format('%.0f', t[1] * 1000\n"
    "  + math.floor(t[2] / 1000))\n"
    "for _, terminal in ipairs(call('SMEMBERS', KEYS[1])) do\n"
    "  local soul = binding(terminal)\n"
    "  if soul then\n"
    "    call('HSET', KEYS[2], terminal, soul .. ' ' .. now)\n"
    "  end\n"
    "end\n"
    "call('DEL', KEYS[1])\n"
    "return {}\n";

/* KEYS: a user's terminals of format 2, the same in format 1; ARGV: user. */
static const char script_bindings_back[] = SCRIPT_HEAD SCRIPT_BINDING
    "if not is_record(KEYS[1]) or is_taken(KEYS[2]) then\n"
    "  return conflicts\n"
    "end\n"
    "for _, terminal in ipairs(call('HKEYS', KEYS[1])) do\n"
    "  local soul = binding(terminal)\n"
    "  if soul then\n"
    "    call('SADD', KEYS[2], terminal)\n"
    "  end\n"
    "end\n"
    "call('DEL', KEYS[1])\n"
    "return {}\n";

/* KEYS: souls being deleted, the user's terminals; ARGV: user. */
static const char script_deleting[] = SCRIPT_HEAD SCRIPT_BINDING
    "local gone = {}\n"
    "for _, soul in ipairs(call('HKEYS', KEYS[1])) do\n"
    "  gone[soul] = true\n"
    "end\n"
    "for _, terminal in ipairs(call('HKEYS', KEYS[2])) do\n"
    "  local soul = binding(terminal)\n"
    "  if soul and gone[soul] then\n"
    "    call('HDEL', 'soul:terminal:{' .. terminal .. '}', 'u', 's')\n"
    "    call('HDEL', KEYS[2], terminal)\n"
    "  end\n"
    "end\n"
    "call('DEL', KEYS[1])\n"
    "return {}\n";

/* KEYS: identities being changed, their version. */
static const char script_changing[] =
    SCRIPT_HEAD "if call('DEL', KEYS[1]) == 1 then call('INCR', KEYS[2]) end\n"
		"return {}\n";

/* KEYS: terminals; ARGV: format, new format. */
static const char script_terminal[] =
    SCRIPT_HEAD "for _, key in ipairs(KEYS) do\n"
		"  if redis.pcall('HGET', key, 'v') == ARGV[1] then\n"
		"    call('HSET', key, 'v', ARGV[2])\n"
		"    if ARGV[2] == '1' then call('HDEL', key, 'bg', 'ps') end\n"
		"  end\n"
		"end\n"
		"return {}\n";

/*
 * KEYS: a queue (a list in format 1, else a string), its session and events;
 * ARGV: what stands before and after the token in the keys of its turns.  Its
 * processes are gone: their turns end as the next turn of the session would
 * have ended them.
 */
static const char script_queue[] = SCRIPT_HEAD
    "local t = call('TIME')\n"
    "local now = string.format('%.0f', t[1] * 1000\n"
    "  + math.floor(t[2] / 1000))\n"
    "local entries = {}\n"
    "if call('TYPE', KEYS[1]).ok == 'list' then\n"
    "  entries = call('LRANGE', KEYS[1], 0, -1)\n"
    "else\n"
    "  for entry in string.gmatch(call('GET', KEYS[1]) or '', '[^ ]+') do\n"
    "    entries[#entries + 1] = entry\n"
    "  end\n"
    "end\n"
    "for _, entry in ipairs(entries) do\n"
    "  local id = string.match(entry, ':(.+)$') or ''\n"
    "  local turn = ARGV[1] .. id .. ARGV[2]\n"
    "  if call('EXISTS', turn) == 1 and call('HSETNX', turn, 'end', '') == 1\n"
    "    and call('HGET', turn, 'begun') and call('EXISTS', KEYS[2]) == 1\n"
    "  then\n"
    "    local seq = call('HINCRBY', KEYS[2], 'seq', 1)\n"
    "    call('XADD', KEYS[3], 'MAXLEN', '~', 1000, '0-' .. seq,\n"
    "      'lost', id, 'at', now)\n"
    "    call('PEXPIRE', KEYS[3], 3600000)\n"
    "  end\n"
    "end\n"
    "call('DEL', KEYS[1])\n"
    "return {}\n";

/*
 * KEYS: events of a session.  In format 2 an entry may have several, with the
 * number of the last; in format 1 each has its own.
 */
static const char script_events_back[] = SCRIPT_HEAD
    "local list, several = call('XRANGE', KEYS[1], '-', '+'), false\n"
    "for _, entry in ipairs(list) do\n"
    "  several = several or entry[2][1] == 'e' and #entry[2] > 2\n"
    "end\n"
    "if not several then return {} end\n"
    "local ttl = call('PTTL', KEYS[1])\n"
    "call('DEL', KEYS[1])\n"
    "for _, entry in ipairs(list) do\n"
    "  local values, seq = entry[2], string.match(entry[1], '-(%d+)$')\n"
    "  for i = 2, values[1] == 'e' and #values or 0, 2 do\n"
    "    call('XADD', KEYS[1],\n"
    "      string.format('0-%d', seq - (#values - i) / 2), 'e', values[i])\n"
    "  end\n"
    "  if values[1] ~= 'e' then\n"
    "    call('XADD', KEYS[1], entry[1], unpack(values))\n"
    "  end\n"
    "end\n"
    "if ttl > 0 then call('PEXPIRE', KEYS[1], ttl) end\n"
    "return {}\n";

/* KEYS: idle sessions, and for each the set of its bucket; ARGV: score, member,
 * … */
static const char script_idle_up[] =
    SCRIPT_HEAD "for i = 2, #KEYS do\n"
		"  local score, member = ARGV[2 * i - 3], ARGV[2 * i - 2]\n"
		"  call('ZADD', KEYS[i], 'NX', score, member)\n"
		"  call('ZREM', KEYS[1], member)\n"
		"end\n"
		"return {}\n";

/* KEYS: idle sessions of a bucket, all idle sessions. */
static const char script_idle_back[] =
    SCRIPT_HEAD "local list = call('ZRANGE', KEYS[1], 0, -1, 'WITHSCORES')\n"
		"for i = 1, #list, 2 do\n"
		"  call('ZADD', KEYS[2], 'NX', list[i + 1], list[i])\n"
		"end\n"
		"call('DEL', KEYS[1])\n"
		"return {}\n";

/* KEYS: dropped; set as guards; no longer guards. */
static const char script_drop[] =
    SCRIPT_HEAD "for _, key in ipairs(KEYS) do\n"
		"  if is_record(key) then call('DEL', key) end\n"
		"end\n"
		"return {}\n";
static const char script_guard[] =
    SCRIPT_HEAD "for _, key in ipairs(KEYS) do\n"
		"  if not is_taken(key) then guard(key) end\n"
		"end\n"
		"return conflicts\n";
static const char script_unguard[] =
    SCRIPT_HEAD "for _, key in ipairs(KEYS) do\n"
		"  if is_guard(key) then call('DEL', key) end\n"
		"end\n"
		"return {}\n";

/* What a key of another type does not have; as queries, that change nothing. */
static const char script_fields[] =
    "if redis.call('TYPE', KEYS[1]).ok ~= 'hash' then return {} end\n"
    "return redis.call('HMGET', KEYS[1], 'u', 'again')\n";
static const char script_card[] =
    "if redis.call('TYPE', KEYS[1]).ok ~= 'zset' then return 0 end\n"
    "return redis.call('ZCARD', KEYS[1])\n";
static const char script_first[] =
    "if redis.call('TYPE', KEYS[1]).ok ~= 'zset' then return {} end\n"
    "return redis.call('ZRANGE', KEYS[1], 0, ARGV[1], 'WITHSCORES')\n";

#endif /* !CHAT_GATEWAY_MIGRATION_SCRIPTS_H */
