/* A reply before the soul is saved, and the one that confirms it. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "core/mem.h"
#include "state/turn.h"
#include "testkit/emotion_fixture.h"
#include "testkit/redis_meter.h"
#include "testkit/state_fixture.h"

#define EARLY_INBOX "early.replies"
/* Longer than all that happens before a save. */
#define FSYNC_US 300000

static void
early_observe_in(struct emotion_fixture *b, const char *turn)
{
	char text[512];

	snprintf(text, sizeof(text),
	    "{\"user_id\":\"u1\",\"soul_id\":\"soul_a\",\"session_id\":"
	    "\"s1\",\"terminal_id\":\"t-1\",\"broker\":\"main\","
	    "\"text\":\"气死我了！\",\"early\":true%s%s%s}",
	    turn != NULL ? ",\"turn_id\":\"" : "", turn != NULL ? turn : "",
	    turn != NULL ? "\"" : "");
	ck_assert_int_eq(natsConnection_PublishRequestString(b->nc,
			     "soul.rpc.emotion.observe", EARLY_INBOX, text),
	    NATS_OK);
}

static void
early_observe(struct emotion_fixture *b)
{
	early_observe_in(b, NULL);
}

static bool
early_next_saved(natsSubscription *replies)
{
	json_t *j = tk_nats_next(replies, EMOTION_FIXTURE_MS, NULL);
	bool saved;

	ck_assert_ptr_nonnull(j);
	saved = !json_is_false(json_object_get(j, "saved"));
	json_decref(j);
	return saved;
}

/* A turn's record that has not ended hears of the save instead. */
TEST_T(a_running_turn_gets_one_reply, 60)
{
	const struct turn_slot slots[] = {
		{ { STR_INIT("u1"), STR_INIT("s1") }, STR_INIT("i"),
		    STR_INIT("running") },
		{ { STR_INIT("u1"), STR_INIT("s1") }, STR_INIT("i"),
		    STR_INIT("ended") },
	};
	struct turn_ending end = { .reply = STR("{}") };
	natsSubscription *replies;
	struct emotion_fixture b;
	int64_t ahead;

	emotion_fixture_start(&b, 1, NULL);
	emotion_fixture_soul(&b, "soul_a", "INFP");
	for (size_t i = 0; i < NELEM(slots); i++)
		ck_assert_int_eq(
		    turn_fixture_enter(b.db.s, &slots[i], &ahead), RC_OK);
	ck_assert_int_eq(
	    turn_leave(b.db.s, &slots[1], &end, b.db.arena), RC_OK);
	replies = tk_nats_listen(b.nc, EARLY_INBOX);
	early_observe_in(&b, "running");
	ck_assert(!early_next_saved(replies));
	early_observe_in(&b, "ended");
	ck_assert(!early_next_saved(replies));
	ck_assert(early_next_saved(replies));
	natsSubscription_Destroy(replies);
	emotion_fixture_stop(&b);
}

/* The next message: its subject, and whether it is an update for an input. */
static bool
early_is_update(natsSubscription *sub, char subject[256])
{
	natsMsg *m = NULL;
	bool is;

	ck_assert_int_eq(
	    natsSubscription_NextMsg(&m, sub, EMOTION_FIXTURE_MS), NATS_OK);
	snprintf(subject, 256, "%s", natsMsg_GetSubject(m));
	is = strcmp(subject, "soul.body.main.t-1.emotion_update") == 0 &&
	    strstr(natsMsg_GetData(m), "\"session_id\":\"s1\"") != NULL;
	natsMsg_Destroy(m);
	return is;
}

TEST_T(a_reply_does_not_wait_for_the_save, 60)
{
	struct tk_meter *meter = tk_meter_begin();
	natsSubscription *replies, *updates;
	struct emotion_fixture b;
	json_t *first, *second, *update;
	uint64_t fsyncs;

	emotion_fixture_start(&b, 1, NULL);
	emotion_fixture_soul(&b, "soul_a", "INFP");
	json_decref(emotion_fixture_observe(&b, "soul_a", "t-1", "你好"));
	replies = tk_nats_listen(b.nc, EARLY_INBOX);
	updates = tk_nats_listen(b.nc, "soul.body.main.t-1.emotion_update");
	fsyncs = atomic_load(&meter->fsyncs);
	atomic_store(&meter->fsync_us, FSYNC_US);
	early_observe(&b);
	first = tk_nats_next(replies, EMOTION_FIXTURE_MS, NULL);
	/* The body was updated before. */
	update = tk_nats_next(updates, EMOTION_FIXTURE_MS, NULL);
	ck_assert(first != NULL && update != NULL);
	ck_assert(json_is_false(json_object_get(first, "saved")));
	second = tk_nats_next(replies, EMOTION_FIXTURE_MS, NULL);
	ck_assert_ptr_nonnull(second);
	ck_assert(!json_is_false(json_object_get(second, "saved")));
	ck_assert_uint_gt(atomic_load(&meter->fsyncs), fsyncs);
	ck_assert(json_equal(
	    tk_at(first, "soul_emotion"), tk_at(second, "soul_emotion")));
	ck_assert_int_eq(tk_int(first, "version"), tk_int(second, "version"));
	ck_assert_int_eq(tk_int(first, "version"), tk_int(update, "version"));
	atomic_store(&meter->fsync_us, 0);
	ck_assert_int_ge(
	    emotion_fixture_version(&b, "soul_a"), tk_int(first, "version"));
	json_decref(first);
	json_decref(second);
	json_decref(update);
	natsSubscription_Destroy(replies);
	natsSubscription_Destroy(updates);
	emotion_fixture_stop(&b);
}

/* On one connection, so that no action overtakes it. */
TEST_T(the_body_is_updated_before_the_reply, 60)
{
	natsSubscription *all;
	struct emotion_fixture b;
	char subject[256] = "";
	int i, updates;

	emotion_fixture_start(&b, 1, NULL);
	emotion_fixture_soul(&b, "soul_a", "INFP");
	emotion_fixture_body(&b, "t-1", "soul_a", true);
	all = tk_nats_listen(b.nc, ">");
	for (i = 0; i < 50; i++) {
		early_observe(&b);
		for (updates = 0; strcmp(subject, EARLY_INBOX) != 0;
		     updates += early_is_update(all, subject))
			continue;
		ck_assert_int_ge(updates, 1);
		/* The second reply. */
		do {
			(void)early_is_update(all, subject);
		} while (strcmp(subject, EARLY_INBOX) != 0);
		subject[0] = '\0';
	}
	natsSubscription_Destroy(all);
	emotion_fixture_stop(&b);
}

TEST_T(a_save_that_fails_is_reported, 60)
{
	natsSubscription *replies;
	struct emotion_fixture b;
	const char *code = NULL;
	natsMsg *m = NULL;
	json_t *first;

	emotion_fixture_start(&b, 1, NULL);
	emotion_fixture_soul(&b, "soul_a", "INFP");
	json_decref(emotion_fixture_observe(&b, "soul_a", "t-1", "你好"));
	replies = tk_nats_listen(b.nc, EARLY_INBOX);
	tk_signal(&b.redis.proc, SIGSTOP);
	early_observe(&b);
	first = tk_nats_next(replies, EMOTION_FIXTURE_MS, NULL);
	ck_assert_ptr_nonnull(first);
	ck_assert(json_is_false(json_object_get(first, "saved")));
	ck_assert_int_eq(
	    natsSubscription_NextMsg(&m, replies, EMOTION_FIXTURE_MS), NATS_OK);
	ck_assert_int_eq(
	    natsMsgHeader_Get(m, "Nats-Service-Error", &code), NATS_OK);
	ck_assert_ptr_nonnull(code);
	tk_signal(&b.redis.proc, SIGCONT);
	natsMsg_Destroy(m);
	json_decref(first);
	natsSubscription_Destroy(replies);
	emotion_fixture_stop(&b);
}
