/*
 * spool: the folder that has all of an attempt's output.
 *
 * The shim writes it, the runner follows it; after a crash of either it is
 * still valid.  The journal orders what both streams have: a record is written
 * after its bytes, so a reader finds them.  spool_format.h has the formats.
 */
#ifndef PROCSUP_SPOOL_H
#define PROCSUP_SPOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/rc.h"
#include "core/str.h"
#include "procsup/spool_format.h"

struct loop;

/* ---- the write side: for the shim; blocks on the disk ---- */

struct spool_writer;

/*
 * spool_writer_open(dir, out):
 * Append to the spool in dir, which exists; its files are created.  Room for
 * its end is reserved, so that it can be written when the disk is full.
 * RC_DOWN with errno.
 */
enum rc spool_writer_open(const char *dir, struct spool_writer **out) RC_CHECK;

/*
 * spool_writer_put(w, stream, data):
 * Append bytes of a stream, stamped with the time of the call, which never goes
 * back.  RC_DOWN with errno: the disk is full, or failed; what was written is
 * consistent, and nothing more should be put.
 */
enum rc spool_writer_put(
    struct spool_writer *w, enum spool_stream stream, struct str data) RC_CHECK;

/* spool_writer_bytes(w): Of both streams and the journal so far. */
uint64_t spool_writer_bytes(const struct spool_writer *w);

/*
 * spool_writer_end(w, e):
 * Write the end, by rename, and free w; e->ns is set to now.  Bytes of a stream
 * that have no record, because a writer died in between, get one before.
 * RC_DOWN with errno; w is freed anyway.
 */
enum rc spool_writer_end(struct spool_writer *w, struct spool_exit *e) RC_CHECK;

/* spool_writer_free(w): Close it without an end.  NULL is allowed. */
void spool_writer_free(struct spool_writer *w);

/* ---- the tail side: on the loop of its watch ---- */

/* One inotify descriptor for all tails of a process. */
struct spool_watch;

/* spool_watch_new(l, out): RC_DOWN: no inotify instance is left. */
enum rc spool_watch_new(struct loop *l, struct spool_watch **out) RC_CHECK;

/* spool_watch_free(w): All its tails have been freed.  NULL is allowed. */
void spool_watch_free(struct spool_watch *w);

/* Bytes of one journal record, or a part of them. */
struct spool_chunk {
	enum spool_stream stream;
	uint64_t from;   /* offset of the first byte in the stream */
	struct str data; /* valid until the callback returns; ≥ 1 byte */
	int64_t ns;      /* when the shim read it, Unix time */
	bool last;       /* the record ends with it */
};

struct spool_tail_handler {
	/* Each byte one time, in the order of the journal. */
	void (*on_chunk)(void *arg, const struct spool_chunk *c);
	/*
	 * The end was written, and all bytes were given to on_chunk.  e is
	 * NULL if the spool is damaged.  Nothing is called after it.
	 */
	void (*on_end)(void *arg, const struct spool_exit *e);
	void *arg;
};

/* Bytes that a tail reads in one iteration of the loop; the size of a chunk. */
#define SPOOL_STEP_MAX  (1024UL * 1024)
#define SPOOL_CHUNK_MAX (32UL * 1024)

struct spool_tail;

/*
 * spool_tail_open(w, dir, h, out):
 * Follow the spool in dir from its first byte; w may have one tail of it.  h is
 * called on the loop, in a later iteration.  RC_NOENT: it has no journal.
 * RC_DOWN with errno.
 */
enum rc spool_tail_open(struct spool_watch *w, const char *dir,
    const struct spool_tail_handler *h, struct spool_tail **out) RC_CHECK;

/*
 * spool_tail_pause(t, paused): Call nothing until it is resumed; what the
 * engine writes meanwhile stays in the files.
 */
void spool_tail_pause(struct spool_tail *t, bool paused);

/* spool_tail_poll(t): Read in the next iteration, without a notice. */
void spool_tail_poll(struct spool_tail *t);

/* spool_tail_free(t): In its callbacks, too.  NULL is allowed. */
void spool_tail_free(struct spool_tail *t);

#endif /* !PROCSUP_SPOOL_H */
