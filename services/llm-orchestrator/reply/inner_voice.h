/*
 * inner_voice: what of a completion is the reply, and what the soul only says
 * to itself.
 *
 * The inner voice is text in <inner>…</inner>, or the member inner_voice of an
 * envelope: a JSON object {"reply", "inner_voice", "emotion"} (XingChen-V 3.1),
 * alone, in a fence, or amid other text.  An envelope is replaced by its reply.
 * An object becomes one with a text "reply" or any "inner_voice" of its own;
 * any other object is text.  What follows an error in an envelope, and an inner
 * voice that does not end, is no part of the reply.
 *
 * Incremental: the result does not depend on how the completion is split.  Not
 * thread-safe.
 */
#ifndef LLM_ORCHESTRATOR_INNER_VOICE_H
#define LLM_ORCHESTRATOR_INNER_VOICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/buf.h"
#include "core/str.h"

/* Bytes of an inner voice, and one character; of an emotion's name. */
#define INNER_VOICE_MAX   ((size_t)4096 + 4)
#define INNER_EMOTION_MAX 32
/* Bytes that are held back; a longer object is text. */
#define INNER_HELD_MAX ((size_t)64 * 1024)
#define INNER_KEY_MAX  16

enum inner_mode {
	INNER_TEXT,
	INNER_TAG,      /* within <inner> */
	INNER_OBJECT,   /* an object that may be an envelope: held back */
	INNER_ENVELOPE, /* an object that is one */
	INNER_FENCE,    /* behind an envelope in a fence */
	INNER_BROKEN    /* behind an error in an envelope */
};

/* Where the scan of an object is. */
struct inner_object {
	unsigned char part, target;
	unsigned depth;
	char quote; /* that of the string it is in; 0: none */
	char key[INNER_KEY_MAX];
	size_t key_n;
	bool replied;        /* reply has been read */
	bool escape;         /* behind a backslash */
	unsigned digits;     /* of \uXXXX that are missing */
	uint32_t code, high; /* of \uXXXX; a high surrogate before it, or 0 */
};

struct inner_voice {
	struct buf voice;
	char emotion[INNER_EMOTION_MAX]; /* the envelope's; may be any text */
	size_t emotion_n;
	/* Private. */
	enum inner_mode mode;
	struct buf raw;  /* not decided yet */
	size_t at, scan; /* of raw: decided before, scanned before */
	bool fence;
	unsigned ticks;
	struct inner_object o;
};

/* inner_voice_init(v), inner_voice_free(v): Begin a completion; free it. */
void inner_voice_init(struct inner_voice *v);
void inner_voice_free(struct inner_voice *v);

/*
 * inner_voice_feed(v, chunk, reply): Append to reply what chunk adds to it.
 * inner_voice_end(v, reply): The same for what was held back, at the end.
 */
void inner_voice_feed(
    struct inner_voice *v, struct str chunk, struct buf *reply);
void inner_voice_end(struct inner_voice *v, struct buf *reply);

#endif /* !LLM_ORCHESTRATOR_INNER_VOICE_H */
