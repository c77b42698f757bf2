/*
 * Spools of any bytes: the first selects the engine and how it ended, the next
 * how many bytes each file has.  Each attempt ends once, each byte is in an
 * event, and the events are the same if the bytes are given one at a time.
 */
#include <stdlib.h>
#include <string.h>

#include "attempt.h"
#include "core/arena.h"
#include "core/mem.h"
#include "events/translate.h"
#include "must.h"
#include "spool/replay.h"
#include "wire/msgs.h"
#include "wire/wire.h"

#define EVENTS_MAX (64UL * 1024 * 1024)

struct attempt_run {
	struct str engine;
	struct translate translate;
	struct buf events, one;
	struct arena *arena;
	char *covered[SPOOL_STREAMS_N];
	size_t n[SPOOL_STREAMS_N];
	size_t ends;
};

static void
attempt_cover(struct attempt_run *run, size_t stream, int64_t from, int64_t to)
{
	must(from >= 0 && from <= to && (size_t)to <= run->n[stream]);
	if (to > from)
		memset(run->covered[stream] + from, 1, (size_t)(to - from));
}

static void
attempt_on_event(void *arg, const struct rasp_event *e)
{
	struct attempt_run *run = arg;
	struct wire_rasp_event rasp;
	struct wire_chat_event fcmp;

	attempt_cover(run, 0, e->raw.stdout_from, e->raw.stdout_to);
	attempt_cover(run, 1, e->raw.stderr_from, e->raw.stderr_to);
	run->ends += e->type == RASP_RUN_COMPLETED ||
	    e->type == RASP_RUN_FAILED || e->type == RASP_RUN_CANCELED ||
	    e->type == RASP_INPUT_REQUESTED;
	buf_reset(&run->one);
	rasp_write(STR("r"), run->engine, e, &run->one);
	arena_reset(run->arena);
	must(wire_decode(&wire_rasp_event_desc, buf_str(&run->one), run->arena,
		 &rasp, NULL) == RC_OK);
	buf_put_str(&run->events, buf_str(&run->one));
	buf_reset(&run->one);
	if (!translate_event(&run->translate, e, &run->one))
		return;
	arena_reset(run->arena);
	must(wire_decode(&wire_chat_event_desc, buf_str(&run->one), run->arena,
		 &fcmp, NULL) == RC_OK);
	buf_put_str(&run->events, buf_str(&run->one));
}

static void
attempt_run_spool(struct attempt_run *run, const struct engine *engine,
    const struct spool_meta *meta, const struct replay *r)
{
	const struct attempt_opts o = { .engine = engine,
		.meta = meta,
		.event = attempt_on_event,
		.arg = run };
	struct attempt *a;

	*run = (struct attempt_run){ .engine = engine->name,
		.translate = { STR("r"), engine->name, 0 },
		.n = { r->out.n, r->err.n },
		.arena = arena_new(WIRE_ARENA_MAX) };
	buf_init(&run->events, EVENTS_MAX);
	buf_init(&run->one, RASP_EVENT_MAX);
	for (size_t i = 0; i < SPOOL_STREAMS_N; i++)
		run->covered[i] = mem_zalloc(run->n[i] + 1);
	a = attempt_new(&o);
	replay_run(r, a);
	must(attempt_result(a)->end != ATTEMPT_RUNNING && run->ends == 1);
	attempt_free(a);
	for (size_t i = 0; i < SPOOL_STREAMS_N; i++) {
		must(run->n[i] == 0 ||
		    memchr(run->covered[i], 0, run->n[i]) == NULL);
		free(run->covered[i]);
	}
	buf_free(&run->one);
	arena_free(run->arena);
}

/* The next n bytes of the input, or fewer; a copy. */
static struct str
attempt_take(const uint8_t **data, size_t *left, size_t n)
{
	char *p;

	if (n > *left)
		n = *left;
	p = mem_alloc(n + 1);
	memcpy(p, *data, n);
	*data += n;
	*left -= n;
	return (struct str){ p, n };
}

static void
attempt_drop(struct str s)
{
	free((void *)(uintptr_t)s.p);
}

/* A journal whose bytes are any, and the exit and meta by the first bytes. */
int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct attempt_run whole, parts;
	struct replay r = { 0 };
	struct spool_meta meta = { .attempt = 1 };
	const struct engine *engine;
	struct str journal;

	if (n < 5)
		return 0;
	engine = engine_at(data[0] % 4U);
	r.exit.code = (data[0] & 4) != 0 ? data[1] : 0;
	r.exit.stop = (enum spool_stop)((data[0] >> 3) % SPOOL_STOPS_N);
	meta.mode = (data[1] & 1) != 0 ? STR("auto") : STR("interactive");
	meta.attempts_max = (data[1] >> 1) % 3;
	if ((data[1] & 16) != 0)
		meta.output_schema = STR("{\"required\":[\"n\"]}");
	/* Files of 256 bytes times a quarter of the input at most. */
	size_t n_err = data[2] * n / 1024, n_journal = data[3] * n / 1024;
	data += 4;
	n -= 4;
	r.err = attempt_take(&data, &n, n_err);
	journal = attempt_take(&data, &n, n_journal);
	r.out = attempt_take(&data, &n, n);
	if (journal.n > 0)
		r.journal = journal;
	attempt_run_spool(&whole, engine, &meta, &r);
	r.feed = 1;
	attempt_run_spool(&parts, engine, &meta, &r);
	must(str_eq(buf_str(&whole.events), buf_str(&parts.events)));
	buf_free(&whole.events);
	buf_free(&parts.events);
	attempt_drop(r.out);
	attempt_drop(r.err);
	attempt_drop(journal);
	return 0;
}
