/*
 * The runs of this runner: those that are queued are claimed while it has
 * places; those that run, but not in this process, are taken over; of those
 * that have ended, what another process left undone is done.
 *
 * All of it is decided by the run's record, in one fiber, so that no run is
 * begun twice.  What names the runs (hints, the runner's list, its disk) may
 * be incomplete or outdated.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bus/bus.h"
#include "context.h"
#include "core/arena.h"
#include "core/fiber.h"
#include "core/id.h"
#include "core/log.h"
#include "core/map.h"
#include "core/mem.h"
#include "core/metric.h"
#include "handlers.h"
#include "live_run.h"
#include "run_abort.h"
#include "run_facts.h"
#include "state/run_runner.h"
#include "svc/svc.h"
#include "wire/subjects.h"

#define POLL_MS   1000
#define HINTS_MAX 64
#define ARENA_MAX (4UL * 1024 * 1024)
/* A record, with what is decoded of it. */
#define RUN_ARENA_MAX (16UL * 1024 * 1024)
/* All runs of the list are checked. */
#define FULL_MS 10000
/* The disk is compared with the records. */
#define DISK_MS 60000

struct claim {
	struct runner *runner;
	struct bus_sub *sub;
	struct loop_timer poll;
	char hints[HINTS_MAX][RUN_ID_MAX];
	size_t nhints;
	bool all;  /* all runs of the list are to be checked */
	bool disk; /* those on the disk, too */
	bool begun, running, swept;
	struct mono disk_at, full_at; /* the next time */
	struct map *strays;           /* shims that are being stopped, by run */
};

/* ---- hints ---- */

static void claim_main(void *arg);

static void
claim_kick(struct claim *c)
{
	if (c->begun && !c->running && !c->runner->stopping)
		fiber_start(claim_main, c);
}

void
claim_request(struct runner *r, struct str run)
{
	struct claim *c = r->claim;

	if (c == NULL)
		return;
	if (run.n == 0 || run.n >= RUN_ID_MAX || c->nhints == HINTS_MAX)
		c->all = true;
	else
		str_copy(run, c->hints[c->nhints++], RUN_ID_MAX);
	claim_kick(c);
}

static void
claim_on_wake(void *arg, struct bus_msg *m)
{
	struct claim *c = arg;
	struct arena *a = arena_new(ARENA_MAX);
	struct wire_run_wake w;

	if (wire_decode(&wire_run_wake_desc, bus_msg_data(m), a, &w, NULL) ==
	    RC_OK)
		claim_request(c->runner, w.run_id);
	arena_free(a);
	bus_msg_free(m);
}

void
run_wake(struct runner *r, struct str runner, struct str run)
{
	const struct wire_run_wake msg = { .run_id = run };
	char token[ID_TOKEN_MAX], subject[ID_TOKEN_MAX + 32];
	struct buf out = BUF_INIT(1024);
	enum rc rc;

	if (str_eq(runner, str_of(r->id))) {
		claim_request(r, run);
		return;
	}
	rc = id_token(runner, token);
	if (rc == RC_OK)
		rc = wire_encode(&wire_run_wake_desc, &msg, &out, NULL);
	if (rc == RC_OK) {
		(void)snprintf(
		    subject, sizeof(subject), WIRE_SUBJECT_FMT_RUN_WAKE, token);
		rc = bus_publish(r->bus, subject, buf_str(&out), NULL);
	}
	if (rc != RC_OK)
		log_debug("run.wake", LOG_V("run", run), LOG_RC(rc));
	buf_free(&out);
}

enum rc
run_enqueue(struct runner *r, struct str runner, struct str run)
{
	enum rc rc = run_runner_add(r->state, runner, run);

	run_wake(r, runner, run);
	return rc;
}

static void
claim_on_poll(void *arg)
{
	struct claim *c = arg;

	loop_timer_set(c->runner->loop, &c->poll,
	    mono_add_ms(clock_mono(), POLL_MS), claim_on_poll, c);
	c->all = true;
	if (mono_diff_ns(clock_mono(), c->disk_at) >= 0) {
		c->disk_at = mono_add_ms(clock_mono(), DISK_MS);
		c->disk = true;
	}
	claim_kick(c);
}

/* ---- one run ---- */

static void
claim_drop(struct claim *c, struct str run)
{
	if (run_runner_drop(c->runner->state, str_of(c->runner->id), run) !=
	    RC_OK)
		log_debug("run.not_dropped", LOG_V("run", run));
}

static void
claim_make_spool(void *arg)
{
	struct workspace_paths *p = arg;

	if (workspace_make_spool(p) != RC_OK)
		p->spool[0] = '\0';
}

static void
claim_queued(struct claim *c, const struct run_record *seen, struct arena **own)
{
	struct runner *r = c->runner;
	struct workspace_paths paths;
	struct run_record rec;
	enum rc rc;

	if (runner_free_slots(r) <= 0)
		return;
	/* Before the claim: see live_run.c. */
	workspace_paths(&paths, r->conf->runs_dir, seen->run_id,
	    seen->workspace, seen->attempt + 1);
	rc = runner_work(r, claim_make_spool, &paths);
	/* A drain may have begun meanwhile. */
	if (rc != RC_OK || paths.spool[0] == '\0' || runner_free_slots(r) <= 0)
		return;
	rc = run_claim(r->state, seen->run_id, str_of(r->id), *own, &rec);
	if (rc != RC_OK) {
		log_debug(
		    "run.not_claimed", LOG_V("run", seen->run_id), LOG_RC(rc));
		return;
	}
	live_run_start(r, &rec, *own, false);
	*own = NULL;
}

static void
claim_running(
    struct claim *c, const struct run_record *seen, struct arena **own)
{
	struct runner *r = c->runner;
	struct run_record rec;
	enum rc rc = RC_RETRY;

	if (!r->draining)
		rc = run_adopt(r->state, seen->run_id, seen->epoch, *own, &rec);
	if (rc != RC_OK) {
		log_debug(
		    "run.not_adopted", LOG_V("run", seen->run_id), LOG_RC(rc));
		return;
	}
	live_run_start(r, &rec, *own, true);
	*own = NULL;
}

/* ---- shims of runs that are over ---- */

struct stray {
	struct claim *claim;
	struct shim *shim;
	char run[RUN_ID_MAX];
};

static void
stray_on_chunk(void *arg, const struct spool_chunk *c)
{
	(void)arg;
	(void)c;
}

static void
stray_on_end(void *arg, const struct spool_exit *e)
{
	struct stray *s = arg;

	(void)e;
	(void)map_del(s->claim->strays, str_of(s->run));
	svc_release(s->claim->runner->svc);
	free(s);
}

/* The run was ended by another runner, while its engine went on here. */
static void
claim_stop_stray(struct claim *c, const struct run_record *rec)
{
	struct workspace_paths p;
	struct procsup_handler h = { stray_on_chunk, stray_on_end, NULL };
	char path[WORKSPACE_PATH_MAX + 8], mark[PROCSUP_MARK_MAX + 1];
	struct stray *s;

	if (rec->attempt == 0 || map_get(c->strays, rec->run_id) != NULL)
		return;
	workspace_paths(&p, c->runner->conf->runs_dir, rec->run_id,
	    rec->workspace, rec->attempt);
	(void)snprintf(path, sizeof(path), "%s/" SPOOL_EXIT, p.spool);
	if (!workspace_has(p.spool) || workspace_has(path))
		return;
	s = mem_zalloc(sizeof(*s));
	s->claim = c;
	str_copy(rec->run_id, s->run, sizeof(s->run));
	h.arg = s;
	(void)snprintf(mark, sizeof(mark), "%.*s.%lld", STR_ARG(rec->run_id),
	    (long long)rec->attempt);
	if (procsup_take_over(
		c->runner->procsup, p.spool, mark, &h, &s->shim) != RC_OK) {
		free(s);
		return;
	}
	(void)map_put(c->strays, rec->run_id, s);
	svc_hold(c->runner->svc);
	log_warn("run.stray_stopped", LOG_V("run", rec->run_id));
	procsup_stop(s->shim, SPOOL_STOP_RUNNER);
}

static void
claim_ended(struct claim *c, const struct run_record *rec, struct arena *a)
{
	struct wire_run_facts f;

	claim_stop_stray(c, rec);
	/* The process that ended it may have died before it sent the event. */
	run_facts_read(rec->facts, a, &f);
	run_event_ended(c->runner, rec, &f, (struct str){ NULL, 0 });
	claim_drop(c, rec->run_id);
}

/* ---- runs that are deleted ---- */

struct claim_removal {
	struct runner *runner;
	struct str run;
	bool workspace; /* it may go, too */
};

static void
claim_remove(void *arg)
{
	struct claim_removal *m = arg;
	char path[WORKSPACE_PATH_MAX];
	struct dirent *e;
	DIR *d;

	(void)snprintf(path, sizeof(path), "%s/%.*s", m->runner->conf->runs_dir,
	    STR_ARG(m->run));
	if (m->workspace) {
		(void)!workspace_remove(path);
		return;
	}
	d = opendir(path);
	while (d != NULL && (e = readdir(d)) != NULL) {
		char spool[WORKSPACE_PATH_MAX + 256];

		if (e->d_name[0] < '0' || e->d_name[0] > '9')
			continue;
		(void)snprintf(spool, sizeof(spool), "%s/%s", path, e->d_name);
		(void)!workspace_remove(spool);
	}
	if (d != NULL)
		closedir(d);
}

static void
claim_deleted(struct claim *c, struct str run)
{
	struct claim_removal m = { .runner = c->runner, .run = run };
	bool used = true;

	claim_drop(c, run);
	if (run_workspace_in_use(c->runner->state, run, &used) != RC_OK)
		return;
	m.workspace = !used;
	if (runner_work(c->runner, claim_remove, &m) != RC_OK)
		log_debug("run.not_removed", LOG_V("run", run));
}

/* ---- deciding ---- */

static void
claim_live(struct live_run *l, const struct run_record *rec)
{
	if (rec->epoch != l->rec.epoch || run_status_is_end(rec->status))
		live_run_fence(l);
	else if (rec->cancel)
		live_run_stop(l, SPOOL_STOP_CANCELED);
}

static void
claim_other(struct claim *c, const struct run_record *rec, struct arena **own)
{
	struct runner *r = c->runner;
	bool waits =
	    rec->status == RUN_IS_QUEUED || rec->status == RUN_IS_WAITING;

	if (run_status_is_end(rec->status)) {
		claim_ended(c, rec, *own);
	} else if (!str_eq(rec->runner, str_of(r->id))) {
		claim_drop(c, rec->run_id);
	} else if (rec->cancel && waits) {
		if (run_adopt_and_abort(r, rec->run_id, rec->epoch,
			&run_abort_canceled) != RC_OK)
			log_debug(
			    "run.not_canceled", LOG_V("run", rec->run_id));
	} else if (rec->status == RUN_IS_QUEUED) {
		claim_queued(c, rec, own);
	} else if (rec->status == RUN_IS_RUNNING) {
		claim_running(c, rec, own);
	} else {
		run_event_question(r, rec, rec->question);
		claim_drop(c, rec->run_id);
	}
}

/* listed: it is in the runner's list; of others only what runs matters. */
static void
claim_check(struct claim *c, struct str run, bool listed)
{
	struct runner *r = c->runner;
	struct arena *own = arena_new(RUN_ARENA_MAX);
	struct live_run *l;
	struct run_record rec;
	enum rc rc = run_read(r->state, run, own, &rec);

	l = map_get(r->live, run);
	if (rc == RC_NOENT || rc == RC_INVALID) {
		if (l != NULL)
			live_run_fence(l);
		else
			claim_deleted(c, run);
	} else if (rc == RC_OK && l != NULL) {
		claim_live(l, &rec);
	} else if (rc == RC_OK && (listed || !run_status_is_end(rec.status))) {
		if (listed || rec.status != RUN_IS_WAITING)
			claim_other(c, &rec, &own);
	} else if (rc == RC_OK) {
		claim_stop_stray(c, &rec);
	}
	arena_free(own);
}

/* The next hint, in to; false: none is left. */
static bool
claim_take_hint(struct claim *c, char to[RUN_ID_MAX])
{
	if (c->nhints == 0)
		return false;
	memcpy(to, c->hints[0], RUN_ID_MAX);
	c->nhints--;
	memmove(c->hints[0], c->hints[1], c->nhints * RUN_ID_MAX);
	return true;
}

static void
claim_check_hints(struct claim *c)
{
	char run[RUN_ID_MAX];

	while (!c->runner->stopping && claim_take_hint(c, run))
		claim_check(c, str_of(run), true);
}

static int
claim_compare(const void *a, const void *b)
{
	return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

/*
 * Records may be large: of those that run here, and while no slot is free, they
 * are read every FULL_MS only.
 */
static void
claim_check_list(struct claim *c)
{
	struct runner *r = c->runner;
	struct arena *a = arena_new(ARENA_MAX);
	bool full = mono_diff_ns(clock_mono(), c->full_at) >= 0;
	struct str *list;
	size_t n = 0, i;
	enum rc rc = RC_OK;

	if (full)
		c->full_at = mono_add_ms(clock_mono(), FULL_MS);
	if (full || runner_free_slots(r) > 0)
		rc = run_runner_runs(r->state, str_of(r->id), a, &list, &n);
	/* Ids begin with their time. */
	if (rc == RC_OK && n > 0)
		qsort(list, n, sizeof(*list), claim_compare);
	for (i = 0; rc == RC_OK && i < n && !r->stopping; i++) {
		if (!full && runner_free_slots(r) <= 0)
			break;
		if (full || map_get(r->live, list[i]) == NULL)
			claim_check(c, list[i], true);
		claim_check_hints(c);
	}
	arena_free(a);
}

struct claim_folders {
	const char *dir;
	struct arena *arena;
	struct str *list;
	size_t n;
};

#define FOLDERS_MAX 65536

static void
claim_read_folders(void *arg)
{
	struct claim_folders *f = arg;
	DIR *d = opendir(f->dir);
	struct dirent *e;
	unsigned bucket;

	while (d != NULL && f->n < FOLDERS_MAX && (e = readdir(d)) != NULL)
		if (run_id_bucket(str_of(e->d_name), &bucket) == RC_OK)
			f->list[f->n++] =
			    arena_str(f->arena, str_of(e->d_name));
	if (d != NULL)
		closedir(d);
}

static void
claim_check_disk(struct claim *c)
{
	struct claim_folders f = { .dir = c->runner->conf->runs_dir,
		.arena = arena_new(4 * ARENA_MAX) };
	size_t i;

	f.list = mem_calloc(FOLDERS_MAX, sizeof(*f.list));
	if (runner_work(c->runner, claim_read_folders, &f) == RC_OK)
		for (i = 0; i < f.n && !c->runner->stopping; i++) {
			claim_check(c, f.list[i], false);
			claim_check_hints(c);
		}
	free(f.list);
	arena_free(f.arena);
}

/* ---- processes without a shim ---- */

static bool
claim_is_doomed(void *arg, struct str mark)
{
	struct claim *c = arg;
	char path[WORKSPACE_PATH_MAX];
	struct str run = str_split(&mark, '.');
	unsigned bucket;

	if (run_id_bucket(run, &bucket) != RC_OK ||
	    map_get(c->runner->live, run) != NULL ||
	    map_get(c->strays, run) != NULL)
		return false;
	(void)snprintf(path, sizeof(path), "%s/%.*s", c->runner->conf->runs_dir,
	    STR_ARG(run));
	return workspace_has(path);
}

static void
claim_on_swept(void *arg, size_t killed)
{
	struct claim *c = arg;

	if (killed == 0)
		return;
	log_warn("run.orphans", LOG_I("killed", killed));
	metric_add(c->runner->metrics.orphans, (int64_t)killed);
}

/* Of this runner's runs, at its start. */
static void
claim_sweep(struct claim *c)
{
	if (c->swept)
		return;
	c->swept = true;
	if (procsup_sweep(c->runner->procsup, claim_is_doomed, c,
		claim_on_swept) != RC_OK)
		log_warn("run.not_swept", LOG_RC(RC_RETRY));
}

/* ---- the fiber ---- */

static void
claim_main(void *arg)
{
	struct claim *c = arg;

	c->running = true;
	while (!c->runner->stopping) {
		claim_check_hints(c);
		if (c->disk) {
			c->disk = false;
			claim_check_disk(c);
			claim_sweep(c);
		} else if (c->all) {
			c->all = false;
			claim_check_list(c);
		} else {
			break;
		}
	}
	c->running = false;
}

/* ---- begin and end ---- */

struct claim *
claim_new(struct runner *r)
{
	struct claim *c = mem_zalloc(sizeof(*c));
	char subject[ID_TOKEN_MAX + 32];

	c->runner = r;
	c->strays = map_new();
	(void)snprintf(
	    subject, sizeof(subject), WIRE_SUBJECT_FMT_RUN_WAKE, r->token);
	if (bus_subscribe(r->bus, subject, NULL, claim_on_wake, c, &c->sub) !=
	    RC_OK) {
		claim_free(c);
		return NULL;
	}
	return c;
}

void
claim_begin(struct claim *c)
{
	c->begun = true;
	claim_on_poll(c);
}

void
claim_free(struct claim *c)
{
	struct stray *s;
	size_t pos = 0;

	if (c == NULL)
		return;
	loop_timer_cancel(c->runner->loop, &c->poll);
	bus_unsubscribe(c->sub);
	while ((s = map_next(c->strays, &pos, NULL)) != NULL)
		free(s);
	map_free(c->strays);
	free(c);
}
