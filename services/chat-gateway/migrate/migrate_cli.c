/*
 * "chat-gateway migrate".
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "core/loop.h"
#include "core/mem.h"
#include "core/worker.h"
#include "gateway.h"
#include "handlers.h"
#include "migrate/migration.h"
#include "state/state.h"
#include "svc/svc.h"

enum migrate_exit {
	MIGRATE_DONE = 0,
	MIGRATE_FAILED = 1,
	MIGRATE_USAGE = 64,
	MIGRATE_NO_REDIS = 69,
	MIGRATE_IN_USE = 75,
	MIGRATE_FORMAT = 78
};

enum migrate_verb { MIGRATE_CHECK, MIGRATE_TO_2, MIGRATE_BACK };

#define CONNECT_MS  5000
#define POLL_MS     10
#define CALL_MS     30000
#define INBOX       16
#define FORMAT_MAX  64
#define CLIENTS_MAX 4096
/* Measured with appendfsync always; see docs/operations.md. */
#define KEYS_PER_S 20000

struct migrate {
	enum migrate_verb verb;
	struct loop *loop;
	struct worker_pool *workers;
	struct state *s;
	struct loop_timer poll;
	struct mono until;
	bool connected;
	char found[FORMAT_MAX];
	struct migration_counts before;
};

/* ---- output ---- */

static void
migrate_print(void *arg, struct str line)
{
	(void)arg;
	/* A closed stdout does not end a migration; the caller reports it. */
	(void)!svc_out(line);
}

static int
migrate_error(int code, const char *why)
{
	fprintf(stderr, "chat-gateway migrate: %s\n", why);
	return code;
}

static int
migrate_failed(enum rc rc)
{
	switch (rc) {
	case RC_DENIED:
		return migrate_error(MIGRATE_NO_REDIS,
		    "Redis denies the login or a command: REDIS_URL must be "
		    "of the user migrate (or admin)");
	case RC_DOWN:
	case RC_TIMEOUT:
		return migrate_error(MIGRATE_NO_REDIS,
		    "Redis cannot be reached; what was moved stays moved, "
		    "repeat the command");
	case RC_CONFLICT:
		return migrate_error(MIGRATE_FAILED,
		    "some records were not moved; compare the two, delete one "
		    "and repeat the command");
	case RC_RETRY:
		return migrate_error(
		    MIGRATE_IN_USE, "stop all services and repeat the command");
	default:
		return migrate_error(
		    MIGRATE_FAILED, "Redis rejects a command; see above");
	}
}

static void
migrate_print_counts(
    const struct migration_counts *before, const struct migration_counts *after)
{
	char line[160];
	const int64_t *b, *a;
	int r;

	(void)snprintf(line, sizeof(line), "%-28s %10s %10s", "records",
	    "format 1", "format 2");
	migrate_print(NULL, str_of(line));
	if (after != NULL)
		(void)snprintf(line, sizeof(line), "  | after: %10s %10s\n",
		    "format 1", "format 2");
	else
		(void)snprintf(line, sizeof(line), "\n");
	migrate_print(NULL, str_of(line));
	for (r = 0; r < RECORD_N; r++) {
		b = before->n[r];
		a = after != NULL ? after->n[r] : b;
		if (b[0] + b[1] + a[0] + a[1] == 0)
			continue;
		(void)snprintf(line, sizeof(line),
		    "%-28s %10" PRId64 " %10" PRId64,
		    key_record_name((enum key_record)r), b[0], b[1]);
		migrate_print(NULL, str_of(line));
		(void)snprintf(line, sizeof(line),
		    "  |        %10" PRId64 " %10" PRId64 "\n", a[0], a[1]);
		migrate_print(NULL, after != NULL ? str_of(line) : STR("\n"));
	}
}

/* ---- connecting ---- */

static void
migrate_poll(void *arg)
{
	struct migrate *m = arg;

	m->connected = state_up(m->s);
	if (m->connected || mono_diff_ms(clock_mono(), m->until) >= 0) {
		loop_stop(m->loop);
		return;
	}
	loop_timer_set(m->loop, &m->poll, mono_add_ms(clock_mono(), POLL_MS),
	    migrate_poll, m);
}

static int
migrate_connect(struct migrate *m, const struct gateway_conf *conf)
{
	const struct state_opts o = { .loop = m->loop,
		.workers = m->workers,
		.url = conf->redis_url,
		.conf = &conf->redis,
		.name = "migrate",
		.deadline_ms = CALL_MS };

	if (str_starts(str_of(conf->redis_url), STR("redis+cluster:")))
		return migrate_error(MIGRATE_FORMAT,
		    "REDIS_URL: a cluster has never had format 1; migrate one "
		    "server and import it into the cluster");
	if (state_new(&o, &m->s) != RC_OK)
		return MIGRATE_FORMAT;
	m->until = mono_add_ms(clock_mono(), CONNECT_MS);
	migrate_poll(m);
	loop_run(m->loop);
	loop_timer_cancel(m->loop, &m->poll);
	if (!m->connected)
		return migrate_error(MIGRATE_NO_REDIS,
		    "Redis cannot be reached, or denies the login; see "
		    "REDIS_URL");
	return 0;
}

/* ---- what to do ---- */

/* Records that --to 2 or --back would move, of those counted. */
static int64_t
migrate_left(const struct migration_counts *c, enum key_format from)
{
	int64_t n = 0;
	int r;

	for (r = 0; r < RECORD_N; r++)
		/* An identity has the same key in both. */
		if (r != RECORD_CREDENTIAL)
			n += c->n[r][from];
	return n;
}

/* 0: no service is connected, and none has left something alive. */
static int
migrate_check_use(struct migrate *m)
{
	struct buf who = BUF_INIT(CLIENTS_MAX);
	enum rc rc = migration_clients(m->s, &who);
	int code = 0;

	if (rc != RC_OK) {
		code = migrate_failed(rc);
	} else if (who.n > 0) {
		fprintf(stderr,
		    "chat-gateway migrate: connected to Redis: %.*s\n",
		    STR_ARG(buf_str(&who)));
		code = migrate_failed(RC_RETRY);
	} else if (migration_is_used(&m->before)) {
		code = migrate_error(MIGRATE_IN_USE,
		    "a lease or turns of a service have not expired: it runs, "
		    "or ran seconds ago; stop all services and repeat the "
		    "command in some seconds");
	}
	buf_free(&who);
	return code;
}

/* Whether the format that was found allows the verb. */
static int
migrate_check_format(const struct migrate *m)
{
	static const char *const known[] = { "1", "2", "1>2", "2>1" };
	size_t i;

	for (i = 0; i < NELEM(known); i++)
		if (strcmp(m->found, known[i]) == 0)
			return 0;
	fprintf(stderr,
	    "chat-gateway migrate: the keys have format %s; this program "
	    "knows 1 and 2\n",
	    m->found);
	return MIGRATE_FORMAT;
}

static bool
migrate_is_done(const struct migrate *m)
{
	if (m->verb == MIGRATE_BACK)
		return strcmp(m->found, "1") == 0 &&
		    migrate_left(&m->before, FORMAT_2) == 0;
	return strcmp(m->found, "2") == 0 &&
	    migrate_left(&m->before, FORMAT_1) == 0;
}

static int
migrate_plan(const struct migrate *m)
{
	int64_t n = migrate_left(&m->before, FORMAT_1);
	char line[160];

	migrate_print_counts(&m->before, NULL);
	(void)snprintf(line, sizeof(line),
	    "format %s; --to 2 would move or end %" PRId64
	    " records: about %" PRId64 " s\n",
	    m->found, n, n / KEYS_PER_S + 1);
	migrate_print(NULL, str_of(line));
	return MIGRATE_DONE;
}

static int
migrate_move(struct migrate *m)
{
	struct migration run = { .s = m->s,
		.from = m->verb == MIGRATE_BACK ? FORMAT_2 : FORMAT_1,
		.batch = MIGRATION_BATCH_MAX,
		.print = migrate_print };
	struct migration_counts *after;
	struct mono begun = clock_mono();
	char line[160];
	enum rc rc;

	rc = migration_run(&run);
	if (rc != RC_OK)
		return migrate_failed(rc);
	after = mem_zalloc(sizeof(*after));
	rc = migration_count(&run, after);
	if (rc == RC_OK) {
		migrate_print_counts(&m->before, after);
		(void)snprintf(line, sizeof(line),
		    "done in %.1f s: format %s\n",
		    (double)mono_diff_ms(clock_mono(), begun) / 1000,
		    m->verb == MIGRATE_BACK ? "1" : "2");
		migrate_print(NULL, str_of(line));
	}
	free(after);
	return rc == RC_OK ? MIGRATE_DONE : migrate_failed(rc);
}

static int
migrate_work(struct migrate *m)
{
	struct migration count = { .s = m->s, .print = migrate_print };
	enum rc rc = migration_format(m->s, m->found, sizeof(m->found));
	int code;

	if (rc != RC_OK)
		return migrate_failed(rc);
	code = migrate_check_format(m);
	if (code != 0)
		return code;
	rc = migration_count(&count, &m->before);
	if (rc != RC_OK)
		return migrate_failed(rc);
	if (m->verb == MIGRATE_CHECK)
		return migrate_plan(m);
	if (migrate_is_done(m)) {
		migrate_print(NULL, STR("nothing to do\n"));
		return MIGRATE_DONE;
	}
	code = migrate_check_use(m);
	return code != 0 ? code : migrate_move(m);
}

/* ---- the command line ---- */

static int
migrate_parse(const struct svc_run *r, enum migrate_verb *verb)
{
	*verb = MIGRATE_CHECK;
	if (r->argc == 1)
		return 0;
	if (r->argc == 2 && strcmp(r->argv[1], "--check") == 0)
		return 0;
	if (r->argc == 2 && strcmp(r->argv[1], "--back") == 0) {
		*verb = MIGRATE_BACK;
		return 0;
	}
	if (r->argc == 3 && strcmp(r->argv[1], "--to") == 0 &&
	    strcmp(r->argv[2], "2") == 0) {
		*verb = MIGRATE_TO_2;
		return 0;
	}
	return migrate_error(MIGRATE_USAGE,
	    "use --check, --to 2 or --back; see \"chat-gateway migrate "
	    "--help\"");
}

static int
migrate_fn(const struct svc_run *r)
{
	struct migrate *m = mem_zalloc(sizeof(*m));
	int code = migrate_parse(r, &m->verb);

	if (code == 0) {
		m->loop = loop_new(INBOX);
		m->workers = worker_new(m->loop, 1, INBOX);
		code = migrate_connect(m, r->conf);
		if (code == 0)
			code = migrate_work(m);
		state_free(m->s);
		worker_free(m->workers);
		loop_free(m->loop);
	}
	free(m);
	return code;
}

const struct svc_command migrate_command = {
	.name = "migrate",
	.usage = "[--check]\n"
		 "--to 2\n"
		 "--back",
	.summary = "change the format of what is stored in Redis",
	.help =
	    "Releases up to 0.1 store keys in format 1, 0.2 and later in "
	    "format 2.  Services do\n"
	    "not start on another format than theirs.  Make a back-up and "
	    "stop all services\n"
	    "before; docs/operations.md has the steps.\n\n"
	    "  --check  print what there is, and what --to 2 would do; "
	    "changes nothing\n"
	    "  --to 2   move all records to format 2\n"
	    "  --back   move all records to format 1, for releases up to "
	    "0.1\n\n"
	    "It may be killed at any time, and is continued by repeating it.  "
	    "Cursors, ids of\n"
	    "turns and jobs stay valid.  Turns that were lost end as lost; "
	    "souls begin to tick\n"
	    "when their bodies report.  Programs of 0.1 cannot run turns on "
	    "format 2.\n\n"
	    "Only REDIS_URL, SENTINEL_USERNAME, SENTINEL_PASSWORD, "
	    "REDIS_WAIT_REPLICAS and\n"
	    "REDIS_WAIT_MS of the configuration are used.  The user of "
	    "REDIS_URL is migrate\n"
	    "(deploy/redis-users.acl).\n\n"
	    "Exit codes: 0 done or nothing to do, 1 some records were not "
	    "moved, 64 arguments,\n"
	    "69 Redis cannot be reached, 75 services run, 78 wrong "
	    "configuration, or an unknown\n"
	    "format.\n",
	.fn = migrate_fn,
};
