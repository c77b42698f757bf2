/*
 * model: what the language model is shown: the system prompt (prompt.c) and the
 * messages of the session (history.c).
 *
 * Pure.
 */
#ifndef LLM_ORCHESTRATOR_MODEL_H
#define LLM_ORCHESTRATOR_MODEL_H

#include <stdbool.h>
#include <stddef.h>

#include "core/arena.h"
#include "core/buf.h"
#include "core/rc.h"
#include "core/str.h"
#include "llm/llm.h"
#include "persona/persona.h"
#include "turn/turn_fsm.h"
#include "wire/msgs.h"

/* ---- messages (history.c) ----
 *
 * Tool calls of an assistant's message are stored with their results, and shown
 * only if all results are present, as the strictest provider demands.  A result
 * is {"ok", "error", "advice", "output"}; that of forget_memory, which other
 * programs read, is {"query", "forgotten": [text, …]}, empty if no memory
 * matched, or {"query", "ok": false, "error", "advice"}.
 */

/* Longest text of one stored message, in bytes. */
#define HISTORY_TEXT_MAX ((size_t)64 * 1024)
/* Longest output of a skill that the model is shown, in bytes. */
#define HISTORY_OUTPUT_MAX ((size_t)8 * 1024)
/* Inputs of one turn that are stored. */
#define HISTORY_INPUTS_MAX 65
/* One earlier message gets at most this fraction of the context. */
#define HISTORY_MESSAGE_SHARE 8

struct history_list {
	struct llm_message *list;
	size_t n;
};

/* Stored messages, each a JSON text. */
struct history_stored {
	struct str *list;
	size_t n;
	int64_t chars; /* code points of their contents */
};

/* What the messages of a turn have in common. */
struct history_mark {
	struct str turn_id;
	struct str now; /* RFC 3339 */
};

/*
 * history_read(in, turn_id, a, out):
 * Stored messages, oldest first, as the model reads them, without those of turn
 * turn_id.  Invalid messages and results without their call are left out.
 * RC_TOOBIG if a is full.
 */
enum rc history_read(const struct history_stored *in, struct str turn_id,
    struct arena *a, struct history_list *out) RC_CHECK;

/*
 * history_turn(t, a, out):
 * What a turn has done so far, as calls and results; after the direct calls the
 * part of the user's text that is still to be answered, if it is a part.
 */
enum rc history_turn(
    const struct turn *t, struct arena *a, struct history_list *out) RC_CHECK;

/* history_is_user_text(in): Whether an input is typed or spoken text. */
bool history_is_user_text(const struct wire_chat_request_inputs *in);

/*
 * history_user_text(chat, a): All texts of the user, joined by line breaks;
 *                             empty if there is none.
 * history_observation(in, a): One line for an input that is not the user's
 * text. Both are absent if a is full.
 */
struct str history_user_text(
    const struct wire_chat_request *chat, struct arena *a);
struct str history_observation(
    const struct wire_chat_request_inputs *in, struct arena *a);

/*
 * history_input(chat, mark, a, out):
 * The messages to store for a turn's input: one per observation, and one for
 * the user's text.
 */
enum rc history_input(const struct wire_chat_request *chat,
    const struct history_mark *mark, struct arena *a,
    struct history_stored *out) RC_CHECK;

/*
 * history_outcome(t, reply, mark, a, out):
 * The messages to store for a turn's calls and reply; reply absent: none.
 */
enum rc history_outcome(const struct turn *t, struct str reply,
    const struct history_mark *mark, struct arena *a,
    struct history_stored *out) RC_CHECK;

/*
 * history_tokens(s):         Estimated tokens of a text: one per CJK character,
 *                            one per four bytes of anything else.
 * history_message_tokens(m): Those of a message with its calls.
 */
size_t history_tokens(struct str s);
size_t history_message_tokens(const struct llm_message *m);

/*
 * history_shorten(s, max, a):
 * s, or its beginning and end with a mark between them, of max tokens at most
 * not counting the mark.  Absent if a is full.
 */
struct str history_shorten(struct str s, size_t max, struct arena *a);

/*
 * history_trim(l, tokens, each, a):
 * Shorten messages to each tokens, and drop the oldest until tokens suffice;
 * calls go with their results, and lose arguments that are too long.  RC_TOOBIG
 * if a is full.
 */
enum rc history_trim(struct history_list *l, size_t tokens, size_t each,
    struct arena *a) RC_CHECK;

/* ---- the mind link (suggestion.c) ---- */

/* What navigator suggests (mind_link). */
struct suggestion {
	struct str text; /* empty: nothing */
	int64_t age_ms;
};

/*
 * suggestion_read(json, now, a):
 * What a mind link suggests, in a or json; nothing if it is none or too old.
 * suggestion_write(s, out):
 * Append a line about it: as advice for an hour, then as perhaps out of date.
 */
#define SUGGESTION_FRESH_MS INT64_C(3600000)
#define SUGGESTION_OLD_MS   INT64_C(7200000)
struct suggestion suggestion_read(
    struct str json, struct wall now, struct arena *a);
void suggestion_write(const struct suggestion *s, struct buf *out);

/* ---- system prompt (prompt.c) ---- */

enum prompt_body {
	PROMPT_BODY_NONE,   /* it never connected */
	PROMPT_BODY_ABSENT, /* it is not connected now */
	PROMPT_BODY_HERE
};

struct prompt {
	struct str name, mbti; /* of the soul; absent: unknown */
	struct str now;        /* RFC 3339, in the configured zone */
	/* NULL: unknown, so the gate is closed. */
	const struct wire_emotion_observe_reply *emotion;
	enum prompt_body body;
	size_t skills;   /* tools that are skills */
	struct str safe; /* names of safety skills; empty: none */
	struct str user_text;
	/* What to say although nobody asked; then only name, mbti, now and
	 * summary count besides.  Empty: the user did. */
	struct str unasked;
	struct str earlier; /* results of earlier turns; empty: none */
	bool recall;        /* memories can be searched */
	bool forget;        /* memories can be forgotten */
	struct str summary; /* of the conversation before; absent: none */
	struct suggestion suggestion; /* its text empty: none */
	struct str voice; /* the inner voice of the turn before; empty: none */
	bool write_voice; /* the reply is to begin with one */
	bool silent;      /* no action in this turn */
	struct str rest;  /* the part still to be answered; empty: all */
	bool provided;    /* tools are not only the body's */
	struct str more;  /* lines of tools that are not shown; empty: none */
	struct str notes; /* lines about tools; empty: none */
};

/* The beginning of the line with the inner voice of the turn before. */
#define PROMPT_VOICE "【上次心里的话】"

/* prompt_write(p, out): Append the system prompt. */
void prompt_write(const struct prompt *p, struct buf *out);

/* Hints are searched for in so many bytes from the start. */
#define RELATION_TEXT_MAX ((size_t)2048)

/* How a soul gets along with the person a text is about. */
struct relation {
	bool known;            /* the text has hints */
	struct persona target; /* if known, as the three below */
	double resonance;      /* 1 - mean distance of the traits, 0 to 1 */
	const char *word;      /* for it */
	const char *strategy;  /* one line */
};

/*
 * relation_guess(text, soul, out):
 * Guess the other person's traits from an MBTI type in the text, else from
 * words that hint at them.  Text beyond RELATION_TEXT_MAX bytes is ignored.
 */
void relation_guess(
    struct str text, const struct persona *soul, struct relation *out);

#endif /* !LLM_ORCHESTRATOR_MODEL_H */
