#include "testkit/sim_fixture.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

void
sim_fixture_spawn(struct sim_fixture *b, const char *const *more)
{
	struct tk_env e = { 0 };

	tk_env_list(&e, more);
	tk_env_put(&e, "MQTT_BROKER_URL=%s", b->broker.url);
	tk_env_put(&e, "LOG_LEVEL=debug");
	tk_service_spawn(&b->sim, "body-sim", "body-sim", &e);
}

void
sim_fixture_start(struct sim_fixture *b, const char *const *more)
{
	*b = (struct sim_fixture){ 0 };
	tk_server_start(&b->broker, TK_MOSQUITTO);
	mqtt_peer_open(&b->peer, b->broker.port, "#");
	sim_fixture_spawn(b, more);
	tk_service_wait(&b->sim);
}

void
sim_fixture_stop(struct sim_fixture *b)
{
	tk_service_end(&b->sim);
	mqtt_peer_close(&b->peer);
}

json_t *
sim_fixture_state(struct sim_fixture *b, const char *id)
{
	struct tk_response a = { 0 };
	char path[256];
	json_t *j;

	snprintf(path, sizeof(path), "/state%s%s",
	    id != NULL ? "?terminal_id=" : "", id != NULL ? id : "");
	ck_assert_int_eq(
	    tk_http_request(b->sim.http, &a, "GET", path, NULL), 200);
	j = tk_json(a.body.p, a.body.n);
	tk_response_free(&a);
	return j;
}

/* Whether the JSON of a member contains text. */
struct sim_want {
	struct sim_fixture *b;
	const char *id, *key, *text;
};

static bool
sim_want_done(void *arg)
{
	const struct sim_want *w = arg;
	json_t *j = sim_fixture_state(w->b, w->id),
	       *v = json_object_get(j, w->key);
	char *is = json_dumps(
	    v, JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(6));
	bool same = is != NULL && strstr(is, w->text) != NULL;

	free(is);
	json_decref(j);
	return same;
}

bool
sim_fixture_wait(
    struct sim_fixture *b, const char *id, const char *key, const char *text)
{
	struct sim_want w = { b, id, key, text };

	return mqtt_peer_until(&b->peer, sim_want_done, &w, PEER_WAIT_MS);
}

void
sim_fixture_expect(struct sim_fixture *b, const char *key, const char *text)
{
	ck_assert_msg(sim_fixture_wait(b, NULL, key, text), "%s %s", key, text);
}

json_t *
sim_fixture_json(const struct mqtt_peer_msg *m)
{
	return tk_json(m->payload, strlen(m->payload));
}

json_t *
sim_fixture_invoke(struct sim_fixture *b, const char *terminal, const char *id,
    const char *skill, const char *arguments)
{
	char topic[128], body[1024];

	snprintf(
	    topic, sizeof(topic), "soul/terminal/%s/invoke/%s", terminal, id);
	snprintf(body, sizeof(body),
	    "{\"request_id\":\"%s\",\"skill\":\"%s\",\"arguments\":%s}", id,
	    skill, arguments);
	mqtt_peer_send(&b->peer, topic, body, false);
	snprintf(
	    topic, sizeof(topic), "soul/terminal/%s/result/%s", terminal, id);
	return sim_fixture_json(mqtt_peer_get(&b->peer, topic, 0));
}

/* ---- fleet ---- */

static void
sim_fleet_count(struct mqtt_peer *p, const struct mqtt_peer_msg *m)
{
	struct sim_fleet *c = p->arg;
	char leaf[64];
	int i;

	if (sscanf(m->topic, "soul/terminal/terminal-%d/%63[^/]", &i, leaf) !=
		2 ||
	    strcmp(leaf, c->leaf) != 0 || m->retain || i < 1 || i > c->bodies ||
	    c->has[i])
		return;
	c->has[i] = true;
	c->n++;
}

static bool
sim_fleet_complete(void *arg)
{
	const struct sim_fleet *c = arg;

	return c->n == c->bodies;
}

static void
sim_fleet_expect(struct sim_fleet *c, const char *leaf)
{
	c->leaf = leaf;
	c->n = 0;
	memset(c->has, 0, sizeof(c->has));
}

static void
sim_fleet_wait_all(struct sim_fleet *c)
{
	ck_assert_msg(mqtt_peer_until(
			  &c->b.peer, sim_fleet_complete, c, SIM_FLEET_WAIT_MS),
	    "%s: %d", c->leaf, c->n);
	mqtt_peer_clear(&c->b.peer);
}

void
sim_fleet_invoke_all(struct sim_fleet *c, const char *id)
{
	char topic[128], body[256];
	int i;

	sim_fleet_expect(c, "result");
	snprintf(body, sizeof(body),
	    "{\"request_id\":\"%s\",\"skill\":\"control_light\","
	    "\"arguments\":{\"mode\":\"on\"}}",
	    id);
	for (i = 1; i <= c->bodies; i++) {
		snprintf(topic, sizeof(topic),
		    "soul/terminal/terminal-%03d/invoke/%s", i, id);
		mqtt_peer_send(&c->b.peer, topic, body, false);
	}
	sim_fleet_wait_all(c);
}

static bool
sim_fleet_all_up(void *arg)
{
	struct sim_fleet *c = arg;
	struct tk_response a = { 0 };
	char line[64];
	bool is;

	snprintf(line, sizeof(line), "mqtt_clients_up %d\n", c->bodies);
	is = tk_service_get(&c->b.sim, &a, "/metrics") == 200 &&
	    tk_response_has(&a, line);
	tk_response_free(&a);
	return is;
}

bool
sim_fleet_raise_limit(int n)
{
	struct rlimit lim;

	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &lim), 0);
	lim.rlim_cur = lim.rlim_max;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &lim), 0);
	return lim.rlim_max > (rlim_t)n + 1000;
}

void
sim_fleet_listen(struct sim_fleet *c)
{
	mqtt_peer_open(&c->b.peer, c->b.broker.port, "#");
	c->b.peer.fn = sim_fleet_count;
	c->b.peer.arg = c;
}

void
sim_fleet_start(struct sim_fleet *c, int bodies)
{
	char count[32];
	const char *const env[] = { count, "LOG_LEVEL=info", NULL };

	c->bodies = bodies;
	snprintf(count, sizeof(count), "BODY_COUNT=%d", bodies);
	tk_server_start(&c->b.broker, TK_MOSQUITTO);
	sim_fleet_listen(c);
	sim_fleet_expect(c, "intent_catalog");
	sim_fixture_spawn(&c->b, env);
	sim_fleet_wait_all(c);
	tk_service_wait(&c->b.sim);
	ck_assert(tk_until(sim_fleet_all_up, c, SIM_FLEET_WAIT_MS));
}

void
sim_fleet_lose_broker(struct sim_fleet *c)
{
	sim_fleet_expect(c, "intent_catalog");
	tk_signal(&c->b.sim.proc, SIGSTOP);
	tk_server_stop(&c->b.broker, SIGKILL);
	tk_server_restart(&c->b.broker);
	mqtt_peer_close(&c->b.peer);
	sim_fleet_listen(c);
	tk_signal(&c->b.sim.proc, SIGCONT);
	sim_fleet_wait_all(c);
	ck_assert(tk_until(sim_fleet_all_up, c, SIM_FLEET_WAIT_MS));
}

void
sim_fleet_stop(struct sim_fleet *c)
{
	sim_fleet_expect(c, "online");
	tk_service_end(&c->b.sim);
	sim_fleet_wait_all(c);
	sim_fixture_stop(&c->b);
}
