/*
 * talk: turns, started and followed as chat-gateway does it.
 */
#ifndef TALK_H
#define TALK_H

#include "bed.h"

/* A turn under way. */
struct talk {
	struct bed *b;
	char turn_id[64];
	natsSubscription *inbox;
	natsInbox *reply;
	bool accepted;
	size_t running;
	json_t *end; /* its last answer */
};

/* What may differ from turn to turn. */
struct talk_opts {
	const char *session;  /* NULL: s1 */
	const char *terminal; /* NULL: t1 */
	const char *soul;     /* NULL: not named */
	const char *user;     /* NULL: u1 */
	const char *inputs;   /* JSON list; NULL: what is said, by keyboard */
	int64_t deadline_ms;  /* 0: 15000 */
	bool stream;
};

static inline json_t *
talk_request(struct talk *t, const char *said, const struct talk_opts *o)
{
	json_t *chat = json_pack("{s:s,s:s,s:s*}", "session_id",
	    o->session != NULL ? o->session : "s1", "terminal_id",
	    o->terminal != NULL ? o->terminal : "t1", "soul_id", o->soul);
	json_t *inputs = o->inputs != NULL
	    ? json_loads(o->inputs, 0, NULL)
	    : json_pack("[{s:s,s:s}]", "type", "keyboard_text", "text", said);

	ck_assert_ptr_nonnull(inputs);
	json_object_set_new(chat, "inputs", inputs);
	if (o->stream)
		json_object_set_new(chat, "stream", json_true());
	return json_pack("{s:s,s:s,s:o}", "turn_id", t->turn_id, "user_id",
	    o->user != NULL ? o->user : "u1", "chat", chat);
}

static inline void
talk_start_with(
    struct talk *t, struct bed *b, const char *said, const struct talk_opts *o)
{
	char deadline[32];
	natsMsg *m = NULL;

	memset(t, 0, sizeof(*t));
	t->b = b;
	snprintf(t->turn_id, sizeof(t->turn_id), "turn_%zu", ++b->turns);
	json_t *req = talk_request(t, said, o);
	char *text = json_dumps(req, 0);
	natsInbox_Create(&t->reply);
	ck_assert_int_eq(
	    natsConnection_SubscribeSync(&t->inbox, b->peers.nc, t->reply),
	    NATS_OK);
	ck_assert_int_eq(natsMsg_Create(&m, "soul.rpc.turn.start", t->reply,
			     text, (int)strlen(text)),
	    NATS_OK);
	snprintf(deadline, sizeof(deadline), "%lld",
	    (long long)(clock_wall().ms +
		(o->deadline_ms != 0 ? o->deadline_ms : BED_MS)));
	natsMsgHeader_Set(m, "Soul-Deadline", deadline);
	ck_assert_int_eq(natsConnection_PublishMsg(b->peers.nc, m), NATS_OK);
	natsMsg_Destroy(m);
	free(text);
	json_decref(req);
}

static inline void
talk_start(struct talk *t, struct bed *b, const char *said)
{
	talk_start_with(t, b, said, &(struct talk_opts){ 0 });
}

/* Take one answer; false if none comes within ms. */
static inline bool
talk_next(struct talk *t, int ms)
{
	natsMsg *m = NULL;

	if (natsSubscription_NextMsg(&m, t->inbox, ms) != NATS_OK)
		return false;
	json_t *j = json_loadb(
	    natsMsg_GetData(m), (size_t)natsMsg_GetDataLength(m), 0, NULL);
	ck_assert_ptr_nonnull(j);
	natsMsg_Destroy(m);
	const char *state = json_string_value(json_object_get(j, "state"));
	ck_assert_msg(t->end == NULL, "an answer after the last");
	if (state != NULL && strcmp(state, "accepted") == 0) {
		ck_assert(!t->accepted);
		t->accepted = true;
		json_decref(j);
	} else if (state != NULL && strcmp(state, "running") == 0) {
		t->running++;
		json_decref(j);
	} else {
		t->end = j;
	}
	return true;
}

/* Wait for the end; the last answer, valid until talk_close(). */
static inline json_t *
talk_end(struct talk *t)
{
	while (t->end == NULL)
		ck_assert_msg(talk_next(t, 20000), "%s: no answer", t->turn_id);
	return t->end;
}

static inline void
talk_close(struct talk *t)
{
	natsSubscription_Destroy(t->inbox);
	natsInbox_Destroy(t->reply);
	json_decref(t->end);
}

/* The member at a path like "response.reply". */
static inline json_t *
at(json_t *j, const char *path)
{
	char key[64];

	while (*path != '\0') {
		size_t n = strcspn(path, ".");
		snprintf(key, sizeof(key), "%.*s", (int)n, path);
		j = json_object_get(j, key);
		path += path[n] == '.' ? n + 1 : n;
	}
	return j;
}

static inline const char *
text_at(json_t *j, const char *path)
{
	const char *s = json_string_value(at(j, path));

	return s != NULL ? s : "(none)";
}

/* A list of texts, or of objects' members of that name: "a,b". */
static inline const char *
list_at(json_t *j, const char *path, const char *member, char *dst, size_t size)
{
	json_t *e;
	size_t i, n = 0;

	dst[0] = '\0';
	json_array_foreach (at(j, path), i, e)
		n += (size_t)snprintf(dst + n, size - n, "%s%s",
		    i > 0 ? "," : "",
		    json_string_value(
			member != NULL ? json_object_get(e, member) : e));
	return dst;
}

/* How a turn ended, and with what. */
struct talk_want {
	const char *reply;    /* NULL: any */
	const char *executed; /* "a,b" */
	const char *failed;   /* "skill" or "a,b" */
	const char *errors;   /* of failed; NULL: any */
};

static inline void
talk_check(struct talk *t, const struct talk_want *w, int line)
{
	json_t *j = talk_end(t);
	char text[1024];

	ck_assert_msg(strcmp(text_at(j, "state"), "completed") == 0,
	    "line %d: %s %s", line, text_at(j, "state"),
	    text_at(j, "error.error"));
	ck_assert_msg(w->reply == NULL ||
		strcmp(text_at(j, "response.reply"), w->reply) == 0,
	    "line %d: \"%s\"", line, text_at(j, "response.reply"));
	list_at(j, "response.executed_skills", NULL, text, sizeof(text));
	ck_assert_msg(
	    strcmp(text, w->executed) == 0, "line %d: did %s", line, text);
	list_at(j, "response.failed_skills", "skill", text, sizeof(text));
	ck_assert_msg(
	    strcmp(text, w->failed) == 0, "line %d: failed %s", line, text);
	list_at(j, "response.failed_skills", "error", text, sizeof(text));
	ck_assert_msg(w->errors == NULL || strcmp(text, w->errors) == 0,
	    "line %d: errors %s", line, text);
}
#define talk_want(t, ...) \
	talk_check((t), &(struct talk_want){ __VA_ARGS__ }, __LINE__)

static inline void
talk_check_fault(struct talk *t, int status, const char *code, int line)
{
	json_t *j = talk_end(t);

	ck_assert_msg(strcmp(text_at(j, "state"), "failed") == 0 &&
		json_integer_value(at(j, "status")) == status &&
		strcmp(text_at(j, "error.code"), code) == 0,
	    "line %d: %s %lld %s", line, text_at(j, "state"),
	    (long long)json_integer_value(at(j, "status")),
	    text_at(j, "error.code"));
}
#define talk_want_fault(t, status, code) \
	talk_check_fault((t), (status), (code), __LINE__)

/* ---- what intent-filter says ------------------------------------------- */

#define META                                                               \
	"\"meta\":{\"latency_ms\":1,\"segment_count\":1,\"catalog_size\":" \
	"1,\"time_signals\":0,\"timezone\":\"UTC\",\"locale\":\"zh-CN\","  \
	"\"now\":\"n\",\"unmatched\":["
#define DECIDES(action, intents, unmatched)                            \
	"{\"request_id\":\"ifr-1\",\"decision\":{\"action\":\"" action \
	"\",\"trigger_intent_id\":\"i_light\",\"reason\":\"x\"},"      \
	"\"intents\":[" intents "]," META unmatched "]}}"
#define READY(id, normalized)                                           \
	"{\"intent_id\":\"" id "\",\"intent_name\":\"控制灯\","      \
	"\"confidence\":0.92,\"status\":\"ready\",\"segment_index\":0," \
	"\"span\":{\"text\":\"把灯变绿\",\"start\":0,\"end\":4},"   \
	"\"parameters\":{\"color\":\"绿\"},\"normalized\":" normalized  \
	",\"missing_parameters\":[],\"evidence\":[]}"
#define GREEN                                        \
	READY("i_light",                             \
	    "{\"skill\":\"control_light\",\"mode\":" \
	    "\"set_color\",\"color\":\"green\"}")
#define FALLBACK DECIDES("fallback_reasoning", "", "")
#define SILENT   DECIDES("no_action", "", "")

#endif /* !TALK_H */
