/*
 * The messages to summarise, and what the user stated in them.
 */
#include "summary/summary_job.h"

#include "core/log.h"
#include "core/mem.h"
#include "memory_worker.h"
#include "profile/profile_store.h"
#include "state/memory.h"
#include "summary/summary_prompt.h"
#include "wire/msgs.h"
#include "wire/tree.h"
#include "wire/wire.h"

/* Messages read at once. */
#define PAGE_MAX       500
#define TRANSCRIPT_MAX (1024UL * 1024)
/* Tools whose results contain memories, and a forget request. */
#define RECALL_TOOL "recall_memory"
#define FORGET_TOOL "forget_memory"

/* A stored message; one that is malformed has no text. */
static void
transcript_read_message(
    struct summary_job *x, struct str json, struct summary_message *out)
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
	struct wall at;

	*out = (struct summary_message){ .role = SUMMARY_OBSERVATION };
	if (wire_decode(&wire_session_messages_items_desc, json, x->a, &m,
		&err) != RC_OK) {
		log_error("idle.message_unreadable", LOG_S("path", err.path),
		    LOG_S("why", err.why));
		return;
	}
	/* It is older than a request to forget everything. */
	if (x->cleared.ms > 0 && wall_parse(m.created_at, &at) == RC_OK &&
	    at.ms < x->cleared.ms)
		return;
	*out = (struct summary_message){ roles[m.role], m.name, m.content };
}

/* Whether the user wrote something, or may have done so after this page. */
static bool
transcript_has_input(const struct summary_message *m, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (m[i].role == SUMMARY_USER && m[i].text.n > 0)
			return true;
	return n == PAGE_MAX;
}

/* The query of a forget_memory call. */
static struct str
transcript_forgotten_query(const struct summary_message *m, struct arena *a)
{
	struct str query = { 0 };
	struct wire_tree *v;

	if (wire_tree_parse(m->text, &v) != RC_OK)
		return query;
	query = arena_str(a, wire_tree_text(wire_tree_get(v, STR("query"))));
	wire_tree_free(v);
	return query;
}

static bool
transcript_is_tool(const struct summary_message *m, const char *name)
{
	return m->role == SUMMARY_SKILL && str_eq(m->name, str_of(name));
}

/* Collect what memories are compared with; recalled memories are removed from
 * the transcript. */
static enum rc
transcript_build_policy(
    struct summary_job *x, struct summary_message *m, size_t n)
{
	struct memory_policy_builder p;
	size_t i;

	memory_policy_begin(&p);
	for (i = 0; i < n; i++) {
		if (m[i].role == SUMMARY_USER) {
			memory_policy_add_user(&p, m[i].text);
		} else if (transcript_is_tool(&m[i], FORGET_TOOL)) {
			memory_policy_add_forgotten(
			    &p, transcript_forgotten_query(&m[i], x->a));
		} else if (transcript_is_tool(&m[i], RECALL_TOOL)) {
			memory_policy_add_recalled(&p, m[i].text);
			m[i].text = STR("");
		}
	}
	return memory_policy_end(&p, x->a, &x->policy);
}

static enum rc
transcript_build(struct summary_job *x, struct summary_message *m,
    const struct session_list *l)
{
	struct buf out = BUF_INIT(TRANSCRIPT_MAX);
	enum rc rc;
	size_t n;

	x->language = summary_language(m, l->n);
	n = summary_transcript_write(m, l->n, x->part_max, x->language, &out);
	x->number = l->message[n - 1].number;
	rc = transcript_build_policy(x, m, n);
	/* Again, without the recalled memories. */
	buf_reset(&out);
	(void)summary_transcript_write(m, n, SIZE_MAX, x->language, &out);
	if (rc == RC_OK)
		rc = buf_rc(&out);
	if (rc == RC_OK) {
		x->transcript = arena_str(x->a, buf_str(&out));
		rc = x->transcript.p != NULL ? RC_OK : RC_TOOBIG;
	}
	buf_free(&out);
	return rc;
}

/* Without it the model may choose other keys. */
static void
transcript_read_profile(struct summary_job *x)
{
	struct profile p;
	enum rc rc;

	x->profile = (struct str){ NULL, 0 };
	rc = profile_read(x->scan->w->state, x->idle.key.user_id, x->a, &p);
	if (rc != RC_OK)
		log_warn("idle.profile_unavailable", LOG_RC(rc));
	else if (!str_eq(p.user_profile, STR("{}")))
		x->profile = p.user_profile;
}

enum rc
transcript_read(struct summary_job *x)
{
	const struct session_page page = { .after = x->s.summarised,
		.max = PAGE_MAX };
	const struct memory_scope scope = { x->idle.key.user_id, x->s.soul_id };
	struct session_list list;
	struct summary_message *m;
	enum rc rc;
	size_t i;

	rc = memory_cleared(x->scan->w->state, &scope, &x->cleared);
	if (rc == RC_OK)
		rc = session_messages(
		    x->scan->w->state, &x->idle.key, page, x->a, &list);
	if (rc != RC_OK)
		return rc;
	m = arena_alloc(x->a, (list.n + 1) * sizeof(*m));
	if (m == NULL)
		return RC_TOOBIG;
	for (i = 0; i < list.n; i++)
		transcript_read_message(x, list.message[i].json, &m[i]);
	if (!transcript_has_input(m, list.n))
		return RC_NOENT;
	transcript_read_profile(x);
	return transcript_build(x, m, &list);
}
