/* The same spool gives the same events, however its bytes are given. */
#include <stdlib.h>
#include <string.h>

#include "attempt.h"
#include "core/mem.h"
#include "events/translate.h"
#include "spool/lines.h"
#include "spool/replay.h"
#include "testkit/testkit.h"

#define EVENTS_MAX (64UL * 1024 * 1024)

struct feed {
	struct buf events;
	struct translate translate;
	struct str engine;
};

static void
feed_on_event(void *arg, const struct rasp_event *e)
{
	struct feed *f = arg;

	rasp_write(STR("r"), f->engine, e, &f->events);
	buf_putc(&f->events, '\n');
	if (translate_event(&f->translate, e, &f->events))
		buf_putc(&f->events, '\n');
}

static void
feed_run(const char *engine, const struct replay *r, struct feed *f)
{
	const struct spool_meta meta = { .attempt = 1, .started_ns = 1 };
	const struct attempt_opts o = { .engine = engine_find(str_of(engine)),
		.meta = &meta,
		.event = feed_on_event,
		.arg = f };
	struct attempt *a;

	*f = (struct feed){ .translate = { STR("r"), str_of(engine), 0 },
		.engine = str_of(engine) };
	buf_init(&f->events, EVENTS_MAX);
	a = attempt_new(&o);
	replay_run(r, a);
	attempt_free(a);
	ck_assert_int_eq(buf_rc(&f->events), RC_OK);
}

/* A spool whose records end at random bytes of both streams. */
static void
feed_journal(const struct replay *r, unsigned seed, struct buf *journal)
{
	const uint64_t n[SPOOL_STREAMS_N] = { r->out.n, r->err.n };
	struct spool_record rec[SPOOL_STREAMS_N] = { { .stream = SPOOL_OUT },
		{ .stream = SPOOL_ERR } };
	unsigned char bytes[SPOOL_RECORD_N];
	int64_t ns = 1000000;

	buf_init(journal, EVENTS_MAX);
	while (rec[0].end < n[0] || rec[1].end < n[1]) {
		size_t i = (size_t)(rand_r(&seed) & 1);
		uint64_t step = (uint64_t)(rand_r(&seed) % 97) + 1;

		if (rec[i].end == n[i])
			continue;
		rec[i].end += step;
		if (rec[i].end > n[i])
			rec[i].end = n[i];
		rec[i].ns = ns += 1000000;
		spool_record_write(&rec[i], bytes);
		buf_put(journal, bytes, sizeof(bytes));
	}
}

static const struct {
	const char *engine, *out, *err;
	int code;
} spools[] = {
	{ "codex",
	    "{\"type\":\"thread.started\",\"thread_id\":\"t-1\"}\n"
	    "not a row\r\n\r\n"
	    "{\"type\":\"item.updated\",\"item\":{\"id\":\"a\",\"type\":"
	    "\"agent_message\",\"text\":\"你\"}}\n"
	    "{\"type\":\"item.updated\",\"item\":{\"id\":\"a\",\"type\":"
	    "\"agent_message\",\"text\":\"你好\"}}\r\n"
	    "{\"type\":\"item.completed\",\"item\":{\"id\":\"a\",\"type\":"
	    "\"agent_message\",\"text\":\"你好{\\\"__skill_done__\\\":true}\"}"
	    "}\n{\"type\":\"turn.completed\"}",
	    "Reading input\nlog", 0 },
	{ "opencode",
	    "{\"type\":\"step_start\",\"sessionID\":\"s\",\"part\":{"
	    "\"messageID\":\"m\"}}\n! asks\n"
	    "{\"type\":\"text\",\"sessionID\":\"s\",\"part\":{\"text\":\"x\"}}"
	    "\n{\"type\":\"step_finish\",\"sessionID\":\"s\",\"part\":{"
	    "\"reason\":\"stop\"}}\n",
	    "", 0 },
	{ "gemini",
	    "{\"type\":\"init\",\"session_id\":\"s\"}\n"
	    "{\"type\":\"message\",\"role\":\"assistant\",\"content\":\"a {"
	    "\\\"b\",\"delta\":true}\n"
	    "{\"type\":\"message\",\"role\":\"assistant\",\"content\":\"\\\": "
	    "1}\\n```json\\n{\\\"__SKILL_\",\"delta\":true}\n"
	    "{\"type\":\"message\",\"role\":\"assistant\",\"content\":\"DONE__"
	    "\\\": true}\\n```\",\"delta\":true}\n"
	    "{\"type\":\"result\",\"status\":\"success\"}\n",
	    "Attempt 1 failed. Retrying with backoff\n", 0 },
	{ "gemini", "YOLO\n{\n \"a\": 1\n}\n",
	    "{\n \"session_id\": \"s\",\n \"response\": \"r\"\n}\n", 0 },
	{ "iflow", "text one\n\n  two\n",
	    "<Execution Info>\n{\"session-id\": \"s\"}\n</Execution Info>\n",
	    0 },
	{ "iflow", "Error: x\n at y\n", "<Execution Info>\n{", 1 },
};

TEST_T(bytes_may_be_given_in_any_parts, 120)
{
	for (size_t i = 0; i < NELEM(spools); i++) {
		struct replay r = { .out = str_of(spools[i].out),
			.err = str_of(spools[i].err),
			.exit = { .code = spools[i].code,
			    .ns = INT64_C(1000000000) } };

		for (unsigned seed = 1; seed <= 8; seed++) {
			struct feed whole, parts;
			struct buf journal;

			feed_journal(&r, seed, &journal);
			r.journal = buf_str(&journal);
			r.feed = 0;
			feed_run(spools[i].engine, &r, &whole);
			/* A record is cut at each of its bytes. */
			for (r.feed = 1; r.feed < 100; r.feed++) {
				feed_run(spools[i].engine, &r, &parts);
				ck_assert(str_eq(buf_str(&whole.events),
				    buf_str(&parts.events)));
				buf_free(&parts.events);
			}
			buf_free(&whole.events);
			buf_free(&journal);
		}
	}
}

/* What was published before a restart is what is published behind it. */
TEST_T(events_of_a_beginning_are_a_beginning_of_the_events, 120)
{
	for (size_t i = 0; i < NELEM(spools); i++) {
		struct replay r = { .out = str_of(spools[i].out),
			.err = str_of(spools[i].err),
			.exit = { .code = spools[i].code,
			    .ns = INT64_C(1000000000) } };
		const struct spool_meta meta = { .attempt = 1,
			.started_ns = 1 };
		struct buf journal;
		struct feed whole;

		feed_journal(&r, 3, &journal);
		r.journal = buf_str(&journal);
		feed_run(spools[i].engine, &r, &whole);
		for (size_t n = 0; n <= journal.n; n += SPOOL_RECORD_N) {
			struct feed f = {
				.translate = { STR("r"),
				    str_of(spools[i].engine), 0 },
				.engine = str_of(spools[i].engine),
			};
			const struct attempt_opts o = {
				.engine = engine_find(f.engine),
				.meta = &meta,
				.event = feed_on_event,
				.arg = &f,
			};
			struct attempt *a = attempt_new(&o);
			struct replay begun = r;

			buf_init(&f.events, EVENTS_MAX);
			begun.journal.n = n;
			replay_begin(&begun, a);
			ck_assert(str_starts(
			    buf_str(&whole.events), buf_str(&f.events)));
			attempt_free(a);
			buf_free(&f.events);
		}
		buf_free(&whole.events);
		buf_free(&journal);
	}
}

TEST(a_line_that_is_too_long_is_raw)
{
	const char head[] = "{\"type\":\"turn.started\"}\n";
	const char tail[] = "{\"type\":\"turn.completed\"}\n";
	size_t n = sizeof(head) - 1 + LINE_MAX_BYTES + 2;
	size_t all = n + sizeof(tail) - 1;
	char *text = mem_alloc(all);
	struct replay r = { .out = { text, all } };
	struct feed whole, parts;

	memset(text, 'x', all);
	memcpy(text, head, sizeof(head) - 1);
	text[n - 1] = '\n';
	memcpy(text + n, tail, sizeof(tail) - 1);
	feed_run("codex", &r, &whole);
	r.feed = 65537;
	feed_run("codex", &r, &parts);
	ck_assert(str_eq(buf_str(&whole.events), buf_str(&parts.events)));
	ck_assert_int_ge(
	    str_find(buf_str(&whole.events), STR("LINE_TOO_LONG")), 0);
	/* The row behind it is read. */
	ck_assert_int_ge(
	    str_find(buf_str(&whole.events), STR("user.input.required")), 0);
	buf_free(&whole.events);
	buf_free(&parts.events);
	free(text);
}
