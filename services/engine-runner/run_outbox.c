#include "run_outbox.h"

#include <stdlib.h>
#include <string.h>

#include "core/mem.h"

struct run_outbox_event {
	TAILQ_ENTRY(run_outbox_event) link;
	int64_t ns;
	size_t n;
	char json[];
};

void
run_outbox_init(struct run_outbox *o, int64_t fcmp, int64_t rasp)
{
	*o = (struct run_outbox){ .published = { fcmp, rasp } };
	for (size_t i = 0; i < RUN_LOGS_N; i++)
		TAILQ_INIT(&o->queue[i]);
}

static void
outbox_drop(struct run_outbox *o, enum run_log log)
{
	struct run_outbox_event *e = TAILQ_FIRST(&o->queue[log]);

	TAILQ_REMOVE(&o->queue[log], e, link);
	o->n--;
	o->bytes -= e->n;
	free(e);
}

void
run_outbox_free(struct run_outbox *o)
{
	for (size_t i = 0; i < RUN_LOGS_N; i++)
		while (!TAILQ_EMPTY(&o->queue[i]))
			outbox_drop(o, (enum run_log)i);
}

void
run_outbox_put(
    struct run_outbox *o, enum run_log log, struct str json, int64_t ns)
{
	struct run_outbox_event *e;

	if (++o->made[log] <= o->published[log])
		return;
	e = mem_alloc(sizeof(*e) + json.n);
	e->ns = ns;
	e->n = json.n;
	memcpy(e->json, json.p, json.n);
	TAILQ_INSERT_TAIL(&o->queue[log], e, link);
	o->n++;
	o->bytes += json.n;
}

size_t
run_outbox_batch(const struct run_outbox *o, enum run_log log, struct str *json,
    size_t max, size_t *bytes)
{
	const struct run_outbox_event *e;
	size_t n = 0;

	TAILQ_FOREACH (e, &o->queue[log], link) {
		if (n == max || (n > 0 && e->n > *bytes))
			break;
		json[n++] = (struct str){ e->json, e->n };
		*bytes -= e->n < *bytes ? e->n : *bytes;
	}
	return n;
}

void
run_outbox_published(struct run_outbox *o, enum run_log log, int64_t n)
{
	while (o->published[log] < n && !TAILQ_EMPTY(&o->queue[log])) {
		outbox_drop(o, log);
		o->published[log]++;
	}
	/* Those are skipped when the spool is read up to them. */
	if (o->published[log] < n)
		o->published[log] = n;
}

bool
run_outbox_is_full(const struct run_outbox *o)
{
	return o->n >= RUN_OUTBOX_MAX || o->bytes >= RUN_OUTBOX_BYTES;
}

bool
run_outbox_is_empty(const struct run_outbox *o)
{
	return o->n == 0;
}

int64_t
run_outbox_oldest_ns(const struct run_outbox *o)
{
	int64_t ns = 0;

	for (size_t i = 0; i < RUN_LOGS_N; i++) {
		const struct run_outbox_event *e = TAILQ_FIRST(&o->queue[i]);

		if (e != NULL && (ns == 0 || e->ns < ns))
			ns = e->ns;
	}
	return ns;
}
