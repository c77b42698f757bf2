/*
 * judge_case: a judge that is told a body's life, message by message.
 */
#ifndef JUDGE_CASE_H
#define JUDGE_CASE_H

#include <stdio.h>
#include <string.h>

#include "core/buf.h"
#include "documents.h"
#include "judge.h"
#include "testkit/testkit.h"

#define CASE_ID "t1"

struct jcase {
	struct judge *j;
	struct documents *docs;
	int64_t t;
	int64_t version;
	char said[JUDGE_SAID_MAX];
};

static inline void
case_start(struct jcase *c, bool invokes)
{
	*c = (struct jcase){ .docs = documents_new(), .version = 3 };
	c->j = judge_new(&(struct judge_opts){
	    .terminal = CASE_ID, .ttl_ms = 60000, .invokes = invokes });
}

static inline void
case_end(struct jcase *c)
{
	judge_free(c->j);
	documents_free(c->docs);
}

/* Time passes, asked about every 100 ms. */
static inline void
case_wait(struct jcase *c, int64_t ms)
{
	int64_t until = c->t + ms;

	while (c->t < until) {
		c->t += until - c->t < 100 ? until - c->t : 100;
		judge_time(c->j, c->t);
	}
}

static inline void
case_put(
    struct jcase *c, const char *leaf, struct str payload, int qos, bool kept)
{
	struct judge_msg m = { str_of(leaf), payload, qos, kept };

	judge_saw(c->j, c->t, &m, c->said);
}

static inline void
case_say(struct jcase *c, const char *leaf, const char *payload)
{
	case_put(c, leaf, str_of(payload),
	    strcmp(leaf, "heartbeat") == 0 ? 0 : 1, false);
}

/* A report as body-sim makes it. */
static inline void
case_report(struct jcase *c, const char *leaf, bool kept)
{
	struct buf b = BUF_INIT(WIRE_MESSAGE_MAX);

	if (strcmp(leaf, "skills") == 0)
		ck_assert_int_eq(documents_skills(c->docs, STR(CASE_ID),
				     STR(""), c->version, &b),
		    RC_OK);
	else
		ck_assert_int_eq(
		    documents_intents(c->docs, STR(CASE_ID), c->version, &b),
		    RC_OK);
	case_put(c, leaf, buf_str(&b), 1, kept);
	buf_free(&b);
}

/* What the broker has kept. */
static inline void
case_kept(struct jcase *c, const char *online)
{
	case_put(c, "online", str_of(online), 1, true);
	case_report(c, "skills", true);
	case_report(c, "intent_catalog", true);
}

/* A good announcement, and the retained messages it leaves. */
static inline void
case_announce(struct jcase *c)
{
	case_say(c, "online", "online");
	case_report(c, "skills", false);
	case_report(c, "intent_catalog", false);
	case_say(c, "heartbeat", "1");
	ck_assert(judge_wants_kept(c->j, c->t));
	ck_assert(!judge_wants_kept(c->j, c->t));
	case_kept(c, "online");
}

static inline enum verdict
case_is(struct jcase *c, enum line line)
{
	return judge_verdicts(c->j)->lines[line].is;
}

#define PASSES(c, line) case_expect((c), (line), VERDICT_PASS, "", __LINE__)
#define UNSEEN(c, line) case_expect((c), (line), VERDICT_NOT_SEEN, "", __LINE__)
#define FAILS(c, line, why) \
	case_expect((c), (line), VERDICT_FAIL, (why), __LINE__)

static inline void
case_expect(
    struct jcase *c, enum line line, enum verdict is, const char *why, int at)
{
	const char *have = judge_verdicts(c->j)->lines[line].why;

	ck_assert_msg(case_is(c, line) == is && strstr(have, why) != NULL,
	    "line %d: %d is %d: %s", at, (int)line, (int)case_is(c, line),
	    have);
}

/* Whether some advice contains text. */
static inline bool
case_advises(struct jcase *c, const char *text)
{
	const struct verdicts *v = judge_verdicts(c->j);
	size_t i;

	for (i = 0; i < v->n_notes; i++) {
		if (strstr(v->notes[i], text) != NULL)
			return true;
	}
	return false;
}

#endif /* !JUDGE_CASE_H */
