#include "reports/report_queue.h"

#include <stdlib.h>

#include "core/mem.h"
#include "reports/report_pace.h"

struct report_queue {
	STAILQ_HEAD(, report_entry) list;
	size_t n, replays;
};

struct report_entry *
report_entry_new(enum terminal_report_kind kind, struct str id)
{
	struct report_entry *e = mem_zalloc(sizeof(*e) + id.n + 1);

	str_copy(id, e->id, id.n + 1);
	e->t = (struct terminal_report){ .kind = kind,
		.id = (struct str){ e->id, id.n } };
	return e;
}

void
report_entry_free(struct report_entry *e)
{
	if (e->details != NULL)
		buf_free(&e->details->json);
	free(e->details);
	free(e);
}

size_t
report_entry_weight(const struct report_entry *e)
{
	return report_weight(
	    e->t.snap.json.n + e->t.snap.soul_hint.n + e->t.rejection.json.n);
}

struct report_queue *
report_queue_new(void)
{
	struct report_queue *q = mem_zalloc(sizeof(*q));

	STAILQ_INIT(&q->list);
	return q;
}

void
report_queue_free(struct report_queue *q)
{
	struct report_entry *e;

	if (q == NULL)
		return;
	while ((e = report_queue_take(q, SIZE_MAX)) != NULL)
		report_entry_free(e);
	free(q);
}

bool
report_queue_push(struct report_queue *q, struct report_entry *e)
{
	if (q->n >= REPORT_QUEUE_MAX)
		return false;
	STAILQ_INSERT_TAIL(&q->list, e, link);
	q->n++;
	if (e->t.replayed)
		q->replays++;
	return true;
}

struct report_entry *
report_queue_take(struct report_queue *q, size_t room)
{
	struct report_entry *e = STAILQ_FIRST(&q->list);

	if (e == NULL || report_entry_weight(e) > room)
		return NULL;
	STAILQ_REMOVE_HEAD(&q->list, link);
	q->n--;
	if (e->t.replayed)
		q->replays--;
	return e;
}

size_t
report_queue_len(const struct report_queue *q)
{
	return q->n;
}

size_t
report_queue_replays(const struct report_queue *q)
{
	return q->replays;
}
