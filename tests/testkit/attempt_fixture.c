#include "testkit/attempt_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attempt.h"
#include "core/arena.h"
#include "core/mem.h"
#include "events/translate.h"
#include "spool/replay.h"
#include "testkit/testkit.h"
#include "wire/msgs.h"
#include "wire/tree.h"
#include "wire/wire.h"

#define EVENTS_MAX (256UL * 1024 * 1024)

/* Members of data, those that may be missing in brackets. */
static const char *const rasp_members[RASP_TYPES_N] = {
	[RASP_RUN_STARTED] = "title (mode) (engine_version) (isolation)",
	[RASP_RUN_STATUS] = "state",
	[RASP_RUN_COMPLETED] = "reason_code",
	[RASP_RUN_FAILED] = "error",
	[RASP_RUN_CANCELED] = "error",
	[RASP_RUN_USAGE] = "(input) (output) (cached) (reasoning) (cost)",
	[RASP_MESSAGE_DELTA] = "message_id text",
	[RASP_MESSAGE_FINAL] = "message_id text structured_payload",
	[RASP_REASONING] = "text",
	[RASP_INPUT_REQUESTED] = "kind prompt options",
	[RASP_INPUT_REPLIED] = "content",
	[RASP_INPUT_TIMEOUT] = "",
	[RASP_INPUT_AUTO] = "content",
	[RASP_TOOL_STARTED] = "name (arguments)",
	[RASP_TOOL_COMPLETED] =
	    "name (arguments) (output_bytes) (output) (exit_code)",
	[RASP_TOOL_FAILED] =
	    "name (arguments) (output_bytes) (output) (exit_code)",
	[RASP_ARTIFACT] = "path change bytes (sha256)",
	[RASP_PARSER_WARNING] = "code message (message_id) (count)",
	[RASP_PARSER_ERROR] = "code message (message_id) (count)",
	[RASP_ENGINE_ERROR] = "code message (message_id) (count)",
	[RASP_RAW_STDOUT] = "lines bytes text",
	[RASP_RAW_STDERR] = "lines bytes text",
};

struct attempt_run {
	struct tk_events *ev;
	struct translate translate;
	struct str run_id, engine;
	struct arena *arena;
	const struct replay *replay;
	char *covered[SPOOL_STREAMS_N]; /* 1: the byte is in an event */
	struct buf line;
	int64_t rasp_seq;
};

/* Whether list has the member, or (member). */
static bool
attempt_member_known(const char *list, struct str key)
{
	struct str rest = str_of(list);

	while (rest.p != NULL) {
		struct str one = str_split(&rest, ' ');

		if (str_starts(one, STR("(")))
			one = (struct str){ one.p + 1, one.n - 2 };
		if (str_eq(one, key))
			return true;
	}
	return false;
}

static void
attempt_check_members(enum rasp_type t, struct str data)
{
	struct str rest = str_of(rasp_members[t]);
	struct wire_tree_member m;
	struct wire_tree *v;
	bool more;

	ck_assert_int_eq(wire_tree_parse(data, &v), RC_OK);
	for (more = wire_tree_first(v, &m); more; more = wire_tree_next(v, &m))
		ck_assert_msg(attempt_member_known(rasp_members[t], m.key),
		    "%s has %.*s", rasp_type_name(t), STR_ARG(m.key));
	while (rest.n > 0) {
		struct str one = str_split(&rest, ' ');

		ck_assert_msg(
		    str_starts(one, STR("(")) || wire_tree_get(v, one) != NULL,
		    "%s lacks %.*s", rasp_type_name(t), STR_ARG(one));
	}
	wire_tree_free(v);
}

static void
attempt_cover(
    struct attempt_run *run, enum spool_stream stream, int64_t from, int64_t to)
{
	size_t n =
	    stream == SPOOL_OUT ? run->replay->out.n : run->replay->err.n;

	ck_assert_int_le(from, to);
	ck_assert_int_le(to, (int64_t)n);
	if (to > from)
		memset(run->covered[stream] + from, 1, (size_t)(to - from));
}

static void
attempt_check_rasp(struct attempt_run *run, const struct rasp_event *e)
{
	struct wire_rasp_event w;
	struct wire_err err;

	buf_reset(&run->line);
	rasp_write(run->run_id, run->engine, e, &run->line);
	ck_assert_int_eq(buf_rc(&run->line), RC_OK);
	ck_assert_ptr_null(memchr(run->line.p, '\n', run->line.n));
	arena_reset(run->arena);
	ck_assert_msg(wire_decode(&wire_rasp_event_desc, buf_str(&run->line),
			  run->arena, &w, &err) == RC_OK,
	    "%s: %s: %s", rasp_type_name(e->type), err.path, err.why);
	run->rasp_seq += rasp_in_log(e->type);
	ck_assert_int_eq(w.seq, run->rasp_seq);
	attempt_check_members(e->type, w.data);
	attempt_cover(
	    run, SPOOL_OUT, w.raw_ref.stdout_from, w.raw_ref.stdout_to);
	attempt_cover(
	    run, SPOOL_ERR, w.raw_ref.stderr_from, w.raw_ref.stderr_to);
	run->ev->n_rasp++;
	buf_put_str(&run->ev->rasp, buf_str(&run->line));
	buf_putc(&run->ev->rasp, '\n');
}

static bool
attempt_is_end(enum wire_chat_event_type t)
{
	return t == WIRE_CHAT_EVENT_TYPE_CONVERSATION_COMPLETED ||
	    t == WIRE_CHAT_EVENT_TYPE_CONVERSATION_FAILED ||
	    t == WIRE_CHAT_EVENT_TYPE_USER_INPUT_REQUIRED;
}

static void
attempt_check_fcmp(struct attempt_run *run)
{
	struct wire_chat_event w;
	struct wire_err err;

	ck_assert_int_eq(buf_rc(&run->line), RC_OK);
	ck_assert_ptr_null(memchr(run->line.p, '\n', run->line.n));
	arena_reset(run->arena);
	ck_assert_msg(wire_decode(&wire_chat_event_desc, buf_str(&run->line),
			  run->arena, &w, &err) == RC_OK,
	    "%s: %s: %.300s", err.path, err.why, run->line.p);
	ck_assert_int_eq(w.seq, run->translate.seq);
	ck_assert_msg(run->ev->ends == 0, "an event behind the end");
	run->ev->ends += attempt_is_end(w.type);
	run->ev->n_fcmp++;
	buf_put_str(&run->ev->types, wire_chat_event_type_names[w.type]);
	if (w.data.code.n > 0)
		buf_printf(&run->ev->types, ":%.*s", STR_ARG(w.data.code));
	if (w.data.error.code.n > 0)
		buf_printf(
		    &run->ev->types, ":%.*s", STR_ARG(w.data.error.code));
	if (w.data.reason_code.n > 0)
		buf_printf(
		    &run->ev->types, ":%.*s", STR_ARG(w.data.reason_code));
	buf_putc(&run->ev->types, '\n');
	buf_put_str(&run->ev->fcmp, buf_str(&run->line));
	buf_putc(&run->ev->fcmp, '\n');
}

static void
attempt_on_event(void *arg, const struct rasp_event *e)
{
	struct attempt_run *run = arg;

	attempt_check_rasp(run, e);
	buf_reset(&run->line);
	if (translate_event(&run->translate, e, &run->line))
		attempt_check_fcmp(run);
}

static void
attempt_check_covered(const struct attempt_run *run)
{
	const size_t n[SPOOL_STREAMS_N] = { run->replay->out.n,
		run->replay->err.n };

	for (size_t i = 0; i < SPOOL_STREAMS_N; i++) {
		for (size_t at = 0; at < n[i]; at++)
			ck_assert_msg(run->covered[i][at] == 1,
			    "byte %zu of %s is in no event", at,
			    i == SPOOL_OUT ? "stdout" : "stderr");
	}
}

void
tk_attempt(const char *engine, const struct spool_meta *meta,
    const struct replay *r, struct tk_events *ev)
{
	const struct spool_meta first = {
		.attempt = 1, .mode = STR("interactive"), .title = STR("demo")
	};
	struct attempt_run run = { .ev = ev,
		.engine = str_of(engine),
		.run_id = STR("20260221T091252-codex-0e67f51a"),
		.replay = r,
		.arena = arena_new(WIRE_ARENA_MAX) };
	const struct attempt_opts o = { .engine = engine_find(run.engine),
		.meta = meta != NULL ? meta : &first,
		.event = attempt_on_event,
		.arg = &run };
	struct attempt *a;

	*ev = (struct tk_events){ 0 };
	buf_init(&ev->fcmp, EVENTS_MAX);
	buf_init(&ev->rasp, EVENTS_MAX);
	buf_init(&ev->types, EVENTS_MAX);
	buf_init(&run.line, RASP_EVENT_MAX);
	run.translate =
	    (struct translate){ run.run_id, run.engine, o.meta->fcmp_seq };
	run.rasp_seq = o.meta->rasp_seq;
	run.covered[SPOOL_OUT] = mem_zalloc(r->out.n + 1);
	run.covered[SPOOL_ERR] = mem_zalloc(r->err.n + 1);
	ck_assert_ptr_nonnull(o.engine);
	a = attempt_new(&o);
	replay_run(r, a);
	ck_assert_uint_eq(ev->ends, 1);
	ck_assert_int_ne(attempt_result(a)->end, ATTEMPT_RUNNING);
	attempt_check_covered(&run);
	attempt_free(a);
	free(run.covered[SPOOL_OUT]);
	free(run.covered[SPOOL_ERR]);
	buf_free(&run.line);
	arena_free(run.arena);
}

void
tk_events_free(struct tk_events *ev)
{
	buf_free(&ev->fcmp);
	buf_free(&ev->rasp);
	buf_free(&ev->types);
}

void
tk_events_are(const struct tk_events *ev, const char *types)
{
	ck_assert_msg(str_eq(buf_str(&ev->types), str_of(types)),
	    "events:\n%.*sand not:\n%s", STR_ARG(buf_str(&ev->types)), types);
}

void
tk_event_has(const struct tk_events *ev, size_t i, const char *text)
{
	struct str rest = buf_str(&ev->fcmp), line = { NULL, 0 };

	for (size_t k = 0; k <= i; k++)
		line = str_split(&rest, '\n');
	ck_assert_msg(str_find(line, str_of(text)) >= 0, "%.*s has no %s",
	    STR_ARG(line), text);
}
