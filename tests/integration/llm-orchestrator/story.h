/*
 * story: the events of a session as its log has them, and what must be true of
 * any such log.
 */
#ifndef STORY_H
#define STORY_H

#include "state/session.h"
#include "state/turn.h"
#include "talk.h"

/* All events of a session of u1, each with its seq; freed by json_decref(). */
static inline json_t *
story_read(struct bed *b, const char *session)
{
	struct session_key k = { STR("u1"), str_of(session) };
	json_t *out = json_array();
	struct session_events page;

	arena_reset(b->arena);
	ck_assert_int_eq(session_events_read(b->state, &k, 0, b->arena, &page), RC_OK);
	ck_assert(!page.more);
	for (size_t i = 0; i < page.n; i++) {
		const struct session_event *e = &page.item[i];
		json_t *j = e->json.p != NULL
		    ? json_loadb(e->json.p, e->json.n, 0, NULL)
		    : json_pack("{s:s,s:s%}", "type", "lost", "run_id",
			  e->lost_turn.p, e->lost_turn.n);
		ck_assert_ptr_nonnull(j);
		json_object_set_new(j, "seq", json_integer(e->seq));
		json_array_append_new(out, j);
	}
	return out;
}

/* The last part of a type's name: "started", "delta", …. */
static inline const char *
story_type(json_t *e)
{
	const char *s = text_at(e, "type"), *dot = strrchr(s, '.');

	return dot != NULL ? dot + 1 : s;
}

/* The events of one turn: "started delta final completed". */
static inline const char *
story_types(json_t *story, const char *turn, char *dst, size_t size)
{
	size_t i, n = 0;
	json_t *e;

	dst[0] = '\0';
	json_array_foreach (story, i, e) {
		if (strcmp(text_at(e, "run_id"), turn) == 0)
			n += (size_t)snprintf(dst + n, size - n, "%s%s",
			    n > 0 ? " " : "", story_type(e));
	}
	return dst;
}

/* Event number nth (from 0) of a type of a turn, or NULL. */
static inline json_t *
story_event(json_t *story, const char *turn, const char *type, size_t nth)
{
	json_t *e;
	size_t i;

	json_array_foreach (story, i, e) {
		if (strcmp(text_at(e, "run_id"), turn) == 0 &&
		    strcmp(story_type(e), type) == 0 && nth-- == 0)
			return e;
	}
	return NULL;
}

/* The pieces of a message, joined. */
static inline const char *
story_text(json_t *story, const char *message, char *dst, size_t size)
{
	size_t i, n = 0;
	json_t *e;

	dst[0] = '\0';
	json_array_foreach (story, i, e) {
		if (strcmp(story_type(e), "delta") == 0 &&
		    strcmp(text_at(e, "data.message_id"), message) == 0)
			n += (size_t)snprintf(dst + n, size - n, "%s",
			    text_at(e, "data.text_delta"));
	}
	return dst;
}

/*
 * Numbers rise one by one; every turn that began ended once, and nothing comes
 * after its end; a final's pieces, if there are any, are its text.
 */
static inline void
story_check(json_t *story)
{
	char ended[4096] = "", text[65536], mark[80];
	json_int_t last = 0;
	json_t *e;
	size_t i;

	json_array_foreach (story, i, e) {
		json_int_t seq = json_integer_value(at(e, "seq"));
		ck_assert_int_eq(seq, last + 1);
		last = seq;
		if (strcmp(story_type(e), "lost") == 0)
			continue;
		ck_assert_str_eq(text_at(e, "protocol_version"), "fcmp/1.0");
		ck_assert_str_eq(text_at(e, "engine"), "soul");
		ck_assert(json_is_string(at(e, "session_id")));
		snprintf(mark, sizeof(mark), "|%s|", text_at(e, "run_id"));
		ck_assert_msg(strstr(ended, mark) == NULL,
		    "%s after the end of %s", story_type(e), mark);
		const char *type = story_type(e);
		if (strcmp(type, "completed") == 0 ||
		    strcmp(type, "failed") == 0 ||
		    strcmp(type, "required") == 0)
			snprintf(ended + strlen(ended),
			    sizeof(ended) - strlen(ended), "%s", mark);
		if (strcmp(type, "final") != 0)
			continue;
		story_text(
		    story, text_at(e, "data.message_id"), text, sizeof(text));
		if (text[0] != '\0')
			ck_assert_str_eq(text, text_at(e, "data.text"));
	}
}

/* The story so far of a session, and of s1, checked. */
static inline json_t *
story_of_session(struct bed *b, const char *session)
{
	json_t *story = story_read(b, session);

	story_check(story);
	return story;
}

static inline json_t *
story_of(struct bed *b)
{
	return story_of_session(b, "s1");
}

/* The turn's record in Redis. */
static inline struct turn_record
story_record(struct bed *b, const char *turn)
{
	struct turn_record t;

	arena_reset(b->arena);
	ck_assert_int_eq(
	    turn_record_read(b->state, str_of(turn), b->arena, &t), RC_OK);
	ck_assert(t.known);
	return t;
}

/* Ask whoever runs the turn; the answer, or NULL if nobody does. */
static inline json_t *
story_ask(struct bed *b, const char *what, const char *turn)
{
	char subject[128], body[128];
	natsMsg *m = NULL;

	snprintf(subject, sizeof(subject), "soul.rpc.turn.%s.%s", what, turn);
	snprintf(body, sizeof(body), "{\"turn_id\":\"%s\"}", turn);
	if (natsConnection_RequestString(
		&m, b->peers.nc, subject, body, 5000) != NATS_OK)
		return NULL;
	json_t *j = natsMsg_GetDataLength(m) > 0
	    ? json_loadb(
		  natsMsg_GetData(m), (size_t)natsMsg_GetDataLength(m), 0, NULL)
	    : NULL;
	natsMsg_Destroy(m);
	return j;
}

#endif /* !STORY_H */
