/*
 * A list in the order of beginning.
 */
#include "timeline.h"

#include <stdlib.h>

#include "core/mem.h"
#include "wire/wire.h"

#define GROW 8

const char *
timeline_name(enum timeline_kind kind)
{
	static const char *const names[] = {
		[TIMELINE_QUEUE] = "queue",
		[TIMELINE_LOAD] = "load",
		[TIMELINE_EMOTION] = "emotion",
		[TIMELINE_INTENT] = "intent",
		[TIMELINE_MEMORY] = "memory",
		[TIMELINE_ACT] = "act",
		[TIMELINE_THINK] = "think",
		[TIMELINE_INVOKE] = "invoke",
		[TIMELINE_RECALL] = "recall",
		[TIMELINE_FORGET] = "forget",
		[TIMELINE_STORE] = "store",
	};

	return names[kind];
}

/* The newest that goes on; any key with SIZE_MAX. */
static struct timeline_stage *
open_stage(struct timeline *t, enum timeline_kind kind, size_t key)
{
	for (size_t i = t->n; i > 0; i--) {
		struct timeline_stage *s = &t->list[i - 1];
		if (s->kind == kind && s->end.ns == 0 &&
		    (key == SIZE_MAX || s->key == key))
			return s;
	}
	return NULL;
}

void
timeline_begin(struct timeline *t, const struct timeline_stage *s)
{
	if (t->n == TIMELINE_MAX || open_stage(t, s->kind, s->key) != NULL)
		return;
	if (t->n == t->cap) {
		t->cap += GROW;
		t->list = mem_realloc(t->list, t->cap * sizeof(*t->list));
	}
	t->list[t->n++] = *s;
}

void
timeline_end(struct timeline *t, enum timeline_kind kind, size_t key,
    const char *outcome, struct mono now)
{
	struct timeline_stage *s = open_stage(t, kind, key);

	if (s == NULL)
		return;
	s->end = now;
	s->outcome = outcome;
}

void
timeline_first(struct timeline *t, enum timeline_kind kind, struct mono now)
{
	struct timeline_stage *s = open_stage(t, kind, SIZE_MAX);

	if (s != NULL && s->first.ns == 0)
		s->first = now;
}

void
timeline_close(struct timeline *t, const char *outcome, struct mono now)
{
	for (size_t i = 0; i < t->n; i++) {
		if (t->list[i].end.ns != 0)
			continue;
		t->list[i].end = now;
		t->list[i].outcome = outcome;
	}
}

size_t
timeline_count(const struct timeline *t, enum timeline_kind kind)
{
	size_t n = 0;

	for (size_t i = 0; i < t->n; i++)
		n += t->list[i].kind == kind;
	return n;
}

double
timeline_ms(struct mono from, struct mono to)
{
	int64_t us = mono_diff_ns(to, from) / 1000;

	return us > 0 ? (double)us / 1000 : 0;
}

static void
item(const struct timeline *t, const struct timeline_stage *s,
    struct wire_turn_record_timeline *out)
{
	*out = (struct wire_turn_record_timeline){
		.stage = str_of(timeline_name(s->kind)),
		.what = s->what,
		.start_ms = timeline_ms(t->start, s->begin),
		.ms = timeline_ms(s->begin, s->end),
		.has_ms = s->end.ns != 0,
		.first_ms = timeline_ms(s->begin, s->first),
		.has_first_ms = s->first.ns != 0,
		.outcome = str_of(s->outcome),
	};
}

struct wire_turn_record_timeline *
timeline_items(const struct timeline *t, struct arena *a)
{
	struct wire_turn_record_timeline *list =
	    arena_alloc(a, t->n * sizeof(*list));

	for (size_t i = 0; list != NULL && i < t->n; i++)
		item(t, &t->list[i], &list[i]);
	return list;
}

enum rc
timeline_write(const struct timeline *t, struct arena *a, struct buf *b)
{
	const struct wire_turn_record_timeline *list = timeline_items(t, a);
	enum rc rc = list != NULL ? RC_OK : RC_TOOBIG;

	buf_putc(b, '[');
	for (size_t i = 0; rc == RC_OK && i < t->n; i++) {
		if (i > 0)
			buf_putc(b, ',');
		rc = wire_encode(
		    &wire_turn_record_timeline_desc, &list[i], b, NULL);
	}
	buf_putc(b, ']');
	return rc == RC_OK ? buf_rc(b) : rc;
}

void
timeline_free(struct timeline *t)
{
	free(t->list);
	t->list = NULL;
	t->n = t->cap = 0;
}
