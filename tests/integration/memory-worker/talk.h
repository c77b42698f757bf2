/*
 * talk: conversations, the memories they make, and questions about them.
 */
#ifndef TALK_H
#define TALK_H

#include "integration/memory-worker/bed.h"

/* ---- conversations ---------------------------------------------------------
 */

static inline void
bed_message(
    struct bed *b, struct session_key k, const char *role, const char *text)
{
	json_t *j = json_pack("{ssssssss}", "id", "1", "role", role, "content",
	    text, "created_at", "2026-02-22T10:20:30Z");
	char *s = json_dumps(j, JSON_COMPACT);
	struct str json = str_of(s);

	ck_assert_int_eq(session_append(b->db.s, &k, &json, 1, NULL), RC_OK);
	free(s);
	json_decref(j);
}

/* The user says something to a soul, is answered, and is silent for idle_ms. */
static inline void
bed_say_to(struct bed *b, struct session_key k, const char *soul,
    const char *text, int64_t idle_ms)
{
	bed_message(b, k, "user", text);
	bed_message(b, k, "assistant", "好的，我记住了。");
	ck_assert_int_eq(
	    session_user_input(b->db.s, &k, str_of(soul), STR("t1"), idle_ms),
	    RC_OK);
}

static inline void
bed_say(struct bed *b, const char *session, const char *text, int64_t idle_ms)
{
	bed_say_to(b, (struct session_key){ STR("u1"), str_of(session) }, "s1",
	    text, idle_ms);
}

static inline struct session
bed_session(struct bed *b, const char *session)
{
	struct session_key k = { STR("u1"), str_of(session) };
	struct session s;

	ck_assert_int_eq(session_read(b->db.s, &k, b->db.arena, &s), RC_OK);
	return s;
}

/* ---- memories --------------------------------------------------------------
 */

/* Put a memory where the built-in store keeps them, as of now. */
static inline void
bed_remember(struct bed *b, const char *user, const char *soul, const char *id,
    const char *text)
{
	struct memory_scope scope = { str_of(user), str_of(soul) };
	char json[1024], now[WALL_FORMAT_MAX];
	struct memory_item item = { .id = str_of(id), .json = { NULL, 0 } };

	wall_format(clock_wall(), 0, now);
	snprintf(json, sizeof(json),
	    "{\"text\":\"%s\",\"type\":\"fact\",\"created_at\":\"%s\"}", text,
	    now);
	item.json = str_of(json);
	ck_assert_int_eq(
	    memory_put(b->db.s, &scope, &item, clock_wall()), RC_OK);
}

static inline struct memory_list
bed_memories_of(struct bed *b, const char *user, const char *soul)
{
	struct memory_scope scope = { str_of(user), str_of(soul) };
	struct memory_list l;

	arena_reset(b->db.arena);
	ck_assert_int_eq(
	    memory_all(b->db.s, &scope, -1, b->db.arena, &l), RC_OK);
	return l;
}

static inline struct memory_list
bed_memories(struct bed *b)
{
	return bed_memories_of(b, "u1", "s1");
}

struct counted {
	struct bed *b;
	size_t n;
};

static inline bool
bed_has(void *arg)
{
	struct counted *c = arg;

	return bed_memories(c->b).n >= c->n;
}

/* Wait until u1 and s1 have n memories, and see that they are not more. */
static inline struct memory_list
bed_wait(struct bed *b, size_t n)
{
	struct counted c = { b, n };
	struct memory_list l;

	ck_assert_msg(tk_until(bed_has, &c, BED_MS), "%zu of %zu memories",
	    bed_memories(b).n, n);
	l = bed_memories(b);
	ck_assert_uint_eq(l.n, n);
	return l;
}

/* How many memories have text in them. */
static inline size_t
bed_with(const struct memory_list *l, const char *text)
{
	size_t i, n = 0;

	for (i = 0; i < l->n; i++)
		n += str_find(l->item[i].json, str_of(text)) >= 0;
	return n;
}

static inline bool
nothing_idle(void *arg)
{
	struct bed *b = arg;
	struct state_reply *r;
	bool is;

	if (state_cmd(b->db.s, STATE_ARGS(STR("ZCARD"), STR("soul:idle:1")),
		&r) != RC_OK)
		return false;
	is = state_reply_int(r) == 0;
	state_reply_free(r);
	return is;
}

/* Wait until no session is idle or claimed any more. */
static inline void
bed_quiet(struct bed *b)
{
	ck_assert(tk_until(nothing_idle, b, BED_MS));
}

/* ---- NATS ------------------------------------------------------------------
 */

/* A job as its publisher writes it; id is its message id too. */
static inline void
bed_publish(struct bed *b, const char *id, const char *json)
{
	natsMsg *m = NULL, *reply = NULL;

	ck_assert_int_eq(natsMsg_Create(&m, "soul.job.memory_store", NULL, json,
			     (int)strlen(json)),
	    NATS_OK);
	ck_assert_int_eq(natsMsgHeader_Set(m, "Nats-Msg-Id", id), NATS_OK);
	ck_assert_int_eq(
	    natsConnection_RequestMsg(&reply, b->nc, m, BED_MS), NATS_OK);
	ck_assert_msg(strstr(natsMsg_GetData(reply), "\"seq\"") != NULL, "%s",
	    natsMsg_GetData(reply));
	natsMsg_Destroy(m);
	natsMsg_Destroy(reply);
}

/* A fact about u1 that a soul shall remember. */
static inline void
bed_job(struct bed *b, const char *id, const char *soul, const char *text)
{
	char json[1024], now[WALL_FORMAT_MAX];

	wall_format(clock_wall(), 0, now);
	snprintf(json, sizeof(json),
	    "{\"job_id\":\"%s\",\"kind\":\"memory_store\",\"user_id\":\"u1\","
	    "\"soul_id\":\"%s\",\"text\":\"%s\",\"type\":\"fact\","
	    "\"created_at\":\"%s\"}",
	    id, soul, text, now);
	bed_publish(b, id, json);
}

/* What answers an object, which is taken; it must not fail. */
static inline json_t *
bed_rpc(struct bed *b, const char *subject, json_t *req)
{
	char *s = json_dumps(req, 0), code[64];
	json_t *j = tk_nats_ask(b->nc, subject, s, code);

	ck_assert_msg(code[0] == '\0', "%s", code);
	free(s);
	json_decref(req);
	return j;
}

static inline json_t *
bed_recall_as(struct bed *b, const char *user, const char *soul,
    const char *query, int top_k)
{
	return bed_rpc(b, "soul.rpc.memory.recall",
	    json_pack("{sssssssi}", "user_id", user, "soul_id", soul, "query",
		query, "top_k", top_k));
}

/* What u1 and s1 remember best of it; the text of place i, or NULL. */
static inline const char *
hit_text(json_t *reply, size_t i)
{
	json_t *items = json_object_get(reply, "items");

	return json_string_value(
	    json_object_get(json_array_get(items, i), "text"));
}

static inline size_t
hits(json_t *reply)
{
	return json_array_size(json_object_get(reply, "items"));
}

/* Messages that a stream has, or that a consumer of it has not done. */
static inline int64_t
bed_stream(struct bed *b, const char *stream)
{
	char subject[96], code[64];
	json_t *j;
	int64_t n;

	snprintf(subject, sizeof(subject), "$JS.API.STREAM.INFO.%s", stream);
	j = tk_nats_ask(b->nc, subject, "", code);
	n = json_integer_value(
	    json_object_get(json_object_get(j, "state"), "messages"));
	json_decref(j);
	return n;
}

static inline int64_t
bed_undone(struct bed *b)
{
	char code[64];
	json_t *j = tk_nats_ask(
	    b->nc, "$JS.API.CONSUMER.INFO.SOUL_JOBS.memory-worker", "", code);
	int64_t n = json_integer_value(json_object_get(j, "num_pending")) +
	    json_integer_value(json_object_get(j, "num_ack_pending"));

	json_decref(j);
	return n;
}

static inline bool
all_done(void *arg)
{
	return bed_undone(arg) == 0;
}

#endif /* !TALK_H */
