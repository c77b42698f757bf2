/*
 * From messages to a question for the language model, and on with its answer.
 */
#include <stdlib.h>

#include "core/log.h"
#include "core/mem.h"
#include "core/metric.h"
#include "harvest.h"
#include "keeper.h"
#include "llm/llm.h"
#include "state/soul.h"
#include "store.h"
#include "stretch.h"
#include "summary.h"

/* A conversation is not asked about in smaller parts. */
#define PART_MIN 500
/* Claims of a silence whose summary the model refuses. */
#define REFUSED_MAX 3
#define PROMPT_MAX  (1024UL * 1024)
/* Memories that are shown to the model; the longest wait for them. */
#define KNOWN_MAX 10
#define KNOWN_MS  5000
/* What of the user's words they are searched by, in code points. */
#define KNOWN_QUERY_MAX 1000
/* Claims of a silence that wait for them; the next goes without. */
#define KNOWN_CLAIMS 3

/* Whether the session's soul is there, and the user's. */
static enum rc
soul(struct stretch *x)
{
	struct soul who;
	enum rc rc;

	if (x->s.soul_id.p == NULL)
		return RC_NOENT;
	rc = soul_read(x->bed->k->state, x->s.soul_id, x->a, &who);
	if (rc == RC_OK && !str_eq(who.user_id, x->idle.key.user_id))
		rc = RC_NOENT;
	return rc;
}

/* ---- what came of it -------------------------------------------------------
 */

/* The model will say the same again. */
static void
refused(struct stretch *x, const char *why)
{
	log_warn("idle.summary_refused",
	    LOG_V("session", x->idle.key.session_id),
	    LOG_I("claims", x->idle.claims), LOG_S("why", why));
	if (x->idle.claims < REFUSED_MAX) {
		stretch_later(x, 0);
		return;
	}
	/* What was said is part of the next silence's summary. */
	metric_add(x->bed->given_up, 1);
	stretch_done(x);
}

static void
failed(struct stretch *x, const struct llm_result *r)
{
	static struct log_rate rate;
	int64_t missed;

	if (r->rc == RC_TOOBIG && x->part_max > PART_MIN) {
		x->part_max /= 2;
		stretch_step(x);
	} else if (r->rc == RC_INVALID || r->rc == RC_TOOBIG) {
		refused(x, rc_name(r->rc));
	} else {
		if (log_every(&rate, 10, &missed))
			log_warn("idle.summary_failed", LOG_RC(r->rc),
			    LOG_I("status", r->status),
			    LOG_I("missed", missed));
		stretch_later(x, r->retry_after_ms);
	}
}

static void
on_answer(void *arg, const struct llm_result *r)
{
	struct stretch *x = arg;
	struct harvest h;
	enum rc rc;

	x->call = NULL;
	log_trace_set(x->trace.trace_id);
	rc = r->rc;
	if (rc != RC_OK) {
		failed(x, r);
	} else if ((rc = harvest_read(
			r->text, &x->gate, x->n_known, x->a, &h)) == RC_NOENT ||
	    rc == RC_INVALID) {
		refused(x, rc == RC_NOENT ? "empty" : "broken JSON");
	} else {
		if (rc == RC_OK)
			rc = stretch_keep(x, &h);
		/* Another was faster: go on from what it did. */
		if (rc == RC_OK || rc == RC_CONFLICT)
			stretch_step(x);
		else if (rc == RC_NOENT)
			stretch_done(x);
		else
			stretch_later(x, 0);
	}
	log_trace_set("");
}

/* ---- asking ----------------------------------------------------------------
 */

static enum rc
ask(struct stretch *x)
{
	struct buf system = BUF_INIT(PROMPT_MAX);
	const struct summary_view view = { x->language, x->s.summary, x->known,
		x->n_known, x->profile, x->s.active };
	struct llm_message messages[2] = { { .role = LLM_SYSTEM },
		{ .role = LLM_USER, .text = x->said } };
	const struct llm_chat chat = {
		.messages = messages,
		.nmessages = NELEM(messages),
		.temperature = -1,
		.trace = &x->trace,
		.deadline = { clock_wall().ms + x->bed->timeout_ms },
		.on_done = on_answer,
		.arg = x,
	};
	enum rc rc;

	summary_system(&view, &system);
	messages[0].text = buf_str(&system);
	rc = buf_rc(&system);
	if (rc == RC_OK)
		rc = llm_chat(x->bed->k->llm, &chat, &x->call);
	buf_free(&system);
	return rc;
}

/* ---- what is known already -------------------------------------------------
 */

/* Waits for a search, which cannot be called off. */
struct looking {
	struct stretch *x; /* NULL: it has been left */
	struct rank_query query;
};

static enum rc
copy_known(struct stretch *x, const struct store_answer *a)
{
	size_t i;

	x->known = arena_alloc(x->a, (a->n + 1) * sizeof(*x->known));
	for (i = 0; x->known != NULL && i < a->n; i++) {
		struct rank_memory *m = &x->known[i];

		*m = *a->hit[i].memory;
		m->id = arena_str(x->a, m->id);
		m->text = arena_str(x->a, m->text);
		if (m->id.p == NULL || m->text.p == NULL)
			return RC_TOOBIG;
	}
	x->n_known = a->n;
	return x->known != NULL ? RC_OK : RC_TOOBIG;
}

static void
on_known(void *arg, enum rc rc, const struct store_answer *a)
{
	struct looking *l = arg;
	struct stretch *x = l->x;

	free(l);
	if (x == NULL)
		return;
	x->looking = NULL;
	log_trace_set(x->trace.trace_id);
	if (rc == RC_OK)
		rc = copy_known(x, a);
	/* What is said twice is found out later, too. */
	else if (x->idle.claims > KNOWN_CLAIMS)
		rc = RC_OK;
	if (rc == RC_OK)
		rc = ask(x);
	if (rc != RC_OK)
		stretch_later(x, 0);
	log_trace_set("");
}

static void
look(struct stretch *x)
{
	struct looking *l = mem_zalloc(sizeof(*l));
	const struct store_ask ask = {
		.scope = { x->idle.key.user_id, x->s.soul_id },
		.deadline = { clock_wall().ms + KNOWN_MS },
		.trace = &x->trace,
		.fn = on_known,
		.arg = l,
	};

	l->x = x;
	l->query = (struct rank_query){
		.text = summary_tail(x->gate.stated, KNOWN_QUERY_MAX),
		.now = clock_wall(),
		.k = KNOWN_MAX,
	};
	x->looking = l;
	store_search(x->bed->k->store, &ask, &l->query);
}

/* The claim was for one part; it goes on for the next unless an input came. */
static enum rc
claim_on(struct stretch *x)
{
	if (x->parts == 0)
		return RC_OK;
	return session_idle_defer(x->bed->k->state, &x->idle, x->bed->claim_ms);
}

void
stretch_leave_search(struct looking *l)
{
	if (l != NULL)
		l->x = NULL;
}

void
stretch_ask(struct stretch *x)
{
	enum rc rc;

	x->n_known = 0;
	rc = x->s.known ? soul(x) : RC_NOENT;
	if (rc == RC_OK)
		rc = stretch_read(x);
	if (rc == RC_OK)
		rc = claim_on(x);
	if (rc == RC_OK && x->gate.stated.n > 0) {
		look(x);
		return;
	}
	if (rc == RC_OK)
		rc = ask(x);
	if (rc == RC_NOENT || rc == RC_CONFLICT)
		stretch_done(x);
	else if (rc != RC_OK)
		stretch_later(x, 0);
}
