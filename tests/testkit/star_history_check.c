/* The rules of a history. */
#include <stdlib.h>

#include "core/mem.h"
#include "testkit/star_history_internal.h"

/* Notes that are printed with what is wrong: this long around it. */
#define AROUND_MS 10000

struct star_check {
	struct star_history *h;
	FILE *to;
	size_t n;
};

/* ---- printing ---- */

static void
check_print_client(const struct star_check *k, int c, int64_t at)
{
	static const char *const how[] = { "new", "resumed", "lost" };
	const struct star_client *x = &k->h->client[c];
	const struct star_conn *conn;
	size_t i;

	for (i = 0; i < x->n; i++) {
		conn = &x->conn[i];
		if (conn->opened > at + AROUND_MS ||
		    (conn->ended != STAR_NEVER && conn->ended < at - AROUND_MS))
			continue;
		fprintf(k->to,
		    "  client %d: connection %zu, session %u (%s), %lld to "
		    "%lld\n",
		    c, i, (unsigned)conn->session, how[conn->how],
		    (long long)conn->opened,
		    conn->ended == STAR_NEVER ? -1LL : (long long)conn->ended);
	}
}

static void
check_print_notes(const struct star_check *k, int64_t at)
{
	const struct star_note *n;
	size_t i;

	for (i = 0; i < k->h->n_notes; i++) {
		n = &k->h->note[i];
		if (n->client == STAR_FAILURE && n->at >= at - AROUND_MS &&
		    n->at <= at + AROUND_MS)
			fprintf(
			    k->to, "  %lld %s\n", (long long)n->at, n->text);
	}
}

/* About one delivery. */
static void
check_wrong(
    struct star_check *k, const struct star_delivery *d, const char *what)
{
	const struct star_message *m = &k->h->message[d->message];

	if (k->n++ >= STAR_PRINT_MAX)
		return;
	fprintf(k->to,
	    "wrong: %s %u of %d, sent at %lld on connection %d%s, to %d %s\n",
	    m->broadcast ? "broadcast" : "message", (unsigned)d->message,
	    m->from, (long long)m->at, m->conn,
	    m->error == STAR_REJECTED      ? ", refused"
		: m->error == STAR_UNKNOWN ? ", perhaps lost"
					   : "",
	    d->to, what);
	check_print_client(k, m->from, m->at);
	check_print_client(k, d->to, m->at);
	check_print_notes(k, m->at);
}

/* ---- what explains that a message is missing ---- */

/* When the connection before conn was over for its client. */
static int64_t
check_end_before(const struct star_client *x, size_t conn)
{
	const struct star_conn *before = &x->conn[conn - 1];

	return before->ended < x->conn[conn].opened ? before->ended
						    : x->conn[conn].opened;
}

/* Whether the hub's response to what was sent then may have been lost with the
 * sender's session. */
static bool
check_sender_lost(const struct star_client *x, const struct star_message *m)
{
	size_t i;

	for (i = (size_t)m->conn + 1; i < x->n; i++)
		if (x->conn[i].how != STAR_RESUMED)
			return check_end_before(x, i) <=
			    m->at + STAR_ON_ITS_WAY_MS;
	return false;
}

/*
 * The same of the recipient's; later is the session in which the next message
 * of the same kind of that sender's connection came: one that came in the lost
 * session came after this one would have; 0: none came.
 */
static bool
check_recipient_lost(
    const struct star_client *x, const struct star_message *m, uint32_t later)
{
	size_t i;

	for (i = 1; i < x->n; i++)
		if (x->conn[i].how != STAR_RESUMED &&
		    m->at <= x->conn[i].opened &&
		    m->at >= check_end_before(x, i) - STAR_ON_ITS_WAY_MS &&
		    (later == 0 || later >= x->conn[i].session))
			return true;
	return false;
}

static bool
check_is_dropped(struct star_client *x, const struct star_message *m)
{
	if (x->dropped_at < m->at || x->excused == x->dropped)
		return false;
	x->excused++;
	return true;
}

static bool
check_is_explained(
    struct star_check *k, const struct star_delivery *d, uint32_t later)
{
	struct star_history *h = k->h;
	const struct star_message *m = &h->message[d->message];
	struct star_client *from = &h->client[m->from], *to = &h->client[d->to];
	struct star_counts *n = &h->counts;
	size_t *why = NULL;

	if (m->error != STAR_NO_ERROR)
		why = &n->with_error;
	else if (!m->taken && from->conn[m->conn].ended != STAR_NEVER)
		why = &n->not_taken;
	else if (check_sender_lost(from, m))
		why = &n->sender_lost;
	else if (check_recipient_lost(to, m, later))
		why = &n->recipient_lost;
	else if ((m->broadcast && check_is_dropped(to, m)) ||
	    check_is_dropped(from, m))
		why = &n->reported_dropped;
	if (why != NULL)
		*why += 1;
	return why != NULL;
}

/* ---- a sender and a recipient ---- */

/* By recipient, sender, kind, and then in the order of sending. */
static int
check_compare(const void *a, const void *b, void *arg)
{
	const struct star_history *h = arg;
	const struct star_delivery *x = &h->delivery[*(const uint32_t *)a];
	const struct star_delivery *y = &h->delivery[*(const uint32_t *)b];
	const struct star_message *m = &h->message[x->message];
	const struct star_message *k = &h->message[y->message];

	if (x->to != y->to)
		return x->to < y->to ? -1 : 1;
	if (m->from != k->from)
		return m->from < k->from ? -1 : 1;
	if (m->broadcast != k->broadcast)
		return m->broadcast < k->broadcast ? -1 : 1;
	return x->message < y->message ? -1 : x->message > y->message;
}

static bool
check_is_same_group(const struct star_history *h, uint32_t a, uint32_t b)
{
	const struct star_delivery *x = &h->delivery[a], *y = &h->delivery[b];
	const struct star_message *m = &h->message[x->message];
	const struct star_message *k = &h->message[y->message];

	return x->to == y->to && m->from == k->from && m->conn == k->conn &&
	    m->broadcast == k->broadcast;
}

/* v[0 … n - 1]: what one connection has sent to one recipient. */
static void
check_group(struct star_check *k, const uint32_t *v, size_t n)
{
	struct star_history *h = k->h;
	/* Of the next one that came: they are visited backwards. */
	uint32_t later = 0, order = 0;
	const struct star_delivery *d;
	const struct star_message *m;

	while (n-- > 0) {
		d = &h->delivery[v[n]];
		m = &h->message[d->message];
		if (d->order == 0) {
			if (d->expected && !check_is_explained(k, d, later))
				check_wrong(
				    k, d, "is missing without an error");
			continue;
		}
		if (!m->broadcast && m->error == STAR_REJECTED)
			check_wrong(k, d, "came after all");
		if (later == d->session && order < d->order)
			check_wrong(k, d, "came after a later one");
		later = d->session;
		order = d->order;
	}
}

/* What was found wrong before. */
static void
check_notes(struct star_check *k)
{
	const struct star_note *n;
	size_t i;

	for (i = 0; i < k->h->n_notes; i++) {
		n = &k->h->note[i];
		if (n->client == STAR_FAILURE || k->n++ >= STAR_PRINT_MAX)
			continue;
		fprintf(k->to, "wrong: %lld %s\n", (long long)n->at, n->text);
		if (n->client != STAR_NOBODY)
			check_print_client(k, n->client, n->at);
		check_print_notes(k, n->at);
	}
}

size_t
star_history_check(struct star_history *h, struct star_counts *n, FILE *to)
{
	struct star_check k = { h, to, 0 };
	uint32_t *v = mem_calloc(h->n_deliveries + 1, sizeof(*v));
	size_t i, first = 0;

	check_notes(&k);
	for (i = 0; i < h->n_deliveries; i++)
		v[i] = (uint32_t)i;
	qsort_r(v, h->n_deliveries, sizeof(*v), check_compare, h);
	for (i = 1; i <= h->n_deliveries; i++) {
		if (i < h->n_deliveries &&
		    check_is_same_group(h, v[i], v[first]))
			continue;
		check_group(&k, v + first, i - first);
		first = i;
	}
	free(v);
	for (i = 0; i < h->n_messages; i++)
		*(h->message[i].broadcast ? &h->counts.broadcasts
					  : &h->counts.messages) += 1;
	if (n != NULL)
		*n = h->counts;
	return k.n;
}

/* ---- presence ---- */

/* Whether it has been connected, or not, for so long that everybody knows. */
static bool
view_is_settled(
    const struct star_history *h, const struct star_client *x, int64_t at)
{
	const struct star_conn *k;

	if (x->n == 0)
		return true;
	k = &x->conn[x->n - 1];
	return k->ended == STAR_NEVER
	    ? at > k->opened + STAR_PRESENCE_MS
	    : at > k->ended + h->resume_ms + STAR_PRESENCE_MS;
}

static bool
view_is_connected(const struct star_client *x)
{
	return x->n > 0 && x->conn[x->n - 1].ended == STAR_NEVER;
}

size_t
star_history_check_views(struct star_history *h, int64_t at, bool all, FILE *to)
{
	const struct star_client *x, *env;
	char text[160];
	size_t i, wrong = 0;

	for (i = 0; i < h->n; i++) {
		x = &h->client[i];
		if (x->env == -1)
			continue;
		env = &h->client[x->env];
		if (!all &&
		    (!view_is_connected(env) || !view_is_settled(h, env, at) ||
			!view_is_settled(h, x, at) ||
			(view_is_connected(x) &&
			    x->member_at >= at - STAR_PRESENCE_MS)))
			continue;
		h->counts.views++;
		if (x->notified == view_is_connected(x))
			continue;
		(void)snprintf(text, sizeof(text),
		    "environment %d was notified that %zu is %sa member, "
		    "which is %sconnected",
		    x->env, i, x->notified ? "" : "not ",
		    view_is_connected(x) ? "" : "not ");
		star_history_wrong(h, at, text);
		if (wrong++ < STAR_PRINT_MAX) {
			const struct star_check k = { h, to, 0 };

			fprintf(to, "wrong: %lld %s\n", (long long)at, text);
			check_print_client(&k, x->env, at);
			check_print_client(&k, (int)i, at);
			check_print_notes(&k, at);
		}
	}
	return wrong;
}
