/*
 * client: making and freeing a client; single commands and scripts as pipelines
 * of one; keys.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/fiber.h"
#include "core/log.h"
#include "core/mem.h"
#include "state/cluster.h"
#include "state/state_internal.h"

#define WAIT_MS     500 /* for replicas, by default */
#define LOG_EVERY_S 10

static void
client_metrics(struct state *s, struct metric_set *m)
{
	s->m_up =
	    metric_gauge(m, "state_up", "Whether Redis is connected.", NULL);
	s->m_connects = metric_counter(
	    m, "state_connects_total", "Connections made to Redis.", NULL);
	s->m_calls = metric_counter(m, "state_commands_total",
	    "Commands that were to be executed by Redis.", NULL);
	s->m_failures = metric_counter(
	    m, "state_failures_total", "Commands without a reply.", NULL);
	s->m_errors = metric_counter(m, "state_refusals_total",
	    "Commands that Redis rejected with an error.", NULL);
	s->m_unreplicated = metric_counter(m, "state_unreplicated_total",
	    "Waits that ended without enough replicas.", NULL);
	s->m_seconds = metric_histogram(m, "state_call_seconds",
	    "Round trip of a command or pipeline that was sent.", NULL);
}

static void
client_changed(void *arg, bool up)
{
	struct state *s = arg;

	metric_set(s->m_up, up ? 1 : 0);
}

static void
client_connect(struct state *s)
{
	const struct redis_url *u = &s->connection_opts.url;
	struct node_opts n = { .changed = client_changed, .arg = s };

	if (u->mode == REDIS_CLUSTER) {
		s->cluster = cluster_new(s);
		return;
	}
	n.address = u->addresses[0];
	if (u->mode == REDIS_SENTINEL)
		n.kind = NODE_SENTINEL;
	s->node = state_node_new(s, &n);
}

enum rc
state_new(const struct state_opts *o, struct state **out)
{
	struct state *s = mem_zalloc(sizeof(*s));
	enum rc rc;

	*out = NULL;
	rc = state_url_read(o, &s->connection_opts);
	if (rc != RC_OK) {
		free(s);
		return rc;
	}
	client_metrics(s, o->metrics);
	s->loop = o->loop;
	s->workers = o->workers;
	s->connection_opts.check_format = o->on_format != NULL;
	s->on_format = o->on_format;
	s->on_format_arg = o->arg;
	s->wait_replicas = o->wait_replicas;
	s->wait_ms = o->wait_ms > 0 ? o->wait_ms : WAIT_MS;
	if (o->conf != NULL) {
		s->wait_replicas = (int)o->conf->wait_replicas;
		s->wait_ms = (int)o->conf->wait_ms;
	}
	client_connect(s);
	*out = s;
	return RC_OK;
}

void
state_stop(struct state *s)
{
	if (s == NULL)
		return;
	s->stopped = true;
	if (s->node != NULL)
		state_node_stop(s->node);
	cluster_stop(s->cluster);
	state_pauses_end(s);
}

void
state_free(struct state *s)
{
	struct state_pipe *p;

	if (s == NULL)
		return;
	state_stop(s);
	state_node_free(s->node);
	cluster_free(s->cluster);
	while (s->n_spare > 0) {
		p = state_pipe_take(s);
		state_pipe_free(p);
	}
	free(s);
}

struct fiber *
state_fiber(struct state *s)
{
	struct fiber *self = fiber_self();
	int64_t missed;

	/* Nothing else that the loop does goes on meanwhile. */
	if (self == NULL && loop_is_running(s->loop) &&
	    log_every(&s->log_blocks, LOG_EVERY_S, &missed))
		log_error("state.blocks_loop", LOG_I("missed", missed));
	return self;
}

bool
state_is_later(uint32_t a, uint32_t b)
{
	/* It wraps. */
	return a != b && a - b < UINT32_MAX / 2;
}

bool
state_up(const struct state *s)
{
	return s->cluster != NULL ? cluster_up(s->cluster)
				  : state_node_up(s->node);
}

struct state_node *
state_route(struct state *s, int slot)
{
	return s->cluster != NULL ? cluster_route(s->cluster, slot) : s->node;
}

enum rc
state_cmd(
    struct state *s, const struct str *args, size_t n, struct state_reply **out)
{
	struct state_pipe *p = state_pipe_take(s);
	enum rc rc;

	if (out != NULL)
		*out = NULL;
	rc = state_pipe_cmd(p, args, n);
	if (rc == RC_OK)
		return state_pipe_run_single(p, out);
	state_pipe_put(p);
	return rc;
}

enum rc
state_eval(
    struct state *s, const struct state_call *c, struct state_reply **out)
{
	struct state_pipe *p = state_pipe_take(s);
	enum rc rc;

	if (out != NULL)
		*out = NULL;
	rc = state_pipe_eval(p, c);
	if (rc == RC_OK)
		return state_pipe_run_single(p, out);
	state_pipe_put(p);
	return rc;
}

/* Appends part to the key in dst, of *len bytes. */
static bool
key_append(char dst[STATE_KEY_MAX], size_t *len, struct str part)
{
	if (*len + part.n >= STATE_KEY_MAX)
		return false;
	memcpy(dst + *len, part.p, part.n);
	*len += part.n;
	dst[*len] = '\0';
	return true;
}

enum rc
state_key(char dst[STATE_KEY_MAX], const char *pattern, const struct str *ids,
    size_t n, struct str *out)
{
	char token[ID_TOKEN_MAX], tag[BUCKET_TAG_MAX];
	size_t len = 0, used = 0,
	       tokens = 0; /* token is that of ids[tokens-1] */
	struct str part;
	const char *c;

	dst[0] = '\0';
	for (c = pattern; *c != '\0'; c += part.p == c ? part.n : 1) {
		part = (struct str){ c, strcspn(c, "#%") };
		if (part.n == 0 && tokens == used) {
			if (used == n || id_token(ids[used], token) != RC_OK)
				return RC_INVALID;
			tokens++;
		}
		if (*c == '#') {
			if (used > 0)
				return RC_INVALID;
			part = bucket_tag(bucket_of_token(str_of(token)), tag);
		} else if (*c == '%') {
			used++;
			part = str_of(token);
		}
		if (!key_append(dst, &len, part))
			return RC_TOOBIG;
	}
	if (used != n)
		return RC_INVALID;
	*out = (struct str){ dst, len };
	return RC_OK;
}

enum rc
state_bucket_key(char dst[STATE_KEY_MAX], const char *pattern, unsigned bucket,
    struct str *out)
{
	char tag[BUCKET_TAG_MAX];
	size_t len = 0;
	struct str part;
	const char *c;

	if (bucket >= STATE_BUCKETS)
		return RC_INVALID;
	dst[0] = '\0';
	for (c = pattern; *c != '\0'; c++) {
		part =
		    *c == '#' ? bucket_tag(bucket, tag) : (struct str){ c, 1 };
		if (!key_append(dst, &len, part))
			return RC_TOOBIG;
	}
	*out = (struct str){ dst, len };
	return RC_OK;
}
