/*
 * slot_map: who serves which slot, and redirections.
 */
#include "state/cluster.h"

bool
slot_map_address_eq(
    const struct redis_address *a, const struct redis_address *b)
{
	return a->port == b->port && strcmp(a->host, b->host) == 0;
}

static bool
slot_map_put_host(struct str host, struct redis_address *a)
{
	size_t i;

	if (host.n == 0 || host.n >= sizeof(a->host))
		return false;
	for (i = 0; i < host.n; i++)
		if (host.p[i] <= ' ' || host.p[i] == 0x7f)
			return false;
	memcpy(a->host, host.p, host.n);
	a->host[host.n] = '\0';
	return true;
}

/* A server of the reply: its host (absent: the one that replied), its port. */
static bool
slot_map_read_address(
    const struct state_reply *r, const char *host, struct redis_address *a)
{
	struct str name = state_reply_str(state_reply_at(r, 0));
	const struct state_reply *port = state_reply_at(r, 1);

	if (state_reply_kind(port) != STATE_INT || state_reply_int(port) < 1 ||
	    state_reply_int(port) > 65535)
		return false;
	a->port = (int)state_reply_int(port);
	return slot_map_put_host(name.n > 0 ? name : str_of(host), a);
}

/* The index of an address in m, which is added if it is new. */
static enum rc
slot_map_node(struct slot_map *m, const struct redis_address *a, uint16_t *out)
{
	size_t i;

	for (i = 0; i < m->n; i++)
		if (slot_map_address_eq(&m->nodes[i], a))
			break;
	if (i == CLUSTER_NODES_MAX)
		return RC_TOOBIG;
	if (i == m->n)
		m->nodes[m->n++] = *a;
	*out = (uint16_t)i;
	return RC_OK;
}

/* One range: first slot, last slot, master, replicas. */
static enum rc
slot_map_read_range(
    const struct state_reply *r, const char *host, struct slot_map *m)
{
	const struct state_reply *first = state_reply_at(r, 0);
	const struct state_reply *last = state_reply_at(r, 1);
	int64_t from = state_reply_int(first), to = state_reply_int(last), i;
	struct redis_address a;
	uint16_t node;
	enum rc rc;

	if (state_reply_kind(first) != STATE_INT ||
	    state_reply_kind(last) != STATE_INT || from < 0 || to < from ||
	    to >= CLUSTER_SLOTS ||
	    state_reply_kind(state_reply_at(r, 2)) != STATE_ARRAY)
		return RC_INVALID;
	/* "?" is a server whose address the other does not know. */
	if (str_eq(state_reply_str(state_reply_at(state_reply_at(r, 2), 0)),
		STR("?")))
		return RC_OK;
	if (!slot_map_read_address(state_reply_at(r, 2), host, &a))
		return RC_INVALID;
	rc = slot_map_node(m, &a, &node);
	for (i = from; rc == RC_OK && i <= to; i++)
		m->owner[i] = node;
	return rc;
}

enum rc
slot_map_read(const struct state_reply *r, const char *host, struct slot_map *m)
{
	enum rc rc;
	size_t i;

	m->n = 0;
	for (i = 0; i < CLUSTER_SLOTS; i++)
		m->owner[i] = SLOT_UNSERVED;
	if (state_reply_kind(r) != STATE_ARRAY ||
	    state_reply_len(r) > CLUSTER_SLOTS)
		return RC_INVALID;
	for (i = 0; i < state_reply_len(r); i++) {
		rc = slot_map_read_range(state_reply_at(r, i), host, m);
		if (rc != RC_OK)
			return rc;
	}
	return m->n > 0 ? RC_OK : RC_NOENT;
}

void
redirect_parse(struct str text, struct redirect *d)
{
	enum redirect_kind kind = REDIRECT_NONE;
	struct str word = str_split(&text, ' '), host;
	const char *colon;
	int64_t slot, port;

	*d = (struct redirect){ .kind = REDIRECT_NONE };
	if (str_eq(word, STR("MOVED")))
		kind = REDIRECT_MOVED;
	else if (str_eq(word, STR("ASK")))
		kind = REDIRECT_IMPORTING;
	if (kind == REDIRECT_NONE ||
	    str_to_i64(str_split(&text, ' '), 0, CLUSTER_SLOTS - 1, &slot) !=
		RC_OK)
		return;
	/* An IPv6 address has colons. */
	colon = text.n > 0 ? memrchr(text.p, ':', text.n) : NULL;
	if (colon == NULL)
		return;
	host = (struct str){ text.p, (size_t)(colon - text.p) };
	text = (struct str){ colon + 1, text.n - host.n - 1 };
	if (str_to_i64(text, 1, 65535, &port) != RC_OK ||
	    str_eq(host, STR("?")) ||
	    (host.n > 0 && !slot_map_put_host(host, &d->to)))
		return;
	d->to.port = (int)port;
	d->slot = (int)slot;
	d->kind = kind;
}
