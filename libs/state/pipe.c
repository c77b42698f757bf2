/*
 * pipe: commands that go out together.
 *
 * A script stands in the bytes to send as EVALSHA with room for its digest.
 * The digest is what SCRIPT LOAD answered, once per connection, before the
 * first call that needs it; so no digest is computed here, and the server is
 * known to have the script.
 */
#include "state/pipe.h"

#include <stdlib.h>

#include "core/mem.h"
#include "state/own.h"

#define SHA_LEN sizeof(((struct script_slot *)NULL)->sha)
/* A buffer that one big call made grow is not kept. */
#define KEEP_BYTES   (1024UL * 1024)
#define REFUSE_LOG_S 10

struct entry {
	size_t start, end;        /* its bytes in out */
	size_t sha;               /* where its digest belongs */
	struct script_slot *slot; /* NULL: a plain command */
	enum rc rc;
	struct state_reply *reply;
};

struct state_pipe {
	struct state *s;
	struct buf out;
	struct entry *entries;
	struct state_reply **replies; /* scratch of a run: room for max */
	size_t *which;                /* likewise: the entries being sent */
	size_t n, max;
	bool ran; /* the next command begins anew */
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

/* ---- queueing ------------------------------------------------------------ */

static void
begin(struct state_pipe *p)
{
	if (!p->ran)
		return;
	p->ran = false;
	p->n = 0;
	if (p->out.cap > KEEP_BYTES)
		buf_free(&p->out);
	buf_reset(&p->out);
	if (p->a != NULL)
		arena_reset(p->a);
}

/* The place for one more command; NULL if p is full. */
static struct entry *
next_entry(struct state_pipe *p)
{
	struct entry *e;

	begin(p);
	if (p->n == p->max)
		return NULL;
	e = &p->entries[p->n];
	*e = (struct entry){ .start = p->out.n, .rc = RC_BUG };
	return e;
}

static enum rc
keep_entry(struct state_pipe *p, struct entry *e)
{
	if (buf_rc(&p->out) != RC_OK) {
		/* What came before it fitted and stays. */
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
	struct entry *e = next_entry(p);

	if (e == NULL)
		return RC_RETRY;
	if (n == 0)
		return RC_INVALID;
	conn_put(&p->out, args, n);
	return keep_entry(p, e);
}

static struct script_slot *
slot_of(struct state *s, const struct state_script *script)
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
	struct entry *e = next_entry(p);
	char num[STATE_NUM_MAX];

	if (e == NULL)
		return RC_RETRY;
	e->slot = slot_of(p->s, c->script);
	if (e->slot == NULL)
		return RC_BUG;
	conn_put_head(&p->out, 3 + c->n_keys + c->n_args);
	conn_put_args(&p->out,
	    STATE_ARGS(STR("EVALSHA"), (struct str){ blank, SHA_LEN }));
	e->sha = p->out.n - SHA_LEN - 2;
	conn_put_args(&p->out, STATE_ARGS(state_num((int64_t)c->n_keys, num)));
	conn_put_args(&p->out, c->keys, c->n_keys);
	conn_put_args(&p->out, c->args, c->n_args);
	return keep_entry(p, e);
}

size_t
state_pipe_len(const struct state_pipe *p)
{
	return p->n;
}

/* ---- running ------------------------------------------------------------- */

/* One run: its deadline, and what went wrong. */
struct run {
	struct state_pipe *p;
	struct state *s;
	struct mono until;
	char why[CONN_WHY_MAX];
};

static enum rc
exchange(struct run *r, struct str out, struct conn_want *w)
{
	enum rc rc = conn_exchange(r->s->conn, out, w, r->until, r->why);

	if (rc == RC_OK)
		state_link_proven(r->s);
	else
		state_link_break(r->s, r->why);
	return rc;
}

static void
loaded(struct state *s, struct script_slot *slot, const struct state_reply *r)
{
	struct str sha = state_reply_str(r);
	int64_t missed;

	if (state_reply_kind(r) == STATE_STR && sha.n == SHA_LEN) {
		memcpy(slot->sha, sha.p, SHA_LEN);
		return;
	}
	slot->loaded = 0; /* the next call tries again */
	if (log_every(&s->log_script, REFUSE_LOG_S, &missed))
		log_error(
		    "state.script", LOG_V("why", sha), LOG_I("missed", missed));
}

/* Give the server the scripts of p that this connection does not know of. */
static enum rc
load(struct run *r)
{
	struct state_reply *replies[STATE_SCRIPTS_MAX];
	struct script_slot *slots[STATE_SCRIPTS_MAX];
	struct conn_want w = { replies, 0, 0, r->p->a };
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
		conn_put(&out,
		    STATE_ARGS(STR("SCRIPT"), STR("LOAD"),
			str_of(slot->script->text)));
	}
	if (w.n > 0) {
		rc = buf_rc(&out);
		if (rc == RC_OK)
			rc = exchange(r, buf_str(&out), &w);
	}
	for (i = 0; i < w.got; i++)
		loaded(r->s, slots[i], replies[i]);
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
settle(struct run *r, struct str bytes, size_t n)
{
	struct state_pipe *p = r->p;
	struct conn_want w = { p->replies, n, 0, p->a };
	enum rc rc = exchange(r, bytes, &w);
	struct entry *e;
	size_t i;

	for (i = 0; i < n; i++) {
		e = &p->entries[p->which[i]];
		e->reply = i < w.got ? p->replies[i] : NULL;
		if (i < w.got)
			e->rc = reply_rc(e->reply);
		else /* of replies behind one too big nothing is known */
			e->rc = rc == RC_TOOBIG && i > w.got ? RC_TIMEOUT : rc;
	}
	return rc;
}

/* List the scripts that the server had, and has forgotten. */
static size_t
forgotten(struct run *r)
{
	struct entry *e = r->p->entries;
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
repeat(struct run *r, size_t n)
{
	struct state_pipe *p = r->p;
	struct buf bytes = BUF_INIT(STATE_SEND_MAX);
	struct entry *e;
	enum rc rc;
	size_t i;

	rc = load(r);
	if (rc == RC_OK) {
		for (i = 0; i < n; i++) {
			e = &p->entries[p->which[i]];
			buf_put(&bytes, p->out.p + e->start, e->end - e->start);
		}
		rc = settle(r, buf_str(&bytes), n);
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
fail_all(struct state_pipe *p, enum rc rc)
{
	size_t i;

	for (i = 0; i < p->n; i++)
		p->entries[i].rc = rc;
	return rc;
}

/* The commands go out, and the answers come back. */
static enum rc
execute(struct run *r)
{
	struct state_pipe *p = r->p;
	enum rc rc = state_link_usable(r->s);
	size_t i, n;

	if (rc != RC_OK)
		return fail_all(p, rc);
	if (load(r) != RC_OK)
		return fail_all(p, RC_DOWN);
	for (i = 0; i < p->n; i++)
		p->which[i] = i;
	rc = settle(r, buf_str(&p->out), p->n);
	if (rc == RC_OK && (n = forgotten(r)) > 0)
		rc = repeat(r, n);
	return rc;
}

/* The name of the command at the start of bytes: "*n\r\n$n\r\n<name>\r\n". */
static struct str
name_of(struct str bytes)
{
	(void)str_split(&bytes, '\n');
	(void)str_split(&bytes, '\n');
	return str_split(&bytes, '\r');
}

/*
 * The text of an error may quote what users wrote, so that only its first word
 * is for the log.
 */
static void
log_refusal(struct state_pipe *p, const struct entry *e)
{
	struct str text = e->reply->s;
	int64_t missed;

	log_debug("state.refused", LOG_V("text", text));
	if (e->rc == RC_DENIED) {
		/* These texts are Redis' own. */
		if (log_every(&p->s->log_denied, REFUSE_LOG_S, &missed))
			log_error("state.denied", LOG_V("why", text),
			    LOG_I("missed", missed));
		return;
	}
	if (log_every(&p->s->log_refused, REFUSE_LOG_S, &missed))
		log_warn("state.refused", LOG_V("code", str_split(&text, ' ')),
		    LOG_V("command",
			name_of((struct str){
			    p->out.p + e->start, e->end - e->start })),
		    LOG_I("missed", missed));
}

/* Count and log; leave a server that cannot serve. */
static void
look_back(struct run *r)
{
	struct state_pipe *p = r->p;
	const struct entry *e, *bad = NULL;
	size_t i, failed = 0, refused = 0;

	for (i = 0; i < p->n; i++) {
		e = &p->entries[i];
		if (e->reply == NULL) {
			failed++;
		} else if (e->rc != RC_OK) {
			refused++;
			log_refusal(p, e);
			if (reply_unusable(e->reply))
				bad = e;
		}
	}
	metric_add(r->s->m_calls, (int64_t)p->n);
	metric_add(r->s->m_failures, (int64_t)failed);
	metric_add(r->s->m_refusals, (int64_t)refused);
	if (bad != NULL && r->s->conn != NULL) {
		str_copy(bad->reply->s, r->why, sizeof(r->why));
		state_link_break(r->s, r->why);
	}
}

enum rc
state_pipe_run(struct state_pipe *p)
{
	struct mono start = clock_mono();
	struct run r = { .p = p, .s = p->s };
	bool sent = p->s->conn != NULL;
	enum rc rc;

	begin(p);
	p->ran = true;
	if (p->n == 0)
		return RC_OK;
	if (p->a == NULL)
		p->a = arena_new(STATE_REPLY_MAX);
	r.until = mono_add_ms(start, p->s->conn_opts.deadline_ms);
	rc = execute(&r);
	look_back(&r);
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
pipe_run_single(struct state_pipe *p, struct state_reply **out)
{
	struct entry *e = &p->entries[0];
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
