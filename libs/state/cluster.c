/*
 * cluster: the servers of a Redis Cluster, and which slots they serve.
 *
 * The map of slots comes from any of the servers, on a worker thread, when a
 * server reports a move, is lost, or cannot be connected, and now and then.
 * A move that a server reports counts at once.
 */
#include <stdatomic.h>
#include <stdlib.h>

#include "core/mem.h"
#include "state/cluster.h"

/* Between two requests for the map: at least; while a master is down; else. */
#define REFRESH_MIN_MS  50
#define REFRESH_DOWN_MS 200
#define REFRESH_IDLE_MS 60000
#define RETRY_MIN_MS    10
#define RETRY_MAX_MS    1000
#define LOG_EVERY_S     30
/* A server without slots is freed; calls to it have long ended then. */
#define UNUSED_MS 300000
/* Calls of a slot that was imported have long ended. */
#define IMPORTED_MS 120000
/* Time for one server to reply with the map, and the map's size in memory. */
#define QUERY_MS  500
#define REPLY_MAX (16UL << 20)
/* Servers that are queried for one map. */
#define QUERIES_MAX 32

struct cluster_member {
	struct cluster *c;
	struct state_node *node;
	size_t slots;     /* that it serves */
	uint32_t since;   /* the client's version when it began to */
	struct mono used; /* when it had slots, or was named, the last time */
};

struct cluster {
	struct state *s;
	struct cluster_member *members[CLUSTER_NODES_MAX]; /* NULL: free */
	uint16_t owner[CLUSTER_SLOTS]; /* an index of members, or unserved */
	/* Who has executed calls of a slot that it imports: likewise. */
	uint16_t importer[CLUSTER_SLOTS];
	struct mono imported; /* when one got a call, the last time */
	bool complete;        /* all masters have been connected */
	_Atomic bool up;

	struct slot_job *job;
	bool due;    /* after the job that runs */
	size_t turn; /* the server that is queried first */
	struct mono refreshed;
	struct loop_timer timer;
	struct backoff backoff;
	struct log_rate log_failing;
};

/* Requests the map; it uses copies, so that the cluster may be freed. */
struct slot_job {
	struct cluster *c; /* used by the loop only; NULL: freed */
	struct connection_opts opts;
	struct redis_address addresses[QUERIES_MAX];
	size_t n;
	enum rc rc;
	char why[STATE_ERROR_MAX];
	struct slot_map map;
};

static void cluster_request_map(void *arg);

/* ---- members ---- */

static void
cluster_update_up(struct cluster *c)
{
	size_t i, masters = 0, connected = 0;
	bool up;

	for (i = 0; i < CLUSTER_NODES_MAX; i++) {
		if (c->members[i] == NULL || c->members[i]->slots == 0)
			continue;
		masters++;
		connected += state_node_up(c->members[i]->node);
	}
	if (masters > 0 && connected == masters)
		c->complete = true;
	up = c->complete && 2 * connected > masters;
	if (!up)
		c->complete = false;
	if (up == atomic_load(&c->up))
		return;
	atomic_store(&c->up, up);
	metric_set(c->s->m_up, up ? 1 : 0);
}

static void
cluster_on_change(void *arg, bool up)
{
	struct cluster_member *m = arg;

	cluster_update_up(m->c);
	if (!up)
		cluster_refresh(m->c);
}

/* The index of a member, which is made if it is new. */
static bool
cluster_member_index(
    struct cluster *c, const struct redis_address *a, uint16_t *out)
{
	struct node_opts o = { .address = *a, .changed = cluster_on_change };
	size_t i, at = CLUSTER_NODES_MAX;
	struct cluster_member *m;

	for (i = CLUSTER_NODES_MAX; i > 0; i--) {
		m = c->members[i - 1];
		if (m == NULL) {
			at = i - 1;
		} else if (slot_map_address_eq(
			       state_node_address(m->node), a)) {
			*out = (uint16_t)(i - 1);
			return true;
		}
	}
	if (at == CLUSTER_NODES_MAX)
		return false;
	m = mem_zalloc(sizeof(*m));
	m->c = c;
	m->used = clock_mono();
	o.arg = m;
	m->node = state_node_new(c->s, &o);
	c->members[at] = m;
	*out = (uint16_t)at;
	return true;
}

static void
cluster_set_owner(struct cluster *c, int slot, uint16_t to, uint32_t version)
{
	uint16_t from = c->owner[slot];

	if (from == to)
		return;
	if (from != SLOT_UNSERVED && --c->members[from]->slots == 0)
		c->members[from]->used = clock_mono();
	if (to != SLOT_UNSERVED && c->members[to]->slots++ == 0)
		c->members[to]->since = version;
	c->owner[slot] = to;
	c->importer[slot] = SLOT_UNSERVED;
}

static void
cluster_free_unused(struct cluster *c)
{
	struct mono now = clock_mono();
	struct cluster_member *m;
	size_t i;

	/* Moves that were given up. */
	if (mono_diff_ms(now, c->imported) >= IMPORTED_MS)
		for (i = 0; i < CLUSTER_SLOTS; i++)
			c->importer[i] = SLOT_UNSERVED;
	for (i = 0; i < CLUSTER_NODES_MAX; i++) {
		m = c->members[i];
		if (m == NULL || m->slots > 0 ||
		    mono_diff_ms(now, m->used) < UNUSED_MS ||
		    !state_node_is_idle(m->node))
			continue;
		state_node_free(m->node);
		free(m);
		c->members[i] = NULL;
	}
}

/* ---- the map ---- */

static void
cluster_apply(struct cluster *c, const struct slot_map *map)
{
	uint16_t index[CLUSTER_NODES_MAX], owner;
	uint32_t version = ++c->s->version;
	size_t i;
	int slot;

	for (i = 0; i < map->n; i++)
		if (!cluster_member_index(c, &map->nodes[i], &index[i]))
			index[i] = SLOT_UNSERVED;
	for (slot = 0; slot < CLUSTER_SLOTS; slot++) {
		owner = map->owner[slot];
		/* Between two owners, the old one still redirects. */
		if (owner != SLOT_UNSERVED)
			cluster_set_owner(c, slot, index[owner], version);
	}
	cluster_free_unused(c);
	cluster_update_up(c);
}

static bool
cluster_has_lost(const struct cluster *c)
{
	size_t i;

	for (i = 0; i < CLUSTER_NODES_MAX; i++)
		if (c->members[i] != NULL && c->members[i]->slots > 0 &&
		    !state_node_up(c->members[i]->node))
			return true;
	return false;
}

static enum rc
slot_job_query(struct slot_job *job, const struct redis_address *a)
{
	const struct connection_query q = {
		STATE_ARGS(STR("CLUSTER"), STR("SLOTS")), QUERY_MS, REPLY_MAX
	};
	struct state_reply *r = NULL;
	struct connection *c;
	enum rc rc;

	rc = state_connection_dial(a, QUERY_MS, &c, job->why);
	if (rc != RC_OK)
		return rc;
	rc = state_connection_login(
	    c, job->opts.url.user, job->opts.url.password, job->why);
	if (rc == RC_OK)
		rc = state_connection_query(c, &q, &r, job->why);
	if (rc == RC_OK) {
		rc = slot_map_read(r, a->host, &job->map);
		if (rc != RC_OK)
			str_copy(STR("no valid map of slots"), job->why,
			    sizeof(job->why));
	}
	state_reply_free(r);
	state_connection_close(c);
	return rc;
}

static void
slot_job_run(void *arg)
{
	struct slot_job *job = arg;
	size_t i;

	for (i = 0; i < job->n; i++) {
		job->rc = slot_job_query(job, &job->addresses[i]);
		if (job->rc == RC_OK)
			return;
	}
}

static void
cluster_schedule(struct cluster *c, int64_t ms)
{
	loop_timer_set(c->s->loop, &c->timer, mono_add_ms(clock_mono(), ms),
	    cluster_request_map, c);
}

static void
cluster_log_failed(struct cluster *c, const struct slot_job *job)
{
	int64_t missed;

	if (!log_every(&c->log_failing, LOG_EVERY_S, &missed))
		return;
	if (job->rc == RC_DENIED)
		log_error("state.denied", LOG_S("why", job->why),
		    LOG_I("missed", missed));
	else
		log_warn("state.cluster", LOG_S("why", job->why),
		    LOG_I("missed", missed));
}

static void
slot_job_done(void *arg)
{
	struct slot_job *job = arg;
	struct cluster *c = job->c;

	if (c == NULL) {
		free(job);
		return;
	}
	c->job = NULL;
	c->refreshed = clock_mono();
	c->turn++;
	if (job->rc == RC_OK) {
		backoff_reset(&c->backoff);
		c->log_failing = (struct log_rate){ 0 };
		cluster_apply(c, &job->map);
		cluster_schedule(c,
		    c->due                    ? REFRESH_MIN_MS
			: cluster_has_lost(c) ? REFRESH_DOWN_MS
					      : REFRESH_IDLE_MS);
	} else {
		cluster_log_failed(c, job);
		cluster_schedule(c, backoff_next_ms(&c->backoff));
	}
	c->due = false;
	free(job);
}

/* Servers that are connected come first, the URL's addresses last. */
static void
slot_job_put_addresses(struct slot_job *job, const struct cluster *c)
{
	const struct redis_url *u = &c->s->connection_opts.url;
	const struct cluster_member *m;
	size_t i, up;

	for (up = 2; up > 0; up--)
		for (i = 0; i < CLUSTER_NODES_MAX; i++) {
			m = c->members[(c->turn + i) % CLUSTER_NODES_MAX];
			if (m != NULL && job->n < QUERIES_MAX - u->n &&
			    state_node_up(m->node) == (up == 2))
				job->addresses[job->n++] =
				    *state_node_address(m->node);
		}
	for (i = 0; i < u->n; i++)
		job->addresses[job->n++] = u->addresses[(c->turn + i) % u->n];
}

static void
cluster_request_map(void *arg)
{
	struct cluster *c = arg;
	struct slot_job *job;

	if (c->job != NULL) {
		c->due = true;
		return;
	}
	job = mem_zalloc(sizeof(*job));
	job->c = c;
	job->opts = c->s->connection_opts;
	job->rc = RC_DOWN;
	str_copy(STR("the worker did not run"), job->why, sizeof(job->why));
	slot_job_put_addresses(job, c);
	c->job = job;
	if (worker_run(c->s->workers, slot_job_run, slot_job_done, job) ==
	    RC_OK)
		return;
	c->job = NULL;
	free(job);
	cluster_schedule(c, backoff_next_ms(&c->backoff));
}

void
cluster_refresh(struct cluster *c)
{
	struct mono at = clock_mono(), soonest;

	if (c->s->stopped)
		return;
	if (c->job != NULL) {
		c->due = true;
		return;
	}
	soonest = mono_add_ms(c->refreshed, REFRESH_MIN_MS);
	if (mono_diff_ns(at, soonest) < 0)
		at = soonest;
	if (c->timer.pos == 0 || mono_diff_ns(at, c->timer.at) < 0)
		loop_timer_set(
		    c->s->loop, &c->timer, at, cluster_request_map, c);
}

/* ---- the interface ---- */

struct state_node *
cluster_route(struct cluster *c, int slot)
{
	struct cluster_member *m = NULL;
	size_t i;

	if (slot >= 0)
		return c->owner[slot] != SLOT_UNSERVED
		    ? c->members[c->owner[slot]]->node
		    : NULL;
	for (i = 0; i < CLUSTER_NODES_MAX; i++) {
		if (c->members[i] == NULL || c->members[i]->slots == 0)
			continue;
		m = c->members[i];
		if (state_node_up(m->node))
			break;
	}
	return m != NULL ? m->node : NULL;
}

struct state_node *
cluster_slot_imported(
    struct cluster *c, int slot, const struct redis_address *a)
{
	uint16_t i;

	if (!cluster_member_index(c, a, &i))
		return NULL;
	c->members[i]->used = c->imported = clock_mono();
	c->importer[slot] = i;
	return c->members[i]->node;
}

struct state_node *
cluster_importer(const struct cluster *c, int slot)
{
	uint16_t i = c->importer[slot];

	return i != SLOT_UNSERVED ? c->members[i]->node : NULL;
}

void
cluster_slot_moved(struct cluster *c, int slot, const struct redis_address *a)
{
	uint16_t i;

	/* Whatever happened, it is seldom a single slot. */
	cluster_refresh(c);
	if (cluster_member_index(c, a, &i))
		cluster_set_owner(c, slot, i, ++c->s->version);
	cluster_update_up(c);
}

uint32_t
cluster_owner_since(const struct cluster *c, int slot)
{
	uint16_t owner = c->owner[slot];

	return owner != SLOT_UNSERVED ? c->members[owner]->since
				      : c->s->version;
}

bool
cluster_up(const struct cluster *c)
{
	return atomic_load(&c->up);
}

struct cluster *
cluster_new(struct state *s)
{
	struct cluster *c = mem_zalloc(sizeof(*c));
	size_t i;

	c->s = s;
	c->backoff = (struct backoff){ RETRY_MIN_MS, RETRY_MAX_MS, 0 };
	for (i = 0; i < CLUSTER_SLOTS; i++)
		c->owner[i] = c->importer[i] = SLOT_UNSERVED;
	cluster_request_map(c);
	return c;
}

void
cluster_stop(struct cluster *c)
{
	size_t i;

	if (c == NULL)
		return;
	loop_timer_cancel(c->s->loop, &c->timer);
	if (c->job != NULL)
		c->job->c = NULL;
	c->job = NULL;
	for (i = 0; i < CLUSTER_NODES_MAX; i++)
		if (c->members[i] != NULL)
			state_node_stop(c->members[i]->node);
}

void
cluster_free(struct cluster *c)
{
	size_t i;

	if (c == NULL)
		return;
	cluster_stop(c);
	for (i = 0; i < CLUSTER_NODES_MAX; i++) {
		if (c->members[i] == NULL)
			continue;
		state_node_free(c->members[i]->node);
		free(c->members[i]);
	}
	free(c);
}
