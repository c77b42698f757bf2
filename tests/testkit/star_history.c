#include "testkit/star_history.h"

#include <stdarg.h>
#include <stdlib.h>

#include "core/mem.h"
#include "core/str.h"
#include "testkit/star_history_internal.h"
#include "testkit/testkit.h"

#define TEXT_MAX 200

/* Room for one more, of a size. */
static void *
history_grow(void *v, size_t n, size_t *cap, size_t size)
{
	if (n < *cap)
		return v;
	*cap = *cap > 0 ? 2 * *cap : 64;
	return mem_realloc(v, *cap * size);
}

struct star_history *
star_history_new(size_t n, int64_t resume_ms)
{
	struct star_history *h = mem_zalloc(sizeof(*h));
	size_t i;

	h->n = n;
	h->resume_ms = resume_ms;
	h->client = mem_calloc(n, sizeof(*h->client));
	for (i = 0; i < n; i++) {
		h->client[i].env = -1;
		h->client[i].newest = -1;
	}
	return h;
}

void
star_history_free(struct star_history *h)
{
	size_t i;

	for (i = 0; i < h->n; i++)
		free(h->client[i].conn);
	for (i = 0; i < h->n_notes; i++)
		free(h->note[i].text);
	free(h->client);
	free(h->message);
	free(h->delivery);
	free(h->note);
	free(h);
}

static void
history_note(struct star_history *h, int64_t at, int c, const char *text)
{
	h->note =
	    history_grow(h->note, h->n_notes, &h->cap_notes, sizeof(*h->note));
	h->note[h->n_notes++] =
	    (struct star_note){ at, c, str_dup(str_of(text)) };
}

void
star_history_failure(struct star_history *h, int64_t at, const char *what)
{
	history_note(h, at, STAR_FAILURE, what);
}

void
star_history_wrong(struct star_history *h, int64_t at, const char *text)
{
	history_note(h, at, STAR_NOBODY, text);
}

static void __attribute__((format(printf, 4, 5)))
history_wrong(struct star_history *h, int64_t at, int c, const char *fmt, ...)
{
	char text[TEXT_MAX];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	history_note(h, at, c, text);
}

static struct star_client *
history_client(struct star_history *h, int c)
{
	ck_assert(c >= 0 && (size_t)c < h->n);
	return &h->client[c];
}

static struct star_conn *
history_conn(struct star_history *h, int c, int conn)
{
	struct star_client *x = history_client(h, c);

	ck_assert(conn >= 0 && (size_t)conn < x->n);
	return &x->conn[conn];
}

/* ---- connections ---- */

int
star_history_opened(
    struct star_history *h, int64_t at, int c, enum star_opened how)
{
	struct star_client *x = history_client(h, c);
	uint32_t session = x->n > 0 ? x->conn[x->n - 1].session : 0;
	size_t i;

	x->conn = history_grow(x->conn, x->n, &x->cap, sizeof(*x->conn));
	x->conn[x->n] = (struct star_conn){ at, STAR_NEVER, how,
		session + (how != STAR_RESUMED), false };
	if (how != STAR_RESUMED)
		x->member_at = STAR_NEVER;
	h->counts.opened[how]++;
	for (i = 0; i < h->n && how != STAR_RESUMED; i++)
		if (h->client[i].env == c)
			h->client[i].notified = false;
	return (int)x->n++;
}

void
star_history_ended(struct star_history *h, int64_t at, int c, int conn)
{
	struct star_conn *k = history_conn(h, c, conn);

	if (k->ended == STAR_NEVER)
		k->ended = at;
}

void
star_history_noticed(struct star_history *h, int64_t at, int c, int conn)
{
	const struct star_client *x = history_client(h, c);
	struct star_conn *k = history_conn(h, c, conn);
	int64_t newer;

	if ((size_t)conn + 1 == x->n || k->silent_overdue)
		return;
	newer = x->conn[conn + 1].opened;
	if (at <= newer + STAR_PRESENCE_MS)
		return;
	k->silent_overdue = true;
	history_wrong(h, at, c,
	    "client %d: connection %d is served %lld ms after a newer one has "
	    "opened",
	    c, conn, (long long)(at - newer));
}

/* ---- messages ---- */

static void
history_add_delivery(struct star_history *h, int to, bool expected)
{
	h->delivery = history_grow(h->delivery, h->n_deliveries,
	    &h->cap_deliveries, sizeof(*h->delivery));
	h->delivery[h->n_deliveries++] =
	    (struct star_delivery){ .message = (uint32_t)h->n_messages,
		    .to = to,
		    .expected = expected };
}

static uint32_t
history_add_message(
    struct star_history *h, int64_t at, int from, size_t n, bool broadcast)
{
	struct star_client *x = history_client(h, from);

	ck_assert_uint_gt(x->n, 0);
	h->message = history_grow(
	    h->message, h->n_messages, &h->cap_messages, sizeof(*h->message));
	h->message[h->n_messages] = (struct star_message){ .at = at,
		.from = from,
		.conn = (int)x->n - 1,
		.first = (uint32_t)(h->n_deliveries - n),
		.n = (uint32_t)n,
		.before = x->newest,
		.broadcast = broadcast };
	x->newest = (int64_t)h->n_messages;
	return (uint32_t)h->n_messages++;
}

uint32_t
star_history_send(struct star_history *h, int64_t at, int from, int to)
{
	history_add_delivery(h, to, true);
	return history_add_message(h, at, from, 1, false);
}

uint32_t
star_history_broadcast(
    struct star_history *h, int64_t at, int env, const int *to, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		history_add_delivery(
		    h, to[i], star_history_is_notified(h, env, to[i]));
	return history_add_message(h, at, env, n, true);
}

void
star_history_taken(struct star_history *h, uint32_t number)
{
	const struct star_message *last;
	int64_t i = (int64_t)number;

	ck_assert_uint_lt(number, h->n_messages);
	last = &h->message[number];
	for (;
	     i >= 0 && !h->message[i].taken && h->message[i].conn == last->conn;
	     i = h->message[i].before)
		h->message[i].taken = true;
}

void
star_history_received(
    struct star_history *h, int64_t at, int c, int conn, uint32_t number)
{
	const struct star_conn *k = history_conn(h, c, conn);
	const struct star_message *m = NULL;
	struct star_delivery *d = NULL;
	uint32_t i;

	if (number < h->n_messages) {
		m = &h->message[number];
		for (i = m->first; i < m->first + m->n && d == NULL; i++)
			if (h->delivery[i].to == c)
				d = &h->delivery[i];
	}
	if (d == NULL) {
		history_wrong(h, at, c, "client %d got message %u, not for it",
		    c, (unsigned)number);
		return;
	}
	if (d->order > 0) {
		history_wrong(h, at, c, "client %d got message %u twice", c,
		    (unsigned)number);
		return;
	}
	d->order = ++h->client[c].received;
	d->session = k->session;
	h->counts.received++;
}

void
star_history_failed(
    struct star_history *h, int64_t at, int c, uint32_t number, bool unknown)
{
	struct star_message *m;

	if (number >= h->n_messages || h->message[number].from != c) {
		history_wrong(h, at, c,
		    "client %d got an error about message %u, not its own", c,
		    (unsigned)number);
		return;
	}
	m = &h->message[number];
	/* Of a broadcast one for each hub; of one that was not confirmed what
	 * became of it, too. */
	if (m->error != STAR_NO_ERROR && !m->broadcast &&
	    unknown == (m->error == STAR_UNKNOWN))
		history_wrong(h, at, c,
		    "client %d got two errors about message %u", c,
		    (unsigned)number);
	if (m->error != STAR_REJECTED)
		m->error = unknown ? STAR_UNKNOWN : STAR_REJECTED;
	*(unknown ? &h->counts.unknown : &h->counts.refused) += 1;
}

void
star_history_dropped(struct star_history *h, int64_t at, int c, uint32_t n)
{
	struct star_client *x = history_client(h, c);

	x->dropped += n;
	x->dropped_at = at;
	h->counts.dropped += n;
}

/* ---- presence ---- */

void
star_history_member(struct star_history *h, int64_t at, int c, int env)
{
	struct star_client *x = history_client(h, c);

	ck_assert(x->env == -1 || x->env == env);
	x->env = env;
	x->member_at = at;
}

/* What env has sent to it, unless a hub is known to have handled that before:
 * it was no member any more. */
static void
history_member_left(struct star_history *h, int env, int c)
{
	const struct star_message *m;
	int64_t i = h->client[env].newest;
	uint32_t k;

	for (; i >= 0 && !h->message[i].taken; i = h->message[i].before) {
		m = &h->message[i];
		for (k = m->first; m->broadcast && k < m->first + m->n; k++)
			if (h->delivery[k].to == c)
				h->delivery[k].expected = false;
	}
}

void
star_history_notified(struct star_history *h, int env, int c, bool is)
{
	struct star_client *x = history_client(h, c);

	ck_assert(x->env == -1 || x->env == env);
	x->env = env;
	x->notified = is;
	if (!is)
		history_member_left(h, env, c);
}

bool
star_history_is_notified(const struct star_history *h, int env, int c)
{
	return h->client[c].env == env && h->client[c].notified;
}
