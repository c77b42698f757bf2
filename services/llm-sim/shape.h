/*
 * shape: an answer as bytes, by the letter or with the habits of some server.
 * Pure.
 */
#ifndef LLM_SIM_SHAPE_H
#define LLM_SIM_SHAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/buf.h"
#include "core/str.h"
#include "wire/msgs.h"
#include "wire/out.h"

#define SHAPE_CALLS_MAX  8
#define SHAPE_PIECES_MAX 4096
#define SHAPE_MAX        ((size_t)4 * 1024 * 1024)
#define SHAPE_MODEL      "soul-sim"

/* The bit of a quirk, and whether s has it. */
#define SHAPE_BIT(q)    (UINT64_C(1) << WIRE_LLM_SIM_SCRIPT_FAULTS_QUIRKS_##q)
#define SHAPE_HAS(s, q) (((s)->quirks & SHAPE_BIT(q)) != 0)

struct shape_call {
	struct str id, name;
	struct str arguments; /* any text; JSON unless it is to be broken */
	struct str members;   /* a JSON object; absent: none */
};

struct shape {
	uint64_t quirks;
	enum wire_llm_sim_script_faults_reasoning_as reasoning_as;
	bool stream;
	struct str id, text, reasoning;
	struct str finish; /* absent: the right one */
	struct str error;  /* JSON, of the quirks that send one */
	struct shape_call calls[SHAPE_CALLS_MAX];
	size_t ncalls;
};

/* The bytes of a body, and where each piece that is sent alone ends. */
struct shape_out {
	struct buf b;
	size_t ends[SHAPE_PIECES_MAX];
	size_t n;
	bool begun; /* private */
};

/* shape_out_init(o), shape_out_free(o). */
void shape_out_init(struct shape_out *o);
void shape_out_free(struct shape_out *o);

/*
 * shape_openai(s, o), shape_anthropic(s, o):
 * Append the whole body, of a stream unless s asks for none or has the quirk
 * whole.
 */
void shape_openai(const struct shape *s, struct shape_out *o);
void shape_anthropic(const struct shape *s, struct shape_out *o);

/* shape_is_stream(s): Whether the body is one of events. */
bool shape_is_stream(const struct shape *s);

/* What the two share. */

/* shape_end_piece(o): What was appended is sent by now. */
void shape_end_piece(struct shape_out *o);

/* shape_event(s, o, type, json): One event; type may be NULL. */
void shape_event(const struct shape *s, struct shape_out *o, const char *type,
    struct str json);

/* shape_piece(text, at, n): n code points of text from the byte *at on. */
struct str shape_piece(struct str text, size_t *at, int n);

/*
 * shape_error(s, o): The error that a quirk puts into the stream; false if none
 * does.
 */
bool shape_error(const struct shape *s, struct shape_out *o);

/* shape_text(o, key, text): A member. */
void shape_text(struct wire_out *o, const char *key, struct str text);

#endif /* !LLM_SIM_SHAPE_H */
