/*
 * alarm_clock_fixture: see alarm_clock_fixture.h.
 */
#include "testkit/alarm_clock_fixture.h"

#include <ctype.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "state/keys.h"
#include "state/state.h"
#include "testkit/clock_shift.h"
#include "testkit/json.h"
#include "testkit/terminal_fixture.h"

#define SUBJECT "soul.rpc.turn.start"

/* By so much the clock of the services is ahead. */
static int64_t ac_ahead_s;

/* ---- the stand-in ---- */

/* no_body1: no_body. */
static void
ac_outcome_of(const char *body, char dst[32])
{
	static const char *const outcomes[] = { "not_confirmed", "no_skill",
		"no_body", "blocked", "failed", "done", "silent", "held" };
	size_t i, n;

	for (i = 0; i < sizeof(outcomes) / sizeof(*outcomes); i++) {
		n = strlen(outcomes[i]);
		if (strncmp(body, outcomes[i], n) == 0 &&
		    isdigit((unsigned char)body[n])) {
			snprintf(dst, 32, "%s", outcomes[i]);
			return;
		}
	}
	snprintf(dst, 32, "spoken");
}

static void
ac_copy(json_t *j, const char *path, char *dst, size_t size)
{
	snprintf(dst, size, "%s", tk_find_text(j, path));
}

static void
ac_record(
    struct ac_orchestrator *o, json_t *j, const char *reply, struct ac_turn *t)
{
	memset(t, 0, sizeof(*t));
	ac_copy(j, "chat.terminal_id", t->body, sizeof(t->body));
	ac_copy(j, "chat.session_id", t->session, sizeof(t->session));
	ac_copy(j, "unasked.request_id", t->request, sizeof(t->request));
	ac_copy(j, "unasked.occurrence", t->occurrence, sizeof(t->occurrence));
	ac_copy(j, "unasked.text", t->text, sizeof(t->text));
	ac_copy(j, "turn_id", t->id, sizeof(t->id));
	snprintf(t->reply, sizeof(t->reply), "%s", reply);
	pthread_mutex_lock(&o->lock);
	if (o->outcome != NULL)
		snprintf(t->outcome, sizeof(t->outcome), "%s", o->outcome);
	else
		ac_outcome_of(t->body, t->outcome);
	if (o->n < AC_TURNS_MAX)
		o->turn[o->n] = *t;
	o->n++;
	if (strcmp(t->outcome, "spoken") == 0)
		o->n_spoken++;
	pthread_mutex_unlock(&o->lock);
}

static void
ac_end_turn(
    struct ac_orchestrator *o, const struct ac_turn *t, const char *outcome)
{
	char text[1024];

	snprintf(text, sizeof(text),
	    "{\"turn_id\":\"%s\",\"state\":\"completed\",\"response\":{"
	    "\"session_id\":\"%s\",\"terminal_id\":\"%s\",\"soul_id\":"
	    "\"s\",\"reply\":\"\",\"executed_skills\":[]},\"unasked\":{"
	    "\"outcome\":\"%s\"}}",
	    t->id, t->session, t->body, outcome);
	(void)natsConnection_PublishString(o->nc, t->reply, text);
}

static void
ac_on_turn(natsConnection *nc, natsSubscription *sub, natsMsg *m, void *closure)
{
	struct ac_orchestrator *o = closure;
	json_t *j = json_loadb(
	    natsMsg_GetData(m), (size_t)natsMsg_GetDataLength(m), 0, NULL);
	char text[128];
	struct ac_turn t;

	(void)sub;
	ac_record(o, j, natsMsg_GetReply(m), &t);
	if (strcmp(t.outcome, "silent") != 0) {
		snprintf(text, sizeof(text),
		    "{\"turn_id\":\"%s\",\"state\":\"accepted\"}", t.id);
		(void)natsConnection_PublishString(nc, t.reply, text);
		if (strcmp(t.outcome, "held") != 0)
			ac_end_turn(o, &t, t.outcome);
	}
	json_decref(j);
	natsMsg_Destroy(m);
}

void
ac_orchestrator_start(struct ac_orchestrator *o, const char *url)
{
	natsOptions *opts = NULL;

	if (o->turn == NULL) {
		o->turn = calloc(AC_TURNS_MAX, sizeof(*o->turn));
		ck_assert_ptr_nonnull(o->turn);
		pthread_mutex_init(&o->lock, NULL);
	}
	ck_assert_int_eq(natsOptions_Create(&opts), NATS_OK);
	ck_assert_int_eq(natsOptions_SetURL(opts, url), NATS_OK);
	ck_assert_int_eq(natsOptions_SetMaxReconnect(opts, 10000), NATS_OK);
	ck_assert_int_eq(natsOptions_SetReconnectWait(opts, 20), NATS_OK);
	ck_assert_int_eq(natsOptions_SetSendAsap(opts, true), NATS_OK);
	ck_assert_int_eq(natsConnection_Connect(&o->nc, opts), NATS_OK);
	natsOptions_Destroy(opts);
	ck_assert_int_eq(natsConnection_QueueSubscribe(&o->sub, o->nc, SUBJECT,
			     "llm-orchestrator", ac_on_turn, o),
	    NATS_OK);
	ck_assert_int_eq(natsConnection_Flush(o->nc), NATS_OK);
}

void
ac_orchestrator_stop(struct ac_orchestrator *o)
{
	natsSubscription_Destroy(o->sub);
	natsConnection_Destroy(o->nc);
	o->sub = NULL;
	o->nc = NULL;
}

void
ac_orchestrator_set(struct ac_orchestrator *o, const char *outcome)
{
	pthread_mutex_lock(&o->lock);
	o->outcome = outcome;
	pthread_mutex_unlock(&o->lock);
}

void
ac_orchestrator_release(struct ac_orchestrator *o, const char *outcome)
{
	const struct ac_turn t = ac_turn(o, ac_turns(o) - 1);

	ck_assert_str_eq(t.outcome, "held");
	ac_end_turn(o, &t, outcome);
	ck_assert_int_eq(natsConnection_Flush(o->nc), NATS_OK);
}

size_t
ac_turns(struct ac_orchestrator *o)
{
	size_t n;

	pthread_mutex_lock(&o->lock);
	n = o->n;
	pthread_mutex_unlock(&o->lock);
	return n;
}

size_t
ac_spoken(struct ac_orchestrator *o)
{
	size_t n;

	pthread_mutex_lock(&o->lock);
	n = o->n_spoken;
	pthread_mutex_unlock(&o->lock);
	return n;
}

struct ac_turn
ac_turn(struct ac_orchestrator *o, size_t i)
{
	struct ac_turn t;

	pthread_mutex_lock(&o->lock);
	ck_assert_uint_lt(i, o->n);
	t = o->turn[i];
	pthread_mutex_unlock(&o->lock);
	return t;
}

size_t
ac_requests(struct ac_orchestrator *o, const char *body)
{
	size_t n = 0, i, k;

	pthread_mutex_lock(&o->lock);
	for (i = 0; i < o->n && i < AC_TURNS_MAX; i++) {
		if (strcmp(o->turn[i].body, body) != 0)
			continue;
		for (k = 0; k < i; k++)
			if (strcmp(o->turn[k].body, body) == 0 &&
			    strcmp(o->turn[k].request, o->turn[i].request) == 0)
				break;
		n += k == i;
	}
	pthread_mutex_unlock(&o->lock);
	return n;
}

struct ac_wanted {
	struct ac_orchestrator *o;
	size_t n;
};

static bool
ac_has_turns(void *arg)
{
	const struct ac_wanted *w = arg;

	return ac_turns(w->o) >= w->n;
}

static bool
ac_has_spoken(void *arg)
{
	const struct ac_wanted *w = arg;

	return ac_spoken(w->o) >= w->n;
}

void
ac_await_turns(struct ac_orchestrator *o, size_t n)
{
	struct ac_wanted w = { o, n };

	ck_assert(tk_until(ac_has_turns, &w, AC_MS));
}

void
ac_await_spoken(struct ac_orchestrator *o, size_t n)
{
	struct ac_wanted w = { o, n };

	ck_assert(tk_until(ac_has_spoken, &w, AC_MS));
}

/* ---- processes ---- */

void
ac_start_clock(struct alarm_clock_fixture *f, int i, const char *const more[])
{
	struct tk_env e = { 0 };
	char name[32];

	snprintf(name, sizeof(name), "clock%d", i + 1);
	tk_env_list(&e, more);
	tk_env_put(&e, "NATS_URL=%s", f->nats.url);
	tk_env_put(&e, "REDIS_URL=%s", f->redis.url);
	tk_env_put(&e, "REDIS_TIMEOUT_MS=5000");
	tk_env_list(&e, f->clock_env);
	tk_service_start(&f->clock[i], "alarm-clock", name, &e);
}

void
ac_start(struct alarm_clock_fixture *f)
{
	memset(f, 0, sizeof(*f));
	f->clock_env = tk_clock_env();
	ac_ahead_s = 0;
	tk_server_start(&f->nats, TK_NATS);
	tk_server_start_env(&f->redis, TK_REDIS, f->clock_env);
	f->nc = tk_nats_connect(f->nats.url);
	tk_nats_events(f->nc);
	ac_orchestrator_start(&f->orch, f->nats.url);
	ac_start_clock(f, 0, NULL);
	tk_state_open(&f->state, f->redis.url);
}

void
ac_stop(struct alarm_clock_fixture *f)
{
	for (int i = 0; i < AC_CLOCKS; i++)
		tk_service_end(&f->clock[i]);
	tk_state_close(&f->state);
	ac_orchestrator_stop(&f->orch);
	free(f->orch.turn);
	natsConnection_Destroy(f->nc);
	tk_server_stop(&f->nats, SIGTERM);
	tk_server_stop(&f->redis, SIGTERM);
}

/* ---- requests ---- */

static json_t *
ac_request(struct alarm_clock_fixture *f, const char *what, const char *body,
    char code[TK_CODE])
{
	char subject[TK_SUBJECT], *text = strdup(body), *p;
	json_t *j;

	ck_assert_ptr_nonnull(text);
	for (p = text; *p != '\0'; p++)
		if (*p == '\'')
			*p = '"';
	snprintf(subject, sizeof(subject), "soul.rpc.%s", what);
	j = tk_nats_request(f->nc, subject, text, code);
	free(text);
	return j;
}

json_t *
ac_call(struct alarm_clock_fixture *f, const char *what, const char *body)
{
	char code[TK_CODE];
	json_t *j = ac_request(f, what, body, code);

	ck_assert_msg(code[0] == '\0', "%s: %s: %s", what, code,
	    tk_find_text(j, "error"));
	return j;
}

void
ac_rejects(struct alarm_clock_fixture *f, const char *what, const char *body,
    const char *code, const char *text)
{
	char is[TK_CODE];
	json_t *j = ac_request(f, what, body, is);

	ck_assert_str_ne(is, "");
	ck_assert_str_eq(tk_text(j, "code"), code);
	ck_assert_msg(tk_text_has(j, "error", text), "%s", tk_text(j, "error"));
	json_decref(j);
}

void
ac_put(struct alarm_clock_fixture *f, const char *body, char id[AC_ID])
{
	json_t *j = ac_call(f, "alarm.put", body);

	snprintf(id, AC_ID, "%s", tk_text(j, "alarm.alarm_id"));
	json_decref(j);
}

int64_t
ac_notes(struct alarm_clock_fixture *f)
{
	struct state_reply *r = NULL;
	char key[STATE_KEY_MAX];
	struct str k;
	int64_t n;

	ck_assert_int_eq(
	    state_key(key, KEY_USER_RUN_NOTES, &STR("ann"), 1, &k), RC_OK);
	ck_assert_int_eq(
	    state_cmd(f->state.s, STATE_ARGS(STR("HLEN"), k), &r), RC_OK);
	n = state_reply_int(r);
	state_reply_free(r);
	return n;
}

void
ac_bind(struct alarm_clock_fixture *f, const char *soul, const char *body)
{
	tk_state_soul(&f->state, soul, "INFJ", "ann");
	ck_assert_int_eq(terminal_fixture_bind(f->state.s, str_of(body),
			     STR("ann"), str_of(soul)),
	    RC_OK);
}

static unsigned
ac_bucket(void)
{
	unsigned bucket;

	ck_assert_int_eq(state_bucket(STR("ann"), &bucket), RC_OK);
	return bucket;
}

/* A set clock is noticed by a poll, which may be seconds later. */
static void
ac_hint(struct alarm_clock_fixture *f)
{
	char text[64];

	if (ac_ahead_s == 0)
		return;
	snprintf(text, sizeof(text), "{\"bucket\":%u}", ac_bucket());
	ck_assert_int_eq(
	    natsConnection_PublishString(f->nc, "soul.alarm.hint", text),
	    NATS_OK);
}

void
ac_set_clock(struct alarm_clock_fixture *f, int64_t s)
{
	ac_ahead_s += s;
	tk_clock_shift(ac_ahead_s);
	ac_hint(f);
}

struct ac_condition {
	struct alarm_clock_fixture *f;
	const char *id, *path, *value;
};

static bool
ac_alarm_has(void *arg)
{
	const struct ac_condition *c = arg;
	char body[256], path[64];
	json_t *j;
	bool has;

	ac_hint(c->f);
	snprintf(body, sizeof(body),
	    "{'user_id':'ann','alarm_id':'%s','all':true}", c->id);
	j = ac_call(c->f, "alarm.list", body);
	snprintf(path, sizeof(path), "alarms.0.%s", c->path);
	has = strcmp(tk_find_text(j, path), c->value) == 0;
	json_decref(j);
	return has;
}

struct ac_wait {
	struct alarm_clock_fixture *f;
	int64_t ms;
};

static bool
ac_is_due_after(void *arg)
{
	const struct ac_wait *w = arg;
	struct state_reply *r = NULL;
	char key[STATE_KEY_MAX];
	struct str k, score;
	int64_t at = 0;

	ck_assert_int_eq(
	    state_bucket_key(key, KEY_ALARMS_DUE, ac_bucket(), &k), RC_OK);
	ck_assert_int_eq(state_cmd(w->f->state.s,
			     STATE_ARGS(STR("ZRANGE"), k, STR("0"), STR("0"),
				 STR("WITHSCORES")),
			     &r),
	    RC_OK);
	score = state_reply_str(state_reply_at(r, 1));
	if (state_reply_len(r) == 2)
		ck_assert_int_eq(str_to_i64(score, 0, INT64_MAX, &at), RC_OK);
	state_reply_free(r);
	return at > clock_wall().ms + ac_ahead_s * 1000 + w->ms;
}

void
ac_await_due_after(struct alarm_clock_fixture *f, int ms)
{
	struct ac_wait w = { f, ms };

	ck_assert(tk_until(ac_is_due_after, &w, AC_MS));
}

void
ac_await_alarm(struct alarm_clock_fixture *f, const char *id, const char *path,
    const char *value)
{
	struct ac_condition c = { f, id, path, value };

	ck_assert_msg(
	    tk_until(ac_alarm_has, &c, AC_MS), "%s is not %s", path, value);
}

static bool
ac_push_has(void *arg)
{
	const struct ac_condition *c = arg;
	char body[256];
	json_t *j;
	bool has;

	ac_hint(c->f);
	snprintf(body, sizeof(body), "{'user_id':'ann','push_id':'%s'}", c->id);
	j = ac_call(c->f, "push.get", body);
	has = strcmp(tk_find_text(j, "state"), c->value) == 0;
	json_decref(j);
	return has;
}

void
ac_await_push(struct alarm_clock_fixture *f, const char *id, const char *state)
{
	struct ac_condition c = { f, id, "state", state };

	ck_assert_msg(
	    tk_until(ac_push_has, &c, AC_MS), "the push is not %s", state);
}

int64_t
ac_time(const char *text)
{
	struct wall at;

	ck_assert_int_eq(wall_parse(str_of(text), &at), RC_OK);
	return at.ms;
}

const char *
ac_in(int ms, char dst[AC_ID])
{
	char at[WALL_FORMAT_MAX];

	wall_format(
	    (struct wall){ clock_wall().ms + ac_ahead_s * 1000 + ms }, 0, at);
	snprintf(dst, AC_ID, "{'kind':'once','instant':'%s'}", at);
	return dst;
}
