/*
 * rasp: events of RASP/1.0, the runner's own protocol: all that an engine did,
 * each with the bytes it was made from.
 *
 * An event is a struct first, which translate.h turns into events of the
 * conversation, and its JSON is for the run's log and events.jsonl.  Pure.
 */
#ifndef EVENTS_RASP_H
#define EVENTS_RASP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/buf.h"
#include "core/str.h"
#include "fcmp/fcmp_write.h"
#include "procsup/spool_format.h"

enum rasp_type {
	RASP_RUN_STARTED,
	RASP_RUN_STATUS,
	RASP_RUN_COMPLETED,
	RASP_RUN_FAILED,
	RASP_RUN_CANCELED,
	RASP_RUN_USAGE,
	RASP_MESSAGE_DELTA,
	RASP_MESSAGE_FINAL,
	RASP_REASONING,
	RASP_INPUT_REQUESTED,
	RASP_INPUT_REPLIED,
	RASP_INPUT_TIMEOUT,
	RASP_INPUT_AUTO,
	RASP_TOOL_STARTED,
	RASP_TOOL_COMPLETED,
	RASP_TOOL_FAILED,
	RASP_ARTIFACT,
	RASP_PARSER_WARNING,
	RASP_PARSER_ERROR,
	RASP_ENGINE_ERROR,
	RASP_RAW_STDOUT,
	RASP_RAW_STDERR,
	RASP_TYPES_N
};

enum rasp_stream { RASP_STDOUT, RASP_STDERR, RASP_CONTROL };
enum rasp_level { RASP_INFO, RASP_WARNING, RASP_ERROR };

/* Bytes of a tool's output, and of its arguments, in an event. */
#define RASP_TOOL_MAX 16384
/* Bytes of unread lines in an event, and their number. */
#define RASP_RAW_MAX   24576
#define RASP_RAW_LINES 64
/* Largest event in bytes: six for one of the longest text. */
#define RASP_EVENT_MAX (2UL * 1024 * 1024)

/* Tokens; -1: not known. */
struct rasp_usage {
	int64_t input, output, cached, reasoning;
	double cost; /* in the provider's currency; negative: not known */
};

/*
 * Text that is, if json, the inside of a valid JSON string, with its escapes.
 */
struct rasp_text {
	struct str s;
	bool json;
};

struct rasp_tool {
	struct str name; /* text without escapes */
	/* JSON objects as written; absent: none, or over RASP_TOOL_MAX. */
	struct str arguments;
	struct rasp_text output; /* cut to RASP_TOOL_MAX */
	int64_t exit_code;       /* -1: none */
};

struct rasp_event {
	enum rasp_type type;
	int64_t seq; /* raw.*: of the event before, as the log has none of them
		      */
	int64_t attempt;
	int64_t ns;    /* Unix time of the read that its last byte came with */
	struct str ts; /* the same, as rasp_ts() writes it */
	enum rasp_stream stream;
	enum rasp_level level;
	double confidence;
	struct fcmp_raw_ref raw;
	struct str session_id, interaction_id, tool_call_id;
	union {
		struct {
			struct str title, mode, engine_version, isolation;
		} started;
		struct str state;        /* run.status */
		const char *reason;      /* run.completed */
		struct fcmp_error error; /* run.failed, run.canceled */
		struct rasp_usage usage;
		struct {
			struct str id, text;
			struct str payload;           /* JSON; absent: none */
		} message;                            /* delta, final */
		struct rasp_text text;                /* reasoning */
		const struct fcmp_question *question; /* requested */
		struct str content;                   /* replied */
		struct rasp_tool tool;
		struct spool_file file;
		struct fcmp_warning warning; /* parser.*, engine.error */
		struct {
			int64_t lines, bytes;
			struct str text; /* may be truncated */
		} block;                 /* raw.* */
	};
};

/* rasp_type_name(t): For example "run.started". */
const char *rasp_type_name(enum rasp_type t);

/*
 * rasp_in_log(t): Whether events of this type are in the run's log; the others
 * are in events.jsonl only.
 */
bool rasp_in_log(enum rasp_type t);

/* rasp_write(run_id, engine, e, b): Append *e as JSON, at most RASP_EVENT_MAX.
 */
void rasp_write(struct str run_id, struct str engine,
    const struct rasp_event *e, struct buf *b);

/* Room for any result of rasp_ts(), NUL included. */
#define RASP_TS_MAX 48

/* rasp_ts(ns, to): Unix time as RFC 3339 with milliseconds and Z. */
struct str rasp_ts(int64_t ns, char to[RASP_TS_MAX]);

#endif /* !EVENTS_RASP_H */
