#include "testkit/star_body.h"

#include <stdio.h>
#include <string.h>

#include "core/clock.h"
#include "core/mem.h"

void
star_body_start(struct star_body *b)
{
	memset(b, 0, sizeof(*b));
	star_start(&b->f, STAR_QUIET);
	tk_state_open(&b->db, b->f.redis.url);
	tk_state_soul(&b->db, "s1", "INFJ", "ann");
	b->nc = tk_nats_connect(b->f.nats.url);
	b->env.fd = b->bob.fd = -1;
}

void
star_body_stop(struct star_body *b)
{
	if (b->bob.fd >= 0)
		tk_ws_close(&b->bob);
	if (b->env.fd >= 0)
		tk_ws_close(&b->env);
	natsConnection_Destroy(b->nc);
	tk_state_close(&b->db);
	if (b->other.http != 0)
		tk_service_end(&b->other);
	star_stop(&b->f);
}

json_t *
star_body_enter(struct star_body *b, const char *user, const char *soul,
    const char *env, const char *agent, const char *code)
{
	const char *got = NULL;
	char body[512], error[TK_CODE];
	json_t *j;

	snprintf(body, sizeof(body),
	    "{\"user_id\":\"%s\",\"soul_id\":\"%s\",\"env_id\":\"%s\","
	    "\"agent_id\":\"%s\"}",
	    user, soul, env, agent);
	j = tk_nats_request(b->nc, "soul.rpc.star.enter", body, error);
	ck_assert_ptr_nonnull(j);
	got = json_string_value(json_object_get(j, "code"));
	if (code == NULL)
		ck_assert_msg(got == NULL, "%s", got);
	else
		ck_assert_str_eq(got != NULL ? got : "(none)", code);
	if (code == NULL && strcmp(soul, "s1") == 0)
		snprintf(b->terminal, sizeof(b->terminal), "%s",
		    tk_text(j, "terminal_id"));
	return j;
}

void
star_body_open(struct star_body *b)
{
	star_open(&b->f, &b->env, "/env/demo_world");
}

const char *
star_body_report(struct tk_ws *c, const char *name, const char *data)
{
	char text[65536];

	snprintf(text, sizeof(text),
	    "{\"type\":\"stream\",\"id\":\"q-%s\",\"stream\":\"%s\","
	    "\"data\":%s}",
	    name, name, data);
	star_send(c, "environment:demo_world", "hub:hub", text);
	return star_wait_for(c, "\"type\":\"outcome\"");
}

void
star_body_live(struct star_body *b)
{
	json_decref(
	    star_body_enter(b, "ann", "s1", "demo_world", "agent_001", NULL));
	star_body_open(b);
	ck_assert_ptr_nonnull(
	    strstr(star_body_report(&b->env, "skills", STAR_SKILLS),
		"\"status\":\"success\""));
	star_body_wait_present(b, true);
}

void
star_body_bob(struct star_body *b)
{
	star_open(&b->f, &b->bob, "/human/bob");
	star_send(&b->bob, "human:bob", "hub:hub",
	    "{\"type\":\"stream\",\"id\":\"j\",\"stream\":"
	    "\"join_environment\",\"data\":{\"env_id\":\"demo_world\"}}");
	star_wait_for(&b->bob, "\"joined\"");
}

struct terminal
star_body_terminal(struct star_body *b)
{
	struct terminal t;

	arena_reset(b->db.arena);
	ck_assert_int_eq(terminal_read(b->db.s, str_of(b->terminal),
			     STAR_BODY_TTL_MS, b->db.arena, &t),
	    RC_OK);
	return t;
}

struct presence {
	struct star_body *b;
	bool wanted;
};

static bool
presence_is(void *arg)
{
	struct presence *p = arg;

	return star_body_terminal(p->b).present == p->wanted;
}

void
star_body_wait_present(struct star_body *b, bool present)
{
	struct presence p = { b, present };

	ck_assert_msg(
	    tk_until(presence_is, &p, STAR_BODY_MS), "present: %d", !present);
}

natsSubscription *
star_body_command(struct star_body *b, const char *kind, const char *body)
{
	char subject[256], deadline[32];
	natsSubscription *sub = NULL;
	natsInbox *inbox = NULL;
	natsMsg *m = NULL;

	snprintf(subject, sizeof(subject), "soul.body.star.%s.%s", b->terminal,
	    kind);
	ck_assert_int_eq(natsInbox_Create(&inbox), NATS_OK);
	ck_assert_int_eq(
	    natsConnection_SubscribeSync(&sub, b->nc, inbox), NATS_OK);
	ck_assert_int_eq(
	    natsMsg_Create(&m, subject, inbox, body, (int)strlen(body)),
	    NATS_OK);
	snprintf(deadline, sizeof(deadline), "%lld",
	    (long long)clock_wall().ms + STAR_BODY_MS);
	natsMsgHeader_Set(m, "Soul-Deadline", deadline);
	ck_assert_int_eq(natsConnection_PublishMsg(b->nc, m), NATS_OK);
	natsMsg_Destroy(m);
	natsInbox_Destroy(inbox);
	return sub;
}

const char *
star_body_state(natsSubscription *reply)
{
	static char text[256];
	json_t *j = tk_nats_next(reply, STAR_BODY_MS, NULL);

	ck_assert_ptr_nonnull(j);
	if (json_object_get(j, "state") != NULL)
		snprintf(text, sizeof(text), "%s%s%s", tk_text(j, "state"),
		    json_object_get(j, "error") != NULL ? ": " : "",
		    json_object_get(j, "error") != NULL ? tk_text(j, "error")
							: "");
	else
		snprintf(text, sizeof(text), "error %s", tk_text(j, "code"));
	json_decref(j);
	natsSubscription_Destroy(reply);
	return text;
}
