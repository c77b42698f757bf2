/*
 * What there is to think about.  Services that are absent are left out; Redis
 * is needed.
 */
#include "core/fiber.h"
#include "core/log.h"
#include "core/mem.h"
#include "cycle_run.h"
#include "state/memory.h"
#include "state/session.h"
#include "state/soul.h"
#include "state/state.h"
#include "svc/peer_call.h"
#include "svc/svc.h"
#include "svc/system_notice.h"
#include "wire/msgs.h"
#include "wire/subjects.h"
#include "wire/tree.h"
#include "wire/wire.h"

#define MESSAGES_MAX  50
#define MESSAGE_BYTES (512UL * 1024)
/* Longest waits for what may be left out. */
#define EMOTION_MS    1000
#define RECALL_MS     3000
#define ALARMS_MS     1000
#define EVOLUTIONS_MS 1000
#define RECALL_MAX    5
/* Code points of the newest statements that memories are searched by. */
#define QUERY_MAX     500
#define ALARM_MAX     10
#define EVOLUTION_MAX 32
#define RECALL_TOOL   "recall_memory"
#define FORGET_TOOL   "forget_memory"

static struct peer_call
load_call(struct cycle_run *x, const char *subject)
{
	return (struct peer_call){ .bus = x->n->bus,
		.subject = subject,
		.trace = &x->trace,
		.a = x->a };
}

/* ---- the soul ---- */

static void
load_emotion(void *arg)
{
	struct cycle_run *x = arg;
	const struct wire_emotion_state_request req = { x->c.key.user_id,
		x->c.key.soul_id };
	struct peer_call c = load_call(x, WIRE_SUBJECT_EMOTION_STATE);
	const struct wire_emotion_state *s;
	void *reply;

	c.request = &wire_emotion_state_request_desc;
	c.reply = &wire_emotion_state_reply_desc;
	c.ms = EMOTION_MS;
	if (peer_call(&c, &req, &reply) != RC_OK)
		return;
	x->emotion = reply;
	s = &x->emotion->soul_emotion;
	x->view.emotion = arena_printf(
	    x->a, "P %.2f，A %.2f，D %.2f（-1 到 1）", s->p, s->a, s->d);
	if (!s->has_drives)
		return;
	x->drives = (struct drive_levels){ s->drives.fear, s->drives.survival,
		s->drives.curiosity, s->drives.laziness, s->drives.intimacy };
	x->view.drives = &x->drives;
}

static enum rc
load_soul(struct cycle_run *x)
{
	char now[WALL_FORMAT_MAX];
	struct soul soul;
	enum rc rc = soul_read(
	    x->n->state, x->c.key.user_id, x->c.key.soul_id, x->a, &soul);

	if (rc != RC_OK)
		return rc;
	wall_format(clock_wall(), 0, now);
	x->view.trigger = x->c.trigger;
	x->view.name = soul.name;
	x->view.mbti = soul.mbti_type;
	x->view.now = arena_str(x->a, str_of(now));
	return RC_OK;
}

/* Whether an idle soul thinks. */
static bool
load_choose(struct cycle_run *x)
{
	const struct svc_notice notice = {
		.level = WIRE_SYSTEM_NOTIFICATION_LEVEL_DEBUG,
		.code = "NAVIGATOR_HEARTBEAT",
		.message = STR("a soul is idle"),
		.user_id = x->c.key.user_id,
		.id = x->c.id,
	};

	x->view.choice = x->view.drives != NULL ? idle_choose(x->view.drives)
						: IDLE_HEARTBEAT;
	if (x->view.choice == IDLE_HEARTBEAT)
		svc_notify(x->n->svc, &notice, &x->trace);
	return idle_calls_model(x->view.choice);
}

/* ---- the conversation ---- */

/* A stored message; false: it is malformed, or older than cleared. */
static bool
load_message(struct cycle_run *x, struct str json, struct wall cleared,
    struct cycle_message *out)
{
	static const enum cycle_role roles[] = {
		[WIRE_SESSION_MESSAGES_ITEMS_ROLE_USER] = CYCLE_ROLE_USER,
		[WIRE_SESSION_MESSAGES_ITEMS_ROLE_ASSISTANT] = CYCLE_ROLE_SOUL,
		[WIRE_SESSION_MESSAGES_ITEMS_ROLE_TOOL] = CYCLE_ROLE_TOOL,
		[WIRE_SESSION_MESSAGES_ITEMS_ROLE_OBSERVATION] =
		    CYCLE_ROLE_OBSERVATION,
	};
	struct wire_session_messages_items m;
	struct wall at;

	if (wire_decode(&wire_session_messages_items_desc, json, x->a, &m,
		NULL) != RC_OK)
		return false;
	if (cleared.ms > 0 && wall_parse(m.created_at, &at) == RC_OK &&
	    at.ms < cleared.ms)
		return false;
	*out = (struct cycle_message){ roles[m.role], m.name, m.content };
	return true;
}

static struct str
load_forgotten(struct cycle_run *x, struct str result)
{
	struct str query = { 0 };
	struct wire_tree *v;

	if (wire_tree_parse(result, &v) != RC_OK)
		return query;
	query = arena_str(x->a, wire_tree_text(wire_tree_get(v, STR("query"))));
	wire_tree_free(v);
	return query;
}

/* What memories are compared with; what was recalled is not shown. */
static enum rc
load_policy(struct cycle_run *x, struct cycle_message *m, size_t n)
{
	struct memory_policy_builder p;
	size_t i;

	memory_policy_begin(&p);
	for (i = 0; i < n; i++) {
		if (m[i].role == CYCLE_ROLE_USER)
			memory_policy_add_user(&p, m[i].text);
		if (m[i].role != CYCLE_ROLE_TOOL)
			continue;
		if (str_eq(m[i].name, STR(FORGET_TOOL)))
			memory_policy_add_forgotten(
			    &p, load_forgotten(x, m[i].text));
		if (str_eq(m[i].name, STR(RECALL_TOOL))) {
			memory_policy_add_recalled(&p, m[i].text);
			m[i].text = STR("");
		}
	}
	return memory_policy_end(&p, x->a, &x->policy);
}

static enum rc
load_conversation(struct cycle_run *x)
{
	const struct session_key k = { x->c.key.user_id, x->c.session_id };
	const struct memory_scope scope = { x->c.key.user_id,
		x->c.key.soul_id };
	struct session_page page = { -1, MESSAGES_MAX, MESSAGE_BYTES };
	struct session_list list = { 0 };
	struct cycle_message *m;
	struct session s = { 0 };
	struct wall cleared = { 0 };
	enum rc rc = memory_cleared(x->n->state, &scope, &cleared);
	size_t i, n = 0;

	if (rc == RC_OK && k.session_id.n > 0)
		rc = session_read(x->n->state, &k, x->a, &s);
	if (rc == RC_OK && s.known)
		rc = session_messages(x->n->state, &k, page, x->a, &list);
	if (rc != RC_OK)
		return rc;
	m = arena_alloc(x->a, (list.n + 1) * sizeof(*m));
	if (m == NULL)
		return RC_TOOBIG;
	for (i = 0; i < list.n; i++)
		if (load_message(x, list.message[i].json, cleared, &m[n]))
			n++;
	x->view.earlier = s.summary;
	x->view.messages = m;
	x->view.n_messages = n;
	return load_policy(x, m, n);
}

/* ---- what others know ---- */

/* The last code points of s. */
static struct str
load_tail(struct str s, ptrdiff_t max)
{
	ptrdiff_t n = str_utf8_count(s);
	size_t pos = 0;

	for (; n > max; n--)
		(void)str_utf8_next(s, &pos);
	return str_trim((struct str){ s.p + pos, s.n - pos });
}

static void
load_memories(void *arg)
{
	struct cycle_run *x = arg;
	struct wire_memory_recall_request req = {
		.user_id = x->c.key.user_id,
		.soul_id = x->c.key.soul_id,
		.query = load_tail(x->policy.stated, QUERY_MAX),
		.top_k = RECALL_MAX,
	};
	struct peer_call c = load_call(x, WIRE_SUBJECT_MEMORY_RECALL);
	const struct wire_memory_recall_reply *reply;
	struct str *list;
	void *msg;

	c.request = &wire_memory_recall_request_desc;
	c.reply = &wire_memory_recall_reply_desc;
	c.ms = RECALL_MS;
	if (req.query.n == 0 || peer_call(&c, &req, &msg) != RC_OK)
		return;
	reply = msg;
	list = arena_alloc(x->a, (reply->n_items + 1) * sizeof(*list));
	for (size_t i = 0; list != NULL && i < reply->n_items; i++)
		list[i] = reply->items[i].text;
	x->view.memories = list;
	x->view.n_memories = list != NULL ? reply->n_items : 0;
}

static void
load_alarms(void *arg)
{
	struct cycle_run *x = arg;
	const struct wire_alarm_list_request req = { .user_id =
							 x->c.key.user_id };
	struct peer_call c = load_call(x, WIRE_SUBJECT_ALARM_LIST);
	const struct wire_alarm_list *reply;
	struct str *list;
	void *msg;
	size_t n = 0;

	c.request = &wire_alarm_list_request_desc;
	c.reply = &wire_alarm_list_desc;
	c.ms = ALARMS_MS;
	if (peer_call(&c, &req, &msg) != RC_OK)
		return;
	reply = msg;
	list = arena_alloc(x->a, ALARM_MAX * sizeof(*list));
	for (size_t i = 0; list != NULL && i < reply->n_alarms && n < ALARM_MAX;
	     i++) {
		const struct wire_alarm *m = &reply->alarms[i];

		list[n] = arena_printf(x->a, "%.*s %.*s",
		    STR_ARG(m->moment.n > 0 ? m->moment : m->next_at),
		    STR_ARG(m->text));
		n += list[n].p != NULL;
	}
	x->view.alarms = list;
	x->view.n_alarms = n;
}

/* Capabilities that the soul has asked for, so that it does not ask again. */
static void
load_evolutions(void *arg)
{
	struct cycle_run *x = arg;
	static const char *const outcomes[] = {
		[WIRE_EVOLUTION_STATE_ASKED] = "等主人决定",
		[WIRE_EVOLUTION_STATE_PROPOSED] = "等主人决定",
		[WIRE_EVOLUTION_STATE_APPROVED] = "已经有了",
		[WIRE_EVOLUTION_STATE_ENABLED] = "已经有了",
		[WIRE_EVOLUTION_STATE_REFUSED] = "主人不要",
		[WIRE_EVOLUTION_STATE_FAILED] = "现在办不到",
		[WIRE_EVOLUTION_STATE_DISABLED] = "主人不要了",
	};
	const struct wire_evolution_list_request req = {
		.user_id = x->c.key.user_id, .soul_id = x->c.key.soul_id
	};
	struct peer_call c = load_call(x, WIRE_SUBJECT_EVOLUTION_LIST);
	const struct wire_evolution_list *reply;
	struct str *list;
	void *msg;
	size_t n = 0;

	c.request = &wire_evolution_list_request_desc;
	c.reply = &wire_evolution_list_desc;
	c.ms = EVOLUTIONS_MS;
	if (peer_call(&c, &req, &msg) != RC_OK)
		return;
	reply = msg;
	list = arena_alloc(x->a, EVOLUTION_MAX * sizeof(*list));
	for (size_t i = 0;
	     list != NULL && i < reply->n_evolutions && n < EVOLUTION_MAX;
	     i++) {
		const struct wire_evolution *e = &reply->evolutions[i];

		list[n] = arena_printf(
		    x->a, "%.*s（%s）", STR_ARG(e->need), outcomes[e->state]);
		n += list[n].p != NULL;
	}
	x->view.evolutions = list;
	x->view.n_evolutions = n;
}

/* All at the same time; an idle soul's emotion is known already. */
static void
load_others(struct cycle_run *x)
{
	struct fiber_group g = { 0 };

	if (x->c.trigger != NAV_IDLE)
		fiber_group_start(&g, load_emotion, x);
	fiber_group_start(&g, load_memories, x);
	fiber_group_start(&g, load_alarms, x);
	fiber_group_start(&g, load_evolutions, x);
	fiber_group_wait(&g);
}

enum cycle_event
cycle_load(struct cycle_run *x)
{
	enum rc rc = load_soul(x);

	if (rc == RC_NOENT)
		return CYCLE_LOST;
	if (rc == RC_OK && x->c.trigger == NAV_IDLE) {
		load_emotion(x);
		if (!load_choose(x))
			return CYCLE_RESTED;
	}
	if (rc == RC_OK)
		rc = load_conversation(x);
	if (rc != RC_OK) {
		log_warn("nav.not_loaded", LOG_V("cycle", x->c.id), LOG_RC(rc));
		return CYCLE_FAILED;
	}
	load_others(x);
	return CYCLE_LOADED;
}
