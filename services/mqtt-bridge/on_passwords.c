/*
 * One page of identities in one turn of the loop, so that Redis serves others
 * meanwhile; the file is written when all are there.
 */
#include "on_passwords.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/arena.h"
#include "core/clock.h"
#include "core/log.h"
#include "core/loop.h"
#include "core/mem.h"
#include "core/worker.h"
#include "passwd.h"
#include "passwd_file.h"
#include "state/terminal.h"
#include "state/state.h"

#define LOOK_MS     1000
#define AGAIN_MS    50
#define ONCE_MS     30000 /* with --once, until it is given up */
#define PAGE        500
#define PAGE_BYTES  (1024UL * 1024)
#define REDIS_MS    2000
#define CURSOR_MAX  256
#define BASE_MAX    (1024UL * 1024)
#define LOG_EVERY_S 60
#define INBOX       64

/* There is nothing to tidy up: the file is whole at any moment. */
static void
leave_done(int sig)
{
	(void)sig;
	_exit(0);
}

static void
leave_undone(int sig)
{
	(void)sig;
	_exit(1);
}

static void
on_signals(void (*leave)(int))
{
	const struct sigaction how = { .sa_handler = leave };

	(void)sigaction(SIGTERM, &how, NULL);
	(void)sigaction(SIGINT, &how, NULL);
}

struct keeper {
	const struct passwords_ask *ask;
	struct loop *loop;
	struct worker_pool *workers;
	struct state *state;
	struct loop_timer look, step;
	struct mono since;
	struct arena *page;
	struct buf was, base; /* what the file and --also have */
	struct passwd *list;  /* in the making; NULL: none is */
	char cursor[CURSOR_MAX];
	int64_t version; /* that the file is of; -1: not known */
	int64_t making;  /* that list is of */
	size_t refused;  /* identities without a line */
	bool owed;       /* the broker is to be told */
	struct mono told_next;
	bool over;
	int code;
};

static void
end(struct keeper *k, int code)
{
	k->over = true;
	k->code = code;
	loop_stop(k->loop);
}

/* Something does not work; it is tried again. */
static void
trouble(struct keeper *k, const char *what, const char *why)
{
	static struct log_rate rate;
	int64_t missed;

	if (log_every(&rate, LOG_EVERY_S, &missed))
		log_warn("passwords.trouble", LOG_S("what", what),
		    LOG_S("why", why), LOG_I("missed", missed));
	if (k->ask->once && mono_diff_ms(clock_mono(), k->since) > ONCE_MS)
		end(k, 1);
}

static void
wipe(struct buf *b)
{
	if (b->p != NULL)
		explicit_bzero(b->p, b->cap);
	buf_reset(b);
}

/* ---- the broker ---------------------------------------------------------- */

static void
tell_broker(struct keeper *k)
{
	struct mono now = clock_mono();
	const char *why;
	size_t lines = 0, i;

	if (!k->owed || mono_diff_ns(now, k->told_next) < 0)
		return;
	if (reload_broker(&k->ask->reload, &why) != RC_OK) {
		trouble(k, "the broker cannot be told", why);
		return;
	}
	k->owed = false;
	for (i = 0; i < k->was.n; i++)
		lines += k->was.p[i] == '\n';
	k->told_next =
	    mono_add_ms(now, lines > LOOK_MS ? (int64_t)lines : LOOK_MS);
}

/* With --once: whether all is done. */
static void
end_once(struct keeper *k)
{
	if (k->ask->once && k->version >= 0 && !k->owed && !k->over) {
		on_signals(leave_done);
		end(k, 0);
	}
}

/* ---- the file ------------------------------------------------------------ */

/*
 * Of a Redis that never knew of an identity nothing is believed that would
 * lock out all that the file has.
 */
static bool
would_forget_all(const struct keeper *k)
{
	return k->making == 0 && passwd_bodies(k->list) == 0 &&
	    passwd_lacks(k->list, buf_str(&k->was));
}

static void
write_file(struct keeper *k)
{
	const char *why = "the file would be too large";
	struct str text;

	if (would_forget_all(k)) {
		trouble(k, "Redis has no identities, but the file has",
		    "is it the right one?  Remove the file to begin anew");
		k->version = k->making;
		if (k->ask->once)
			end(k, 1);
		return;
	}
	if (passwd_text(k->list, &text) != RC_OK ||
	    (!str_eq(text, buf_str(&k->was)) &&
		passwd_file_write(k->ask->file, text, &why) != RC_OK)) {
		trouble(k, "the file cannot be written", why);
		return;
	}
	if (!str_eq(text, buf_str(&k->was)) || k->version < 0) {
		k->owed = true;
		log_info("passwords.written",
		    LOG_I("bodies", passwd_bodies(k->list)),
		    LOG_I("refused", k->refused));
	}
	wipe(&k->was);
	buf_put_str(&k->was, text);
	k->version = k->making;
}

static void
put_page(struct keeper *k, const struct credential *v, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		if (v[i].revoked || v[i].hash.p == NULL)
			continue;
		if (passwd_add(k->list, v[i].terminal_id, v[i].hash))
			continue;
		if (k->refused++ == 0)
			log_warn("passwords.refused",
			    LOG_V("terminal", v[i].terminal_id),
			    LOG_S("why",
				"it has a ':', or the name of a service"));
	}
}

static void
drop_list(struct keeper *k)
{
	passwd_free(k->list);
	k->list = NULL;
}

static void
step(void *arg)
{
	struct str cursor, none = { NULL, 0 }, next;
	struct keeper *k = arg;
	struct credential *v;
	enum rc rc;
	size_t n;

	arena_reset(k->page);
	cursor = k->cursor[0] != '\0' ? str_of(k->cursor) : none;
	rc = credential_list(
	    k->state, none, cursor, PAGE, k->page, &v, &n, &next);
	if (rc != RC_OK) {
		trouble(k, "the identities cannot be read", rc_name(rc));
		drop_list(k);
		return;
	}
	put_page(k, v, n);
	if (next.p != NULL) {
		str_copy(next, k->cursor, sizeof(k->cursor));
		loop_timer_set(k->loop, &k->step, clock_mono(), step, k);
		return;
	}
	write_file(k);
	drop_list(k);
	tell_broker(k);
	end_once(k);
}

/* ---- looking ------------------------------------------------------------- */

/* False if --also cannot be read; *news: it is other than it was. */
static bool
read_base(struct keeper *k, bool *news)
{
	struct buf b = BUF_INIT(BASE_MAX);
	const char *why;
	bool ok;

	*news = false;
	if (k->ask->also == NULL)
		return true;
	ok = passwd_file_read(k->ask->also, &b, &why) == RC_OK;
	if (ok && !str_eq(buf_str(&b), buf_str(&k->base))) {
		*news = true;
		wipe(&k->base);
		buf_put_str(&k->base, buf_str(&b));
	}
	if (!ok)
		trouble(k, k->ask->also, why);
	wipe(&b);
	buf_free(&b);
	return ok;
}

static void
look(void *arg)
{
	struct keeper *k = arg;
	int64_t version;
	bool news;
	enum rc rc;

	loop_timer_set(k->loop, &k->look,
	    mono_add_ms(clock_mono(), k->version < 0 ? AGAIN_MS : LOOK_MS),
	    look, k);
	tell_broker(k);
	end_once(k);
	if (k->list != NULL || !read_base(k, &news))
		return;
	rc = credential_version(k->state, &version);
	if (rc != RC_OK) {
		/* It takes a moment to connect. */
		if (mono_diff_ms(clock_mono(), k->since) > LOOK_MS)
			trouble(k, "Redis", rc_name(rc));
		return;
	}
	if (version == k->version && !news)
		return;
	k->list = passwd_new(buf_str(&k->base));
	k->making = version;
	k->cursor[0] = '\0';
	k->refused = 0;
	step(k);
}

/* ---- start and end ------------------------------------------------------- */

static bool
start(struct keeper *k)
{
	const struct state_opts o = { .loop = k->loop,
		.workers = k->workers,
		.url = k->ask->redis_url,
		.name = "mqtt-bridge passwords",
		.deadline_ms = REDIS_MS };
	const char *why;
	enum rc rc = passwd_file_read(k->ask->file, &k->was, &why);

	if (rc != RC_OK && rc != RC_NOENT) {
		fprintf(stderr, "mqtt-bridge passwords: %s: %s\n", k->ask->file,
		    why);
		return false;
	}
	return state_new(&o, &k->state) == RC_OK;
}

int
passwords_keep(const struct passwords_ask *ask)
{
	struct keeper k = { .ask = ask, .version = -1, .code = 1 };

	on_signals(ask->once ? leave_undone : leave_done);
	k.loop = loop_new(INBOX);
	k.workers = worker_new(k.loop, 1, 4);
	k.page = arena_new(PAGE_BYTES);
	k.since = clock_mono();
	buf_init(&k.was, PASSWD_MAX);
	buf_init(&k.base, BASE_MAX);
	if (start(&k)) {
		look(&k);
		loop_run(k.loop);
	}
	drop_list(&k);
	state_free(k.state);
	worker_free(k.workers);
	loop_free(k.loop);
	arena_free(k.page);
	wipe(&k.was);
	wipe(&k.base);
	buf_free(&k.was);
	buf_free(&k.base);
	return k.code;
}
