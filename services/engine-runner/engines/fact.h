/*
 * fact: what a line of an engine's output means, whichever engine it is.
 *
 * An adapter reads lines and reports facts; attempt.h makes events of them.
 * Pure.
 */
#ifndef ENGINES_FACT_H
#define ENGINES_FACT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/str.h"
#include "events/rasp.h"
#include "procsup/spool_format.h"

/* A line of one of the streams. */
struct line {
	enum spool_stream stream;
	struct str text;   /* without \n or \r\n */
	uint64_t from, to; /* its bytes in the file, with its end */
	int64_t ns;        /* of the read that its last byte came with */
	bool too_long;     /* text has only its first bytes; it is raw */
};

enum fact_kind {
	FACT_SESSION,      /* text: the handle */
	FACT_STATUS,       /* text: what happened, in a word */
	FACT_TEXT,         /* text: more of a message; id: which, or absent */
	FACT_MESSAGE,      /* text: a message as a whole, or how it ended */
	FACT_MESSAGE_END,  /* the message has all of its text */
	FACT_REASONING,    /* text */
	FACT_TOOL_STARTED, /* tool, id */
	FACT_TOOL_COMPLETED,
	FACT_TOOL_FAILED,
	FACT_USAGE,    /* usage */
	FACT_RETRYING, /* text: why; the engine repeats a call of its model */
	FACT_ERROR,    /* code, text: a warning */
	FACT_FAILED,   /* text, status: the engine has failed */
	FACT_END,      /* the end signal */
	FACT_QUESTION, /* text: JSON, the questions of request_user_input */
	FACT_WARNING,  /* code, text, count: a doubtful parse */
	FACT_RAW,      /* text: a line that was not read */
	FACT_KINDS_N
};

struct fact {
	enum fact_kind kind;
	enum spool_stream stream;
	uint64_t from, to; /* its bytes in the stream's file */
	int64_t ns;
	double confidence;
	struct rasp_text text; /* of a text as read, without escapes if !json */
	struct str id;
	const char *code;
	int64_t count;
	int64_t status; /* of HTTP, or the engine's own code; 0: none */
	bool whole;     /* FACT_TEXT: all of the message so far */
	bool unparsed;  /* FACT_RAW: a row was expected */
	bool recovers;  /* FACT_FAILED: an end signal behind it counts */
	struct rasp_tool tool;
	struct rasp_usage usage;
};

/* Where an adapter reports; what a fact points to lives until it returns. */
struct fact_sink {
	void (*fact)(void *arg, const struct fact *f);
	void *arg;
};

/* How the engine ended, for what is decided then. */
struct adapter_exit {
	bool failed; /* exit code or signal that was not the runner's doing */
	int64_t ns;
};

/* fact_of(kind, l): A fact of the line *l, sure, without anything else. */
static inline struct fact
fact_of(enum fact_kind kind, const struct line *l)
{
	return (struct fact){ .kind = kind,
		.stream = l->stream,
		.from = l->from,
		.to = l->to,
		.ns = l->ns,
		.confidence = 1,
		.tool = { .exit_code = -1 },
		.usage = { -1, -1, -1, -1, -1 } };
}

/* fact_raw(to, l, unparsed): Report a line that was not read. */
static inline void
fact_raw(const struct fact_sink *to, const struct line *l, bool unparsed)
{
	struct fact f = fact_of(FACT_RAW, l);

	f.text.s = l->text;
	f.unparsed = unparsed;
	to->fact(to->arg, &f);
}

/* fact_status(to, l, state): Report what happened, in a word. */
static inline void
fact_status(const struct fact_sink *to, const struct line *l, const char *state)
{
	struct fact f = fact_of(FACT_STATUS, l);

	f.text.s = str_of(state);
	to->fact(to->arg, &f);
}

struct adapter_state;

/* How an adapter reads the rows of a type. */
struct adapter_row {
	const char *type;
	void (*read)(struct adapter_state *s, const struct line *l);
};

/* adapter_row_find(rows, n, type): NULL: there is none of the type. */
static inline const struct adapter_row *
adapter_row_find(const struct adapter_row *rows, size_t n, struct str type)
{
	for (size_t i = 0; i < n; i++)
		if (str_eq(type, str_of(rows[i].type)))
			return &rows[i];
	return NULL;
}

/*
 * The reader of an engine's output.  line() reports at least one fact for each
 * line, now or, of lines that it collects, later; finish() all that is left,
 * NULL: nothing is.
 */
struct adapter {
	struct adapter_state *(*create)(const struct fact_sink *to);
	void (*line)(struct adapter_state *s, const struct line *l);
	void (*finish)(struct adapter_state *s, const struct adapter_exit *x);
	void (*destroy)(struct adapter_state *s);
};

extern const struct adapter codex_adapter;
extern const struct adapter gemini_adapter;
extern const struct adapter opencode_adapter;
extern const struct adapter iflow_adapter;

#endif /* !ENGINES_FACT_H */
