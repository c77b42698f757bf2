/*
 * Times of compiling a device's schema and checking arguments against it,
 * compared with jansson's bare parsing of the same arguments in the same run.
 */
#include <jansson.h>
#include <stdio.h>

#include "core/mem.h"
#include "testkit/figures.h"
#include "testkit/testkit.h"
#include "wire/schema.h"

/* Rounds of each operation, alternating with the others. */
#define ROUNDS   25
#define ROUND_NS 4000000

struct sample {
	const char *name;
	const char *schema;
	const char *value;
	enum rc rc;
	struct wire_schema *compiled;
};

/* Returns a result instead of asserting: ck_assert() takes a microsecond. */
static bool
run_load(struct sample *s)
{
	json_t *v = json_loads(
	    s->value, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, NULL);
	bool ok = v != NULL;
	json_decref(v);
	return ok;
}

static bool
run_check(struct sample *s)
{
	struct wire_err err;
	return wire_schema_check(s->compiled, str_of(s->value), &err) == s->rc;
}

static bool
run_compile(struct sample *s)
{
	struct wire_schema *one = NULL;
	struct wire_err err;
	enum rc rc = wire_schema_new(str_of(s->schema), &one, &err);
	wire_schema_free(one);
	return rc == RC_OK;
}

enum { LOAD, CHECK, COMPILE, N_OPS };
static bool (*const ops[N_OPS])(
    struct sample *) = { run_load, run_check, run_compile };

static double
time_batch(struct sample *s, bool (*op)(struct sample *), int n)
{
	int good = 0;
	double from = tk_now_ns();
	for (int i = 0; i < n; i++)
		good += op(s);
	double took = tk_now_ns() - from;
	ck_assert_int_eq(good, n);
	return took / n;
}

/* The median of each operation's rounds. */
static void
bench(struct sample *s)
{
	double rounds[N_OPS][ROUNDS];
	int batch[N_OPS];
	struct wire_err err;
	ck_assert_int_eq(
	    wire_schema_new(str_of(s->schema), &s->compiled, &err), RC_OK);
	for (int op = 0; op < N_OPS; op++)
		batch[op] = (int)(ROUND_NS / time_batch(s, ops[op], 20)) + 1;
	for (int r = 0; r < ROUNDS; r++)
		for (int op = 0; op < N_OPS; op++)
			rounds[op][r] = time_batch(s, ops[op], batch[op]);
	for (int op = 0; op < N_OPS; op++)
		tk_sort(rounds[op], ROUNDS);
	double load = rounds[LOAD][ROUNDS / 2];
	double check = rounds[CHECK][ROUNDS / 2];
	printf("%-26s %9.0f %9.0f %6.2f %9.0f\n", s->name, load, check,
	    check / load, rounds[COMPILE][ROUNDS / 2]);
	(void)fflush(stdout);
	wire_schema_free(s->compiled);
}

#define LIGHT                                                         \
	"{\"type\":\"object\",\"properties\":{"                       \
	"\"mode\":{\"type\":\"string\",\"enum\":[\"on\",\"off\","     \
	"\"set_color\"]},"                                            \
	"\"color\":{\"type\":\"string\",\"enum\":[\"white\",\"red\"," \
	"\"green\"]}},\"required\":[\"mode\"]}"

TEST_T(schemas_compiled_and_checked, 120)
{
	struct sample samples[] = {
		{ "control_light", LIGHT,
		    "{\"mode\":\"set_color\",\"color\":\"green\"}", RC_OK,
		    NULL },
		{ "control_light, rejected", LIGHT,
		    "{\"mode\":\"set_color\",\"color\":\"blue\"}", RC_INVALID,
		    NULL },
		{ "set_head_motion",
		    "{\"type\":\"object\",\"properties\":{\"action\":"
		    "{\"type\":\"string\",\"enum\":[\"点头\",\"摇头\"]},"
		    "\"duration_seconds\":{\"type\":\"number\","
		    "\"minimum\":0.2,\"maximum\":10}},"
		    "\"required\":[\"action\"]}",
		    "{\"action\":\"点头\",\"duration_seconds\":1.5}", RC_OK,
		    NULL },
		{ "an e-mail by pattern",
		    "{\"properties\":{\"to\":{\"type\":\"string\","
		    "\"maxLength\":100,\"pattern\":"
		    "\"^[^@\\\\s]+@[^@\\\\s]+\\\\.[^@\\\\s]+$\"}}}",
		    "{\"to\":\"user@mail.example\"}", RC_OK, NULL },
	};
	printf("ns; json_loads is jansson alone\n"
	       "%-26s %9s %9s %6s %9s\n",
	    "schema", "loads", "check", "ratio", "compile");
	for (size_t i = 0; i < NELEM(samples); i++)
		bench(&samples[i]);
}
