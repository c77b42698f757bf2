/*
 * A short list, looked through.
 */
#include "alarms.h"

#include <stdlib.h>

#include "core/mem.h"

void
alarms_init(struct alarms *al)
{
	TAILQ_INIT(&al->list);
	al->n = 0;
}

static void
forget(struct alarms *al, struct alarm *a)
{
	TAILQ_REMOVE(&al->list, a, link);
	al->n--;
	free(a);
}

void
alarms_free(struct alarms *al)
{
	struct alarm *a;

	while ((a = TAILQ_FIRST(&al->list)) != NULL)
		forget(al, a);
}

enum rc
alarms_add(struct alarms *al, struct wall at, struct str label)
{
	struct alarm *a;

	if (al->n == ALARMS_MAX) {
		TAILQ_FOREACH (a, &al->list, link) {
			if (a->fired.ms != 0)
				break;
		}
		if (a == NULL)
			return RC_RETRY;
		forget(al, a);
	}
	a = mem_zalloc(sizeof(*a));
	a->at = at;
	str_copy(label, a->label, sizeof(a->label));
	TAILQ_INSERT_TAIL(&al->list, a, link);
	al->n++;
	return RC_OK;
}

static struct alarm *
first(const struct alarms *al)
{
	struct alarm *a, *best = NULL;

	TAILQ_FOREACH (a, &al->list, link) {
		if (a->fired.ms == 0 &&
		    (best == NULL || a->at.ms < best->at.ms))
			best = a;
	}
	return best;
}

struct wall
alarms_next(const struct alarms *al)
{
	const struct alarm *a = first(al);

	return a != NULL ? a->at : (struct wall){ 0 };
}

const struct alarm *
alarms_ring(struct alarms *al, struct wall now)
{
	struct alarm *a = first(al);

	if (a == NULL || a->at.ms > now.ms)
		return NULL;
	a->fired = now;
	return a;
}
