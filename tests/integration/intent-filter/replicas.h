/*
 * replicas: intent-filters that share the work, some of which are killed.
 */
#ifndef REPLICAS_H
#define REPLICAS_H

#include <signal.h>

#include "asking.h"

#define REPLICAS 3
#define AT_ONCE  64

struct replicas {
	struct tk_server nats;
	struct running r[REPLICAS];
	struct asking asking;
	size_t until; /* so many answers */
};

static inline const char *
replica_name(int i)
{
	static const char *const names[REPLICAS] = { "one", "two", "three" };

	return names[i];
}

static inline void
replicas_start(struct replicas *s)
{
	memset(s, 0, sizeof(*s));
	tk_server_start(&s->nats, TK_NATS);
	for (int i = 0; i < REPLICAS; i++)
		running_start(&s->r[i], replica_name(i), s->nats.url);
	asking_start(&s->asking, s->nats.url, NULL);
	s->asking.question = str_of(protocol());
}

static inline void
replicas_stop(struct replicas *s)
{
	for (int i = 0; i < REPLICAS; i++)
		tk_service_end(&s->r[i].s);
	asking_stop(&s->asking);
	tk_server_stop(&s->nats, SIGTERM);
}

static inline bool
replicas_answered(void *arg)
{
	const struct replicas *s = arg;

	return s->asking.good + s->asking.bad >= s->until;
}

/* Have n more answered, with the load going on. */
static inline void
replicas_answer(struct replicas *s, size_t n)
{
	s->until = s->asking.good + s->asking.bad + n;
	asking_fill(&s->asking, AT_ONCE);
	ck_assert(
	    tk_loop_until(s->asking.loop, replicas_answered, s, ASKING_MS));
}

/*
 * Kill one that has questions in hand: it is stopped first, and killed when
 * others have answered some more, so that its share waits in it.
 */
static inline void
replicas_kill(struct replicas *s, int i)
{
	int64_t before = asking_again(&s->asking);

	tk_signal(&s->r[i].s.proc, SIGSTOP);
	replicas_answer(s, 20);
	tk_service_kill(&s->r[i].s);
	replicas_answer(s, 2000);
	while (asking_again(&s->asking) == before)
		replicas_answer(s, 100);
}

#endif /* !REPLICAS_H */
