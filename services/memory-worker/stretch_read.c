/*
 * What is to be summarised: the messages, and what the user stated in them.
 */
#include "core/log.h"
#include "core/mem.h"
#include "keeper.h"
#include "profile.h"
#include "state/memory.h"
#include "stretch.h"
#include "summary.h"
#include "wire/msgs.h"
#include "wire/tree.h"
#include "wire/wire.h"

/* Messages read at one time. */
#define PAGE_MAX 500
#define TALK_MAX (1024UL * 1024)
/* What of it is measured memories by. */
#define GATE_BYTES (256UL * 1024)
/* Wishes to forget that count, the last ones. */
#define FORGOTTEN_MAX 16
/* Tools whose results are memories, and what was forgotten. */
#define RECALL_TOOL "recall_memory"
#define FORGET_TOOL "forget_memory"

/* A stored message; one that is none has no text. */
static void
read_message(struct stretch *x, struct str json, struct summary_message *out)
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
	/* All that was said before is forgotten. */
	if (x->cleared.ms > 0 && wall_parse(m.created_at, &at) == RC_OK &&
	    at.ms < x->cleared.ms)
		return;
	*out = (struct summary_message){ roles[m.role], m.name, m.content };
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

/* What the model wanted forgotten when the user asked for it. */
static struct str
forgotten(const struct summary_message *m, struct arena *a)
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
is_tool(const struct summary_message *m, const char *name)
{
	return m->role == SUMMARY_SKILL && str_eq(m->name, str_of(name));
}

/* What memories are measured by; what was recalled is not told again. */
static enum rc
gather(struct stretch *x, struct summary_message *m, size_t n)
{
	struct buf stated = BUF_INIT(GATE_BYTES);
	struct buf recalled = BUF_INIT(GATE_BYTES);
	struct str *list = arena_alloc(x->a, FORGOTTEN_MAX * sizeof(*list));
	size_t i, k = 0;

	for (i = 0; i < n && list != NULL; i++) {
		if (m[i].role == SUMMARY_USER) {
			gate_statements(m[i].text, &stated);
		} else if (is_tool(&m[i], FORGET_TOOL)) {
			list[k++ % FORGOTTEN_MAX] = forgotten(&m[i], x->a);
		} else if (is_tool(&m[i], RECALL_TOOL)) {
			buf_put_str(&recalled, m[i].text);
			m[i].text = STR("");
		}
	}
	/* What is over the ceilings does not count. */
	x->gate = (struct gate){ arena_str(x->a, buf_str(&stated)),
		arena_str(x->a, buf_str(&recalled)), list,
		k < FORGOTTEN_MAX ? k : FORGOTTEN_MAX };
	buf_free(&stated);
	buf_free(&recalled);
	return list != NULL && x->gate.stated.p != NULL &&
		x->gate.recalled.p != NULL
	    ? RC_OK
	    : RC_TOOBIG;
}

static enum rc
tell(struct stretch *x, struct summary_message *m, const struct session_list *l)
{
	struct buf out = BUF_INIT(TALK_MAX);
	enum rc rc;
	size_t n;

	x->language = summary_language(m, l->n);
	n = summary_talk(m, l->n, x->part_max, x->language, &out);
	x->number = l->message[n - 1].number;
	rc = gather(x, m, n);
	/* Once more, without what gather() took out. */
	buf_reset(&out);
	(void)summary_talk(m, n, SIZE_MAX, x->language, &out);
	if (rc == RC_OK)
		rc = buf_rc(&out);
	if (rc == RC_OK) {
		x->said = arena_str(x->a, buf_str(&out));
		rc = x->said.p != NULL ? RC_OK : RC_TOOBIG;
	}
	buf_free(&out);
	return rc;
}

/* Without it the model may only name things otherwise. */
static void
read_profile(struct stretch *x)
{
	struct profile p;
	enum rc rc;

	x->profile = (struct str){ NULL, 0 };
	rc = profile_parts(x->bed->k->state, x->idle.key.user_id, x->a, &p);
	if (rc != RC_OK)
		log_warn("idle.no_profile", LOG_RC(rc));
	else if (!str_eq(p.user_profile, STR("{}")))
		x->profile = p.user_profile;
}

enum rc
stretch_read(struct stretch *x)
{
	const struct session_page page = { .after = x->s.summarised,
		.max = PAGE_MAX };
	const struct memory_scope scope = { x->idle.key.user_id, x->s.soul_id };
	struct session_list list;
	struct summary_message *m;
	enum rc rc;
	size_t i;

	rc = memory_cleared(x->bed->k->state, &scope, &x->cleared);
	if (rc == RC_OK)
		rc = session_messages(
		    x->bed->k->state, &x->idle.key, page, x->a, &list);
	if (rc != RC_OK)
		return rc;
	m = arena_alloc(x->a, (list.n + 1) * sizeof(*m));
	if (m == NULL)
		return RC_TOOBIG;
	for (i = 0; i < list.n; i++)
		read_message(x, list.message[i].json, &m[i]);
	if (!worth(m, list.n))
		return RC_NOENT;
	read_profile(x);
	return tell(x, m, &list);
}
