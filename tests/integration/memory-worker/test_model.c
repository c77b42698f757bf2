/*
 * What the language model is asked, and what its stranger answers do: with a
 * model that says what each test wants.
 */
#include "integration/httpc/peer.h"
#include "talk.h"

#define ASKED_MAX 32

/* How the model answers the request of that number with that body. */
typedef void (*answer_fn)(int fd, int number, struct str body);

static struct {
	struct peer peer;
	answer_fn answer;
	pthread_mutex_t lock;
	int n;
	char *body[ASKED_MAX];
} model = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void
serve(struct peer *p, int fd)
{
	struct buf in = BUF_INIT(4UL << 20);
	struct str body;
	ptrdiff_t head;
	int n;

	(void)p;
	if (peer_read(fd, &in)) {
		head = str_find(buf_str(&in), STR("\r\n\r\n"));
		body = (struct str){ in.p + head + 4, in.n - (size_t)head - 4 };
		pthread_mutex_lock(&model.lock);
		n = model.n++;
		if (n < ASKED_MAX)
			model.body[n] = str_dup(body);
		pthread_mutex_unlock(&model.lock);
		model.answer(fd, n, body);
	}
	buf_free(&in);
}

static void
say(int fd, int status, const char *body)
{
	char text[4096];

	snprintf(text, sizeof(text),
	    "HTTP/1.1 %d X\r\nContent-Type: application/json\r\n"
	    "Connection: close\r\nContent-Length: %zu\r\n\r\n%s",
	    status, strlen(body), body);
	(void)peer_write(fd, text);
}

static void
say_text(int fd, const char *text)
{
	json_t *j = json_pack("{s[{s{ssss}ss}]}", "choices", "message", "role",
	    "assistant", "content", text, "finish_reason", "stop");
	char *s = json_dumps(j, 0);

	say(fd, 200, s);
	free(s);
	json_decref(j);
}

static void
model_start(struct bed *b, answer_fn answer)
{
	bed_servers(b);
	model.answer = answer;
	peer_open(&model.peer, serve);
	snprintf(b->llm_url, sizeof(b->llm_url), "http://127.0.0.1:%d/v1",
	    model.peer.port);
	b->more[0] = "OPENAI_API_KEY=secret";
	b->more[1] = "LLM_MODEL=m1";
	bed_spawn(b, 0);
	bed_ready(b, 0);
}

static void
model_stop(struct bed *b)
{
	bed_stop(b);
	peer_close(&model.peer);
}

static int
asked(void)
{
	int n;

	pthread_mutex_lock(&model.lock);
	n = model.n;
	pthread_mutex_unlock(&model.lock);
	return n;
}

/* The text of message i (0: the instruction) of request n; freed by caller. */
static char *
asked_text(int n, size_t i)
{
	json_t *j, *m;
	char *s;

	pthread_mutex_lock(&model.lock);
	ck_assert_int_lt(n, model.n);
	j = json_loads(model.body[n], 0, NULL);
	pthread_mutex_unlock(&model.lock);
	ck_assert_ptr_nonnull(j);
	ck_assert_str_eq(json_string_value(json_object_get(j, "model")), "m1");
	m = json_object_get(j, "messages");
	ck_assert_uint_eq(json_array_size(m), 2);
	m = json_array_get(m, i);
	ck_assert_str_eq(json_string_value(json_object_get(m, "role")),
	    i == 0 ? "system" : "user");
	s = str_dup(str_of(json_string_value(json_object_get(m, "content"))));
	json_decref(j);
	return s;
}

static bool
asked_with(int n, size_t i, const char *text)
{
	char *s = asked_text(n, i);
	bool has = strstr(s, text) != NULL;

	free(s);
	return has;
}

/* ---- prompts ----------------------------------------------------------------
 */

static void
numbered(int fd, int n, struct str body)
{
	char text[64];

	(void)body;
	snprintf(text, sizeof(text), "摘要第%d号。", n);
	say_text(fd, text);
}

KIT_TEST_T(only_what_is_new_is_asked_about, 60)
{
	struct session_key k = { STR("u1"), STR("chat") };
	struct session s;
	struct bed b;
	char *text;

	model_start(&b, numbered);
	bed_message(&b, k, "observation", "有人走近");
	bed_say(&b, "chat", "我喜欢乌龙茶", 0);
	bed_wait(&b, 1);
	bed_quiet(&b);
	ck_assert(asked_with(0, 0, "220"));
	ck_assert(!asked_with(0, 0, "此前的摘要"));
	text = asked_text(0, 1);
	ck_assert_str_eq(text,
	    "观察：有人走近\n用户：我喜欢乌龙茶\n灵魂：好的，我记住了。\n");
	free(text);

	bed_say(&b, "chat", "我的猫叫小花", 0);
	bed_wait(&b, 2);
	bed_quiet(&b);
	ck_assert(asked_with(1, 0, "此前的摘要"));
	ck_assert(asked_with(1, 0, "摘要第0号。"));
	ck_assert(asked_with(1, 1, "我的猫叫小花"));
	ck_assert(!asked_with(1, 1, "乌龙茶"));
	s = bed_session(&b, "chat");
	ck_assert(str_eq(s.summary, STR("摘要第0号。\n摘要第1号。")));
	ck_assert_int_eq(s.summarised, 5);
	ck_assert_int_eq(asked(), 2);
	model_stop(&b);
}

KIT_TEST_T(a_long_conversation_is_told_in_parts, 60)
{
	struct session_key k = { STR("u1"), STR("chat") };
	struct memory_list l;
	char *text;
	struct bed b;
	int i, n;

	model_start(&b, numbered);
	/* 40 messages of 1,000 characters: four parts of at most 12,000. */
	text = mem_zalloc(3 * 1000 + 1);
	for (i = 0; i < 1000; i++)
		memcpy(text + 3 * i, "茶", 3);
	for (i = 0; i < 39; i++)
		bed_message(&b, k, i % 2 == 0 ? "user" : "assistant", text);
	bed_message(&b, k, "user", "最后一句");
	free(text);
	ck_assert_int_eq(
	    session_user_input(b.db.s, &k, STR("s1"), STR("t1"), 0), RC_OK);
	l = bed_wait(&b, 4);
	ck_assert_uint_eq(bed_with(&l, "摘要第3号"), 1);
	bed_quiet(&b);
	ck_assert_int_eq(asked(), 4);
	ck_assert_int_eq(bed_session(&b, "chat").summarised, 40);
	for (n = 0, i = 0; i < 4; i++)
		n += asked_with(i, 1, "最后一句");
	ck_assert_int_eq(n, 1);
	model_stop(&b);
}

/* ---- answers ----------------------------------------------------------------
 */

static void
nothing(int fd, int n, struct str body)
{
	(void)n;
	(void)body;
	say_text(fd, "“无”。");
}

KIT_TEST_T(small_talk_is_no_memory, 60)
{
	struct session s;
	struct bed b;

	model_start(&b, nothing);
	bed_say(&b, "chat", "你好呀", 0);
	bed_quiet(&b);
	s = bed_session(&b, "chat");
	ck_assert_int_eq(s.summarised, 2);
	ck_assert_uint_eq(s.summary.n, 0);
	ck_assert_ptr_null(s.job.p);
	ck_assert_uint_eq(bed_memories(&b).n, 0);
	ck_assert_int_eq(bed_stream(&b, "SOUL_JOBS"), 0);
	ck_assert_int_eq(asked(), 1);
	model_stop(&b);
}

static void
refuse_then_answer(int fd, int n, struct str body)
{
	(void)body;
	if (n == 0)
		say_text(fd, " \n");
	else if (n < 3)
		say(fd, 400, "{\"error\":{\"message\":\"no\"}}");
	else
		say_text(fd, "用户喜欢乌龙茶和猫。");
}

KIT_TEST_T(what_is_refused_is_part_of_the_next, 60)
{
	struct bed b;

	model_start(&b, refuse_then_answer);
	bed_say(&b, "chat", "我喜欢乌龙茶", 0);
	bed_quiet(&b);
	/* Three times, and no more until something new is said. */
	ck_assert_int_eq(asked(), 3);
	ck_assert_uint_eq(bed_memories(&b).n, 0);
	ck_assert_int_eq(kit_service_metric(&b.worker[0],
			     "soul_memory_summaries_refused_total"),
	    1);
	bed_say(&b, "chat", "我也喜欢猫", 0);
	bed_wait(&b, 1);
	ck_assert_int_eq(asked(), 4);
	ck_assert(asked_with(3, 1, "我喜欢乌龙茶"));
	ck_assert(asked_with(3, 1, "我也喜欢猫"));
	model_stop(&b);
}

static void
short_memory(int fd, int n, struct str body)
{
	(void)n;
	if (body.n > 10000)
		say(fd, 400,
		    "{\"error\":{\"message\":\"too long\","
		    "\"code\":\"context_length_exceeded\"}}");
	else
		say_text(fd, "一部分。");
}

KIT_TEST_T(a_model_with_a_short_memory, 60)
{
	struct session_key k = { STR("u1"), STR("chat") };
	struct bed b;
	char *text;
	int i;

	model_start(&b, short_memory);
	text = mem_zalloc(3 * 500 + 1);
	for (i = 0; i < 500; i++)
		memcpy(text + 3 * i, "茶", 3);
	for (i = 0; i < 16; i++)
		bed_message(&b, k, "user", text);
	free(text);
	ck_assert_int_eq(
	    session_user_input(b.db.s, &k, STR("s1"), STR("t1"), 0), RC_OK);
	bed_quiet(&b);
	ck_assert_int_eq(bed_session(&b, "chat").summarised, 16);
	ck_assert_uint_ge(bed_memories(&b).n, 3);
	model_stop(&b);
}

/* ---- what is not asked about
 * ------------------------------------------------- */

KIT_TEST_T(what_need_not_be_asked, 60)
{
	static const struct str broken = STR_INIT("{\"role\":\"ghost\"}");
	struct session_key none = { STR("u1"), STR("none") };
	struct session_key silent = { STR("u1"), STR("silent") };
	struct session_key odd = { STR("u1"), STR("odd") };
	struct session_key theirs = { STR("u2"), STR("chat") };
	struct bed b;
	int i;

	model_start(&b, numbered);
	bed_soul(&b, "s2", "u2");
	/* A session without messages, and one without words of the user. */
	ck_assert_int_eq(
	    session_user_input(b.db.s, &none, STR("s1"), STR("t1"), 0), RC_OK);
	bed_message(&b, silent, "assistant", "早上好");
	ck_assert_int_eq(
	    session_user_input(b.db.s, &silent, STR("s1"), STR("t1"), 0),
	    RC_OK);
	/* A soul that is gone, or another user's. */
	bed_say_to(&b, theirs, "s1", "这是我的秘密", 0);
	bed_say_to(&b, (struct session_key){ STR("u1"), STR("gone") }, "nobody",
	    "这是我的秘密", 0);
	bed_quiet(&b);
	ck_assert_int_eq(asked(), 0);
	ck_assert_int_eq(bed_stream(&b, "SOUL_JOBS"), 0);
	/* A message that cannot be read does not hide the others. */
	for (i = 0; i < 2; i++)
		ck_assert_int_eq(
		    session_append(b.db.s, &odd, &broken, 1, NULL), RC_OK);
	bed_say_to(&b, odd, "s1", "我喜欢乌龙茶", 0);
	bed_wait(&b, 1);
	bed_quiet(&b);
	ck_assert_int_eq(asked(), 1);
	ck_assert(asked_with(0, 1, "乌龙茶"));
	ck_assert_uint_eq(bed_memories_of(&b, "u2", "s1").n, 0);
	ck_assert_uint_eq(bed_memories_of(&b, "u2", "s2").n, 0);
	model_stop(&b);
}
