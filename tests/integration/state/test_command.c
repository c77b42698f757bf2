/* Commands and replies against a real Redis. */
#include "testkit/state_fixture.h"

TEST(kinds_of_replies)
{
	struct state_reply *r;
	struct state_fixture fixture;
	char num[STR_NUM_MAX];

	state_fixture_start(&fixture);
	state_fixture_expect(
	    &fixture, "OK", STATE_ARGS(STR("SET"), STR("a"), STR("1")));
	state_fixture_expect(&fixture, "1", STATE_ARGS(STR("GET"), STR("a")));
	state_fixture_expect(
	    &fixture, NULL, STATE_ARGS(STR("GET"), STR("none")));

	ck_assert_int_eq(state_cmd(fixture.s,
			     STATE_ARGS(STR("INCRBY"), STR("a"),
				 str_num(INT64_MAX - 1, num)),
			     &r),
	    RC_OK);
	ck_assert_int_eq(state_reply_kind(r), STATE_INT);
	ck_assert_int_eq(state_reply_int(r), INT64_MAX);
	ck_assert_ptr_null(state_reply_str(r).p);
	ck_assert_ptr_null(state_reply_at(r, 0));
	state_reply_free(r);

	ck_assert_int_eq(
	    state_cmd(fixture.s,
		STATE_ARGS(STR("RPUSH"), STR("l"), STR("x"), STR(""), STR("z")),
		NULL),
	    RC_OK);
	ck_assert_int_eq(
	    state_cmd(fixture.s,
		STATE_ARGS(STR("LRANGE"), STR("l"), STR("0"), STR("-1")), &r),
	    RC_OK);
	ck_assert_int_eq(state_reply_kind(r), STATE_ARRAY);
	ck_assert_uint_eq(state_reply_len(r), 3);
	ck_assert_str_eq(state_reply_str(state_reply_at(r, 0)).p, "x");
	ck_assert_uint_eq(state_reply_str(state_reply_at(r, 1)).n, 0);
	ck_assert_ptr_nonnull(state_reply_str(state_reply_at(r, 1)).p);
	ck_assert_str_eq(state_reply_str(state_reply_at(r, 2)).p, "z");
	ck_assert_ptr_null(state_reply_at(r, 3));
	state_reply_free(r);

	ck_assert_int_eq(
	    state_cmd(fixture.s,
		STATE_ARGS(STR("LRANGE"), STR("no"), STR("0"), STR("-1")), &r),
	    RC_OK);
	ck_assert_int_eq(state_reply_kind(r), STATE_ARRAY);
	ck_assert_uint_eq(state_reply_len(r), 0);
	state_reply_free(r);
	state_fixture_stop(&fixture);
}

TEST(nested_arrays)
{
	static const struct state_script script = {
		.text = "return {1,{'two',{3,false}},{},'four'}",
		.sha = "3468c622eaaaa5717d68db4837cfeaa6e185b5b5",
	};
	struct state_call call = { .script = &script };
	const struct state_reply *in;
	struct state_reply *r;
	struct state_fixture fixture;

	state_fixture_start(&fixture);
	ck_assert_int_eq(state_eval(fixture.s, &call, &r), RC_OK);
	ck_assert_uint_eq(state_reply_len(r), 4);
	ck_assert_int_eq(state_reply_int(state_reply_at(r, 0)), 1);
	in = state_reply_at(state_reply_at(r, 1), 1);
	ck_assert_uint_eq(state_reply_len(in), 2);
	ck_assert_int_eq(state_reply_int(state_reply_at(in, 0)), 3);
	ck_assert_int_eq(state_reply_kind(state_reply_at(in, 1)), STATE_NIL);
	ck_assert_uint_eq(state_reply_len(state_reply_at(r, 2)), 0);
	ck_assert_str_eq(state_reply_str(state_reply_at(r, 3)).p, "four");
	state_reply_free(r);
	state_fixture_stop(&fixture);
}

TEST(no_reply_is_nil)
{
	ck_assert_int_eq(state_reply_kind(NULL), STATE_NIL);
	ck_assert_int_eq(state_reply_int(NULL), 0);
	ck_assert_uint_eq(state_reply_len(NULL), 0);
	ck_assert_ptr_null(state_reply_str(NULL).p);
	ck_assert_ptr_null(state_reply_at(NULL, 0));
	state_reply_free(NULL);
	state_free(NULL);
	state_pipe_free(NULL);
}

TEST(any_bytes)
{
	static const char key[] = "k\0\r\n$3\r\n\xff\xfe";
	struct str k = { key, sizeof(key) - 1 }, got;
	struct state_reply *r;
	struct state_fixture fixture;
	char all[512];
	size_t i;

	for (i = 0; i < sizeof(all); i++)
		all[i] = (char)i;
	state_fixture_start(&fixture);
	ck_assert_int_eq(
	    state_cmd(fixture.s,
		STATE_ARGS(STR("SET"), k, (struct str){ all, sizeof(all) }),
		NULL),
	    RC_OK);
	ck_assert_int_eq(
	    state_cmd(fixture.s, STATE_ARGS(STR("GET"), k), &r), RC_OK);
	got = state_reply_str(r);
	ck_assert_uint_eq(got.n, sizeof(all));
	ck_assert_mem_eq(got.p, all, sizeof(all));
	state_reply_free(r);
	ck_assert_int_eq(
	    state_cmd(fixture.s, STATE_ARGS(STR("KEYS"), STR("*")), &r), RC_OK);
	ck_assert_uint_eq(state_reply_len(r), 1);
	ck_assert(str_eq(state_reply_str(state_reply_at(r, 0)), k));
	state_reply_free(r);
	state_fixture_stop(&fixture);
}

/* The socket takes only a fraction of it at a time. */
TEST(huge_values)
{
	size_t n = 24UL * 1024 * 1024;
	struct state_reply *r;
	struct str v;
	struct state_fixture fixture;
	char *bytes = mem_alloc(n);
	size_t i;

	for (i = 0; i < n; i++)
		bytes[i] = (char)(i * 2654435761U >> 13);
	v = (struct str){ bytes, n };
	state_fixture_start(&fixture);
	state_fixture_expect(
	    &fixture, "OK", STATE_ARGS(STR("SET"), STR("huge"), v));
	ck_assert_int_eq(
	    state_cmd(fixture.s, STATE_ARGS(STR("GET"), STR("huge")), &r),
	    RC_OK);
	ck_assert(str_eq(state_reply_str(r), v));
	state_reply_free(r);
	ck_assert_int_eq(
	    state_cmd(fixture.s, STATE_ARGS(STR("ECHO"), v), &r), RC_OK);
	ck_assert(str_eq(state_reply_str(r), v));
	state_reply_free(r);
	free(bytes);
	state_fixture_stop(&fixture);
}

TEST(over_the_limits)
{
	static const struct state_script big = {
		.text = "local t={} for i=1,300 do t[i]=ARGV[1] end return t",
		.sha = "ae021b2973a7b3772f547e6d842aeff25fb2aa3f",
	};
	size_t n = 1024UL * 1024;
	char *bytes = mem_zalloc(STATE_SEND_MAX);
	struct str mib = { bytes, n };
	struct state_call call = { &big, NULL, 0, &mib, 1 };
	struct state_reply *r;
	struct state_fixture fixture;

	state_fixture_start(&fixture);
	ck_assert_int_eq(
	    state_cmd(fixture.s,
		STATE_ARGS(STR("ECHO"), (struct str){ bytes, STATE_SEND_MAX }),
		&r),
	    RC_TOOBIG);
	ck_assert_ptr_null(r);
	/* Nothing was sent, so the connection is still usable. */
	ck_assert(state_up(fixture.s));
	ck_assert_int_eq(state_fixture_ping(&fixture), RC_OK);

	/* A reply of 300 MiB: rejected, and a new connection made. */
	ck_assert_int_eq(state_eval(fixture.s, &call, &r), RC_TOOBIG);
	ck_assert_ptr_null(r);
	ck_assert(!state_up(fixture.s));
	state_fixture_wait_up(&fixture);
	ck_assert_int_eq(state_fixture_ping(&fixture), RC_OK);
	ck_assert_int_eq(
	    state_fixture_metric(&fixture, "state_connects_total"), 2);
	free(bytes);
	state_fixture_stop(&fixture);
}

TEST(errors_of_the_server)
{
	static const struct {
		const char *text; /* of the error, by a script */
		enum rc rc;
		bool stays; /* the connection */
	} t[] = {
		{ "ERR whatever", RC_INVALID, true },
		{ "WRONGTYPE x", RC_INVALID, true },
		{ "NOPERM x", RC_DENIED, true },
		{ "OOM x", RC_DOWN, true },
		{ "BUSY x", RC_RETRY, true },
		{ "BUSYGROUP x", RC_CONFLICT, true },
		{ "BUSYNESS x", RC_INVALID, true },
		{ "MISCONF x", RC_DOWN, true },
		{ "LOADING x", RC_DOWN, false },
		{ "READONLY x", RC_DOWN, false },
		{ "NOAUTH x", RC_DENIED, false },
	};
	static const struct state_script fails = {
		.text = "return redis.error_reply(ARGV[1])",
		.sha = "9781bddefff4ec5809fe1616203b99a03196d4f2",
	};
	struct state_call call = { .script = &fails, .n_args = 1 };
	struct state_reply *r;
	struct str text;
	struct state_fixture fixture;
	size_t i;

	state_fixture_start(&fixture);
	call.args = &text;
	for (i = 0; i < NELEM(t); i++) {
		text = str_of(t[i].text);
		ck_assert_int_eq(state_eval(fixture.s, &call, &r), t[i].rc);
		ck_assert_int_eq(state_reply_kind(r), STATE_ERROR);
		ck_assert_msg(str_starts(state_reply_str(r), text), "%.*s",
		    STR_ARG(state_reply_str(r)));
		state_reply_free(r);
		ck_assert_msg(
		    state_up(fixture.s) == t[i].stays, "%s", t[i].text);
		state_fixture_wait_up(&fixture);
	}
	ck_assert_int_eq(
	    state_cmd(fixture.s, STATE_ARGS(STR("NO-SUCH-COMMAND")), NULL),
	    RC_INVALID);
	ck_assert_int_eq(state_cmd(fixture.s, NULL, 0, NULL), RC_INVALID);
	ck_assert_int_eq(state_fixture_metric(&fixture, "state_refusals_total"),
	    (int64_t)NELEM(t) + 1);
	ck_assert_int_eq(
	    state_fixture_metric(&fixture, "state_failures_total"), 0);
	state_fixture_stop(&fixture);
}
