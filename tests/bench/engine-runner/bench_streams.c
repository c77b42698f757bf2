/*
 * Reading the streams of engines, beside jansson's bare parsing of each line
 * and beside memchr, which only finds the lines.
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attempt.h"
#include "core/buf.h"
#include "core/mem.h"
#include "events/translate.h"
#include "spool/replay.h"
#include "testkit/figures.h"
#include "testkit/testkit.h"
#include "wire/slice.h"

#define STREAM_SIZE (4UL * 1024 * 1024)
/* Operations alternate; the minimum is least affected by other load. */
#define ROUNDS 12

static const char *const codex_paths[] = { "type", "thread_id", "message",
	"error.message", "usage.input_tokens", "usage.output_tokens", "item",
	"item.id", "item.type", "item.text", "item.command",
	"item.aggregated_output", "item.exit_code", "item.status",
	"item.changes", "item.arguments", "item.result", "item.error.message" };
static const char *const opencode_paths[] = { "type", "sessionID",
	"part.messageID", "part.callID", "part.tool", "part.text",
	"part.reason", "part.cost", "part.tokens.input", "part.tokens.output",
	"part.state.status", "part.state.input", "part.state.output",
	"error.data.message" };

struct stream {
	const char *engine;
	struct buf text;
	size_t lines;
	struct wire_paths *paths;
	size_t n_paths;
	struct buf event;
	struct translate translate;
	size_t seen; /* what the operation found */
};

/* ---- streams ---- */

static const char prose[] =
    "I will read the files first, then change what is needed and run the "
    "tests.\\n\\n1. `src/main.c` has the loop\\n2. the \\\"limit\\\" is "
    "checked there; 结合你的职业背景，这里有几条可能更实际的应对建议。";
static const char output[] =
    "src/main.c:120:\\tif (n > limit)\\nsrc/main.c:121:\\t\\treturn -1;\\n"
    "total 48\\n-rw-r--r-- 1 user user 1024 Feb 21 09:12 notes.txt\\n";

static void
stream_repeat(struct buf *b, const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++)
		buf_puts(b, text);
}

/* Rows as codex prints them for one command with its message. */
static void
stream_codex(struct buf *b, size_t i)
{
	buf_printf(b,
	    "{\"type\":\"item.completed\",\"item\":{\"id\":\"item_%zu\","
	    "\"type\":\"reasoning\",\"text\":\"**Reading**\\n\\n",
	    i);
	stream_repeat(b, prose, 1);
	buf_printf(b,
	    "\"}}\n{\"type\":\"item.started\",\"item\":{\"id\":\"item_%zu\","
	    "\"type\":\"command_execution\",\"command\":\"/bin/bash -lc 'grep "
	    "-n limit src/main.c'\",\"aggregated_output\":\"\",\"exit_code\":"
	    "null,\"status\":\"in_progress\"}}\n"
	    "{\"type\":\"item.completed\",\"item\":{\"id\":\"item_%zu\","
	    "\"type\":\"command_execution\",\"command\":\"/bin/bash -lc 'grep "
	    "-n limit src/main.c'\",\"aggregated_output\":\"",
	    i + 1, i + 1);
	stream_repeat(b, output, 1 + i % 8);
	buf_printf(b,
	    "\",\"exit_code\":0,\"status\":\"completed\"}}\n"
	    "{\"type\":\"item.completed\",\"item\":{\"id\":\"item_%zu\","
	    "\"type\":\"agent_message\",\"text\":\"",
	    i + 2);
	stream_repeat(b, prose, 2);
	buf_puts(b, "\"}}\n");
}

/* The same of opencode. */
static void
stream_opencode(struct buf *b, size_t i)
{
	static const char ids[] =
	    "\"sessionID\":\"ses_37d6af672ffeSJs2647Tk9rRfZ\",\"part\":{"
	    "\"id\":\"prt_c82952ac8001I8lRiSyiUqsLEl\",\"sessionID\":"
	    "\"ses_37d6af672ffeSJs2647Tk9rRfZ\",\"messageID\":\"msg_%zu\",";

	buf_puts(b, "{\"type\":\"step_start\",\"timestamp\":1771717339853,");
	buf_printf(b, ids, i);
	buf_puts(b,
	    "\"type\":\"step-start\",\"snapshot\":\"4b825dc642cb6eb9a060e54b"
	    "f8d69288fbee4904\"}}\n"
	    "{\"type\":\"tool_use\",\"timestamp\":1771717340019,");
	buf_printf(b, ids, i);
	buf_puts(b,
	    "\"type\":\"tool\",\"callID\":\"FGNb22UlACrYayHJ\",\"tool\":"
	    "\"bash\",\"state\":{\"status\":\"completed\",\"input\":{"
	    "\"command\":\"grep -n limit src/main.c\",\"description\":\"find "
	    "it\"},\"output\":\"");
	stream_repeat(b, output, 4 + i % 16);
	buf_puts(b,
	    "\",\"title\":\"find it\",\"metadata\":{\"exit\":0,\"truncated\":"
	    "false},\"time\":{\"start\":1771717414432,\"end\":1771717414566}}}"
	    "}\n{\"type\":\"text\",\"timestamp\":1771717361524,");
	buf_printf(b, ids, i);
	buf_puts(b, "\"type\":\"text\",\"text\":\"");
	stream_repeat(b, prose, 2);
	buf_puts(b,
	    "\",\"time\":{\"start\":1771717361520,\"end\":1771717361520}}}\n"
	    "{\"type\":\"step_finish\",\"timestamp\":1771717361575,");
	buf_printf(b, ids, i);
	buf_puts(b,
	    "\"type\":\"step-finish\",\"reason\":\"tool-calls\",\"cost\":0,"
	    "\"tokens\":{\"total\":12681,\"input\":12544,\"output\":18,"
	    "\"reasoning\":119,\"cache\":{\"read\":0,\"write\":0}}}}\n");
}

/* A command's output of 60 KiB now and then. */
static void
stream_long(struct buf *b, size_t i)
{
	if (i % 9 != 0) {
		stream_codex(b, i);
		return;
	}
	buf_puts(b,
	    "{\"type\":\"item.completed\",\"item\":{\"id\":\"item_0\","
	    "\"type\":\"command_execution\",\"command\":\"cat\","
	    "\"aggregated_output\":\"");
	stream_repeat(b, output, 61440 / (sizeof(output) - 1));
	buf_puts(b, "\",\"exit_code\":0,\"status\":\"completed\"}}\n");
}

/* ---- operations ---- */

static void
op_memchr(struct stream *s)
{
	struct str rest = buf_str(&s->text), line;

	for (s->seen = 0; wire_line_next(&rest, &line); s->seen++)
		;
}

static void
op_jansson(struct stream *s)
{
	struct str rest = buf_str(&s->text), line;

	for (s->seen = 0; wire_line_next(&rest, &line); s->seen++) {
		json_t *v = json_loadb(line.p, line.n, 0, NULL);

		if (v == NULL)
			abort();
		json_decref(v);
	}
}

static void
op_scanner(struct stream *s)
{
	struct wire_found found[WIRE_PATHS_MAX];
	struct str rest = buf_str(&s->text), line;

	for (s->seen = 0; wire_line_next(&rest, &line); s->seen++) {
		if (wire_slice_paths(s->paths, line, found) != RC_OK ||
		    !wire_found_is_text(&found[0]))
			abort();
	}
}

static void
replay_on_event(void *arg, const struct rasp_event *e)
{
	struct stream *s = arg;

	buf_reset(&s->event);
	rasp_write(s->translate.run_id, s->translate.engine, e, &s->event);
	(void)translate_event(&s->translate, e, &s->event);
	s->seen++;
}

static void
op_replay(struct stream *s)
{
	const struct spool_meta meta = { .attempt = 1 };
	const struct attempt_opts o = { .engine =
					    engine_find(str_of(s->engine)),
		.meta = &meta,
		.event = replay_on_event,
		.arg = s };
	const struct replay r = { .out = buf_str(&s->text) };
	struct attempt *a = attempt_new(&o);

	s->seen = 0;
	s->translate = (struct translate){ STR("r"), str_of(s->engine), 0 };
	replay_run(&r, a);
	attempt_free(a);
}

/* ---- figures ---- */

enum { OP_MEMCHR, OP_JANSSON, OP_SCANNER, OP_REPLAY, OPS_N };

static void
bench_stream(
    const char *name, struct stream *s, void (*put)(struct buf *b, size_t i))
{
	static void (*const ops[OPS_N])(struct stream * s) = { op_memchr,
		op_jansson, op_scanner, op_replay };
	double ns[OPS_N], mb;

	buf_init(&s->text, 2 * STREAM_SIZE);
	buf_init(&s->event, RASP_EVENT_MAX);
	for (size_t i = 0; s->text.n < STREAM_SIZE; i++)
		put(&s->text, i);
	for (size_t op = 0; op < OPS_N; op++)
		ns[op] = 1e18;
	for (int r = 0; r < ROUNDS; r++) {
		for (size_t op = 0; op < OPS_N; op++) {
			double from = tk_now_ns(), t;

			ops[op](s);
			t = tk_now_ns() - from;
			if (t < ns[op])
				ns[op] = t;
			if (op == OP_MEMCHR)
				s->lines = s->seen;
			ck_assert_uint_ge(s->seen, s->lines / 2);
		}
	}
	mb = (double)s->text.n * 1e3;
	printf("%-24s %7zu %8.0f %8.0f %8.0f %8.0f %8.1f %8.1f\n", name,
	    s->lines, mb / ns[OP_MEMCHR], mb / ns[OP_JANSSON],
	    mb / ns[OP_SCANNER], mb / ns[OP_REPLAY],
	    ns[OP_JANSSON] / ns[OP_SCANNER], ns[OP_JANSSON] / ns[OP_REPLAY]);
	(void)fflush(stdout);
	buf_free(&s->text);
	buf_free(&s->event);
	wire_paths_free(s->paths);
}

TEST_T(streams_of_engines, 300)
{
	struct stream codex = { .engine = "codex",
		.paths = wire_paths_new(codex_paths, NELEM(codex_paths)) };
	struct stream opencode = { .engine = "opencode",
		.paths =
		    wire_paths_new(opencode_paths, NELEM(opencode_paths)) };
	struct stream lines = { .engine = "codex",
		.paths = wire_paths_new(codex_paths, NELEM(codex_paths)) };

	printf("MB/s; jansson parses each line and does no more; the last two "
	       "are times as fast\nas it is\n"
	       "%-24s %7s %8s %8s %8s %8s %8s %8s\n",
	    "stream", "lines", "memchr", "jansson", "scanner", "replay",
	    "scanner", "replay");
	bench_stream("codex", &codex, stream_codex);
	bench_stream("opencode", &opencode, stream_opencode);
	bench_stream("codex, 60 KiB lines", &lines, stream_long);
}
