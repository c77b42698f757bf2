/*
 * pipeline: commands that are sent together, and their results.
 *
 * A connection has loaded all scripts, so a script is sent as its digest; if
 * the server has lost it since, it is loaded and called a second time.
 */
#include <assert.h>
#include <stdlib.h>

#include "core/mem.h"
#include "state/pipeline.h"

/* A larger buffer is freed after its run. */
#define BUFFER_MAX  (1024UL * 1024)
#define LOG_EVERY_S 10
#define SPARE_MAX   64

struct state_pipe *
state_pipe_new(struct state *s, size_t max)
{
	struct state_pipe *p = mem_zalloc(sizeof(*p));

	p->s = s;
	p->max = max < 1 ? 1 : max > STATE_PIPE_MAX ? STATE_PIPE_MAX : max;
	p->entries = mem_calloc(p->max, sizeof(*p->entries));
	p->replies = mem_calloc(p->max, sizeof(struct state_reply *));
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
	pipe_attempts_free(p);
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
	*e = (struct pipe_entry){
		.start = p->out.n, .slot = SLOT_ANY, .rc = RC_BUG
	};
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
	if (p->s->cluster != NULL)
		e->slot = slot_of_command(args, n);
	resp_put(&p->out, args, n);
	return pipe_add(p, e);
}

static struct arena *
pipe_arena(struct state_pipe *p)
{
	if (p->a == NULL)
		p->a = arena_new(STATE_REPLY_MAX);
	return p->a;
}

/* The slot of a script's keys; if they have several, e gets the error. */
static void
pipe_put_slot(
    struct state_pipe *p, struct pipe_entry *e, const struct state_call *c)
{
	struct state_reply *r;
	size_t other = 0;

	e->slot = slot_of_keys(c->keys, c->n_keys, &other);
	if (e->slot != SLOT_MIXED)
		return;
	r = arena_alloc(pipe_arena(p), sizeof(*r));
	e->rc = RC_TOOBIG;
	if (r == NULL)
		return;
	r->kind = STATE_ERROR;
	r->s = arena_printf(p->a,
	    "CROSSSLOT Keys of a script are in different slots: %.*s, %.*s",
	    STR_ARG(c->keys[0]), STR_ARG(c->keys[other]));
	e->rc = RC_INVALID;
	e->reply = r->s.p != NULL ? r : NULL;
}

enum rc
state_pipe_eval(struct state_pipe *p, const struct state_call *c)
{
	struct pipe_entry *e = pipe_next(p);
	char num[STR_NUM_MAX];

	if (e == NULL)
		return RC_RETRY;
	e->script = c->script;
	if (p->s->cluster != NULL)
		pipe_put_slot(p, e, c);
	resp_put_count(&p->out, 3 + c->n_keys + c->n_args);
	resp_put_args(&p->out,
	    STATE_ARGS(STR("EVALSHA"), str_of(c->script->sha),
		str_num((int64_t)c->n_keys, num)));
	resp_put_args(&p->out, c->keys, c->n_keys);
	resp_put_args(&p->out, c->args, c->n_args);
	return pipe_add(p, e);
}

/* ---- running ---- */

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

/* Update metrics, log errors. */
static void
pipe_count(struct state_pipe *p)
{
	const struct pipe_entry *e;
	size_t i, failed = 0, rejected = 0;

	for (i = 0; i < p->n; i++) {
		e = &p->entries[i];
		if (e->reply == NULL) {
			failed++;
		} else if (e->rc != RC_OK) {
			rejected++;
			pipe_log_error(p, e);
		}
	}
	metric_add(p->s->m_calls, (int64_t)p->n);
	metric_add(p->s->m_failures, (int64_t)failed);
	metric_add(p->s->m_errors, (int64_t)rejected);
}

/* RC_OK, or why the first command without a reply has none. */
static enum rc
pipe_rc(const struct state_pipe *p)
{
	size_t i;

	for (i = 0; i < p->n; i++)
		if (p->entries[i].reply == NULL)
			return p->entries[i].rc;
	return RC_OK;
}

enum rc
state_pipe_run(struct state_pipe *p)
{
	struct mono start = clock_mono();
	bool sent = state_up(p->s);
	size_t i;

	assert(!p->running);
	pipe_begin(p);
	p->ran = true;
	if (p->n == 0)
		return RC_OK;
	p->running = true;
	(void)pipe_arena(p);
	p->until = mono_add_ms(start, p->s->connection_opts.deadline_ms);
	for (i = 0; i < p->n; i++)
		p->entries[i].pending = p->entries[i].slot != SLOT_MIXED;
	pipe_attempts(p);
	pipe_count(p);
	if (sent)
		metric_observe(p->s->m_seconds,
		    (double)mono_diff_ns(clock_mono(), start) / 1e9);
	p->running = false;
	return pipe_rc(p);
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
