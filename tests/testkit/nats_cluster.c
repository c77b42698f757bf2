#include "testkit/nats_cluster.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "testkit/http.h"
#include "testkit/json.h"
#include "testkit/rights.h"

/* An election takes up to 9 s, and the first one fails now and then. */
#define WAIT_MS 60000

/* ---- a node's own figures ---- */

/*
 * NULL: it does not run, or has no such figures.  Some of them are too big for
 * an integer of jansson's.
 */
static json_t *
node_figures(const struct tk_nats_cluster *c, size_t i, const char *path)
{
	struct tk_response a = { 0 };
	json_t *j = NULL;

	if (!tk_alive(&c->node[i].proc) || !tk_port_open(c->monitor[i]))
		return NULL;
	if (tk_http_request(c->monitor[i], &a, "GET", path, NULL) == 200)
		j = json_loadb(
		    a.body.p, a.body.n, JSON_DECODE_INT_AS_REAL, NULL);
	tk_response_free(&a);
	return j;
}

static bool
node_is_named(size_t i, json_t *j, const char *path)
{
	char name[16];

	snprintf(name, sizeof(name), "n%zu", i);
	return strcmp(tk_find_text(j, path), name) == 0;
}

/*
 * Whether node i leads this group of all nodes, and, in its own view, all
 * others that run are current.
 */
static bool
node_is_leader(const struct tk_nats_cluster *c, size_t i, json_t *group)
{
	json_t *replica;
	size_t k, n;

	if (!node_is_named(i, group, "leader") ||
	    json_array_size(tk_find(group, "replicas")) != TK_NATS_NODES - 1)
		return false;
	json_array_foreach (tk_find(group, "replicas"), n, replica)
		for (k = 0; k < TK_NATS_NODES; k++)
			if (node_is_named(k, replica, "name") &&
			    tk_alive(&c->node[k].proc) &&
			    !json_is_true(tk_find(replica, "current")))
				return false;
	return true;
}

/* A stream in the figures of a node, NULL: none; it is a part of them. */
static json_t *
figures_stream(json_t *figures, const char *stream)
{
	json_t *account, *s;
	size_t i, k;

	json_array_foreach (tk_find(figures, "account_details"), i, account)
		json_array_foreach (tk_find(account, "stream_detail"), k, s)
			if (strcmp(tk_find_text(s, "name"), stream) == 0)
				return s;
	return NULL;
}

/* ---- conditions ---- */

/* /healthz would report more, but not of a follower that has been idle. */
static bool
cluster_is_current(void *arg)
{
	const struct tk_nats_cluster *c = arg;
	bool led = false;
	json_t *j;
	size_t i;

	for (i = 0; i < TK_NATS_NODES && !led; i++) {
		j = node_figures(c, i, "/jsz");
		led = node_is_leader(c, i, tk_find(j, "meta_cluster"));
		json_decref(j);
	}
	return led;
}

struct stream_group {
	const struct tk_nats_cluster *c;
	const char *stream;
	size_t leader, consumer_leader;
};

static void
group_read_node(struct stream_group *g, size_t i)
{
	json_t *j = node_figures(g->c, i, "/jsz?accounts=1&consumers=1"), *s,
	       *consumer;
	size_t k;

	s = figures_stream(j, g->stream);
	if (node_is_leader(g->c, i, tk_find(s, "cluster")))
		g->leader = i;
	json_array_foreach (tk_find(s, "consumer_detail"), k, consumer)
		if (node_is_leader(g->c, i, tk_find(consumer, "cluster")))
			g->consumer_leader = i;
	json_decref(j);
}

static void
group_read(struct stream_group *g)
{
	size_t i;

	g->leader = g->consumer_leader = TK_NATS_NODES;
	for (i = 0; i < TK_NATS_NODES; i++)
		group_read_node(g, i);
}

static bool
stream_has_leader(void *arg)
{
	struct stream_group *g = arg;

	group_read(g);
	return g->leader < TK_NATS_NODES;
}

static bool
consumer_has_leader(void *arg)
{
	struct stream_group *g = arg;

	group_read(g);
	return g->consumer_leader < TK_NATS_NODES;
}

/* ---- the cluster ---- */

static void
node_start(struct tk_nats_cluster *c, size_t i, const int route[TK_NATS_NODES],
    bool rights)
{
	char text[512];

	c->monitor[i] = tk_port();
	snprintf(text, sizeof(text),
	    "server_name: n%zu\nhttp: \"127.0.0.1:%d\"\n"
	    "cluster { name: soul, listen: \"127.0.0.1:%d\", routes: [\n"
	    "  \"nats://127.0.0.1:%d\"\n"
	    "  \"nats://127.0.0.1:%d\"\n"
	    "  \"nats://127.0.0.1:%d\"\n"
	    "] }\n",
	    i, c->monitor[i], route[i], route[0], route[1], route[2]);
	if (rights)
		tk_rights_nats_with(&c->node[i], text);
	else
		tk_server_start_with(&c->node[i], TK_NATS, text);
}

void
tk_nats_cluster_start(struct tk_nats_cluster *c, bool rights)
{
	int route[TK_NATS_NODES];
	size_t i;

	*c = (struct tk_nats_cluster){ 0 };
	for (i = 0; i < TK_NATS_NODES; i++)
		route[i] = tk_port();
	for (i = 0; i < TK_NATS_NODES; i++)
		node_start(c, i, route, rights);
	snprintf(c->url, sizeof(c->url), "%s,%s,%s", c->node[0].url,
	    c->node[1].url, c->node[2].url);
	tk_nats_cluster_wait(c);
}

void
tk_nats_cluster_wait(struct tk_nats_cluster *c)
{
	ck_assert_msg(tk_until(cluster_is_current, c, WAIT_MS),
	    "the cluster of nats-servers is not current");
}

/* Whether all streams of Soul have a leader and current copies. */
static bool
cluster_has_recovered(void *arg)
{
	static const char *const streams[] = { "SOUL_EVENTS", "SOUL_JOBS",
		"SOUL_DEAD" };
	struct tk_nats_cluster *c = arg;
	size_t i;

	if (!cluster_is_current(c))
		return false;
	for (i = 0; i < sizeof(streams) / sizeof(*streams); i++) {
		struct stream_group g = { .c = c, .stream = streams[i] };

		if (!stream_has_leader(&g))
			return false;
	}
	return true;
}

bool
tk_nats_cluster_recovers(struct tk_nats_cluster *c, int ms)
{
	return tk_until(cluster_has_recovered, c, ms);
}

void
tk_nats_cluster_stop(struct tk_nats_cluster *c)
{
	size_t i;

	for (i = 0; i < TK_NATS_NODES; i++)
		if (c->node[i].proc.pid > 0)
			tk_server_stop(&c->node[i], SIGTERM);
}

size_t
tk_nats_cluster_leader(const struct tk_nats_cluster *c, const char *stream)
{
	struct stream_group g = { .c = c, .stream = stream };

	ck_assert_msg(tk_until(stream_has_leader, &g, WAIT_MS),
	    "%s has no leader", stream);
	return g.leader;
}

size_t
tk_nats_cluster_consumer_leader(
    const struct tk_nats_cluster *c, const char *stream)
{
	struct stream_group g = { .c = c, .stream = stream };

	ck_assert_msg(tk_until(consumer_has_leader, &g, WAIT_MS),
	    "the consumer of %s has no leader", stream);
	return g.consumer_leader;
}

bool
tk_nats_cluster_is_version(const struct tk_nats_cluster *c, const char *prefix)
{
	json_t *j = NULL;
	bool is;
	size_t i;

	for (i = 0; i < TK_NATS_NODES && j == NULL; i++)
		j = node_figures(c, i, "/varz");
	ck_assert_ptr_nonnull(j);
	is = strncmp(tk_text(j, "version"), prefix, strlen(prefix)) == 0;
	json_decref(j);
	return is;
}

size_t
tk_nats_cluster_client(const struct tk_nats_cluster *c, const char *name)
{
	json_t *j, *client;
	bool found = false;
	size_t i, k;

	for (i = 0; i < TK_NATS_NODES && !found; i++) {
		j = node_figures(c, i, "/connz");
		json_array_foreach (tk_find(j, "connections"), k, client)
			found = found ||
			    strcmp(tk_find_text(client, "name"), name) == 0;
		json_decref(j);
	}
	return found ? i - 1 : TK_NATS_NODES;
}
