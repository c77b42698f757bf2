/*
 * spool_format: the bytes of an attempt's journal, "exit" and "shim" files.
 *
 * journal: records of SPOOL_RECORD_BYTES: stream (1 byte), the offset at which
 * the stream ends with it, Unix nanoseconds (8 bytes each, little-endian).
 * The others: lines of key=value.  Pure.
 */
#ifndef PROCSUP_SPOOL_FORMAT_H
#define PROCSUP_SPOOL_FORMAT_H

#include <stdbool.h>
#include <stdint.h>

#include "core/rc.h"
#include "core/str.h"

struct buf;

#define SPOOL_RECORD_BYTES 17

enum spool_stream { SPOOL_STDOUT, SPOOL_STDERR, SPOOL_STREAMS_N };

struct spool_record {
	enum spool_stream stream;
	uint64_t end;
	int64_t ns;
};

/*
 * spool_record_write(r, dst), spool_record_read(src, r):
 * One record.  RC_INVALID: no such stream, or a number that no file has.
 */
void spool_record_write(
    const struct spool_record *r, unsigned char dst[SPOOL_RECORD_BYTES]);
enum rc spool_record_read(const unsigned char src[SPOOL_RECORD_BYTES],
    struct spool_record *r) RC_CHECK;

/* Why an engine was stopped; the first that came. */
enum spool_stop {
	SPOOL_STOP_NONE,     /* it ended by itself */
	SPOOL_STOP_CANCELED, /* from here on by the runner */
	SPOOL_STOP_LINGERED,
	SPOOL_STOP_BUDGET,
	SPOOL_STOP_DRAINED,
	SPOOL_STOP_DEADLINE, /* from here on by the shim */
	SPOOL_STOP_STALLED,
	SPOOL_STOP_OUTPUT,
	SPOOL_STOP_DISK,
	SPOOL_STOP_WORKSPACE,
	SPOOL_STOP_N
};

/* spool_stop_name(s): Its name in the file. */
const char *spool_stop_name(enum spool_stop s);

/* How an attempt ended. */
struct spool_exit {
	int code;   /* the engine's; -1: it has none */
	int signal; /* that killed it; 0: none */
	enum spool_stop stopped;
	bool lost;           /* the shim died; code is unknown */
	int start_error;     /* errno; the engine was not started */
	char start_step[32]; /* what failed then; else "" */
	int64_t orphans;     /* processes that were killed after it */
	int64_t ns;          /* Unix time of the end */
};

#define SPOOL_EXIT_MAX 512

/*
 * spool_exit_write(e, out), spool_exit_read(s, e):
 * The whole file, up to SPOOL_EXIT_MAX bytes.  RC_INVALID: a value is missing
 * or not valid; unknown keys are skipped.
 */
void spool_exit_write(const struct spool_exit *e, struct buf *out);
enum rc spool_exit_read(struct str s, struct spool_exit *e) RC_CHECK;

#endif /* !PROCSUP_SPOOL_FORMAT_H */
