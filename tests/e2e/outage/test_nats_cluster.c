/*
 * A conversation on a cluster of three nats-servers, of which one is killed:
 * the client sees at most errors that say to retry, and nothing that was
 * acknowledged is lost.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/mem.h"
#include "testkit/nats.h"
#include "testkit/service.h"
#include "testkit/stack/chatter.h"

#define REPLICAS "NATS_REPLICAS=3"
#define ACK_WAIT "MEMORY_JOB_ACK_WAIT_SECONDS="
#define JOBS     20
/* An election takes 4 to 9 s, and what waits for it some more. */
#define ELECTION_MS 60000

struct scene {
	struct stack st;
	struct chatter chatter;
	const char *soul;
	int jobs;
	size_t memories; /* that have been made of them */
};

static struct scene scene;

/* ---- memory jobs ---- */

/* Put jobs on the stream, acknowledged, while nobody does them. */
static void
jobs_publish(struct scene *s)
{
	natsConnection *nc = tk_nats_connect(stack_nats_url(&s->st));
	char code[TK_CODE], id[32], *body;
	json_t *j;
	int i;

	for (i = 0; i < JOBS; i++) {
		snprintf(id, sizeof(id), "job-%d", s->jobs++);
		j = json_pack("{ssssssssssssssssss}", "job_id", id, "kind",
		    "memory_store", "user_id", STACK_USER, "soul_id", s->soul,
		    "session_id", "s2", "text", id, "type", "episode",
		    "trigger_source", "idle_timeout", "created_at",
		    "2026-02-22T10:20:30Z");
		body = json_dumps(j, JSON_COMPACT);
		json_decref(j);
		j = tk_nats_request(nc, "soul.job.memory_store", body, code);
		ck_assert_int_gt(tk_int(j, "seq"), 0);
		json_decref(j);
		free(body);
	}
	natsConnection_Destroy(nc);
}

static bool
jobs_are_done(void *arg)
{
	struct scene *s = arg;
	json_t *j = client_ok(&s->st, "GET", "/v1/memories?limit=100", NULL);

	s->memories = json_array_size(tk_at(j, "items"));
	json_decref(j);
	ck_assert_uint_le(s->memories, (size_t)s->jobs);
	return s->memories == (size_t)s->jobs;
}

/* ---- the scene ---- */

static void
scene_begin(struct scene *s)
{
	static const struct stack_opts o = { .nats_cluster = true,
		.env = { [STACK_LLM_SIM] = { REPLICAS },
		    [STACK_INTENT_FILTER] = { REPLICAS },
		    [STACK_EMOTION_ENGINE] = { REPLICAS },
		    [STACK_MEMORY_WORKER] = { REPLICAS, ACK_WAIT "5" },
		    [STACK_LLM_ORCHESTRATOR] = { REPLICAS },
		    [STACK_MQTT_BRIDGE] = { REPLICAS },
		    [STACK_CHAT_GATEWAY] = { REPLICAS } } };

	stack_start(&s->st, &o);
	s->soul = client_create_soul(&s->st, STACK_USER, "小元", "ENFP");
	client_select_soul(&s->st, STACK_USER, STACK_BODY, s->soul);
	chatter_start(&s->chatter,
	    &(struct client){ &s->st, STACK_USER, "s1", STACK_BODY });
	chatter_resumes(&s->chatter);
}

/* Wait until the streams have a copy on each node. */
static void
scene_wait_streams(struct scene *s)
{
	tk_nats_cluster_wait(&s->st.nats);
	(void)tk_nats_cluster_leader(&s->st.nats, "SOUL_EVENTS");
	(void)tk_nats_cluster_leader(&s->st.nats, "SOUL_JOBS");
}

/* Kill a node while jobs wait, and start it again. */
static void
scene_kill(struct scene *s, size_t node)
{
	int i;

	ck_assert_uint_lt(node, TK_NATS_NODES);
	stack_kill(&s->st, STACK_MEMORY_WORKER);
	jobs_publish(s);
	tk_server_stop(&s->st.nats.node[node], SIGKILL);
	chatter_resumes(&s->chatter);
	stack_restart(&s->st, STACK_MEMORY_WORKER);
	ck_assert_msg(tk_until(jobs_are_done, s, ELECTION_MS),
	    "%zu of %d jobs are done", s->memories, s->jobs);
	for (i = 0; i < STACK_BODY_SIM; i++)
		stack_wait_ready(&s->st.service[i]);
	tk_server_restart(&s->st.nats.node[node]);
	scene_wait_streams(s);
	chatter_resumes(&s->chatter);
}

/* ---- the ends of turns ---- */

/* How many events of a type each turn has. */
struct turn_events {
	struct chatter *chatter;
	json_t *begun, *completed;
	char wrong[128]; /* "": nothing is */
};

static void
count_turn(json_t *counts, json_t *event)
{
	const char *turn = tk_text(event, "payload.turn_id");
	json_t *n = json_object_get(counts, turn);

	json_object_set_new(
	    counts, turn, json_integer(json_integer_value(n) + 1));
}

static void
on_begun(void *arg, json_t *event)
{
	count_turn(((struct turn_events *)arg)->begun, event);
}

static void
on_completed(void *arg, json_t *event)
{
	count_turn(((struct turn_events *)arg)->completed, event);
}

/* Each turn that has begun has ended, and each that got a 200 is there. */
static void
turn_events_check(struct turn_events *t)
{
	size_t i, texts = atomic_load(&t->chatter->texts);
	const char *turn;
	json_t *n;

	t->wrong[0] = '\0';
	json_object_foreach (t->begun, turn, n) {
		json_int_t ends =
		    json_integer_value(json_object_get(t->completed, turn));

		if (json_integer_value(n) != 1 || ends != 1)
			snprintf(t->wrong, sizeof(t->wrong),
			    "%s began %lld times and ended %lld times", turn,
			    (long long)json_integer_value(n), (long long)ends);
	}
	for (i = 0; i < texts; i++)
		if (t->chatter->ok[i] &&
		    json_object_get(t->completed, t->chatter->turn[i]) == NULL)
			snprintf(t->wrong, sizeof(t->wrong),
			    "%s, number %zu of %zu, has no end",
			    t->chatter->turn[i], i, texts);
}

/* A reader gets what its node of the cluster has, which may be a little less
 * than the others. */
static bool
turns_have_ended(void *arg)
{
	struct turn_events *t = arg;
	struct stack *st = t->chatter->owner.st;
	natsConnection *nc = tk_nats_connect(stack_nats_url(st));

	t->begun = json_object();
	t->completed = json_object();
	tk_nats_stored(
	    nc, "SOUL_EVENTS", "soul.event.user_input.*", on_begun, t);
	tk_nats_stored(
	    nc, "SOUL_EVENTS", "soul.event.turn_completed.*", on_completed, t);
	turn_events_check(t);
	json_decref(t->begun);
	json_decref(t->completed);
	natsConnection_Destroy(nc);
	return t->wrong[0] == '\0';
}

/* ---- the end ---- */

/* No service has given up an event. */
static void
check_events(struct scene *s)
{
	struct tk_service p = { 0 };
	long long lost;
	int i;

	for (i = 0; i < STACK_BODY_SIM; i++) {
		p.admin = s->st.service[i].admin;
		lost = tk_service_metric(&p, "svc_events_lost_total");
		/* -1: it publishes none. */
		ck_assert_msg(
		    lost <= 0, "%s has lost %lld", stack_name(i), lost);
	}
}

static void
scene_end(struct scene *s)
{
	struct turn_events t = { .chatter = &s->chatter };
	const char *why;

	chatter_stop(&s->chatter);
	chatter_check(&s->chatter);
	ck_assert_msg(
	    tk_until(turns_have_ended, &t, ELECTION_MS), "%s", t.wrong);
	check_events(s);
	stack_check(&s->st);
	why = stack_end(&s->st);
	ck_assert_msg(why == NULL, "%s", why);
}

TEST_T(a_conversation_survives_the_kill_of_a_node, 240)
{
	struct tk_nats_cluster *c = &scene.st.nats;

	scene_begin(&scene);
	scene_wait_streams(&scene);
	scene_kill(&scene, tk_nats_cluster_client(c, "llm-orchestrator"));
	scene_kill(&scene, tk_nats_cluster_client(c, "chat-gateway"));
	scene_kill(&scene, tk_nats_cluster_leader(c, "SOUL_EVENTS"));
	scene_kill(&scene, tk_nats_cluster_leader(c, "SOUL_JOBS"));
	scene_end(&scene);
}
