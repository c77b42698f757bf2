/* Results of summaries: valid facts without duplicates, and a profile. */
#include "core/mem.h"
#include "testkit/fake_model.h"

#define text_of(j, key) json_string_value(json_object_get((j), (key)))

static const char *completions[8];

static void
respond_next(int fd, int n, struct str body)
{
	(void)body;
	fake_model_respond_text(fd,
	    n < (int)NELEM(completions) && completions[n] != NULL
		? completions[n]
		: "无");
}

static void
start(struct memory_fixture *fx)
{
	memset(completions, 0, sizeof(completions));
	fake_model_start(fx, respond_next);
}

static json_t *
list_of(struct memory_fixture *fx)
{
	return memory_fixture_rpc(fx, "soul.rpc.memory.list",
	    json_pack("{ssss}", "user_id", "u1", "soul_id", "s1"));
}

static json_t *
profile_of(struct memory_fixture *fx)
{
	json_t *j = memory_fixture_rpc(
	    fx, "soul.rpc.memory.profile", json_pack("{ss}", "user_id", "u1"));
	json_t *p = json_incref(json_object_get(j, "user_profile"));

	json_decref(j);
	return p;
}

TEST_T(a_newer_fact_supersedes_the_older, 60)
{
	struct memory_fixture fx;
	json_t *j, *old;

	start(&fx);
	completions[0] =
	    "{\"summary\":\"用户喜欢乌龙茶，养猫。\",\"memories\":["
	    "{\"text\":\"用户最喜欢的茶是乌龙茶\",\"type\":\"fact\"},"
	    "{\"text\":\"用户养了一只猫叫小花\",\"type\":\"fact\"}],"
	    "\"profile\":{\"preferences\":{\"茶\":\"乌龙茶\"}}}";
	completions[1] =
	    "{\"summary\":\"用户改喝普洱茶。\",\"memories\":["
	    "{\"text\":\"用户最喜欢的茶是普洱茶\",\"type\":\"fact\","
	    "\"replaces\":[1]}],"
	    "\"profile\":{\"preferences\":{\"茶\":\"普洱茶\"}}}";
	memory_fixture_converse(
	    &fx, "chat", "我最喜欢的茶是乌龙茶，我养了一只猫叫小花", 0);
	memory_fixture_wait_memories(&fx, 2);
	memory_fixture_wait_summaries(&fx);
	/* In another session the model is shown existing memories. */
	memory_fixture_converse(&fx, "chat2", "我现在最喜欢的茶是普洱茶", 0);
	memory_fixture_wait_summaries(&fx);
	memory_fixture_wait_jobs(&fx);
	ck_assert(!fake_model_prompt_has(0, 0, "以下是已知记忆"));
	ck_assert(fake_model_prompt_has(1, 0, "\n1. 用户最喜欢的茶是乌龙茶\n"));
	ck_assert(fake_model_prompt_has(
	    1, 0, "已有资料：{\"preferences\":{\"茶\":\"乌龙茶\"}}"));

	j = memory_fixture_recall(&fx, "u1", "s1", "我最喜欢什么茶", 5);
	ck_assert_uint_eq(memory_fixture_hits(j), 2);
	ck_assert_str_eq(
	    memory_fixture_hit_text(j, 0), "用户最喜欢的茶是普洱茶");
	ck_assert_str_eq(memory_fixture_hit_text(j, 1), "用户养了一只猫叫小花");
	json_decref(j);
	/* The older one is listed with its end. */
	j = list_of(&fx);
	ck_assert_uint_eq(memory_fixture_hits(j), 3);
	old = memory_fixture_item(j, 0);
	if (text_of(old, "valid_until") == NULL)
		old = memory_fixture_item(j, 1);
	ck_assert_str_eq(text_of(old, "text"), "用户最喜欢的茶是乌龙茶");
	ck_assert_ptr_nonnull(text_of(old, "valid_until"));
	ck_assert_str_le(
	    text_of(old, "created_at"), text_of(old, "valid_until"));
	ck_assert_ptr_nonnull(text_of(old, "superseded_by"));
	json_decref(j);
	j = profile_of(&fx);
	ck_assert_str_eq(
	    text_of(json_object_get(j, "preferences"), "茶"), "普洱茶");
	json_decref(j);
	ck_assert_int_eq(memory_fixture_stream_len(&fx, "SOUL_DEAD"), 0);
	fake_model_stop(&fx);
}

TEST_T(what_was_not_stated_is_no_memory, 60)
{
	struct memory_fixture fx;
	json_t *j;

	start(&fx);
	completions[0] =
	    "{\"summary\":\"闲聊。\",\"memories\":["
	    "\"用户最喜欢的茶是乌龙茶\",\"用户询问了自己喜欢的茶\","
	    "\"用户住在火星上\"],\"profile\":{\"name\":\"约翰\"}}";
	memory_fixture_converse(
	    &fx, "chat", "你好，你记得我最喜欢的茶是什么吗？谢谢你！", 0);
	memory_fixture_wait_summaries(&fx);
	ck_assert_int_eq(fake_model_calls(), 1);
	ck_assert_uint_eq(memory_fixture_memories(&fx).n, 0);
	ck_assert_int_eq(memory_fixture_stream_len(&fx, "SOUL_JOBS"), 0);
	ck_assert_int_eq(
	    tk_service_metric(&fx.worker[0], "soul_memory_not_admitted_total"),
	    3);
	j = profile_of(&fx);
	ck_assert_uint_eq(json_object_size(j), 0);
	json_decref(j);
	fake_model_stop(&fx);
}

static void
tool_message(struct memory_fixture *fx, struct session_key k, const char *name,
    const char *content)
{
	json_t *j = json_pack("{ssssssss}", "role", "tool", "name", name,
	    "content", content, "created_at", "2026-02-22T10:20:30Z");
	char *s = json_dumps(j, JSON_COMPACT);
	struct str json = str_of(s);

	ck_assert_int_eq(session_append(fx->db.s, &k, &json, 1, NULL), RC_OK);
	free(s);
	json_decref(j);
}

TEST_T(recalled_and_forgotten_facts_are_not_stored, 60)
{
	struct session_key k = { STR("u1"), STR("chat") };
	struct memory_list l;
	struct memory_fixture fx;

	start(&fx);
	completions[0] =
	    "{\"summary\":\"聊了聊。\",\"memories\":["
	    "\"用户对花生过敏，吃了会起疹子\",\"用户养了一只猫叫小花\","
	    "\"用户明天去看牙医\"]}";
	tool_message(&fx, k, "recall_memory",
	    "{\"memories\":[{\"text\":\"用户对花生过敏，吃了会起疹子\"}]}");
	memory_fixture_message(&fx, k, "user", "我养了一只猫叫小花");
	memory_fixture_message(&fx, k, "user", "忘掉我养了猫这件事");
	tool_message(&fx, k, "forget_memory",
	    "{\"query\":\"养了一只猫\",\"forgotten\":[]}");
	memory_fixture_converse(
	    &fx, "chat", "这个菜里有花生，我就不吃了，明天我去看牙医", 0);
	memory_fixture_wait_memories(&fx, 1);
	memory_fixture_wait_summaries(&fx);
	l = memory_fixture_memories(&fx);
	ck_assert_uint_eq(memory_fixture_count_text(&l, "牙医"), 1);
	/* The prompt contains what was forgotten, not what was recalled. */
	ck_assert(fake_model_prompt_has(0, 1, "forget_memory"));
	ck_assert(!fake_model_prompt_has(0, 1, "疹子"));
	fake_model_stop(&fx);
}

TEST_T(messages_before_a_clear_are_ignored, 60)
{
	struct session_key k = { STR("u1"), STR("chat") };
	const struct memory_scope scope = { STR("u1"), STR("s1") };
	char now[WALL_FORMAT_MAX];
	struct memory_fixture fx;
	struct str json;
	json_t *j;
	char *s;

	start(&fx);
	completions[0] = "用户的密码是榴莲，喜欢喝茶。";
	memory_fixture_message(&fx, k, "user", "我的密码是榴莲");
	ck_assert_int_eq(memory_clear(fx.db.s, &scope, NULL), RC_OK);
	wall_format((struct wall){ clock_wall().ms + 1000 }, 0, now);
	j = json_pack("{ssssss}", "role", "user", "content", "我喜欢喝茶",
	    "created_at", now);
	s = json_dumps(j, JSON_COMPACT);
	json = str_of(s);
	ck_assert_int_eq(session_append(fx.db.s, &k, &json, 1, NULL), RC_OK);
	free(s);
	json_decref(j);
	ck_assert_int_eq(
	    session_user_input(fx.db.s, &k, STR("s1"), STR("t1"), 0), RC_OK);
	memory_fixture_wait_summaries(&fx);
	ck_assert_int_eq(fake_model_calls(), 1);
	ck_assert(fake_model_prompt_has(0, 1, "我喜欢喝茶"));
	ck_assert(!fake_model_prompt_has(0, 1, "榴莲"));
	fake_model_stop(&fx);
}

TEST_T(duplicates_are_stored_singly, 60)
{
	struct memory_list l;
	struct memory_fixture fx;

	start(&fx);
	memory_fixture_publish_fact(&fx, "one", "s1", "用户喜欢乌龙茶");
	memory_fixture_publish_fact(&fx, "other", "s1", "用户喜欢普洱茶");
	memory_fixture_wait_memories(&fx, 2);
	memory_fixture_publish_fact(&fx, "two", "s1", "该用户很喜欢乌龙茶。");
	memory_fixture_wait_jobs(&fx);
	l = memory_fixture_wait_memories(&fx, 2);
	ck_assert_uint_eq(memory_fixture_count_text(&l, "乌龙茶"), 1);
	/* Other souls and users are unaffected. */
	memory_fixture_soul(&fx, "s2", "u1");
	memory_fixture_publish_fact(&fx, "three", "s2", "用户喜欢乌龙茶");
	memory_fixture_wait_jobs(&fx);
	ck_assert_uint_eq(memory_fixture_memories_of(&fx, "u1", "s2").n, 1);
	ck_assert_uint_eq(memory_fixture_memories(&fx).n, 2);
	fake_model_stop(&fx);
}

TEST_T(the_prompt_is_in_the_users_language, 60)
{
	struct memory_list l;
	struct memory_fixture fx;

	start(&fx);
	completions[0] = "{\"summary\":\"The user moved.\",\"memories\":["
			 "{\"text\":\"The user moved to Lisbon in 2024\","
			 "\"type\":\"episode\",\"tags\":[\"home\"]}]}";
	memory_fixture_converse(&fx, "chat", "I moved to Lisbon in 2024", 0);
	l = memory_fixture_wait_memories(&fx, 1);
	ck_assert_uint_eq(
	    memory_fixture_count_text(&l, "\"tags\":[\"home\"]"), 1);
	memory_fixture_wait_summaries(&fx);
	ck_assert(
	    fake_model_prompt_has(0, 0, "Write in the language that the user"));
	ck_assert(fake_model_prompt_has(
	    0, 1, "User: I moved to Lisbon in 2024\nSoul: "));
	fake_model_stop(&fx);
}

TEST_T(a_malformed_completion_is_retried, 60)
{
	struct memory_list l;
	struct memory_fixture fx;

	start(&fx);
	completions[0] = "{\"summary\":\"用户喜欢";
	completions[1] = "{\"summary\":\"用户喜欢茶。\",\"memories\":["
			 "\"用户喜欢喝茶\"]}";
	memory_fixture_converse(&fx, "chat", "我喜欢喝茶", 0);
	l = memory_fixture_wait_memories(&fx, 1);
	ck_assert_uint_eq(memory_fixture_count_text(&l, "summary"), 0);
	memory_fixture_wait_summaries(&fx);
	ck_assert_int_eq(fake_model_calls(), 2);
	fake_model_stop(&fx);
}

/* The state in which a process dies right after storing a summary. */
TEST_T(pending_jobs_are_all_run, 60)
{
	struct session_key k = { STR("u1"), STR("chat") };
	struct session_summary sum = { STR("两件事"), 0, 2, { NULL, 0 } };
	char now[WALL_FORMAT_MAX], jobs[2048];
	struct memory_list l;
	struct memory_fixture fx;
	json_t *j;

	start(&fx);
	memory_fixture_message(&fx, k, "user", "我喜欢茶");
	memory_fixture_message(&fx, k, "user", "我养猫");
	wall_format(clock_wall(), 0, now);
	snprintf(jobs, sizeof(jobs),
	    "{\"job_id\":\"tea\",\"kind\":\"memory_store\",\"user_id\":"
	    "\"u1\",\"soul_id\":\"s1\",\"text\":\"用户喜欢茶\",\"type\":"
	    "\"fact\",\"created_at\":\"%s\"}\n"
	    "{\"kind\":\"profile_merge\",\"patch\":{\"user_profile\":"
	    "{\"name\":\"小明\"}},\"created_at\":\"%s\"}\n"
	    "{\"kind\":\"profile_merge\",\"patch\":{\"unknown\":1},"
	    "\"created_at\":\"%s\"}\n"
	    "no job\n"
	    "{\"job_id\":\"cat\",\"kind\":\"memory_store\",\"user_id\":"
	    "\"u1\",\"soul_id\":\"s1\",\"text\":\"用户养猫\",\"type\":"
	    "\"fact\",\"created_at\":\"%s\"}\n",
	    now, now, now, now);
	sum.job = str_of(jobs);
	ck_assert_int_eq(session_summarise(fx.db.s, &k, &sum), RC_OK);
	ck_assert_int_eq(
	    session_user_input(fx.db.s, &k, STR("s1"), STR("t1"), 0), RC_OK);
	l = memory_fixture_wait_memories(&fx, 2);
	ck_assert_uint_eq(memory_fixture_count_text(&l, "茶"), 1);
	ck_assert_uint_eq(memory_fixture_count_text(&l, "猫"), 1);
	memory_fixture_wait_summaries(&fx);
	ck_assert_ptr_null(memory_fixture_session(&fx, "chat").job.p);
	ck_assert_int_eq(fake_model_calls(), 0);
	j = profile_of(&fx);
	ck_assert_str_eq(text_of(j, "name"), "小明");
	ck_assert_uint_eq(json_object_size(j), 1);
	json_decref(j);
	fake_model_stop(&fx);
}
