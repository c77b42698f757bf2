/*
 * result_content: the result of a tool's call, as a model is shown it.
 *
 * Text is cleaned (clean_text.h), and loses its middle over RESULT_TEXT_MAX.
 * structuredContent stands instead of text that only repeats it.  What is no
 * text is named with its size; its bytes go elsewhere.
 *
 * Pure; any thread.
 */
#ifndef RESULT_CONTENT_H
#define RESULT_CONTENT_H

#include <stdbool.h>
#include <stddef.h>

#include "core/arena.h"
#include "core/rc.h"
#include "core/str.h"

/* Longest result that is read; longest text for the model; in bytes. */
#define RESULT_MAX      (8UL * 1024 * 1024)
#define RESULT_TEXT_MAX (16UL * 1024)
/* Contents of one result that are read, and those of them that are no text. */
#define RESULT_CONTENTS_MAX 256
#define RESULT_PARTS_MAX    16
/* Longest media type. */
#define RESULT_TYPE_MAX 128

enum result_kind { RESULT_IMAGE, RESULT_AUDIO, RESULT_RESOURCE };

/* result_kind_name(k): "image", "audio", "resource". */
const char *result_kind_name(enum result_kind k);

/* Content that is no text. */
struct result_part {
	enum result_kind kind;
	struct str mime_type; /* type/subtype; application/octet-stream if the
				 server gives no valid one */
	struct str data;      /* base64, as the server wrote it */
	size_t bytes;         /* that data stands for */
};

struct result_content {
	bool is_error;
	struct str text;       /* never absent */
	struct str structured; /* a JSON value; absent: none, or the text is
				  its, or over RESULT_TEXT_MAX */
	struct result_part parts[RESULT_PARTS_MAX];
	size_t n_parts;
};

/*
 * result_content_read(json, a, out):
 * Read a result of tools/call.  RC_INVALID if it is none, RC_TOOBIG over
 * RESULT_MAX, or if a, which needs RESULT_TEXT_MAX, is full.  The data of parts
 * are in json.
 */
enum rc result_content_read(
    struct str json, struct arena *a, struct result_content *out) RC_CHECK;

#endif /* !RESULT_CONTENT_H */
