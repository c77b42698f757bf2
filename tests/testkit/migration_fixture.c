#include "testkit/migration_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORDS_MAX 64

/* The tokens of "acme/ada", and of the digest of an input. */
#define ADA    "~YWNtZS9hZGE"
#define DIGEST "da39a3ee5e6b4b0d3255bfef95601890afd80709"
#define GUARD  "moved@to@format@2@by@chat-gateway@migrate"

#define SESSION                                                             \
	" v 1 soul x1 term t1 last 3 sumn 1 sum s active 5 due 6 claims 2 " \
	"seq 2 bytes 6 chars 1:3:9 late {} early 1:5 job {\"id\":1}"
#define TURN     " v 1 u u1 s s1 i i1 trace tr at 5 begun 1 end {} tl {} again "
#define SOUL     " v 1 name Nova mbti INTJ model persona-pad-v3 created 5 u "
#define REPORTS  " on 1 seen 5 b main e:main 7 sv 1 sk [] cv 2 ct {} ch abc "
#define IDENTITY " v 1 ten acme u u1 h hash created 5 changed 6"

const char *const migration_format_1[] = {
	"HSET soul:session:{u1:s1}" SESSION,
	"RPUSH soul:session:{u1:s1}:messages m1 m2 m3",
	"XADD soul:session:{u1:s1}:events:1 0-1 e {}",
	"XADD soul:session:{u1:s1}:events:1 0-2 lost t9 at 5",
	"PEXPIRE soul:session:{u1:s1}:events:1 3600000",
	"SET soul:session:{u1:s1}:retry:1:" DIGEST " t1 PX 600000",
	"HSET soul:session:{" ADA ":s1} v 1 soul x2 term t2 last 1",
	"RPUSH soul:session:{" ADA ":s1}:messages m1",
	"HSET soul:turn:{t1}" TURN "soul:session:{u1:s1}:retry:1:" DIGEST,
	"PEXPIRE soul:turn:{t1} 3600000",
	"HSET soul:turn:{t2} v 1 u " ADA " s s1 i i1 at 6 acting 1",
	"PEXPIRE soul:turn:{t2} 3600000",
	"ZADD soul:idle:1 1700000000001 u1:s1 1700000000002 " ADA ":s1",
	"ZADD soul:user:{u1}:sessions:1 5 s1",
	"ZADD soul:user:{" ADA "}:sessions:1 6 s1",
	"ZADD soul:user:{u1}:souls:1 5 x1",
	"ZADD soul:user:{" ADA "}:souls:1 5 x2",
	"HSET soul:user:{u1}:soul_names:1 Nova x1",
	"HSET soul:user:{" ADA "}:soul_names:1 Nova x2",
	"SADD soul:user:{u1}:terminals:1 t1 t3",
	"SADD soul:user:{" ADA "}:terminals:1 t2",
	"HSET soul:soul:{x1}" SOUL "u1",
	"SET soul:soul:{x1}:state 1-state",
	"XADD soul:soul:{x1}:log:1 5-1 e {}",
	"PEXPIRE soul:soul:{x1}:log:1 3600000",
	"SADD soul:soul:{x1}:terminals:1 t1 t3",
	"HSET soul:soul:{x2}" SOUL ADA,
	"SET soul:soul:{x2}:state 1-state",
	"SADD soul:soul:{x2}:terminals:1 t2",
	"HSET soul:memory:{u1:x1} v 1 ver 5 seq 2 cleared 1",
	"HSET soul:memory:{u1:x1}:items m1 {} m2 {}",
	"ZADD soul:memory:{u1:x1}:order 1 m1 2 m2",
	"ZADD soul:memory:{u1:x1}:gone 5 m0",
	"PEXPIRE soul:memory:{u1:x1}:gone 3600000",
	"HSET soul:memory:{u1:x1}:vectors m1 abc",
	"ZADD soul:memory:{u1:x1}:past 5 m3",
	"HSET soul:memory:{u1:x1}:past_items m3 {}",
	"HSET soul:profile:{u1} v 1 low 1 /name 5@\"Ada\"",
	"HSET soul:terminal:{t1} v 1" REPORTS "u u1 s x1 ref:h {}",
	"HSET soul:terminal:{t2} v 1 u " ADA " s x2",
	"HSET soul:terminal:{t3} v 1 u u1 s x1",
	"HSET soul:terminal:{t4} v 1 on 0 gone 1",
	"SET soul:result:{t1:r1} 1{} PX 600000",
	"HSET soul:credential:{t1}" IDENTITY,
	"HSET soul:credential:{t4} v 1 ten acme created 5 changed 6 gone 1",
	"ZADD soul:credentials:1 0 t1 0 t4",
	"SET soul:credentials:version:1 7",
	"ZADD soul:tenant:{acme}:credentials:1 0 t1 0 t4",
	"SET soul:lease:{reports_main}:epoch:1 41",
	"SET other:key 1",
};

const char *const migration_format_2[] = {
	"SET soul:format 2",
	"HSET soul:session:{b0478}:u1:s1" SESSION,
	"RPUSH soul:messages:{b0478}:u1:s1 m1 m2 m3",
	"XADD soul:events:{b0478}:u1:s1:1 0-1 e {}",
	"XADD soul:events:{b0478}:u1:s1:1 0-2 lost t9 at 5",
	"PEXPIRE soul:events:{b0478}:u1:s1:1 3600000",
	"SET soul:retry:{b0478}:u1:s1:1:" DIGEST " t1 PX 600000",
	"HSET soul:session:{b0171}:" ADA ":s1 v 1 soul x2 term t2 last 1",
	"RPUSH soul:messages:{b0171}:" ADA ":s1 m1",
	"HSET soul:turn:{b0478}:u1:t1" TURN
	"soul:retry:{b0478}:u1:s1:1:" DIGEST,
	"PEXPIRE soul:turn:{b0478}:u1:t1 3600000",
	"HSET soul:turn:{b0171}:" ADA ":t2 v 1 u " ADA " s s1 i i1 at 6 "
	"acting 1",
	"PEXPIRE soul:turn:{b0171}:" ADA ":t2 3600000",
	"ZADD soul:idle:{b0478}:1 1700000000001 u1:s1",
	"ZADD soul:idle:{b0171}:1 1700000000002 " ADA ":s1",
	"ZADD soul:user:{b0478}:u1:sessions:1 5 s1",
	"ZADD soul:user:{b0171}:" ADA ":sessions:1 6 s1",
	"ZADD soul:user:{b0478}:u1:souls:1 5 x1",
	"ZADD soul:user:{b0171}:" ADA ":souls:1 5 x2",
	"HSET soul:user:{b0478}:u1:soul_names:1 Nova x1",
	"HSET soul:user:{b0171}:" ADA ":soul_names:1 Nova x2",
	"HSET soul:user:{b0478}:u1:terminals:1 t1 x1@now t3 x1@now",
	"HSET soul:user:{b0171}:" ADA ":terminals:1 t2 x2@now",
	"HSET soul:soul:{b0478}:u1:x1" SOUL "u1",
	"SET soul:state:{b0478}:u1:x1 1-state",
	"XADD soul:log:{b0478}:u1:x1:1 5-1 e {}",
	"PEXPIRE soul:log:{b0478}:u1:x1:1 3600000",
	"HSET soul:bodies:{b0478}:u1:x1:1 t1 0@0@- t3 0@0@-",
	"HSET soul:soul:{b0171}:" ADA ":x2" SOUL ADA,
	"SET soul:state:{b0171}:" ADA ":x2 1-state",
	"HSET soul:bodies:{b0171}:" ADA ":x2:1 t2 0@0@-",
	"HSET soul:memory:{b0478}:u1:x1 v 1 ver 5 seq 2 cleared 1",
	"HSET soul:memory:{b0478}:u1:x1:items m1 {} m2 {}",
	"ZADD soul:memory:{b0478}:u1:x1:order 1 m1 2 m2",
	"ZADD soul:memory:{b0478}:u1:x1:gone 5 m0",
	"PEXPIRE soul:memory:{b0478}:u1:x1:gone 3600000",
	"HSET soul:memory:{b0478}:u1:x1:vectors m1 abc",
	"ZADD soul:memory:{b0478}:u1:x1:past 5 m3",
	"HSET soul:memory:{b0478}:u1:x1:past_items m3 {}",
	"HSET soul:profile:{b0478}:u1 v 1 low 1 /name 5@\"Ada\"",
	"HSET soul:terminal:{t1} v 2" REPORTS "u u1 s x1 ref:h {}",
	"HSET soul:terminal:{t2} v 2 u " ADA " s x2",
	"HSET soul:terminal:{t3} v 2 u u1 s x1",
	"HSET soul:terminal:{t4} v 2 on 0 gone 1",
	"SET soul:result:{t1}:r1 1{} PX 600000",
	"HSET soul:credential:{t1}" IDENTITY,
	"HSET soul:credential:{t4} v 1 ten acme created 5 changed 6 gone 1",
	"ZADD soul:credentials:{identities}:1 0 t1 0 t4",
	"SET soul:credentials:{identities}:version:1 7",
	"ZADD soul:tenant:{identities}:acme:credentials:1 0 t1 0 t4",
	"SET soul:lease:{reports_main}:epoch:2 41",
	"SET other:key 1",
	/* What old programs find. */
	"RPUSH soul:soul:{x1} " GUARD,
	"RPUSH soul:soul:{x2} " GUARD,
	"RPUSH soul:user:{u1}:soul_names:1 " GUARD,
	"RPUSH soul:user:{" ADA "}:soul_names:1 " GUARD,
	"RPUSH soul:lease:{reports_main}:1 " GUARD,
	"RPUSH soul:idle:1 " GUARD,
	"RPUSH soul:ticks:1 " GUARD,
	"RPUSH soul:ticks:interval:1 " GUARD,
	"RPUSH soul:credentials:1 " GUARD,
	"RPUSH soul:credentials:version:1 " GUARD,
};

const size_t migration_format_1_n =
    sizeof(migration_format_1) / sizeof(*migration_format_1);
const size_t migration_format_2_n =
    sizeof(migration_format_2) / sizeof(*migration_format_2);

void
migration_fixture_load(
    struct state_fixture *f, const char *const *rows, size_t n)
{
	struct str words[WORDS_MAX], rest;
	char line[1024], *c;
	size_t i, k;

	DO(f, STR("FLUSHALL"));
	for (i = 0; i < n; i++) {
		(void)snprintf(line, sizeof(line), "%s", rows[i]);
		rest = str_of(line);
		for (k = 0; rest.p != NULL && k < WORDS_MAX; k++)
			words[k] = str_split(&rest, ' ');
		for (c = line; *c != '\0'; c++)
			if (*c == '@')
				*c = ' ';
		state_fixture_do(f, words, k);
	}
}

/* A line for each key: "key type [expires] value …". */
static const char text_script[] =
    "local lines, now = {}, redis.call('TIME')[1] * 1000\n"
    "local function bound(key, v)\n"
    "  local soul, ms = string.match(v, '^(%S+) (%d+)$')\n"
    "  if not string.match(key, ':terminals:1$') or not ms then return v\n"
    "  end\n"
    "  local age = now - tonumber(ms)\n"
    "  return soul .. ' ' .. (age < 60000 and age > -2000 and 'now' or ms)\n"
    "end\n"
    "local read = {\n"
    "  string = function(key) return { redis.call('GET', key) } end,\n"
    "  list = function(key) return redis.call('LRANGE', key, 0, -1) end,\n"
    "  set = function(key)\n"
    "    local l = redis.call('SMEMBERS', key)\n"
    "    table.sort(l)\n"
    "    return l\n"
    "  end,\n"
    "  zset = function(key)\n"
    "    return redis.call('ZRANGE', key, 0, -1, 'WITHSCORES')\n"
    "  end,\n"
    "  hash = function(key)\n"
    "    local l, out = redis.call('HGETALL', key), {}\n"
    "    for i = 1, #l, 2 do\n"
    "      out[#out + 1] = l[i] .. '=' .. bound(key, l[i + 1])\n"
    "    end\n"
    "    table.sort(out)\n"
    "    return out\n"
    "  end,\n"
    "  stream = function(key)\n"
    "    local out = {}\n"
    "    for _, e in ipairs(redis.call('XRANGE', key, '-', '+')) do\n"
    "      out[#out + 1] = e[1] .. ' ' .. table.concat(e[2], ' ')\n"
    "    end\n"
    "    return out\n"
    "  end }\n"
    "for _, key in ipairs(redis.call('KEYS', '*')) do\n"
    "  local kind = redis.call('TYPE', key).ok\n"
    "  lines[#lines + 1] = key .. ' ' .. kind\n"
    "    .. (redis.call('PTTL', key) > 0 and ' expires ' or ' ')\n"
    "    .. table.concat(read[kind](key), ' | ')\n"
    "end\n"
    "table.sort(lines)\n"
    "return table.concat(lines, '\\n')\n";

char *
migration_fixture_text(struct state_fixture *f)
{
	struct state_reply *r;
	char *text;

	OK(state_cmd(
	    f->s, STATE_ARGS(STR("EVAL"), str_of(text_script), STR("0")), &r));
	text = mem_strdup(state_reply_str(r).p);
	state_reply_free(r);
	return text;
}

/* Users and souls are made at every tenth session. */
static const char sessions_script[] =
    "local call, text = redis.call, string.rep('x', 200)\n"
    "for i = tonumber(ARGV[1]), tonumber(ARGV[2]) - 1 do\n"
    "  local user, at = 'user' .. math.floor(i / 10), 1700000000000 + i\n"
    "  local soul, terminal = 'soul-' .. user, 't-' .. user\n"
    "  local id = user .. ':s' .. i\n"
    "  local key = 'soul:session:{' .. id .. '}'\n"
    "  call('HSET', key, 'v', '1', 'soul', soul, 'term', terminal,\n"
    "    'last', '10', 'seq', '20', 'active', at, 'due', at, 'bytes', 2000)\n"
    "  for _ = 1, 10 do call('RPUSH', key .. ':messages', text) end\n"
    "  call('ZADD', 'soul:idle:1', at, id)\n"
    "  call('ZADD', 'soul:user:{' .. user .. '}:sessions:1', at, 's' .. i)\n"
    "  if i % 10 == 0 then\n"
    "    local own = 'soul:soul:{' .. soul .. '}'\n"
    "    local memory = 'soul:memory:{' .. user .. ':' .. soul .. '}'\n"
    "    call('HSET', own, 'v', '1', 'u', user, 'name', 'Nova')\n"
    "    call('SET', own .. ':state', text)\n"
    "    call('SADD', own .. ':terminals:1', terminal)\n"
    "    call('ZADD', 'soul:user:{' .. user .. '}:souls:1', at, soul)\n"
    "    call('HSET', 'soul:user:{' .. user .. '}:soul_names:1', 'Nova',\n"
    "      soul)\n"
    "    call('SADD', 'soul:user:{' .. user .. '}:terminals:1', terminal)\n"
    "    call('HSET', 'soul:terminal:{' .. terminal .. '}', 'v', '1',\n"
    "      'u', user, 's', soul)\n"
    "    call('HSET', memory, 'v', '1', 'ver', '1', 'seq', '1')\n"
    "    call('HSET', memory .. ':items', 'm', text)\n"
    "    call('ZADD', memory .. ':order', 1, 'm')\n"
    "    call('HSET', 'soul:profile:{' .. user .. '}', 'v', '1', '/a', text)\n"
    "  end\n"
    "end\n";

void
migration_fixture_sessions(struct state_fixture *f, int n)
{
	char from[STR_NUM_MAX], to[STR_NUM_MAX];
	int i, end;

	for (i = 0; i < n; i = end) {
		end = i + 1000 < n ? i + 1000 : n;
		DO(f, STR("EVAL"), str_of(sessions_script), STR("0"),
		    str_num(i, from), str_num(end, to));
	}
}
