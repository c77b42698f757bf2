/* A reply before the soul is saved, and the one that confirms it. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "testkit/emotion_fixture.h"
#include "testkit/redis_meter.h"

#define EARLY_INBOX "early.replies"
/* Longer than all that happens before a save. */
#define FSYNC_US 300000

static void
early_observe(struct emotion_fixture *b)
{
	ck_assert_int_eq(
	    natsConnection_PublishRequestString(b->nc,
		"soul.rpc.emotion.observe", EARLY_INBOX,
		"{\"user_id\":\"u1\",\"soul_id\":\"soul_a\",\"session_id\":"
		"\"s1\",\"terminal_id\":\"t-1\",\"broker\":\"main\","
		"\"text\":\"气死我了！\",\"early\":true}"),
	    NATS_OK);
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
