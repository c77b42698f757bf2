/*
 * spool_format: the files of an attempt's spool, as bytes.
 *
 * A spool is a folder.  "meta" is what the attempt was started with; "stdout"
 * and "stderr" are what the engine wrote, untouched; "journal" is when; "exit"
 * is how it ended; "files" is what it changed.  All events of the attempt are a
 * pure function of them.  "stdout", "stderr" and "journal" are appended to,
 * the others written whole by a rename.
 *
 * The journal is a sequence of records of SPOOL_RECORD_N bytes: the stream,
 * then the offset in that stream's file behind the bytes of this read, then
 * Unix time in ns, both as 8 bytes, the lowest first.  The bytes are in the
 * file before their record is in the journal.  meta, exit and files are lines
 * of a key, a blank and a value, in which \n and \\ stand for a line's end and
 * a backslash; unknown keys are ignored.
 *
 * Pure; any thread.
 */
#ifndef PROCSUP_SPOOL_FORMAT_H
#define PROCSUP_SPOOL_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/arena.h"
#include "core/buf.h"
#include "core/rc.h"
#include "core/str.h"

#define SPOOL_META    "meta"
#define SPOOL_STDIN   "stdin"
#define SPOOL_STDOUT  "stdout"
#define SPOOL_STDERR  "stderr"
#define SPOOL_JOURNAL "journal"
#define SPOOL_EXIT    "exit"
#define SPOOL_FILES   "files"

/* Largest meta, exit and files that are read. */
#define SPOOL_TEXT_MAX (1024 * 1024)

/* ---- journal ---- */

enum spool_stream { SPOOL_OUT, SPOOL_ERR, SPOOL_STREAMS_N };

#define SPOOL_RECORD_N 17

struct spool_record {
	enum spool_stream stream;
	uint64_t end; /* offset behind the bytes that it is about */
	int64_t ns;   /* Unix time when they were read */
};

/* spool_record_write(r, to): The bytes of *r. */
void spool_record_write(
    const struct spool_record *r, unsigned char to[SPOOL_RECORD_N]);

/*
 * spool_record_read(from, r): The record of SPOOL_RECORD_N bytes.  RC_INVALID:
 * an unknown stream, an offset over INT64_MAX or a negative time.
 */
enum rc spool_record_read(
    const unsigned char *from, struct spool_record *r) RC_CHECK;

/* ---- meta ---- */

/* What an attempt was started with; absent and 0 if it is not known. */
struct spool_meta {
	struct str run_id;
	struct str engine; /* codex, gemini, opencode, iflow */
	int64_t attempt;   /* from 1 */
	struct str mode;   /* interactive, auto, file-write */
	struct str title;
	struct str engine_version;
	struct str isolation; /* what is enforced, in words */
	int64_t started_ns;   /* Unix time */
	/* Numbers of the run's events before this attempt. */
	int64_t rasp_seq, fcmp_seq;
	struct str handle;        /* the session that is resumed */
	struct str output_schema; /* JSON */
	int64_t attempts_max;     /* 0: no limit */
	/* The reply that this attempt was started with. */
	struct str interaction_id, reply;
	bool auto_reply; /* nobody gave it: its deadline had passed */
};

/* spool_meta_write(m, out): Append the text of *m. */
void spool_meta_write(const struct spool_meta *m, struct buf *out);

/*
 * spool_meta_read(text, a, m): The meta in text; its texts are taken from a.
 * RC_INVALID: a line without a blank, a number that is none, or no engine;
 * RC_TOOBIG over SPOOL_TEXT_MAX or a.
 */
enum rc spool_meta_read(
    struct str text, struct arena *a, struct spool_meta *m) RC_CHECK;

/* ---- exit ---- */

/* Why the runner stopped the engine. */
enum spool_stop {
	SPOOL_STOP_NONE, /* it did not */
	SPOOL_STOP_CANCELED,
	SPOOL_STOP_DEADLINE,  /* ran for too long */
	SPOOL_STOP_STALLED,   /* wrote nothing for too long */
	SPOOL_STOP_OUTPUT,    /* wrote too much, or the disk is full */
	SPOOL_STOP_WORKSPACE, /* its workspace is too large */
	SPOOL_STOP_BUDGET,    /* used too many tokens */
	SPOOL_STOP_RUNNER,    /* the runner is being shut down */
	SPOOL_STOP_LINGERED,  /* lived on behind its end signal */
	SPOOL_STOPS_N
};

struct spool_exit {
	int code;   /* of exit(); 0 beside a signal */
	int signal; /* that ended it, or 0 */
	enum spool_stop stop;
	bool not_started; /* the command could not be executed */
	int64_t ns;       /* Unix time when it ended */
	int64_t orphans;  /* processes that had to be killed behind it */
};

/* spool_exit_write(x, out), spool_exit_read(text, x): As of meta. */
void spool_exit_write(const struct spool_exit *x, struct buf *out);
enum rc spool_exit_read(struct str text, struct spool_exit *x) RC_CHECK;

/* ---- files ---- */

#define SPOOL_SHA256_HEX 64

/* A file of the workspace that the attempt created, modified or deleted. */
struct spool_file {
	struct str change; /* created, modified, deleted */
	int64_t bytes;
	struct str sha256; /* hexadecimal; absent: deleted */
	struct str path;   /* relative to the workspace */
};

/*
 * spool_file_write(f, out): Append a line: "file <change> <bytes> <sha256, or
 * -> <path>".
 *
 * spool_file_next(text, a, f): The next file of *text, which is advanced behind
 * it; its path is taken from a.  RC_NOENT: none is left; RC_INVALID: the line
 * is none; RC_TOOBIG: a is full.
 */
void spool_file_write(const struct spool_file *f, struct buf *out);
enum rc spool_file_next(
    struct str *text, struct arena *a, struct spool_file *f) RC_CHECK;

#endif /* !PROCSUP_SPOOL_FORMAT_H */
