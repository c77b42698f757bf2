/*
 * flawed: bodies that do one thing wrong, on plain libmosquitto, each with a
 * body-sim check that watches it.
 */
#ifndef FLAWED_H
#define FLAWED_H

#include "integration/body-sim/peer.h"

#define FLAWED_FAILS_MAX 4

enum flaw {
	FLAW_NONE,
	FLAW_CATALOG_FIRST,
	FLAW_BEAT_FIRST,
	FLAW_NO_CATALOG,
	FLAW_NOT_AGAIN,
	FLAW_NOT_RETAINED,
	FLAW_BEAT_RETAINED,
	FLAW_RESULT_RETAINED,
	FLAW_QOS_0,
	FLAW_WRONG_ID,
	FLAW_ROLL_BACK,
	FLAW_NO_WILL,
	FLAW_OLD_WILL,
	FLAW_ODD_ONLINE,
	FLAW_NO_BEAT,
	FLAW_SLOW_BEAT,
	FLAW_SILENT,
	FLAW_LATE,
	FLAW_WRONG_REQUEST,
	FLAW_NO_ERROR,
	FLAW_NO_OK,
	FLAW_BAD_REGEX,
	FLAW_ALIEN_INTENT,
	FLAW_BAD_SCHEMA,
	FLAW_NO_EMOTION,
	FLAW_NO_ACTION
};

/* A flaw, and what the check must find. */
struct flaw_case {
	enum flaw flaw;
	const char *id;
	const char *seconds, *ttl;           /* of the check */
	const char *fails[FLAWED_FAILS_MAX]; /* the lines that must fail */
};

struct flawed {
	const struct flaw_case *c;
	struct peer peer;
	struct tk_proc check;
	int connects, code;
	bool ended;
	struct mono beat, answer, old_will; /* when due; never: not */
	char asked[64];
};

static inline void
flawed_say(struct flawed *f, const char *leaf, const char *payload, int qos,
    bool retain)
{
	char topic[128];

	snprintf(topic, sizeof(topic), "soul/terminal/%s/%s", f->c->id, leaf);
	ck_assert_int_eq(mosquitto_publish(f->peer.mosq, NULL, topic,
			     (int)strlen(payload), payload, qos, retain),
	    MOSQ_ERR_SUCCESS);
}

static inline void
flawed_skills(struct flawed *f)
{
	int version = f->c->flaw == FLAW_ROLL_BACK ? 5 - f->connects : 5;
	char text[512];

	snprintf(text, sizeof(text),
	    "{\"terminal_id\":\"%s\",\"skill_version\":%d,\"skills\":[{"
	    "\"name\":\"beep\",\"description\":\"beeps\",\"input_schema\":"
	    "{\"type\":\"%s\"}}]}",
	    f->c->flaw == FLAW_WRONG_ID ? "another" : f->c->id, version,
	    f->c->flaw == FLAW_BAD_SCHEMA ? "thing" : "object");
	flawed_say(f, "skills", text, f->c->flaw == FLAW_QOS_0 ? 0 : 1,
	    f->c->flaw != FLAW_NOT_RETAINED);
}

static inline void
flawed_catalog(struct flawed *f)
{
	char text[512];

	if (f->c->flaw == FLAW_NO_CATALOG)
		return;
	snprintf(text, sizeof(text),
	    "{\"terminal_id\":\"%s\",\"catalog_version\":2,"
	    "\"intent_catalog\":[{\"id\":\"intent_beep\",\"match\":{"
	    "\"keywords_any\":[\"beep\"]},\"slots\":[{\"name\":\"skill\","
	    "\"default\":\"%s\"},{\"name\":\"n\",\"regex\":\"%s\"}]}]}",
	    f->c->id, f->c->flaw == FLAW_ALIEN_INTENT ? "fly" : "beep",
	    f->c->flaw == FLAW_BAD_REGEX ? "(" : "(a)");
	flawed_say(f, "intent_catalog", text, 1, true);
}

static inline void
flawed_beat(struct flawed *f)
{
	if (f->c->flaw == FLAW_NO_BEAT)
		return;
	flawed_say(f, "heartbeat", "1", 0, f->c->flaw == FLAW_BEAT_RETAINED);
	f->beat = mono_add_ms(
	    clock_mono(), f->c->flaw == FLAW_SLOW_BEAT ? 4000 : 300);
}

static inline void
flawed_announce(struct flawed *f)
{
	flawed_say(f, "online",
	    f->c->flaw == FLAW_ODD_ONLINE ? "here" : "online", 1, true);
	if (f->c->flaw == FLAW_BEAT_FIRST)
		flawed_beat(f);
	if (f->c->flaw != FLAW_NOT_AGAIN || f->connects == 1) {
		if (f->c->flaw == FLAW_CATALOG_FIRST)
			flawed_catalog(f);
		flawed_skills(f);
		if (f->c->flaw != FLAW_CATALOG_FIRST)
			flawed_catalog(f);
	}
	if (f->c->flaw != FLAW_BEAT_FIRST)
		flawed_beat(f);
	if (f->c->flaw == FLAW_OLD_WILL && f->connects > 1)
		f->old_will = mono_add_ms(clock_mono(), 500);
}

static inline void
flawed_answer(struct flawed *f, const char *id)
{
	char leaf[96], text[256];
	const char *rest = ",\"ok\":true,\"output\":\"beep\"";

	if (f->c->flaw == FLAW_NO_ERROR)
		rest = ",\"ok\":false";
	if (f->c->flaw == FLAW_NO_OK)
		rest = "";
	snprintf(leaf, sizeof(leaf), "result/%s", id);
	snprintf(text, sizeof(text), "{\"request_id\":\"%s\"%s}",
	    f->c->flaw == FLAW_WRONG_REQUEST ? "another" : id, rest);
	flawed_say(f, leaf, text, 1, f->c->flaw == FLAW_RESULT_RETAINED);
}

/* Answered outside: libmosquitto holds locks in here. */
static inline void
flawed_told(struct peer *p, const struct peer_msg *m)
{
	const char *id = strstr(m->topic, "/invoke/");
	struct flawed *f = p->arg;

	if (id == NULL || f->c->flaw == FLAW_SILENT)
		return;
	snprintf(f->asked, sizeof(f->asked), "%s", id + strlen("/invoke/"));
	f->answer =
	    mono_add_ms(clock_mono(), f->c->flaw == FLAW_LATE ? 5500 : 0);
}

static inline void
flawed_listen(struct flawed *f, const char *leaf)
{
	char filter[128];

	snprintf(filter, sizeof(filter), "soul/terminal/%s/%s", f->c->id, leaf);
	ck_assert_int_eq(mosquitto_subscribe(f->peer.mosq, NULL, filter, 1),
	    MOSQ_ERR_SUCCESS);
}

static inline void
flawed_connect(struct flawed *f, int port)
{
	ck_assert_int_eq(mosquitto_connect(f->peer.mosq, "127.0.0.1", port, 60),
	    MOSQ_ERR_SUCCESS);
	ck_assert(peer_until(&f->peer, peer_is_up, &f->peer, PEER_MS));
	f->connects++;
	flawed_listen(f, "invoke/+");
	if (f->c->flaw != FLAW_NO_EMOTION)
		flawed_listen(f, "emotion_update");
	if (f->c->flaw != FLAW_NO_ACTION)
		flawed_listen(f, "intent_action");
	flawed_announce(f);
}

static inline void
flawed_start(struct flawed *f, const struct flaw_case *c, int port)
{
	char topic[128];

	*f = (struct flawed){ .c = c };
	peer_new(&f->peer, f->c->id);
	f->peer.fn = flawed_told;
	f->peer.arg = f;
	snprintf(topic, sizeof(topic), "soul/terminal/%s/online", f->c->id);
	if (f->c->flaw != FLAW_NO_WILL)
		ck_assert_int_eq(mosquitto_will_set(f->peer.mosq, topic,
				     strlen("offline"), "offline", 1, true),
		    MOSQ_ERR_SUCCESS);
	flawed_connect(f, port);
}

static inline bool
flawed_is_due(struct mono *at)
{
	bool is = at->ns != 0 && mono_diff_ms(clock_mono(), *at) >= 0;

	if (is)
		*at = (struct mono){ 0 };
	return is;
}

/* A little of its life. */
static inline void
flawed_live(struct flawed *f, int port)
{
	peer_once(&f->peer, 0);
	if (!f->peer.up) {
		f->beat = (struct mono){ 0 };
		flawed_connect(f, port);
	}
	if (flawed_is_due(&f->beat))
		flawed_beat(f);
	if (flawed_is_due(&f->answer))
		flawed_answer(f, f->asked);
	if (flawed_is_due(&f->old_will))
		flawed_say(f, "online", "offline", 1, true);
}

/* The check that watches it. */
static inline void
flawed_watch(struct flawed *f, const char *url)
{
	const char *argv[] = { tk_bin("body-sim"), "check", "--terminal",
		f->c->id, "--broker", url, "--seconds",
		f->c->seconds != NULL ? f->c->seconds : "40", "--ttl",
		f->c->ttl != NULL ? f->c->ttl : "60", "--invoke", "beep", "{}",
		"--probe", "--kick", f->c->id, NULL };

	tk_spawn(&f->check, f->c->id, argv, NULL);
}

#endif /* !FLAWED_H */
