/*
 * spool_tail: follows spools.  One inotify descriptor for all of them: there
 * are only 128 of these for a user.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/queue.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/log.h"
#include "core/loop.h"
#include "core/mem.h"
#include "procsup/spool.h"

#define JOURNAL_STEP (SPOOL_RECORD_N * 1024)
#define NOTICES_MAX  (64 * 1024)
#define CHUNK_COST   64 /* of a call of the handler, in bytes */
/*
 * Notices are read no sooner than so long after those before: a millisecond for
 * each ten spools that have some, so that many engines that print line by line
 * cost no wake-up for each line, and one that prints now and then is read at
 * once.
 */
#define PAUSE_MS_MAX    10
#define PAUSE_PER_TAILS 10

struct spool_watch {
	struct loop *loop;
	struct loop_fd fd;
	struct loop_timer pause;
	LIST_HEAD(, spool_tail) tails;
};

/* A part of a stream in memory: records are small, reads are not. */
struct tail_stream {
	int fd;
	uint64_t done; /* given to the handler */
	uint64_t from; /* of bytes */
	size_t n;
	char *bytes; /* SPOOL_CHUNK_MAX */
};

struct spool_tail {
	struct spool_watch *watch;
	LIST_ENTRY(spool_tail) link;
	struct spool_tail_handler h;
	struct loop_deferred step;
	int dir, journal;
	int wd_dir, wd_journal;
	struct tail_stream streams[SPOOL_STREAMS_N];
	unsigned char records[JOURNAL_STEP];
	size_t at, n;    /* of records */
	uint64_t offset; /* in the journal, of what follows them */
	bool paused, ended;
	bool noticed;        /* in this round of notices */
	bool calling, freed; /* freed in a callback: memory is left */
};

static void tail_step(void *arg);

void
spool_tail_poll(struct spool_tail *t)
{
	if (!t->paused && !t->ended)
		loop_defer(t->watch->loop, &t->step, tail_step, t);
}

void
spool_tail_pause(struct spool_tail *t, bool paused)
{
	t->paused = paused;
	if (paused)
		loop_defer_cancel(t->watch->loop, &t->step);
	else
		spool_tail_poll(t);
}

/* ---- notices ---- */

static void
watch_dispatch(struct spool_watch *w, const struct inotify_event *e)
{
	struct spool_tail *t;

	LIST_FOREACH (t, &w->tails, link)
		if ((e->mask & IN_Q_OVERFLOW) != 0 || t->wd_journal == e->wd ||
		    t->wd_dir == e->wd)
			t->noticed = true;
}

/* Have those that have notices read; how many there are. */
static int64_t
watch_poll(struct spool_watch *w)
{
	struct spool_tail *t;
	int64_t n = 0;

	LIST_FOREACH (t, &w->tails, link) {
		if (!t->noticed)
			continue;
		t->noticed = false;
		spool_tail_poll(t);
		n++;
	}
	return n;
}

static void
watch_on_pause(void *arg)
{
	struct spool_watch *w = arg;

	loop_fd_watch(w->loop, &w->fd, LOOP_READ);
}

static void
watch_pause(struct spool_watch *w, int64_t tails)
{
	int64_t ms = 1 + tails / PAUSE_PER_TAILS;

	loop_fd_watch(w->loop, &w->fd, 0);
	loop_timer_set(w->loop, &w->pause,
	    mono_add_ms(clock_mono(), ms < PAUSE_MS_MAX ? ms : PAUSE_MS_MAX),
	    watch_on_pause, w);
}

static void
watch_on_fd(void *arg, unsigned events)
{
	struct spool_watch *w = arg;
	_Alignas(struct inotify_event) char bytes[4096];
	size_t total = 0;
	ssize_t n;

	(void)events;
	while (total < NOTICES_MAX &&
	    (n = read(w->fd.fd, bytes, sizeof(bytes))) > 0) {
		const char *p = bytes, *end = bytes + n;

		total += (size_t)n;
		while (p < end) {
			const struct inotify_event *e = (const void *)p;

			watch_dispatch(w, e);
			p += sizeof(*e) + e->len;
		}
	}
	watch_pause(w, watch_poll(w));
}

enum rc
spool_watch_new(struct loop *l, struct spool_watch **out)
{
	int fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	struct spool_watch *w;

	*out = NULL;
	if (fd == -1) {
		log_error("procsup.no_inotify", LOG_S("why", strerror(errno)));
		return RC_DOWN;
	}
	w = mem_zalloc(sizeof(*w));
	w->loop = l;
	LIST_INIT(&w->tails);
	w->fd = (struct loop_fd){ .fd = fd, .fn = watch_on_fd, .arg = w };
	loop_fd_watch(l, &w->fd, LOOP_READ);
	*out = w;
	return RC_OK;
}

void
spool_watch_free(struct spool_watch *w)
{
	if (w == NULL)
		return;
	loop_fd_watch(w->loop, &w->fd, 0);
	loop_timer_cancel(w->loop, &w->pause);
	close(w->fd.fd);
	free(w);
}

/* ---- reading ---- */

/* The next record into *r; false: none is complete. */
static bool
tail_next_record(struct spool_tail *t, const unsigned char **record)
{
	if (t->n - t->at < SPOOL_RECORD_N) {
		ssize_t n;

		/* Whole records only: the rest is read with what follows. */
		n = pread(t->journal, t->records, sizeof(t->records),
		    (off_t)t->offset);
		if (n < SPOOL_RECORD_N)
			return false;
		t->at = 0;
		t->n = (size_t)n - (size_t)n % SPOOL_RECORD_N;
		t->offset += t->n;
	}
	*record = t->records + t->at;
	return true;
}

/* Bytes of a stream from s->done on, at most up to end; absent: none. */
static struct str
tail_bytes(struct tail_stream *s, uint64_t end)
{
	uint64_t left;
	ssize_t n;

	if (s->done >= s->from + s->n) {
		n = pread(s->fd, s->bytes, SPOOL_CHUNK_MAX, (off_t)s->done);
		if (n <= 0)
			return (struct str){ NULL, 0 };
		s->from = s->done;
		s->n = (size_t)n;
	}
	left = s->from + s->n < end ? s->from + s->n - s->done : end - s->done;
	return (struct str){ s->bytes + (s->done - s->from), (size_t)left };
}

static void
tail_end(struct spool_tail *t, const struct spool_exit *e)
{
	t->ended = true;
	loop_defer_cancel(t->watch->loop, &t->step);
	t->h.on_end(t->h.arg, e);
}

/* The end, once it is in the folder. */
static void
tail_read_exit(struct spool_tail *t, int fd)
{
	struct spool_exit e;
	char text[4096];
	ssize_t n = read(fd, text, sizeof(text));

	close(fd);
	if (n > 0 &&
	    spool_exit_read((struct str){ text, (size_t)n }, &e) == RC_OK)
		tail_end(t, &e);
	else
		tail_end(t, NULL);
}

/*
 * Give what is left of the record to the handler, a chunk at a time; *left is
 * what may still be read now.  RC_RETRY: the tail was paused, or it is enough;
 * RC_CONFLICT: it was freed; RC_INVALID: the spool is damaged.
 */
static enum rc
tail_give(struct spool_tail *t, const unsigned char *record, size_t *left)
{
	struct spool_record r;
	struct tail_stream *s;
	struct spool_chunk c;

	if (spool_record_read(record, &r) != RC_OK ||
	    r.end < t->streams[r.stream].done)
		return RC_INVALID;
	s = &t->streams[r.stream];
	while (s->done < r.end) {
		c = (struct spool_chunk){ r.stream, s->done,
			tail_bytes(s, r.end), r.ns, false };
		if (c.data.n == 0)
			return RC_INVALID;
		if (*left < c.data.n + CHUNK_COST)
			return RC_RETRY;
		*left -= c.data.n + CHUNK_COST;
		s->done += c.data.n;
		c.last = s->done == r.end;
		if (c.last)
			t->at += SPOOL_RECORD_N;
		t->calling = true;
		t->h.on_chunk(t->h.arg, &c);
		t->calling = false;
		if (t->freed) {
			free(t);
			return RC_CONFLICT;
		}
		if (t->paused)
			return RC_RETRY;
		if (c.last)
			return RC_OK;
	}
	t->at += SPOOL_RECORD_N;
	return RC_OK;
}

static void
tail_step(void *arg)
{
	struct spool_tail *t = arg;
	size_t left = SPOOL_STEP_MAX;
	const unsigned char *record;
	enum rc rc = RC_OK;
	/* Before the journal is read, which is complete if there is an end. */
	int fd = openat(t->dir, SPOOL_EXIT, O_RDONLY | O_CLOEXEC);

	while (rc == RC_OK && tail_next_record(t, &record))
		rc = tail_give(t, record, &left);
	if (rc == RC_OK && fd != -1) {
		tail_read_exit(t, fd);
		return;
	}
	if (fd != -1)
		close(fd);
	if (rc == RC_RETRY)
		spool_tail_poll(t);
	else if (rc == RC_INVALID)
		tail_end(t, NULL);
}

/* ---- opening ---- */

static enum rc
tail_open_files(struct spool_tail *t, const char *dir)
{
	static const char *const names[] = { SPOOL_STDOUT, SPOOL_STDERR };
	char journal[PATH_MAX];
	int n = snprintf(journal, sizeof(journal), "%s/%s", dir, SPOOL_JOURNAL);

	if (n < 0 || (size_t)n >= sizeof(journal)) {
		errno = ENAMETOOLONG;
		return RC_DOWN;
	}
	t->dir = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (t->dir == -1)
		return errno == ENOENT ? RC_NOENT : RC_DOWN;
	t->journal = openat(t->dir, SPOOL_JOURNAL, O_RDONLY | O_CLOEXEC);
	if (t->journal == -1)
		return errno == ENOENT ? RC_NOENT : RC_DOWN;
	for (size_t i = 0; i < SPOOL_STREAMS_N; i++) {
		t->streams[i].fd =
		    openat(t->dir, names[i], O_RDONLY | O_CLOEXEC);
		if (t->streams[i].fd == -1)
			return RC_DOWN;
	}
	t->wd_journal = inotify_add_watch(t->watch->fd.fd, journal, IN_MODIFY);
	t->wd_dir = inotify_add_watch(t->watch->fd.fd, dir, IN_MOVED_TO);
	return t->wd_journal != -1 && t->wd_dir != -1 ? RC_OK : RC_DOWN;
}

enum rc
spool_tail_open(struct spool_watch *w, const char *dir,
    const struct spool_tail_handler *h, struct spool_tail **out)
{
	struct spool_tail *t = mem_zalloc(sizeof(*t));
	enum rc rc;
	int err;

	t->watch = w;
	t->h = *h;
	t->dir = t->journal = t->wd_dir = t->wd_journal = -1;
	for (size_t i = 0; i < SPOOL_STREAMS_N; i++) {
		t->streams[i].fd = -1;
		t->streams[i].bytes = mem_alloc(SPOOL_CHUNK_MAX);
	}
	LIST_INSERT_HEAD(&w->tails, t, link);
	rc = tail_open_files(t, dir);
	err = errno;
	if (rc == RC_OK) {
		spool_tail_poll(t);
	} else {
		spool_tail_free(t);
		t = NULL;
	}
	*out = t;
	errno = err;
	return rc;
}

void
spool_tail_free(struct spool_tail *t)
{
	if (t == NULL)
		return;
	loop_defer_cancel(t->watch->loop, &t->step);
	/* Both fail if the files are gone, and the watches with them. */
	if (t->wd_journal != -1)
		(void)inotify_rm_watch(t->watch->fd.fd, t->wd_journal);
	if (t->wd_dir != -1)
		(void)inotify_rm_watch(t->watch->fd.fd, t->wd_dir);
	if (t->dir != -1)
		close(t->dir);
	if (t->journal != -1)
		close(t->journal);
	for (size_t i = 0; i < SPOOL_STREAMS_N; i++) {
		if (t->streams[i].fd != -1)
			close(t->streams[i].fd);
		free(t->streams[i].bytes);
	}
	LIST_REMOVE(t, link);
	if (t->calling)
		t->freed = true;
	else
		free(t);
}
