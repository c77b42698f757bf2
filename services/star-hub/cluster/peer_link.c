#include "cluster/peer_link.h"

#include <assert.h>
#include <stdlib.h>

#include "core/mem.h"

#define SENT_FIRST 64

struct peer_link {
	/* A ring of those from first on; taken ones have no message. */
	struct link_sent *sent;
	size_t cap; /* a power of two */
	int64_t first, next;
	size_t pending;
	int64_t received;
};

struct peer_link *
peer_link_new(void)
{
	struct peer_link *l = mem_zalloc(sizeof(*l));

	l->first = l->next = 1;
	return l;
}

void
peer_link_free(struct peer_link *l)
{
	if (l == NULL)
		return;
	assert(l->pending == 0);
	free(l->sent);
	free(l);
}

static struct link_sent *
link_at(const struct peer_link *l, int64_t n)
{
	return &l->sent[(size_t)n & (l->cap - 1)];
}

static void
link_grow(struct peer_link *l)
{
	struct link_sent *old = l->sent;
	size_t cap = l->cap;
	int64_t n;

	l->cap = cap > 0 ? 2 * cap : SENT_FIRST;
	l->sent = mem_calloc(l->cap, sizeof(*l->sent));
	for (n = l->first; n < l->next; n++)
		*link_at(l, n) = old[(size_t)n & (cap - 1)];
	free(old);
}

int64_t
peer_link_add(struct peer_link *l, void *message, struct mono now)
{
	size_t n = (size_t)(l->next - l->first);

	if (n == PEER_LINK_MAX)
		return 0;
	if (n == l->cap)
		link_grow(l);
	*link_at(l, l->next) = (struct link_sent){ message, now };
	l->pending++;
	return l->next++;
}

void *
peer_link_take(struct peer_link *l, int64_t n)
{
	struct link_sent *s;
	void *message;

	if (n < l->first || n >= l->next)
		return NULL;
	s = link_at(l, n);
	message = s->message;
	if (message == NULL)
		return NULL;
	s->message = NULL;
	l->pending--;
	while (l->first < l->next && link_at(l, l->first)->message == NULL)
		l->first++;
	return message;
}

/* The oldest is pending, if there is any. */
static bool
link_take_first(struct peer_link *l, struct link_sent *out)
{
	*out = *link_at(l, l->first);
	return peer_link_take(l, l->first) != NULL;
}

bool
peer_link_take_done(struct peer_link *l, int64_t n, struct link_sent *out)
{
	return l->first < l->next && l->first <= n && link_take_first(l, out);
}

bool
peer_link_take_overdue(
    struct peer_link *l, struct mono before, struct link_sent *out)
{
	return l->first < l->next && link_at(l, l->first)->at.ns < before.ns &&
	    link_take_first(l, out);
}

int64_t
peer_link_newest(const struct peer_link *l)
{
	return l->next - 1;
}

bool
peer_link_is_done(const struct peer_link *l, int64_t n)
{
	return l->first > n;
}

size_t
peer_link_count(const struct peer_link *l)
{
	return l->pending;
}

bool
peer_link_receive(struct peer_link *l, int64_t n, int64_t *missing)
{
	*missing = 0;
	if (n <= l->received)
		return false;
	*missing = n - l->received - 1;
	l->received = n;
	return true;
}

int64_t
peer_link_received(const struct peer_link *l)
{
	return l->received;
}
