/* Bodies that misbehave because they were told to. */
#include "integration/body-sim/bed.h"

#define T2 "soul/terminal/terminal-002/"

/* Two bodies, of which the second has the faults. */
static void
start(struct bed *b, const char *faults)
{
	char text[64];
	const char *const env[] = { "BODY_COUNT=2", "BODY_FAULT_SHARE=0.5",
		text, NULL };

	snprintf(text, sizeof(text), "BODY_FAULTS=%s", faults);
	bed_start(b, env);
}

static json_t *
invoke(struct bed *b, const char *terminal, const char *id)
{
	return bed_invoke(
	    b, terminal, id, "control_light", "{\"mode\":\"on\"}");
}

/* The body without faults does it. */
static void
healthy(struct bed *b, const char *id)
{
	json_t *j = invoke(b, "terminal-001", id);

	ck_assert(is_true(j, "ok"));
	ck_assert_str_eq(text_of(j, "request_id"), id);
	json_decref(j);
}

static bool
noted(struct bed *b, const char *text)
{
	struct bed_want w = { b, "terminal-002", "logs", text };

	return peer_until(&b->peer, bed_shows, &w, PEER_MS);
}

static const char on[] = "{\"request_id\":\"r1\",\"skill\":\"control_light\","
			 "\"arguments\":{\"mode\":\"on\"}}";

TEST(silent)
{
	struct bed b;
	json_t *j;

	start(&b, "silent");
	peer_send(&b.peer, T2 "invoke/r1", on, false);
	ck_assert(noted(&b, "silent about invoke"));
	healthy(&b, "r2");
	ck_assert_ptr_null(peer_nth(&b.peer, T2 "result/r1", 0));
	j = bed_state(&b, "terminal-002");
	ck_assert_str_eq(text_of(j, "color"), "off");
	ck_assert(is_true(j, "online"));
	json_decref(j);
	bed_stop(&b);
}

TEST(late)
{
	struct peer_msg *asked, *answered;
	struct bed b;
	json_t *j;

	start(&b, "late=1200");
	j = invoke(&b, "terminal-002", "r1");
	ck_assert(is_true(j, "ok"));
	json_decref(j);
	asked = peer_get(&b.peer, T2 "invoke/r1", 0);
	answered = peer_get(&b.peer, T2 "result/r1", 0);
	ck_assert_int_ge(mono_diff_ms(answered->at, asked->at), 1150);
	healthy(&b, "r2");
	/* One that is still held back when it ends. */
	peer_send(&b.peer, T2 "invoke/r3", on, false);
	bed_stop(&b);
}

TEST(error)
{
	struct bed b;
	json_t *j;

	start(&b, "error");
	j = invoke(&b, "terminal-002", "r1");
	ck_assert(!is_true(j, "ok"));
	ck_assert_str_eq(text_of(j, "error"), "simulated failure");
	json_decref(j);
	j = bed_state(&b, "terminal-002");
	ck_assert_str_eq(text_of(j, "color"), "off");
	json_decref(j);
	healthy(&b, "r2");
	bed_stop(&b);
}

TEST(wrong_request_id)
{
	struct bed b;
	json_t *j;

	start(&b, "wrong-request-id");
	j = invoke(&b, "terminal-002", "r1");
	ck_assert(is_true(j, "ok"));
	ck_assert_uint_eq(strlen(text_of(j, "request_id")), 36);
	json_decref(j);
	healthy(&b, "r2");
	bed_stop(&b);
}

TEST(drop)
{
	struct bed b;
	int i;

	start(&b, "drop=0.5");
	/* online, offline by the will, online, … */
	for (i = 0; i < 5; i++)
		ck_assert_str_eq(peer_get(&b.peer, T2 "online", i)->payload,
		    i % 2 == 0 ? "online" : "offline");
	ck_assert_ptr_nonnull(peer_get(&b.peer, T2 "intent_catalog", 2));
	ck_assert_ptr_null(peer_nth(&b.peer, T1 "online", 1));
	ck_assert(noted(&b, "drops the connection"));
	healthy(&b, "r1");
	bed_stop(&b);
}

TEST(flap)
{
	struct bed b;
	int i;

	start(&b, "flap=0.3");
	for (i = 0; i < 6; i++)
		ck_assert_str_eq(peer_get(&b.peer, T2 "online", i)->payload,
		    i % 2 == 0 ? "online" : "offline");
	ck_assert_ptr_nonnull(peer_get(&b.peer, T2 "intent_catalog", 2));
	ck_assert_ptr_null(peer_nth(&b.peer, T1 "online", 1));
	/* It never lost its connection. */
	ck_assert(noted(&b, "says it is offline"));
	healthy(&b, "r1");
	bed_stop(&b);
}

TEST(all_of_them_have_faults_unless_told_otherwise)
{
	static const char *const env[] = { "BODY_COUNT=3", "BODY_FAULTS=error",
		NULL };
	char id[32];
	struct bed b;
	json_t *j;
	int i;

	bed_start(&b, env);
	for (i = 1; i <= 3; i++) {
		snprintf(id, sizeof(id), "terminal-%03d", i);
		j = invoke(&b, id, "r1");
		ck_assert(!is_true(j, "ok"));
		json_decref(j);
	}
	bed_stop(&b);
}
