/* Forgetting one memory, the match of a query, and everything. */
#include "core/mem.h"
#include "testkit/memory_fixture.h"

static int64_t
forget(struct memory_fixture *fx, const char *user, const char *soul,
    const char *member, const char *value, const char *first)
{
	json_t *j = memory_fixture_forget_reply(fx, user, soul, member, value);
	json_t *ids = json_object_get(j, "memory_ids");
	int64_t n = tk_int(j, "forgotten");

	ck_assert_int_eq((int64_t)json_array_size(ids), n);
	if (first != NULL)
		ck_assert_str_eq(
		    json_string_value(json_array_get(ids, 0)), first);
	json_decref(j);
	return n;
}

TEST_T(one_a_match_or_everything_is_forgotten, 60)
{
	struct memory_fixture fx;
	json_t *j;

	memory_fixture_start(&fx, 1);
	memory_fixture_soul(&fx, "s2", "u1");
	memory_fixture_remember(&fx, "u1", "s1", "tea", "用户喜欢乌龙茶");
	memory_fixture_remember(&fx, "u1", "s1", "cat", "用户的猫叫小花");
	memory_fixture_remember(&fx, "u1", "s2", "trip", "用户要去大理旅行");
	memory_fixture_remember(&fx, "u1", "s2", "car", "用户的车周三限行");
	/* One, of a soul, or of whichever has it. */
	ck_assert_int_eq(forget(&fx, "u1", "s2", "memory_id", "tea", NULL), 0);
	ck_assert_int_eq(forget(&fx, "u1", NULL, "memory_id", "tea", "tea"), 1);
	j = memory_fixture_recall(&fx, "u1", "s1", "乌龙茶", 10);
	ck_assert_uint_eq(memory_fixture_hits(j), 1);
	ck_assert_str_eq(memory_fixture_hit_text(j, 0), "用户的猫叫小花");
	json_decref(j);
	/* The best match of a query, of all souls. */
	ck_assert_int_eq(
	    forget(&fx, "u1", NULL, "query", "忘掉去大理旅行的事", "trip"), 1);
	ck_assert_int_eq(
	    forget(&fx, "u1", NULL, "query", "今天天气如何", NULL), 0);
	ck_assert_uint_eq(memory_fixture_memories_of(&fx, "u1", "s2").n, 1);
	/* Everything. */
	ck_assert_int_eq(forget(&fx, "u1", NULL, NULL, NULL, NULL), 2);
	ck_assert_int_eq(forget(&fx, "u1", NULL, NULL, NULL, NULL), 0);
	ck_assert_uint_eq(memory_fixture_memories(&fx).n, 0);
	ck_assert_uint_eq(memory_fixture_memories_of(&fx, "u1", "s2").n, 0);
	ck_assert_int_eq(forget(&fx, "unknown", NULL, NULL, NULL, NULL), 0);
	memory_fixture_stop(&fx);
}

/* The reply to a query contains the text; other replies only the count. */
static void
forget_query(struct memory_fixture *fx, const char *query, const char *text)
{
	json_t *j = memory_fixture_forget_reply(fx, "u1", "s1", "query", query);
	json_t *texts = json_object_get(j, "texts");

	ck_assert_int_eq(tk_int(j, "forgotten"), text != NULL);
	ck_assert_uint_eq(json_array_size(texts), text != NULL);
	if (text != NULL)
		ck_assert_str_eq(
		    json_string_value(json_array_get(texts, 0)), text);
	json_decref(j);
}

/* Only a match is forgotten, however similar and recent another one is. */
TEST_T(only_a_match_is_forgotten, 60)
{
	static const char *const others[] = { "用户喜欢爬山", "用户喜欢喝咖啡",
		"用户的妈妈喜欢乌龙茶", "用户喜欢龙井茶" };
	char id[16];
	struct memory_fixture fx;
	json_t *j;

	memory_fixture_start(&fx, 1);
	memory_fixture_soul(&fx, "s2", "u1");
	memory_fixture_remember(&fx, "u1", "s2", "theirs", "用户喜欢乌龙茶");
	for (size_t i = 0; i < NELEM(others); i++) {
		snprintf(id, sizeof(id), "m%zu", i);
		memory_fixture_remember(&fx, "u1", "s1", id, others[i]);
	}
	forget_query(&fx, "我喜欢乌龙茶", NULL);
	forget_query(&fx, "忘掉这个", NULL);
	forget_query(&fx, " 。", NULL);
	ck_assert_uint_eq(memory_fixture_memories(&fx).n, NELEM(others));
	memory_fixture_remember(
	    &fx, "u1", "s1", "tea", "用户很喜欢在下午喝一点乌龙茶");
	/* Much more similar, and newer. */
	memory_fixture_remember(
	    &fx, "u1", "s1", "mum", "用户妈妈喜欢喝乌龙茶，喜欢乌龙茶");
	forget_query(&fx, "用户喜欢喝乌龙茶", "用户很喜欢在下午喝一点乌龙茶");
	forget_query(&fx, "用户喜欢喝乌龙茶", NULL);
	ck_assert_uint_eq(memory_fixture_memories(&fx).n, NELEM(others) + 1);
	ck_assert_uint_eq(memory_fixture_memories_of(&fx, "u1", "s2").n, 1);
	j = memory_fixture_forget_reply(&fx, "u1", "s1", "memory_id", "mum");
	ck_assert_ptr_null(json_object_get(j, "texts"));
	json_decref(j);
	memory_fixture_stop(&fx);
}

TEST_T(a_reply_has_up_to_1000_ids, 60)
{
	char id[16];
	struct memory_fixture fx;
	json_t *j;
	int i;

	memory_fixture_start(&fx, 1);
	for (i = 0; i < 1100; i++) {
		snprintf(id, sizeof(id), "m%d", i);
		memory_fixture_remember(&fx, "u1", "s1", id, "事情");
	}
	j = memory_fixture_forget_reply(&fx, "u1", "s1", NULL, NULL);
	ck_assert_int_eq(tk_int(j, "forgotten"), 1100);
	ck_assert_uint_eq(
	    json_array_size(json_object_get(j, "memory_ids")), 1000);
	json_decref(j);
	j = memory_fixture_recall(&fx, "u1", "s1", "事情", 10);
	ck_assert_uint_eq(memory_fixture_hits(j), 0);
	json_decref(j);
	memory_fixture_stop(&fx);
}

/* ---- audit ---- */

#define TRACE  "0af7651916cd43dd8448eb211c80319c"
#define SECRET "用户偷偷喜欢乌龙茶"

static void
forget_in_session(struct memory_fixture *fx, const char *query, int64_t removed)
{
	json_t *req =
	    json_pack("{ssssssssss}", "user_id", "u1", "soul_id", "s1",
		"session_id", "talk 1", "terminal_id", "lamp", "query", query);
	char *s = json_dumps(req, 0);
	natsMsg *q = NULL, *m = NULL;
	json_t *j;

	ck_assert_int_eq(natsMsg_Create(&q, "soul.rpc.memory.forget", NULL, s,
			     (int)strlen(s)),
	    NATS_OK);
	natsMsgHeader_Set(q, "traceparent", "00-" TRACE "-b7ad6b7169203331-01");
	ck_assert_int_eq(
	    natsConnection_RequestMsg(&m, fx->nc, q, MEMORY_FIXTURE_MS),
	    NATS_OK);
	j = tk_nats_json(m);
	ck_assert_int_eq(tk_int(j, "forgotten"), removed);
	json_decref(j);
	natsMsg_Destroy(m);
	natsMsg_Destroy(q);
	free(s);
	json_decref(req);
}

/*
 * The audit event of a conversation has the user, the count and the trace;
 * never the text.
 */
TEST_T(forgetting_in_a_conversation_is_audited, 60)
{
	char subject[TK_SUBJECT], *text;
	natsSubscription *sub;
	struct memory_fixture fx;
	json_t *j;

	memory_fixture_start(&fx, 1);
	tk_nats_events(fx.nc);
	sub = tk_nats_listen(fx.nc, "soul.event.audit.*");
	memory_fixture_remember(&fx, "u1", "s1", "tea", SECRET);
	memory_fixture_remember(&fx, "u1", "s1", "cat", "用户的猫叫小花");
	/* Nothing was removed; and other callers publish their own event. */
	forget_in_session(&fx, "我喜欢爬山", 0);
	ck_assert_int_eq(forget(&fx, "u1", NULL, "memory_id", "cat", "cat"), 1);
	forget_in_session(&fx, SECRET, 1);
	j = tk_nats_next(sub, MEMORY_FIXTURE_MS, subject);
	ck_assert_ptr_nonnull(j);
	ck_assert_str_eq(subject, "soul.event.audit.u1");
	ck_assert_str_eq(tk_text(j, "source"), "memory-worker");
	ck_assert_str_eq(
	    tk_text(j, "trace_id"), "0af76519-16cd-43dd-8448-eb211c80319c");
	ck_assert_str_eq(tk_text(j, "payload.action"), "memories_deleted");
	ck_assert_str_eq(tk_text(j, "payload.user_id"), "u1");
	ck_assert_str_eq(tk_text(j, "payload.soul_id"), "s1");
	ck_assert_str_eq(tk_text(j, "payload.session_id"), "talk 1");
	ck_assert_str_eq(tk_text(j, "payload.terminal_id"), "lamp");
	ck_assert_int_eq(tk_int(j, "payload.count"), 1);
	text = json_dumps(j, 0);
	ck_assert_ptr_null(strstr(text, "乌龙茶"));
	free(text);
	json_decref(j);
	ck_assert(
	    tk_log_has(&fx.worker[0].proc, "ev=audit action=memories_deleted"));
	ck_assert(!tk_log_has(&fx.worker[0].proc, "乌龙茶"));
	ck_assert_ptr_null(tk_nats_next(sub, 1, NULL));
	natsSubscription_Destroy(sub);
	memory_fixture_stop(&fx);
}
