/*
 * shape: a response as bytes, standard or with the quirks of some server.
 *
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
#define SHAPE_CHUNKS_MAX 4096
#define SHAPE_MAX        ((size_t)4 * 1024 * 1024)
#define SHAPE_MODEL      "soul-sim"

/* The bit of a quirk, and whether s has it. */
#define SHAPE_BIT(q)    (UINT64_C(1) << WIRE_LLM_SIM_SCRIPT_FAULTS_QUIRKS_##q)
#define SHAPE_HAS(s, q) (((s)->quirks & SHAPE_BIT(q)) != 0)

struct shape_call {
	struct str id, name;
	struct str arguments; /* JSON unless it is to be invalid */
	struct str members;   /* a JSON object; absent: none */
};

struct shape {
	uint64_t quirks;
	enum wire_llm_sim_script_faults_reasoning_as reasoning_as;
	bool stream;
	struct str id, text, reasoning;
	struct str finish; /* absent: the correct one */
	struct str error;  /* JSON, for quirks that send an error */
	struct shape_call calls[SHAPE_CALLS_MAX];
	size_t ncalls;
};

/* The bytes of a body, and the end of each chunk. */
struct shape_out {
	struct buf b;
	size_t ends[SHAPE_CHUNKS_MAX];
	size_t n;
	bool begun; /* private */
};

/* shape_out_init(o), shape_out_free(o). */
void shape_out_init(struct shape_out *o);
void shape_out_free(struct shape_out *o);

/*
 * shape_openai(s, o), shape_anthropic(s, o):
 * Append the whole body; a stream unless s has none or the quirk whole.
 */
void shape_openai(const struct shape *s, struct shape_out *o);
void shape_anthropic(const struct shape *s, struct shape_out *o);

/* shape_is_stream(s): Whether the body is an event stream. */
bool shape_is_stream(const struct shape *s);

/* ---- shared by the two ---- */

/* shape_end_chunk(o): End a chunk here. */
void shape_end_chunk(struct shape_out *o);

/* shape_event(s, o, type, json): One event; type may be NULL. */
void shape_event(const struct shape *s, struct shape_out *o, const char *type,
    struct str json);

/* shape_chunk(text, at, n): n code points of text from byte *at on. */
struct str shape_chunk(struct str text, size_t *at, int n);

/*
 * shape_error(s, o): Append the error of a quirk to the stream; false: none.
 */
bool shape_error(const struct shape *s, struct shape_out *o);

/* shape_text(o, key, text): A member. */
void shape_text(struct wire_out *o, const char *key, struct str text);

#endif /* !LLM_SIM_SHAPE_H */
