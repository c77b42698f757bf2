/*
 * key_map: the table of keys.
 *
 * In a pattern '%' is an id's token, '#' the tag of the bucket of the first id,
 * '!' the tag of any bucket; after a ':' at its end anything follows.
 */
#include "migrate/key_map.h"

#include <string.h>

#include "core/id.h"
#include "core/mem.h"

#define TAG_DIGITS 4

static const struct {
	const char *name;
	const char *pattern[FORMAT_N]; /* NULL: the format has none */
	bool owner;                    /* only in format 2 */
} key_rows[RECORD_N] = {
	[RECORD_SESSION] = { "sessions",
	    { "soul:session:{%:%}", "soul:session:{#}:%:%" }, false },
	[RECORD_MESSAGES] = { "messages of sessions",
	    { "soul:session:{%:%}:messages", "soul:messages:{#}:%:%" }, false },
	[RECORD_EVENTS] = { "events of sessions",
	    { "soul:session:{%:%}:events:1", "soul:events:{#}:%:%:1" }, false },
	[RECORD_RETRY] = { "inputs, to find retries",
	    { "soul:session:{%:%}:retry:1:", "soul:retry:{#}:%:%:1:" }, false },
	[RECORD_QUEUE] = { "queues of turns",
	    { "soul:session:{%:%}:turns:1", "soul:turns:{#}:%:%:2" }, false },
	[RECORD_TURN] = { "turns", { "soul:turn:{%}", "soul:turn:{#}:%:%" },
	    true },
	[RECORD_INSTANCE] = { "processes with turns",
	    { "soul:instance:{%}:1", "soul:instance:{!}:%:1" }, false },
	[RECORD_IDLE] = { "sessions that become idle",
	    { "soul:idle:1", "soul:idle:{!}:1" }, false },
	[RECORD_USER_SESSIONS] = { "lists of sessions",
	    { "soul:user:{%}:sessions:1", "soul:user:{#}:%:sessions:1" },
	    false },
	[RECORD_USER_SOULS] = { "lists of souls",
	    { "soul:user:{%}:souls:1", "soul:user:{#}:%:souls:1" }, false },
	[RECORD_SOUL_NAMES] = { "names of souls",
	    { "soul:user:{%}:soul_names:1", "soul:user:{#}:%:soul_names:1" },
	    false },
	[RECORD_USER_TERMINALS] = { "lists of bodies",
	    { "soul:user:{%}:terminals:1", "soul:user:{#}:%:terminals:1" },
	    false },
	[RECORD_DELETING] = { "souls being deleted",
	    { NULL, "soul:user:{#}:%:deleting:1" }, false },
	[RECORD_SOUL] = { "souls", { "soul:soul:{%}", "soul:soul:{#}:%:%" },
	    true },
	[RECORD_SOUL_STATE] = { "states of souls",
	    { "soul:soul:{%}:state", "soul:state:{#}:%:%" }, true },
	[RECORD_SOUL_LOG] = { "logs of souls",
	    { "soul:soul:{%}:log:1", "soul:log:{#}:%:%:1" }, true },
	[RECORD_BODIES] = { "bodies of souls",
	    { "soul:soul:{%}:terminals:1", "soul:bodies:{#}:%:%:1" }, true },
	[RECORD_TICKS] = { "souls that tick",
	    { "soul:ticks:1", "soul:ticks:{!}:1" }, false },
	[RECORD_TICK_INTERVAL] = { "interval of ticks",
	    { "soul:ticks:interval:1", NULL }, false },
	[RECORD_MEMORY] = { "memories",
	    { "soul:memory:{%:%}", "soul:memory:{#}:%:%" }, false },
	[RECORD_MEMORY_ITEMS] = { "memories: items",
	    { "soul:memory:{%:%}:items", "soul:memory:{#}:%:%:items" }, false },
	[RECORD_MEMORY_ORDER] = { "memories: order",
	    { "soul:memory:{%:%}:order", "soul:memory:{#}:%:%:order" }, false },
	[RECORD_MEMORY_TOMBSTONES] = { "memories: forgotten",
	    { "soul:memory:{%:%}:gone", "soul:memory:{#}:%:%:gone" }, false },
	[RECORD_MEMORY_VECTORS] = { "memories: vectors",
	    { "soul:memory:{%:%}:vectors", "soul:memory:{#}:%:%:vectors" },
	    false },
	[RECORD_MEMORY_SUPERSEDED] = { "memories: superseded",
	    { "soul:memory:{%:%}:past", "soul:memory:{#}:%:%:past" }, false },
	[RECORD_MEMORY_SUPERSEDED_ITEMS] = { "memories: superseded items",
	    { "soul:memory:{%:%}:past_items",
		"soul:memory:{#}:%:%:past_items" },
	    false },
	[RECORD_PROFILE] = { "profiles",
	    { "soul:profile:{%}", "soul:profile:{#}:%" }, false },
	[RECORD_TERMINAL] = { "bodies",
	    { "soul:terminal:{%}", "soul:terminal:{%}" }, false },
	[RECORD_RESULT] = { "results of bodies",
	    { "soul:result:{%:%}", "soul:result:{%}:%" }, false },
	[RECORD_CREDENTIAL] = { "identities",
	    { "soul:credential:{%}", "soul:credential:{%}" }, false },
	[RECORD_CREDENTIALS] = { "list of identities",
	    { "soul:credentials:1", "soul:credentials:{identities}:1" },
	    false },
	[RECORD_CREDENTIALS_VERSION] = { "version of identities",
	    { "soul:credentials:version:1",
		"soul:credentials:{identities}:version:1" },
	    false },
	[RECORD_CREDENTIALS_CHANGING] = { "identities being changed",
	    { NULL, "soul:credentials:{identities}:changing:1" }, false },
	[RECORD_TENANT] = { "lists of tenants' identities",
	    { "soul:tenant:{%}:credentials:1",
		"soul:tenant:{identities}:%:credentials:1" },
	    false },
	[RECORD_LEASE] = { "leases", { "soul:lease:{%}:1", "soul:lease:{%}:2" },
	    false },
	[RECORD_LEASE_EPOCH] = { "epochs of leases",
	    { "soul:lease:{%}:epoch:1", "soul:lease:{%}:epoch:2" }, false },
	[RECORD_TIMERS] = { "replicas that share timers",
	    { NULL, "soul:timers:{%}:1" }, false },
};

const char *
key_record_name(enum key_record r)
{
	return key_rows[r].name;
}

bool
key_record_exists(enum key_record r, enum key_format f)
{
	return key_rows[r].pattern[f] != NULL;
}

bool
key_record_has_guard(enum key_record r)
{
	switch (r) {
	case RECORD_SOUL:
	case RECORD_SOUL_NAMES:
	case RECORD_LEASE:
	case RECORD_IDLE:
	case RECORD_TICKS:
	case RECORD_TICK_INTERVAL:
	case RECORD_CREDENTIALS:
	case RECORD_CREDENTIALS_VERSION:
		return true;
	default:
		return false;
	}
}

/* ---- parsing ---- */

/* Tokens have none of ":{}". */
static size_t
key_token_len(struct str s)
{
	size_t n = 0;

	while (n < s.n && s.p[n] != ':' && s.p[n] != '{' && s.p[n] != '}')
		n++;
	return n;
}

static size_t
key_tag_len(struct str s)
{
	size_t i;

	if (s.n <= TAG_DIGITS || s.p[0] != 'b')
		return 0;
	for (i = 1; i <= TAG_DIGITS; i++)
		if (s.p[i] < '0' || s.p[i] > '9')
			return 0;
	return 1 + TAG_DIGITS;
}

/* Whether key has the pattern; its ids are *n. */
static bool
key_match(struct str key, const char *pattern, struct key_parts *out, size_t *n)
{
	const char *p;
	size_t len;

	*n = 0;
	out->rest = (struct str){ NULL, 0 };
	for (p = pattern; *p != '\0'; p++) {
		if (*p == '%')
			len = key_token_len(key);
		else if (*p == '#' || *p == '!')
			len = key_tag_len(key);
		else
			len = key.n > 0 && key.p[0] == *p;
		if (len == 0)
			return false;
		if (*p == '%')
			out->ids[(*n)++] = (struct str){ key.p, len };
		key = (struct str){ key.p + len, key.n - len };
	}
	if (p > pattern && p[-1] == ':') {
		out->rest = key;
		return key.n > 0;
	}
	return key.n == 0;
}

bool
key_parse(struct str key, enum key_format f, struct key_parts *out)
{
	char text[STATE_KEY_MAX];
	struct str same;
	const char *pattern;
	size_t r, n;

	for (r = 0; r < RECORD_N; r++) {
		pattern = key_rows[r].pattern[f];
		memset(out, 0, sizeof(*out));
		if (pattern == NULL || !key_match(key, pattern, out, &n))
			continue;
		out->record = (enum key_record)r;
		if (key_rows[r].owner && f == FORMAT_1) {
			out->ids[1] = out->ids[0];
			out->ids[0] = (struct str){ NULL, 0 };
		}
		/* Ids must be ids, and the bucket theirs. */
		if (strchr(pattern, '!') != NULL ||
		    (key_print(out, f, text, &same) == RC_OK &&
			str_eq(same, key)))
			return true;
	}
	return false;
}

/* ---- printing ---- */

static size_t
key_ids_n(const char *pattern)
{
	size_t n = 0;

	for (; *pattern != '\0'; pattern++)
		n += *pattern == '%';
	return n;
}

enum rc
key_print(const struct key_parts *k, enum key_format f, char dst[STATE_KEY_MAX],
    struct str *out)
{
	const char *pattern = key_rows[k->record].pattern[f];
	char text[KEY_IDS_MAX][ID_MAX + 1];
	struct str ids[KEY_IDS_MAX];
	size_t i, n, from;
	enum rc rc;

	if (pattern == NULL || strchr(pattern, '!') != NULL)
		return RC_NOENT;
	n = key_ids_n(pattern);
	from = key_rows[k->record].owner && f == FORMAT_1 ? 1 : 0;
	for (i = 0; i < n; i++) {
		if (k->ids[from + i].n == 0)
			return RC_NOENT;
		if (id_untoken(k->ids[from + i], text[i]) != RC_OK)
			return RC_INVALID;
		ids[i] = str_of(text[i]);
	}
	rc = state_key(dst, pattern, ids, n, out);
	if (rc != RC_OK || k->rest.n == 0)
		return rc;
	if (out->n + k->rest.n >= STATE_KEY_MAX)
		return RC_INVALID;
	memcpy(dst + out->n, k->rest.p, k->rest.n);
	out->n += k->rest.n;
	dst[out->n] = '\0';
	return RC_OK;
}

enum rc
key_rename(struct str key, enum key_format f, struct str owner,
    char dst[STATE_KEY_MAX], struct str *out)
{
	struct key_parts k;

	if (!key_parse(key, f, &k))
		return RC_NOENT;
	if (f == FORMAT_1 && key_rows[k.record].owner)
		k.ids[0] = owner;
	return key_print(&k, f == FORMAT_1 ? FORMAT_2 : FORMAT_1, dst, out);
}

enum rc
key_idle(struct str member, char dst[STATE_KEY_MAX], struct str *out)
{
	struct str rest = member, user = str_split(&rest, ':');
	char id[ID_MAX + 1];
	unsigned bucket;

	if (rest.p == NULL || id_untoken(rest, id) != RC_OK ||
	    id_untoken(user, id) != RC_OK ||
	    state_bucket(str_of(id), &bucket) != RC_OK)
		return RC_INVALID;
	return state_bucket_key(dst, "soul:idle:{#}:1", bucket, out);
}
