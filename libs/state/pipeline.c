/*
 * pipeline: commands that are sent together.
 *
 * A script is queued as EVALSHA with a blank digest.  The digest is what SCRIPT
 * LOAD replied, once per connection, before the first call that needs it; so
 * none is computed here, and the server is known to have the script.
 */
#include <stdlib.h>

#include "core/mem.h"
#include "state/state_internal.h"

#define SHA_LEN sizeof(((struct script_slot *)NULL)->sha)
/* A larger buffer is freed after its run. */
#define BUFFER_MAX  (1024UL * 1024)
#define LOG_EVERY_S 10

struct pipe_entry {
	size_t start, end;        /* its bytes in out */
	size_t sha;               /* where its digest belongs */
	struct script_slot *slot; /* NULL: a plain command */
	enum rc rc;
	struct state_reply *reply;
};

struct state_pipe {
	struct state *s;
	struct buf out;
	struct pipe_entry *entries;
	struct state_reply **replies; /* scratch of a run: room for max */
	size_t *which;                /* likewise: the entries being sent */
	size_t n, max;
	bool ran; /* the next command empties it */
	struct arena *a;
};

struct state_pipe *
state_pipe_new(struct state *s, size_t max)
{
	struct state_pipe *p = mem_zalloc(sizeof(*p));

	p->s = s;
	p->max = max < 1 ? 1 : max > STATE_PIPE_MAX ? STATE_PIPE_MAX : max;
	p->entries = mem_calloc(p->max, sizeof(*p->entries));
	p->replies = mem_calloc(p->max, sizeof(struct state_reply *));
	p->which = mem_calloc(p->max, sizeof(*p->which));
	buf_init(&p->out, STATE_SEND_MAX);
	return p;
}

void
state_pipe_free(struct state_pipe *p)
{
	if (p == NULL)
		return;
	buf_free(&p->out);
	arena_free(p->a);
	free(p->which);
	free(p->replies);
	free(p->entries);
	free(p);
}

/* ---- queueing ---- */

static void
pipe_begin(struct state_pipe *p)
{
	if (!p->ran)
		return;
	p->ran = false;
	p->n = 0;
	if (p->out.cap > BUFFER_MAX)
		buf_free(&p->out);
	buf_reset(&p->out);
	if (p->a != NULL)
		arena_reset(p->a);
}

/* An entry for one more command; NULL if p is full. */
static struct pipe_entry *
pipe_next(struct state_pipe *p)
{
	struct pipe_entry *e;

	pipe_begin(p);
	if (p->n == p->max)
		return NULL;
	e = &p->entries[p->n];
	*e = (struct pipe_entry){ .start = p->out.n, .rc = RC_BUG };
	return e;
}

static enum rc
pipe_add(struct state_pipe *p, struct pipe_entry *e)
{
	if (buf_rc(&p->out) != RC_OK) {
		/* The entries before it stay. */
		p->out.over = false;
		p->out.n = e->start;
		return RC_TOOBIG;
	}
	e->end = p->out.n;
	p->n++;
	return RC_OK;
}

enum rc
state_pipe_cmd(struct state_pipe *p, const struct str *args, size_t n)
{
	struct pipe_entry *e = pipe_next(p);

	if (e == NULL)
		return RC_RETRY;
	if (n == 0)
		return RC_INVALID;
	resp_put(&p->out, args, n);
	return pipe_add(p, e);
}

static struct script_slot *
script_slot_of(struct state *s, const struct state_script *script)
{
	size_t i;

	for (i = 0; i < s->n_scripts; i++)
		if (s->scripts[i].script == script)
			return &s->scripts[i];
	if (s->n_scripts == STATE_SCRIPTS_MAX)
		return NULL;
	s->scripts[s->n_scripts].script = script;
	return &s->scripts[s->n_scripts++];
}

enum rc
state_pipe_eval(struct state_pipe *p, const struct state_call *c)
{
	static const char blank[SHA_LEN + 1] =
	    "0000000000000000000000000000000000000000";
	struct pipe_entry *e = pipe_next(p);
	char num[STATE_NUM_MAX];

	if (e == NULL)
		return RC_RETRY;
	e->slot = script_slot_of(p->s, c->script);
	if (e->slot == NULL)
		return RC_BUG;
	resp_put_count(&p->out, 3 + c->n_keys + c->n_args);
	resp_put_args(&p->out,
	    STATE_ARGS(STR("EVALSHA"), (struct str){ blank, SHA_LEN }));
	e->sha = p->out.n - SHA_LEN - 2;
	resp_put_args(&p->out, STATE_ARGS(state_num((int64_t)c->n_keys, num)));
	resp_put_args(&p->out, c->keys, c->n_keys);
	resp_put_args(&p->out, c->args, c->n_args);
	return pipe_add(p, e);
}

/* ---- running ---- */

/* One run: its deadline, and its error. */
struct pipe_run {
	struct state_pipe *p;
	struct state *s;
	struct mono until;
	char why[STATE_ERROR_MAX];
};

static enum rc
pipe_exchange(struct pipe_run *r, struct str out, struct connection_replies *w)
{
	enum rc rc = state_connection_exchange(
	    r->s->connection, out, w, r->until, r->why);

	if (rc == RC_OK)
		state_connection_proven(r->s);
	else
		state_connection_break(r->s, r->why);
	return rc;
}

static void
script_on_loaded(
    struct state *s, struct script_slot *slot, const struct state_reply *r)
{
	struct str sha = state_reply_str(r);
	int64_t missed;

	if (state_reply_kind(r) == STATE_STR && sha.n == SHA_LEN) {
		memcpy(slot->sha, sha.p, SHA_LEN);
		return;
	}
	slot->loaded = 0; /* the next call tries again */
	if (log_every(&s->log_script, LOG_EVERY_S, &missed))
		log_error(
		    "state.script", LOG_V("why", sha), LOG_I("missed", missed));
}

/* Load the scripts of p that were not loaded on this connection. */
static enum rc
script_load(struct pipe_run *r)
{
	struct state_reply *replies[STATE_SCRIPTS_MAX];
	struct script_slot *slots[STATE_SCRIPTS_MAX];
	struct connection_replies w = { replies, 0, 0, r->p->a };
	struct buf out = BUF_INIT(STATE_SEND_MAX);
	struct script_slot *slot;
	enum rc rc = RC_OK;
	size_t i;

	for (i = 0; i < r->p->n; i++) {
		slot = r->p->entries[i].slot;
		if (slot == NULL || slot->loaded == r->s->number)
			continue;
		slot->loaded = r->s->number;
		slots[w.n++] = slot;
		resp_put(&out,
		    STATE_ARGS(STR("SCRIPT"), STR("LOAD"),
			str_of(slot->script->text)));
	}
	if (w.n > 0) {
		rc = buf_rc(&out);
		if (rc == RC_OK)
			rc = pipe_exchange(r, buf_str(&out), &w);
	}
	for (i = 0; i < w.got; i++)
		script_on_loaded(r->s, slots[i], replies[i]);
	buf_free(&out);
	for (i = 0; i < r->p->n; i++)
		if ((slot = r->p->entries[i].slot) != NULL)
			memcpy(r->p->out.p + r->p->entries[i].sha, slot->sha,
			    SHA_LEN);
	return rc;
}

/*
 * Send bytes, which are those of the n entries in p->which, and give each its
 * result.
 */
static enum rc
pipe_send_entries(struct pipe_run *r, struct str bytes, size_t n)
{
	struct state_pipe *p = r->p;
	struct connection_replies w = { p->replies, n, 0, p->a };
	enum rc rc = pipe_exchange(r, bytes, &w);
	struct pipe_entry *e;
	size_t i;

	for (i = 0; i < n; i++) {
		e = &p->entries[p->which[i]];
		e->reply = i < w.got ? p->replies[i] : NULL;
		if (i < w.got)
			e->rc = reply_rc(e->reply);
		else /* unknown after a reply that was too big */
			e->rc = rc == RC_TOOBIG && i > w.got ? RC_TIMEOUT : rc;
	}
	return rc;
}

/* List the entries whose scripts the server has lost. */
static size_t
pipe_lost_scripts(struct pipe_run *r)
{
	struct pipe_entry *e = r->p->entries;
	size_t *which = r->p->which;
	size_t i, n = 0;

	for (i = 0; i < r->p->n; i++)
		if (e[i].slot != NULL && e[i].slot->loaded == r->s->number &&
		    reply_error_is(e[i].reply, STR("NOSCRIPT")))
			which[n++] = i;
	for (i = 0; i < n; i++)
		e[which[i]].slot->loaded = 0;
	return n;
}

static enum rc
pipe_resend(struct pipe_run *r, size_t n)
{
	struct state_pipe *p = r->p;
	struct buf bytes = BUF_INIT(STATE_SEND_MAX);
	struct pipe_entry *e;
	enum rc rc;
	size_t i;

	rc = script_load(r);
	if (rc == RC_OK) {
		for (i = 0; i < n; i++) {
			e = &p->entries[p->which[i]];
			buf_put(&bytes, p->out.p + e->start, e->end - e->start);
		}
		rc = pipe_send_entries(r, buf_str(&bytes), n);
	} else {
		for (i = 0; i < n; i++) {
			e = &p->entries[p->which[i]];
			e->reply = NULL;
			e->rc = RC_DOWN;
		}
	}
	buf_free(&bytes);
	return rc;
}

static enum rc
pipe_fail(struct state_pipe *p, enum rc rc)
{
	size_t i;

	for (i = 0; i < p->n; i++)
		p->entries[i].rc = rc;
	return rc;
}

static enum rc
pipe_execute(struct pipe_run *r)
{
	struct state_pipe *p = r->p;
	enum rc rc = state_connection_check(r->s);
	size_t i, n;

	if (rc != RC_OK)
		return pipe_fail(p, rc);
	if (script_load(r) != RC_OK)
		return pipe_fail(p, RC_DOWN);
	for (i = 0; i < p->n; i++)
		p->which[i] = i;
	rc = pipe_send_entries(r, buf_str(&p->out), p->n);
	if (rc == RC_OK && (n = pipe_lost_scripts(r)) > 0)
		rc = pipe_resend(r, n);
	return rc;
}

/* The name of the first command in bytes: "*n\r\n$n\r\n<name>\r\n". */
static struct str
command_name(struct str bytes)
{
	(void)str_split(&bytes, '\n');
	(void)str_split(&bytes, '\n');
	return str_split(&bytes, '\r');
}

/*
 * The text of an error may quote what users wrote, so only its first word is
 * logged above debug level.
 */
static void
pipe_log_error(struct state_pipe *p, const struct pipe_entry *e)
{
	struct str text = e->reply->s;
	int64_t missed;

	log_debug("state.rejected", LOG_V("text", text));
	if (e->rc == RC_DENIED) {
		/* Texts of this kind do not quote arguments. */
		if (log_every(&p->s->log_denied, LOG_EVERY_S, &missed))
			log_error("state.denied", LOG_V("why", text),
			    LOG_I("missed", missed));
		return;
	}
	if (log_every(&p->s->log_rejected, LOG_EVERY_S, &missed))
		log_warn("state.rejected", LOG_V("code", str_split(&text, ' ')),
		    LOG_V("command",
			command_name((struct str){
			    p->out.p + e->start, e->end - e->start })),
		    LOG_I("missed", missed));
}

/* Update metrics, log errors, and leave a server that cannot serve. */
static void
pipe_count(struct pipe_run *r)
{
	struct state_pipe *p = r->p;
	const struct pipe_entry *e, *bad = NULL;
	size_t i, failed = 0, rejected = 0;

	for (i = 0; i < p->n; i++) {
		e = &p->entries[i];
		if (e->reply == NULL) {
			failed++;
		} else if (e->rc != RC_OK) {
			rejected++;
			pipe_log_error(p, e);
			if (reply_unusable(e->reply))
				bad = e;
		}
	}
	metric_add(r->s->m_calls, (int64_t)p->n);
	metric_add(r->s->m_failures, (int64_t)failed);
	metric_add(r->s->m_errors, (int64_t)rejected);
	if (bad != NULL && r->s->connection != NULL) {
		str_copy(bad->reply->s, r->why, sizeof(r->why));
		state_connection_break(r->s, r->why);
	}
}

enum rc
state_pipe_run(struct state_pipe *p)
{
	struct mono start = clock_mono();
	struct pipe_run r = { .p = p, .s = p->s };
	bool sent = p->s->connection != NULL;
	enum rc rc;

	pipe_begin(p);
	p->ran = true;
	if (p->n == 0)
		return RC_OK;
	if (p->a == NULL)
		p->a = arena_new(STATE_REPLY_MAX);
	r.until = mono_add_ms(start, p->s->connection_opts.deadline_ms);
	rc = pipe_execute(&r);
	pipe_count(&r);
	if (sent)
		metric_observe(p->s->m_seconds,
		    (double)mono_diff_ns(clock_mono(), start) / 1e9);
	return rc;
}

enum rc
state_pipe_reply(
    const struct state_pipe *p, size_t i, const struct state_reply **out)
{
	if (out != NULL)
		*out = NULL;
	if (!p->ran || i >= p->n)
		return RC_NOENT;
	if (out != NULL)
		*out = p->entries[i].reply;
	return p->entries[i].rc;
}

enum rc
state_pipe_run_single(struct state_pipe *p, struct state_reply **out)
{
	struct pipe_entry *e = &p->entries[0];
	enum rc rc = state_pipe_run(p);

	if (rc == RC_OK)
		rc = e->rc;
	if (out != NULL && e->reply != NULL) {
		e->reply->owner = p->a;
		*out = e->reply;
		p->a = NULL;
	}
	return rc;
}
