/*
 * A soul in an environment, with all services: a human says a wish to it, the
 * environment acts, and the reply says what became of it.
 */
#include <stdio.h>
#include <string.h>

#include "core/clock.h"
#include "core/mem.h"
#include "testkit/service.h"
#include "testkit/stack/client.h"
#include "testkit/star_fixture.h"

STACK_SHARED(
    { .env = { [STACK_LLM_ORCHESTRATOR] = { "TOOL_TIMEOUT_SECONDS=2" } } })

#define NOD "动一动你的脑袋吧"
#define SKILLS                                                            \
	"{\"skill_version\":1,\"skills\":[{\"name\":\"set_head_motion\"," \
	"\"description\":\"头部动作\",\"input_schema\":{\"type\":"    \
	"\"object\",\"properties\":{\"action\":{\"type\":\"string\"}}}}]}"

struct world {
	struct star_fixture f; /* the hub only */
	struct tk_ws env, bob;
	char env_id[32], soul[64];
	const char *user;
};

static void
send_as(struct world *w, struct tk_ws *c, const char *class, const char *to,
    const char *payload)
{
	char from[64];

	snprintf(from, sizeof(from), "%s:%s", class,
	    c == &w->env ? w->env_id : "bob");
	star_send(c, from, to, payload);
}

static void
report_skills(struct world *w)
{
	send_as(w, &w->env, "environment", "hub:hub",
	    "{\"type\":\"stream\",\"id\":\"s\",\"stream\":\"skills\","
	    "\"data\":" SKILLS "}");
	ck_assert_ptr_nonnull(strstr(
	    star_wait_for(&w->env, "\"outcome\""), "\"status\":\"success\""));
}

/* Whether the soul is in its environment. */
static bool
is_present(void *arg)
{
	struct world *w = arg;
	char path[256];
	json_t *j;
	bool is;

	snprintf(path, sizeof(path), "/v1/souls/%s/star?user_id=%s", w->soul,
	    w->user);
	j = client_ok(&stack, "GET", path, NULL);
	is = json_is_true(json_object_get(j, "present"));
	json_decref(j);
	return is;
}

static void
world_enter(struct world *w)
{
	char path[256];

	snprintf(path, sizeof(path), "/v1/souls/%s/star", w->soul);
	json_decref(client_ok(&stack, "POST", path,
	    json_pack("{s:s,s:s,s:s}", "user_id", w->user, "env_id", w->env_id,
		"agent_id", "agent_001")));
	ck_assert(tk_until(is_present, w, STACK_MS));
}

static void
world_start(struct world *w, const char *user, const char *env)
{
	struct tk_env e = { 0 };
	char path[64], text[256];

	memset(w, 0, sizeof(*w));
	w->user = user;
	snprintf(w->env_id, sizeof(w->env_id), "%s", env);
	tk_env_put(&e, "NATS_URL=%s", stack_nats_url(&stack));
	tk_env_put(&e, "REDIS_URL=%s",
	    stack.has_cluster ? stack.cluster.url
			      : stack.server[STACK_REDIS].url);
	tk_env_put(&e, "STAR_PRESENCE=off");
	tk_service_start(&w->f.hub, "star-hub", env, &e);
	snprintf(path, sizeof(path), "/env/%s", env);
	star_open(&w->f, &w->env, path);
	report_skills(w);
	star_open(&w->f, &w->bob, "/human/bob");
	snprintf(text, sizeof(text),
	    "{\"type\":\"stream\",\"id\":\"j\",\"stream\":"
	    "\"join_environment\",\"data\":{\"env_id\":\"%s\"}}",
	    env);
	send_as(w, &w->bob, "human", "hub:hub", text);
	star_wait_for(&w->bob, "\"joined\"");
}

static void
world_stop(struct world *w)
{
	tk_ws_close(&w->env);
	tk_ws_close(&w->bob);
	tk_service_end(&w->f.hub);
}

static void
utter(struct world *w, const char *text)
{
	char payload[512];

	snprintf(payload, sizeof(payload),
	    "{\"type\":\"event\",\"id\":\"d1\",\"event\":\"dialogue\","
	    "\"data\":{\"text\":\"%s\"}}",
	    text);
	send_as(w, &w->bob, "human", "agent:agent_001", payload);
}

/* The id of the action that the environment gets. */
static const char *
next_action(struct world *w, char id[64])
{
	const char *m = star_wait_for(&w->env, "\"type\":\"action\"");
	const char *at = strstr(m, "\"action\",\"id\":\"");

	ck_assert_ptr_nonnull(strstr(m,
	    "\"action\":\"set_head_motion\",\"parameters\":{\"action\":"
	    "\"点头\"}"));
	ck_assert_ptr_nonnull(at);
	at += strlen("\"action\",\"id\":\"");
	snprintf(id, 64, "%.*s", (int)strcspn(at, "\""), at);
	return id;
}

static void
end_action(struct world *w, const char *id, const char *status)
{
	char payload[512];

	snprintf(payload, sizeof(payload),
	    "{\"type\":\"outcome\",\"id\":\"%s\",\"outcome\":{\"status\":"
	    "\"%s\",\"message\":\"there is a wall\"},\"outcome_type\":"
	    "\"dict\"}",
	    id, status);
	send_as(w, &w->env, "environment", "agent:agent_001", payload);
}

/* The environment gets no more actions. */
static void
no_action(struct world *w)
{
	const char *m;

	send_as(w, &w->env, "environment", "hub:hub",
	    "{\"type\":\"action\",\"id\":\"p\",\"action\":\"ping\"}");
	do {
		m = tk_ws_next(&w->env, TK_WS_MS);
		ck_assert_ptr_nonnull(m);
		ck_assert_msg(
		    strstr(m, "\"type\":\"action\"") == NULL, "%s", m);
	} while (strstr(m, "\"pong\"") == NULL);
}

static void
new_soul(struct world *w, const char *name)
{
	snprintf(w->soul, sizeof(w->soul), "%s",
	    client_create_soul(&stack, w->user, name, "INFJ"));
}

TEST(the_reply_reports_what_the_environment_did)
{
	struct world w;
	char id[64];
	const char *m;

	world_start(&w, "u-star", "world_one");
	new_soul(&w, "one");
	world_enter(&w);
	utter(&w, NOD);
	next_action(&w, id);
	end_action(&w, id, "success");
	m = star_wait_for(&w.bob, "\"event\":\"dialogue\"");
	ck_assert_msg(strstr(m,
			  "\"executed_skills\":[\"set_head_motion\"],"
			  "\"failed_skills\":[]") != NULL,
	    "%s", m);
	no_action(&w);
	/* The environment could not. */
	utter(&w, NOD);
	next_action(&w, id);
	end_action(&w, id, "error");
	m = star_wait_for(&w.bob, "\"event\":\"dialogue\"");
	ck_assert_msg(strstr(m,
			  "\"executed_skills\":[],\"failed_skills\":[{"
			  "\"skill\":\"set_head_motion\",\"error\":"
			  "\"there is a wall\"}]") != NULL,
	    "%s", m);
	ck_assert_ptr_nonnull(strstr(m, "没有成功"));
	no_action(&w);
	world_stop(&w);
}

TEST(an_environment_that_dies_has_not_confirmed)
{
	struct world w;
	char id[64];
	const char *m;

	world_start(&w, "u-star", "world_two");
	new_soul(&w, "two");
	world_enter(&w);
	utter(&w, NOD);
	next_action(&w, id);
	tk_ws_close(&w.env);
	m = star_wait_for(&w.bob, "\"event\":\"dialogue\"");
	ck_assert_msg(strstr(m,
			  "\"executed_skills\":[],\"failed_skills\":[{"
			  "\"skill\":\"set_head_motion\",\"error\":"
			  "\"not confirmed\"}]") != NULL,
	    "%s", m);
	ck_assert_ptr_nonnull(strstr(m, "没有得到确认"));
	/* Without its environment it can still talk. */
	utter(&w, "你好");
	star_wait_for(&w.bob, "\"event\":\"dialogue\"");
	star_open(&w.f, &w.env, "/env/world_two");
	no_action(&w);
	world_stop(&w);
}

/* Each acts for those who talk to the soul there. */
TEST(a_soul_has_a_body_and_an_environment)
{
	struct client o = client_bound(&stack, "u-both", "terminal-001");
	struct world w;
	char id[64];
	const char *m;
	json_t *r;

	world_start(&w, "u-both", "world_three");
	r = client_terminal(&stack, o.user, o.terminal);
	snprintf(w.soul, sizeof(w.soul), "%s", tk_text(r, "soul_id"));
	json_decref(r);
	world_enter(&w);
	r = client_chat(&o, NOD);
	ck_assert(tk_json_equals(
	    tk_at(r, "executed_skills"), "[\"set_head_motion\"]"));
	json_decref(r);
	no_action(&w);
	utter(&w, NOD);
	next_action(&w, id);
	end_action(&w, id, "success");
	m = star_wait_for(&w.bob, "\"event\":\"dialogue\"");
	ck_assert_ptr_nonnull(
	    strstr(m, "\"executed_skills\":[\"set_head_motion\"]"));
	no_action(&w);
	world_stop(&w);
}
