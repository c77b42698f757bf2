/*
 * From messages to a summary and the job it makes.
 */
#include <stdio.h>

#include "core/id.h"
#include "core/log.h"
#include "core/mem.h"
#include "core/metric.h"
#include "keeper.h"
#include "llm/llm.h"
#include "record.h"
#include "state/soul.h"
#include "stretch.h"
#include "summary.h"
#include "svc/event.h"
#include "wire/subjects.h"

/* Messages read at one time. */
#define PAGE_MAX 500
/* A conversation is not asked about in smaller parts. */
#define PART_MIN 500
/* Claims of a silence whose summary the model refuses. */
#define REFUSED_MAX 3
#define PROMPT_MAX  (1024UL * 1024)
#define JOB_MAX     (128UL * 1024)

/* ---- what is to be summarised ----------------------------------------------
 */

/* A stored message; false if it is none. */
static bool
read_message(struct str json, struct arena *a, struct summary_message *out)
{
	static const enum summary_role roles[] = {
		[WIRE_SESSION_MESSAGES_ITEMS_ROLE_USER] = SUMMARY_USER,
		[WIRE_SESSION_MESSAGES_ITEMS_ROLE_ASSISTANT] = SUMMARY_SOUL,
		[WIRE_SESSION_MESSAGES_ITEMS_ROLE_TOOL] = SUMMARY_SKILL,
		[WIRE_SESSION_MESSAGES_ITEMS_ROLE_OBSERVATION] =
		    SUMMARY_OBSERVATION,
	};
	struct wire_session_messages_items m;
	struct wire_err err;

	if (wire_decode(&wire_session_messages_items_desc, json, a, &m, &err) !=
	    RC_OK) {
		log_error("idle.message_unreadable", LOG_S("path", err.path),
		    LOG_S("why", err.why));
		*out = (struct summary_message){ .role = SUMMARY_OBSERVATION };
		return false;
	}
	*out = (struct summary_message){ roles[m.role], m.name, m.content };
	return true;
}

/* Whether there is something that the user said, or too much to tell. */
static bool
worth(const struct summary_message *m, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (m[i].role == SUMMARY_USER && m[i].text.n > 0)
			return true;
	return n == PAGE_MAX;
}

/*
 * The conversation as the model gets it; *n messages of it.  RC_NOENT if there
 * is none.
 */
static enum rc
talk(struct stretch *x, struct buf *out)
{
	const struct session_page page = { x->s.summarised, PAGE_MAX };
	struct session_list list;
	struct summary_message *m;
	size_t i, n;
	enum rc rc;

	rc =
	    session_messages(x->bed->k->state, &x->idle.key, page, x->a, &list);
	if (rc != RC_OK)
		return rc;
	m = arena_alloc(x->a, (list.n + 1) * sizeof(*m));
	if (m == NULL)
		return RC_TOOBIG;
	for (i = 0; i < list.n; i++)
		(void)read_message(list.message[i].json, x->a, &m[i]);
	if (!worth(m, list.n))
		return RC_NOENT;
	n = summary_talk(m, list.n, x->part_max, out);
	x->number = list.message[n - 1].number;
	return buf_rc(out);
}

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

static void
announce(struct stretch *x, struct str id)
{
	char active[WALL_FORMAT_MAX];
	struct wire_session_idle msg = {
		.user_id = x->idle.key.user_id,
		.session_id = x->idle.key.session_id,
		.terminal_id = x->s.terminal_id,
		.soul_id = x->s.soul_id,
	};
	const struct svc_event e = {
		.type = WIRE_EVENT_SESSION_IDLE,
		.key = msg.session_id,
		.desc = &wire_session_idle_desc,
		.payload = &msg,
		.trace = &x->trace,
		.id = id,
	};
	enum rc rc;

	wall_format(x->s.active, 0, active);
	msg.last_active_at = str_of(active);
	rc = svc_event_send(x->bed->k->svc, &e);
	if (rc != RC_OK)
		log_warn("idle.event_lost", LOG_RC(rc));
}

static enum rc
write_job(struct stretch *x, struct str id, struct str line, struct buf *out)
{
	char made[WALL_FORMAT_MAX];
	struct wire_memory_job job = {
		.job_id = id,
		.kind = STR(RECORD_JOB_KIND),
		.user_id = x->idle.key.user_id,
		.soul_id = x->s.soul_id,
		.session_id = x->idle.key.session_id,
		.terminal_id = x->s.terminal_id,
		.text = line,
		.type = WIRE_MEMORY_TYPE_EPISODE,
		.trigger_source =
		    x->early ? STR("compression") : STR("idle_timeout"),
	};
	struct wire_err err;
	enum rc rc;

	wall_format(clock_wall(), 0, made);
	job.created_at = str_of(made);
	rc = wire_encode(&wire_memory_job_desc, &job, out, &err);
	if (rc != RC_OK)
		log_error("idle.job_invalid", LOG_S("path", err.path),
		    LOG_S("why", err.why));
	return rc;
}

/* Store the summary with the job it makes; no job if nothing is in it. */
static enum rc
keep(struct stretch *x, struct str line)
{
	char id[ID_HEX32_MAX + 4] = "mem_";
	struct buf job = BUF_INIT(JOB_MAX);
	struct session_summary sum = {
		.text = summary_join(x->s.summary, line, x->a),
		.after = x->s.summarised,
		.number = x->number,
	};
	enum rc rc = sum.text.p != NULL ? RC_OK : RC_TOOBIG;

	id_hex32(id + 4);
	if (rc == RC_OK && line.n > 0)
		rc = write_job(x, str_of(id), line, &job);
	if (line.n > 0)
		sum.job = buf_str(&job);
	if (rc == RC_OK)
		rc = session_summarise(x->bed->k->state, &x->idle.key, &sum);
	buf_free(&job);
	if (rc == RC_OK) {
		metric_add(x->bed->made, 1);
		x->parts++;
		if (!x->early)
			announce(x, str_of(id));
	}
	return rc;
}

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
			    LOG_I("status", r->status), LOG_V("why", r->error),
			    LOG_I("missed", missed));
		stretch_later(x, r->retry_after_ms);
	}
}

static void
on_answer(void *arg, const struct llm_result *r)
{
	struct stretch *x = arg;
	struct str line;
	enum rc rc;

	x->call = NULL;
	log_trace_set(x->trace.trace_id);
	if (r->rc != RC_OK) {
		failed(x, r);
	} else if ((line = summary_line(r->text, x->a)).p == NULL) {
		refused(x, "empty");
	} else {
		rc = keep(x, line);
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
ask(struct stretch *x, struct str said)
{
	struct buf system = BUF_INIT(PROMPT_MAX);
	struct llm_message messages[2] = { { .role = LLM_SYSTEM },
		{ .role = LLM_USER, .text = said } };
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

	summary_system(x->s.summary, &system);
	messages[0].text = buf_str(&system);
	rc = buf_rc(&system);
	if (rc == RC_OK)
		rc = llm_chat(x->bed->k->llm, &chat, &x->call);
	buf_free(&system);
	return rc;
}

/* The claim was for one part; it goes on for the next unless an input came. */
static enum rc
claim_on(struct stretch *x)
{
	if (x->parts == 0)
		return RC_OK;
	return session_idle_later(x->bed->k->state, &x->idle, x->bed->claim_ms);
}

void
stretch_ask(struct stretch *x)
{
	struct buf said = BUF_INIT(PROMPT_MAX);
	enum rc rc;

	rc = x->s.known ? soul(x) : RC_NOENT;
	if (rc == RC_OK)
		rc = talk(x, &said);
	if (rc == RC_OK)
		rc = claim_on(x);
	if (rc == RC_OK)
		rc = ask(x, buf_str(&said));
	buf_free(&said);
	if (rc == RC_NOENT || rc == RC_CONFLICT)
		stretch_done(x);
	else if (rc != RC_OK)
		stretch_later(x, 0);
}
