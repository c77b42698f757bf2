/*
 * Times of decoding, checking and encoding a message, compared with jansson's
 * bare parsing and dumping of the same text in the same run.
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/arena.h"
#include "core/buf.h"
#include "core/mem.h"
#include "testkit/cases.h"
#include "testkit/figures.h"
#include "testkit/testkit.h"
#include "wire/wire.h"

/*
 * Each operation is timed in this many rounds of this length, alternating with
 * the others; the minimum is least affected by other load.
 */
#define ROUNDS   200
#define ROUND_NS 400000

struct sample {
	const struct wire_desc *d;
	struct str text;
	json_t *json;
	struct arena *a;
	void *msg;
	struct buf out;
};

static void
run_load(struct sample *s)
{
	json_t *v = json_loadb(s->text.p, s->text.n,
	    JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, NULL);
	ck_assert_ptr_nonnull(v);
	json_decref(v);
}

static void
run_decode(struct sample *s)
{
	arena_reset(s->a);
	enum rc rc = wire_decode(s->d, s->text, s->a, s->msg, NULL);
	ck_assert_int_eq(rc, RC_OK);
}

static void
run_dump(struct sample *s)
{
	char *text = json_dumps(s->json, JSON_COMPACT);
	ck_assert_ptr_nonnull(text);
	free(text);
}

static void
run_encode(struct sample *s)
{
	buf_reset(&s->out);
	enum rc rc = wire_encode(s->d, s->msg, &s->out, NULL);
	ck_assert_int_eq(rc, RC_OK);
}

enum { LOAD, DECODE, DUMP, ENCODE, N_OPS };
static void (*const ops[N_OPS])(
    struct sample *) = { run_load, run_decode, run_dump, run_encode };

static double
time_batch(struct sample *s, void (*op)(struct sample *), int n)
{
	double from = tk_now_ns();
	for (int i = 0; i < n; i++)
		op(s);
	return (tk_now_ns() - from) / n;
}

/* The minimum of each operation, in ns. */
static void
measure(struct sample *s, double ns[N_OPS])
{
	int batch[N_OPS];
	for (int op = 0; op < N_OPS; op++) {
		ns[op] = time_batch(s, ops[op], 20);
		batch[op] = (int)(ROUND_NS / ns[op]) + 1;
	}
	for (int r = 0; r < ROUNDS; r++) {
		for (int op = 0; op < N_OPS; op++) {
			double t = time_batch(s, ops[op], batch[op]);
			if (t < ns[op])
				ns[op] = t;
		}
	}
}

static void
bench(const char *name, const char *description)
{
	double ns[N_OPS];
	struct sample s = { .d = wire_desc_find(str_of(name)),
		.a = arena_new(WIRE_ARENA_MAX),
		.out = BUF_INIT(WIRE_MESSAGE_MAX) };
	ck_assert_ptr_nonnull(s.d);
	s.msg = mem_alloc(wire_desc_size(s.d));
	/* Compact, as programs send it. */
	json_t *v = tk_case_data(name, description);
	char *compact = json_dumps(v, JSON_COMPACT);
	s.text = str_of(compact);
	s.json = v;
	measure(&s, ns);
	printf("%-22s %6zu %9.0f %9.0f %6.2f %9.0f %9.0f %6.2f\n", name,
	    s.text.n, ns[LOAD], ns[DECODE], ns[DECODE] / ns[LOAD], ns[DUMP],
	    ns[ENCODE], ns[ENCODE] / ns[DUMP]);
	(void)fflush(stdout);
	json_decref(v);
	free(compact);
	free(s.msg);
	buf_free(&s.out);
	arena_free(s.a);
}

TEST_T(decoding_and_encoding_of_messages, 120)
{
	printf("ns per message; json_loadb and json_dumps are jansson alone\n"
	       "%-22s %6s %9s %9s %6s %9s %9s %6s\n",
	    "message", "bytes", "loadb", "decode", "ratio", "dumps", "encode",
	    "ratio");
	bench("intent_filter_request", "protocol 02-22, 4.4.1");
	bench("invoke", "protocol 02-22, 3.6");
	bench("result", "protocol 02-22, 3.6");
	bench("chat_request", "protocol 02-22, 4.2.1");
}
