/*
 * spool_writer: appends to a spool, so that it is consistent at each instant.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/buf.h"
#include "core/mem.h"
#include "procsup/spool.h"

#define SPOOL_EXIT_NEW     SPOOL_EXIT ".new"
#define EXIT_BYTES         4096
#define JOURNAL_AHEAD      (64 * 1024) /* reserved at a time */
#define JOURNAL_SCAN_BYTES (SPOOL_RECORD_N * 4096)

struct spool_writer {
	int dir, journal, end;
	int fd[SPOOL_STREAMS_N];
	uint64_t size[SPOOL_STREAMS_N];     /* of the files */
	uint64_t recorded[SPOOL_STREAMS_N]; /* of that, in the journal */
	uint64_t journal_size, reserved;
	int64_t last_ns;
};

static int64_t
writer_now_ns(struct spool_writer *w)
{
	struct timespec t;
	int64_t ns;

	(void)clock_gettime(CLOCK_REALTIME, &t);
	ns = t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
	if (ns > w->last_ns)
		w->last_ns = ns;
	return w->last_ns;
}

static int
writer_open_file(const struct spool_writer *w, const char *name, int flags)
{
	return openat(w->dir, name, O_CREAT | O_CLOEXEC | flags, 0600);
}

static enum rc
writer_size(int fd, uint64_t *out)
{
	struct stat st;

	if (fstat(fd, &st) != 0)
		return RC_DOWN;
	*out = (uint64_t)st.st_size;
	return RC_OK;
}

/* Backwards, until both streams were seen: the end is what counts. */
static enum rc
writer_scan_journal(struct spool_writer *w)
{
	unsigned char *bytes = mem_alloc(JOURNAL_SCAN_BYTES);
	bool seen[SPOOL_STREAMS_N] = { w->size[0] == 0, w->size[1] == 0 };
	uint64_t at = w->journal_size;
	enum rc rc = RC_OK;

	while (at > 0 && rc == RC_OK && !(seen[0] && seen[1])) {
		size_t n =
		    at < JOURNAL_SCAN_BYTES ? (size_t)at : JOURNAL_SCAN_BYTES;
		struct spool_record r;

		at -= n;
		if (pread(w->journal, bytes, n, (off_t)at) != (ssize_t)n)
			rc = RC_DOWN;
		for (; n > 0 && rc == RC_OK; n -= SPOOL_RECORD_N) {
			/* Damage is for the reader to report. */
			if (spool_record_read(bytes + n - SPOOL_RECORD_N, &r) !=
			    RC_OK)
				continue;
			if (r.ns > w->last_ns)
				w->last_ns = r.ns;
			if (!seen[r.stream])
				w->recorded[r.stream] = r.end;
			seen[r.stream] = true;
		}
	}
	free(bytes);
	return rc;
}

static enum rc
writer_open_files(struct spool_writer *w, const char *dir)
{
	w->dir = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (w->dir == -1)
		return RC_DOWN;
	w->fd[SPOOL_OUT] =
	    writer_open_file(w, SPOOL_STDOUT, O_WRONLY | O_APPEND);
	w->fd[SPOOL_ERR] =
	    writer_open_file(w, SPOOL_STDERR, O_WRONLY | O_APPEND);
	w->journal = writer_open_file(w, SPOOL_JOURNAL, O_RDWR | O_APPEND);
	w->end = writer_open_file(w, SPOOL_EXIT_NEW, O_WRONLY);
	if (w->fd[SPOOL_OUT] == -1 || w->fd[SPOOL_ERR] == -1 ||
	    w->journal == -1 || w->end == -1)
		return RC_DOWN;
	/* Where it is not supported, a full disk costs the end. */
	(void)fallocate(w->end, FALLOC_FL_KEEP_SIZE, 0, EXIT_BYTES);
	if (writer_size(w->fd[SPOOL_OUT], &w->size[SPOOL_OUT]) != RC_OK ||
	    writer_size(w->fd[SPOOL_ERR], &w->size[SPOOL_ERR]) != RC_OK ||
	    writer_size(w->journal, &w->journal_size) != RC_OK)
		return RC_DOWN;
	/* A writer died in the middle of a record. */
	w->journal_size -= w->journal_size % SPOOL_RECORD_N;
	if (ftruncate(w->journal, (off_t)w->journal_size) != 0)
		return RC_DOWN;
	return writer_scan_journal(w);
}

enum rc
spool_writer_open(const char *dir, struct spool_writer **out)
{
	struct spool_writer *w = mem_zalloc(sizeof(*w));
	int err;

	*w = (struct spool_writer){ -1, -1, -1, { -1, -1 }, { 0 }, { 0 }, 0, 0,
		0 };
	*out = w;
	if (writer_open_files(w, dir) == RC_OK)
		return RC_OK;
	err = errno;
	spool_writer_free(w);
	*out = NULL;
	errno = err;
	return RC_DOWN;
}

void
spool_writer_free(struct spool_writer *w)
{
	const int *fds[] = { &w->dir, &w->journal, &w->end, &w->fd[SPOOL_OUT],
		&w->fd[SPOOL_ERR] };

	if (w == NULL)
		return;
	for (size_t i = 0; i < NELEM(fds); i++)
		if (*fds[i] != -1)
			close(*fds[i]);
	free(w);
}

/* So that bytes never are without a record because of a full disk. */
static enum rc
writer_reserve_record(struct spool_writer *w)
{
	if (w->journal_size + SPOOL_RECORD_N <= w->reserved)
		return RC_OK;
	if (fallocate(w->journal, FALLOC_FL_KEEP_SIZE, (off_t)w->journal_size,
		JOURNAL_AHEAD) == 0)
		w->reserved = w->journal_size + JOURNAL_AHEAD;
	else if (errno != EOPNOTSUPP)
		return RC_DOWN;
	return RC_OK;
}

static enum rc
writer_record(struct spool_writer *w, enum spool_stream stream)
{
	struct spool_record r = { stream, w->size[stream], writer_now_ns(w) };
	unsigned char bytes[SPOOL_RECORD_N];
	ssize_t n;
	int err;

	if (w->recorded[stream] == r.end)
		return RC_OK;
	spool_record_write(&r, bytes);
	n = write(w->journal, bytes, sizeof(bytes));
	if (n == (ssize_t)sizeof(bytes)) {
		w->journal_size += sizeof(bytes);
		w->recorded[stream] = r.end;
		return RC_OK;
	}
	err = n == -1 ? errno : ENOSPC;
	(void)!ftruncate(w->journal, (off_t)w->journal_size);
	errno = err;
	return RC_DOWN;
}

enum rc
spool_writer_put(
    struct spool_writer *w, enum spool_stream stream, struct str data)
{
	enum rc rc = writer_reserve_record(w);
	int err = errno;

	while (data.n > 0 && rc == RC_OK) {
		ssize_t n = write(w->fd[stream], data.p, data.n);

		if (n > 0) {
			w->size[stream] += (uint64_t)n;
			data.p += n;
			data.n -= (size_t)n;
		} else if (n == 0 || errno != EINTR) {
			err = n == 0 ? ENOSPC : errno;
			rc = RC_DOWN;
		}
	}
	/* Of a part that was written, too. */
	if (writer_record(w, stream) != RC_OK)
		return RC_DOWN;
	errno = err;
	return rc;
}

uint64_t
spool_writer_bytes(const struct spool_writer *w)
{
	return w->size[SPOOL_OUT] + w->size[SPOOL_ERR] + w->journal_size;
}

enum rc
spool_writer_end(struct spool_writer *w, struct spool_exit *e)
{
	struct buf text = BUF_INIT(EXIT_BYTES);
	enum rc rc = RC_OK;
	int err;

	if (writer_record(w, SPOOL_OUT) != RC_OK ||
	    writer_record(w, SPOOL_ERR) != RC_OK)
		rc = RC_DOWN;
	/* What was reserved beyond its end. */
	(void)!ftruncate(w->journal, (off_t)w->journal_size);
	e->ns = writer_now_ns(w);
	spool_exit_write(e, &text);
	/* The end counts even if a record is missing. */
	if (pwrite(w->end, text.p, text.n, 0) != (ssize_t)text.n ||
	    ftruncate(w->end, (off_t)text.n) != 0 ||
	    renameat(w->dir, SPOOL_EXIT_NEW, w->dir, SPOOL_EXIT) != 0)
		rc = RC_DOWN;
	err = errno;
	buf_free(&text);
	spool_writer_free(w);
	errno = err;
	return rc;
}
