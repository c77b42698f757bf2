/*
 * pipeline: commands that are sent together, and waiting for their replies.
 *
 * A connection has loaded all scripts, so a script is sent as its digest; if
 * the server has lost it since, it is loaded and called once more.
 */
#include <assert.h>
#include <stdlib.h>

#include "core/fiber.h"
#include "core/mem.h"
#include "state/state_internal.h"

/* A larger buffer is freed after its run. */
#define BUFFER_MAX  (1024UL * 1024)
#define LOG_EVERY_S 10
#define SPARE_MAX   64

struct pipe_entry {
	size_t start, end;                 /* its bytes in out */
	const struct state_script *script; /* NULL: a plain command */
	bool load; /* it is sent with its script's text */
	enum rc rc;
	struct state_reply *reply;
};

struct state_pipe {
	struct state *s;
	struct state_pipe *next; /* of the spare ones */
	struct buf out;
	struct pipe_entry *entries;
	struct state_reply **replies; /* scratch of a run: room for max */
	size_t *which;                /* likewise: entries that are resent */
	size_t n, max;
	bool ran; /* the next command empties it */
	struct arena *a;

	struct node_call call;
	struct fiber *fiber; /* it waits for call */
	bool running;
	struct mono until;
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

enum rc
state_pipe_eval(struct state_pipe *p, const struct state_call *c)
{
	struct pipe_entry *e = pipe_next(p);
	char num[STATE_NUM_MAX];

	if (e == NULL)
		return RC_RETRY;
	e->script = c->script;
	resp_put_count(&p->out, 3 + c->n_keys + c->n_args);
	resp_put_args(&p->out,
	    STATE_ARGS(STR("EVALSHA"), str_of(c->script->sha),
		state_num((int64_t)c->n_keys, num)));
	resp_put_args(&p->out, c->keys, c->n_keys);
	resp_put_args(&p->out, c->args, c->n_args);
	return pipe_add(p, e);
}

/* ---- running ---- */

static void
pipe_on_done(struct node_call *c)
{
	struct state_pipe *p = CONTAINER_OF(c, struct state_pipe, call);

	fiber_resume(p->fiber);
}

/* Send bytes, which are n commands, and wait for their replies. */
static enum rc
pipe_exchange(struct state_pipe *p, struct str bytes,
    struct state_reply **replies, size_t n)
{
	struct node_call *c = &p->call;
	enum rc rc;

	p->fiber = p->s->blocks ? NULL : fiber_self();
	*c = (struct node_call){ .bytes = bytes,
		.w = { replies, n, 0, p->a },
		.until = p->until,
		.done = p->fiber != NULL ? pipe_on_done : NULL };
	rc = state_node_submit(p->s->node, c);
	if (rc != RC_OK)
		return rc;
	if (p->fiber != NULL)
		fiber_suspend();
	else
		state_node_wait(p->s->node, c);
	return c->rc;
}

/* The result of command i of a call. */
static enum rc
pipe_result(const struct node_call *c, size_t i)
{
	if (i < c->w.got)
		return reply_rc(c->w.reply[i]);
	/* Unknown after a reply that was too big. */
	return c->rc == RC_TOOBIG && i > c->w.got ? RC_TIMEOUT : c->rc;
}

static enum rc
pipe_send(struct state_pipe *p)
{
	enum rc rc = pipe_exchange(p, buf_str(&p->out), p->replies, p->n);
	struct pipe_entry *e;
	size_t i;

	for (i = 0; i < p->n; i++) {
		e = &p->entries[i];
		e->reply = i < p->call.w.got ? p->replies[i] : NULL;
		e->rc = p->call.ended ? pipe_result(&p->call, i) : rc;
	}
	return rc;
}

/*
 * List in which the entries whose scripts the server has lost, and mark the
 * first of each script.
 */
static size_t
pipe_lost_scripts(struct pipe_entry *entries, size_t n, size_t *which)
{
	size_t i, k, lost = 0;

	for (i = 0; i < n; i++) {
		if (!reply_error_is(entries[i].reply, STR("NOSCRIPT")))
			continue;
		for (k = 0; k < lost; k++)
			if (entries[which[k]].script == entries[i].script)
				break;
		entries[i].load = k == lost;
		which[lost++] = i;
	}
	return lost;
}

/* Load the scripts that the server has lost, and call them. */
static enum rc
pipe_resend(struct state_pipe *p, const size_t *which, size_t n)
{
	struct state_reply **replies = mem_calloc(2 * n, sizeof(*replies));
	struct buf bytes = BUF_INIT(2 * STATE_SEND_MAX);
	struct pipe_entry *e;
	size_t i, k, at = 0;
	enum rc rc;

	for (i = 0; i < n; i++) {
		e = &p->entries[which[i]];
		if (e->load)
			resp_put(&bytes,
			    STATE_ARGS(STR("SCRIPT"), STR("LOAD"),
				str_of(e->script->text)));
		at += e->load ? 2 : 1;
		buf_put(&bytes, p->out.p + e->start, e->end - e->start);
	}
	rc = buf_rc(&bytes);
	if (rc == RC_OK)
		rc = pipe_exchange(p, buf_str(&bytes), replies, at);
	for (i = 0, at = 0; i < n; i++) {
		e = &p->entries[which[i]];
		k = at;
		at += e->load ? 2 : 1;
		/* The reply to loading it says why it is not there. */
		if (e->load &&
		    (k >= p->call.w.got || reply_rc(replies[k]) == RC_OK))
			k++;
		e->rc = p->call.ended ? pipe_result(&p->call, k) : rc;
		e->reply = k < p->call.w.got ? replies[k] : NULL;
	}
	buf_free(&bytes);
	free(replies);
	return rc;
}

static enum rc
pipe_execute(struct state_pipe *p)
{
	enum rc rc = pipe_send(p);
	size_t n;

	if (rc != RC_OK)
		return rc;
	n = pipe_lost_scripts(p->entries, p->n, p->which);
	return n > 0 ? pipe_resend(p, p->which, n) : RC_OK;
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
pipe_count(struct state_pipe *p)
{
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
	metric_add(p->s->m_calls, (int64_t)p->n);
	metric_add(p->s->m_failures, (int64_t)failed);
	metric_add(p->s->m_errors, (int64_t)rejected);
	if (bad != NULL)
		state_node_break(p->s->node, bad->reply->s.p);
}

enum rc
state_pipe_run(struct state_pipe *p)
{
	struct mono start = clock_mono();
	bool sent = state_node_up(p->s->node);
	enum rc rc;

	assert(!p->running);
	pipe_begin(p);
	p->ran = true;
	if (p->n == 0)
		return RC_OK;
	p->running = true;
	if (p->a == NULL)
		p->a = arena_new(STATE_REPLY_MAX);
	p->until = mono_add_ms(start, p->s->connection_opts.deadline_ms);
	rc = pipe_execute(p);
	pipe_count(p);
	if (sent)
		metric_observe(p->s->m_seconds,
		    (double)mono_diff_ns(clock_mono(), start) / 1e9);
	p->running = false;
	return rc;
}

enum rc
state_pipe_reply(
    const struct state_pipe *p, size_t i, const struct state_reply **out)
{
	if (out != NULL)
		*out = NULL;
	if (!p->ran || p->running || i >= p->n)
		return RC_NOENT;
	if (out != NULL)
		*out = p->entries[i].reply;
	return p->entries[i].rc;
}

/* ---- single commands ---- */

struct state_pipe *
state_pipe_take(struct state *s)
{
	struct state_pipe *p = s->spare;

	if (p == NULL)
		return state_pipe_new(s, 1);
	s->spare = p->next;
	s->n_spare--;
	return p;
}

void
state_pipe_put(struct state_pipe *p)
{
	struct state *s = p->s;

	if (s->n_spare == SPARE_MAX) {
		state_pipe_free(p);
		return;
	}
	p->ran = true; /* empty for the next */
	pipe_begin(p);
	p->next = s->spare;
	s->spare = p;
	s->n_spare++;
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
	state_pipe_put(p);
	return rc;
}
