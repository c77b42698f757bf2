/*
 * Times of finding a text's members, and its end, without a tree, compared with
 * jansson's bare parsing of it; and of encoding an event into its envelope,
 * compared with encoding its payload on its own before.
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
#include "wire/msgs.h"
#include "wire/slice.h"

/*
 * Each operation is timed in this many rounds of this length, alternating with
 * the others; the minimum is least affected by other load.
 */
#define ROUNDS   50
#define ROUND_NS 2000000

struct sample {
	struct str text;
	const struct wire_desc *d; /* of the payload */
	void *msg;
	struct wire_event_envelope env;
	struct buf payload, out;
};

/* Each assertion of Check is a write. */
static void
slice_require(bool ok)
{
	if (!ok)
		abort();
}

static void
run_load(struct sample *s)
{
	json_t *v = json_loadb(s->text.p, s->text.n,
	    JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, NULL);

	slice_require(v != NULL);
	json_decref(v);
}

static void
run_each(struct sample *s)
{
	slice_require(wire_slice_each(s->text, NULL) == RC_OK);
}

static void
run_extent(struct sample *s)
{
	struct wire_slice_extent x;

	slice_require(
	    wire_slice_extent(s->text, &x) == RC_OK && x.n == s->text.n);
}

static void
run_twice(struct sample *s)
{
	buf_reset(&s->payload);
	buf_reset(&s->out);
	slice_require(wire_encode(s->d, s->msg, &s->payload, NULL) == RC_OK);
	s->env.payload = buf_str(&s->payload);
	slice_require(wire_encode(&wire_event_envelope_desc, &s->env, &s->out,
			  NULL) == RC_OK);
}

static void
run_around(struct sample *s)
{
	const struct wire_inner inner = { STR("payload"), s->d, s->msg };

	buf_reset(&s->out);
	slice_require(wire_encode_around(&wire_event_envelope_desc, &s->env,
			  &inner, &s->out, NULL) == RC_OK);
}

#define OPS_MAX 3

typedef void (*op_fn)(struct sample *s);

/* The minimum of each operation, in ns. */
static void
measure(struct sample *s, const op_fn *ops, size_t n, double ns[OPS_MAX])
{
	for (size_t op = 0; op < n; op++)
		ns[op] = 1e12;
	for (int r = 0; r < ROUNDS; r++)
		for (size_t op = 0; op < n; op++) {
			double from = tk_now_ns(), t;
			int calls = 0;

			do {
				ops[op](s);
				calls++;
				t = tk_now_ns() - from;
			} while (t < ROUND_NS);
			if (t / calls < ns[op])
				ns[op] = t / calls;
		}
}

static void
bench_text(const char *name, const json_t *v)
{
	static const op_fn ops[] = { run_load, run_each, run_extent };
	char *compact = json_dumps(v, JSON_COMPACT);
	struct sample s = { .text = str_of(compact) };
	double ns[OPS_MAX];

	measure(&s, ops, NELEM(ops), ns);
	printf("%-28s %7zu %11.0f %11.0f %6.3f %11.0f %6.3f\n", name, s.text.n,
	    ns[0], ns[1], ns[1] / ns[0], ns[2], ns[2] / ns[0]);
	(void)fflush(stdout);
	free(compact);
}

TEST_T(members_and_ends_of_texts, 120)
{
	static const size_t sizes[] = { 10, 500 };
	json_t *one =
	    tk_case_data("intent_filter_request", "protocol 02-22, 4.4.1");
	char name[64];

	printf("ns per text; json_loadb is jansson alone\n"
	       "%-28s %7s %11s %11s %6s %11s %6s\n",
	    "text", "bytes", "loadb", "members", "ratio", "end", "ratio");
	bench_text("intent_filter_request", one);
	for (size_t i = 0; i < NELEM(sizes); i++) {
		json_t *many = json_array();

		for (size_t k = 0; k < sizes[i]; k++)
			json_array_append(many, one);
		snprintf(name, sizeof(name), "%zu of them", sizes[i]);
		bench_text(name, many);
		json_decref(many);
	}
	json_decref(one);
}

TEST_T(events_in_their_envelopes, 120)
{
	static const char *const names[] = { "turn_completed", "user_input",
		"intent_action" };
	static const op_fn ops[] = { run_twice, run_around };
	struct sample s = { .env = {
				.trace_id = STR_INIT(
				    "11111111-1111-4111-8111-111111111111"),
				.type = STR_INIT("t"),
				.source = STR_INIT("s"),
				.meta = { .timestamp = 1 } } };
	struct arena *a = arena_new(WIRE_ARENA_MAX);
	double ns[OPS_MAX];

	buf_init(&s.payload, WIRE_MESSAGE_MAX);
	buf_init(&s.out, WIRE_MESSAGE_MAX);
	printf("ns per event\n%-28s %7s %11s %11s %6s\n", "payload", "bytes",
	    "twice", "around it", "ratio");
	for (size_t i = 0; i < NELEM(names); i++) {
		struct tk_cases cases;

		s.d = wire_desc_find(str_of(names[i]));
		ck_assert_ptr_nonnull(s.d);
		s.msg = arena_alloc(a, wire_desc_size(s.d));
		tk_cases_load(&cases, names[i]);
		ck_assert_int_eq(
		    wire_decode(s.d, cases.v[0].bytes, a, s.msg, NULL), RC_OK);
		measure(&s, ops, NELEM(ops), ns);
		printf("%-28s %7zu %11.0f %11.0f %6.2f\n", names[i], s.out.n,
		    ns[0], ns[1], ns[1] / ns[0]);
		(void)fflush(stdout);
		tk_cases_free(&cases);
	}
	buf_free(&s.payload);
	buf_free(&s.out);
	arena_free(a);
}
