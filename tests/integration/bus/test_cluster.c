/*
 * A cluster of three nats-servers, of which some are killed: a publish ends
 * with an acknowledgement and is stored, or with an error; consumers, requests
 * and queue groups go on.
 */
#include "testkit/bus_fixture.h"
#include "testkit/bus_jobs.h"
#include "testkit/nats_cluster.h"

/* An election takes 4 to 9 s, and what waits for it some more. */
#define ELECTION_MS 60000

struct cluster_fixture {
	struct tk_nats_cluster c;
	struct bus_fixture e; /* its bus knows all nodes */
};

static struct bus *
cluster_bus(struct cluster_fixture *f, const char *url, const char *name)
{
	struct bus_opts o = { .loop = f->e.loop,
		.url = url,
		.name = name,
		.replicas = TK_NATS_NODES };
	struct bus *b;

	ck_assert_int_eq(bus_new(&o, &b), RC_OK);
	BUS_FIXTURE_WAIT(&f->e, bus_fixture_is_up, b);
	return b;
}

static void
cluster_begin(struct cluster_fixture *f)
{
	tk_nats_cluster_start(&f->c, false);
	f->e = (struct bus_fixture){ .loop = loop_new(4096) };
	f->e.bus = cluster_bus(f, f->c.url, "test");
}

static void
cluster_end(struct cluster_fixture *f)
{
	bus_free(f->e.bus);
	loop_free(f->e.loop);
	tk_nats_cluster_stop(&f->c);
}

/* The stream JOBS, with a replica on each node that is current. */
static void
cluster_create_jobs(struct cluster_fixture *f)
{
	static struct bus_jobs_ready w;
	struct bus_stream s = bus_jobs_stream(&w);

	w = (struct bus_jobs_ready){ 0, 0, RC_OK };
	ck_assert_int_eq(bus_stream_ensure(f->e.bus, &s), RC_OK);
	ck_assert(bus_fixture_until(&f->e, bus_jobs_is_ready, &w, ELECTION_MS));
	(void)tk_nats_cluster_leader(&f->c, "JOBS");
}

/* Elect leaders until it is, or is not, the node that the bus is connected to;
 * it. */
static size_t
cluster_move_leader(struct cluster_fixture *f, bool with_client)
{
	size_t client = tk_nats_cluster_client(&f->c, "test"), leader;

	for (;;) {
		leader = tk_nats_cluster_leader(&f->c, "JOBS");
		if ((leader == client) == with_client)
			return leader;
		json_decref(bus_fixture_request_json(
		    &f->e, "$JS.API.STREAM.LEADER.STEPDOWN.JOBS", ""));
	}
}

/* ---- publishing through an outage ---- */

#define STORES BUS_JOBS_MAX
#define WINDOW 256

struct store {
	struct publisher *of;
	int number;
	int64_t seq; /* 0: not acknowledged */
	struct loop_timer retry;
};

/* Publishes each number until it is acknowledged. */
struct publisher {
	struct cluster_fixture *f;
	int sent, acked;
	int errors[RC_N];
	struct store all[STORES];
};

static void store_publish(void *arg);

static void
publisher_fill(struct publisher *p)
{
	while (p->sent < STORES && p->sent - p->acked < WINDOW) {
		struct store *s = &p->all[p->sent];

		*s = (struct store){ .of = p, .number = p->sent++ };
		store_publish(s);
	}
}

static void
store_failed(struct store *s, enum rc rc)
{
	s->of->errors[rc]++;
	loop_timer_set(s->of->f->e.loop, &s->retry,
	    mono_add_ms(clock_mono(), 100), store_publish, s);
}

static void
store_on_ack(void *arg, enum rc rc, const struct bus_pub_ack *ack)
{
	struct store *s = arg;

	if (rc != RC_OK) {
		store_failed(s, rc);
		return;
	}
	s->seq = ack->seq;
	s->of->acked++;
	publisher_fill(s->of);
}

static void
store_publish(void *arg)
{
	struct store *s = arg;
	struct bus_meta meta = { .deadline = bus_fixture_in_ms(2000) };
	char id[16];
	enum rc rc;

	snprintf(id, sizeof(id), "%d", s->number);
	meta.msg_id = id;
	rc = bus_stream_publish(s->of->f->e.bus, "job.n", str_of(id), &meta,
	    (struct bus_pub_ack_handler){ store_on_ack, s });
	if (rc != RC_OK)
		store_failed(s, rc);
}

static bool
publisher_is_half_done(void *arg)
{
	return ((struct publisher *)arg)->acked >= STORES / 2;
}

static bool
publisher_is_done(void *arg)
{
	return ((struct publisher *)arg)->acked == STORES;
}

static void
publisher_start(struct publisher *p, struct cluster_fixture *f)
{
	*p = (struct publisher){ .f = f };
	publisher_fill(p);
	ck_assert(bus_fixture_until(
	    &f->e, publisher_is_half_done, p, BUS_FIXTURE_MS));
}

/* Nothing failed that was not unavailable or unknown. */
static void
publisher_finish(struct publisher *p)
{
	enum rc rc;

	ck_assert_msg(
	    bus_fixture_until(&p->f->e, publisher_is_done, p, ELECTION_MS),
	    "%d of %d", p->acked, STORES);
	for (rc = RC_OK + 1; rc < RC_N; rc++)
		ck_assert_msg(p->errors[rc] == 0 || rc == RC_NOENT ||
			rc == RC_DOWN || rc == RC_TIMEOUT || rc == RC_RETRY,
		    "%s: %d", rc_name(rc), p->errors[rc]);
}

/* Each is in the stream once, where its acknowledgement said, and a durable
 * consumer reads it once. */
static void
check_stored(struct publisher *p)
{
	static struct bus_jobs_member s;
	struct bus_consumer c = bus_jobs_consumer(&s);
	int i;

	c.name = "check";
	ck_assert_int_eq(bus_consume(p->f->e.bus, &c), RC_OK);
	ck_assert(bus_fixture_until(
	    &p->f->e, bus_jobs_is_ready, &s.ready, ELECTION_MS));
	ck_assert_msg(
	    bus_jobs_until_ms(&p->f->e, &s, STORES, STORES, ELECTION_MS),
	    "%d of %d", s.distinct, STORES);
	ck_assert_int_eq(s.last.pending, 0);
	ck_assert_int_eq(s.n, STORES);
	for (i = 0; i < STORES; i++) {
		ck_assert_int_eq(s.times[i], 1);
		ck_assert_int_eq(s.seq[i], p->all[i].seq);
	}
}

static struct cluster_fixture fixture;
static struct publisher publisher;

TEST_T(a_publish_through_an_election_is_stored_or_an_error, 120)
{
	size_t leader;

	cluster_begin(&fixture);
	cluster_create_jobs(&fixture);
	leader = cluster_move_leader(&fixture, false);
	publisher_start(&publisher, &fixture);
	tk_server_stop(&fixture.c.node[leader], SIGKILL);
	publisher_finish(&publisher);
	/* Nothing serves the stream meanwhile. */
	ck_assert_int_gt(
	    publisher.errors[RC_NOENT] + publisher.errors[RC_TIMEOUT], 0);
	ck_assert(bus_up(fixture.e.bus));
	check_stored(&publisher);
	/* The node catches up. */
	tk_server_restart(&fixture.c.node[leader]);
	(void)tk_nats_cluster_leader(&fixture.c, "JOBS");
	tk_nats_cluster_wait(&fixture.c);
	cluster_end(&fixture);
}

TEST_T(the_bus_connects_to_another_node, 120)
{
	size_t leader;

	cluster_begin(&fixture);
	cluster_create_jobs(&fixture);
	leader = cluster_move_leader(&fixture, true);
	publisher_start(&publisher, &fixture);
	tk_server_stop(&fixture.c.node[leader], SIGKILL);
	publisher_finish(&publisher);
	ck_assert_int_gt(publisher.errors[RC_DOWN], 0);
	ck_assert_uint_ne(tk_nats_cluster_client(&fixture.c, "test"), leader);
	check_stored(&publisher);
	cluster_end(&fixture);
}

TEST_T(a_kill_of_all_nodes_loses_nothing, 120)
{
	size_t i;

	cluster_begin(&fixture);
	cluster_create_jobs(&fixture);
	publisher_start(&publisher, &fixture);
	for (i = 0; i < TK_NATS_NODES; i++)
		tk_server_stop(&fixture.c.node[i], SIGKILL);
	for (i = 0; i < TK_NATS_NODES; i++)
		tk_server_restart(&fixture.c.node[i]);
	publisher_finish(&publisher);
	check_stored(&publisher);
	cluster_end(&fixture);
}

/*
 * It believes that it leads until it hears of the next one.  Replicas of
 * nats-server 2.9.10 may differ for ever after that, which is not for us to
 * check.
 */
TEST_T(a_leader_that_is_frozen_acknowledges_nothing_that_is_lost, 120)
{
	size_t leader;

	cluster_begin(&fixture);
	cluster_create_jobs(&fixture);
	leader = cluster_move_leader(&fixture, false);
	publisher_start(&publisher, &fixture);
	tk_signal(&fixture.c.node[leader].proc, SIGSTOP);
	publisher_finish(&publisher);
	ck_assert_int_gt(publisher.errors[RC_TIMEOUT], 0);
	tk_signal(&fixture.c.node[leader].proc, SIGCONT);
	if (!tk_nats_cluster_is_version(&fixture.c, "2.9."))
		check_stored(&publisher);
	cluster_end(&fixture);
}

/* ---- consumers ---- */

static bool
all_jobs_delivered(void *arg)
{
	return ((struct bus_jobs_member *)arg)->distinct == STORES;
}

/*
 * Each is delivered to the end; a second time only what was not acknowledged,
 * or whose acknowledgement was lost with the node.
 */
TEST_T(a_consumer_goes_on_through_an_election, 120)
{
	static struct bus_jobs_member s;
	struct bus_consumer c = bus_jobs_consumer(&s);

	cluster_begin(&fixture);
	cluster_create_jobs(&fixture);
	c.ack_wait_ms = 2000;
	bus_jobs_consume(&fixture.e, fixture.e.bus, &c);
	publisher_start(&publisher, &fixture);
	tk_server_stop(
	    &fixture.c
		 .node[tk_nats_cluster_consumer_leader(&fixture.c, "JOBS")],
	    SIGKILL);
	publisher_finish(&publisher);
	ck_assert(
	    bus_fixture_until(&fixture.e, all_jobs_delivered, &s, ELECTION_MS));
	ck_assert(bus_jobs_consumer_until(&fixture.e, "num_ack_pending", 0));
	ck_assert(bus_jobs_consumer_until(&fixture.e, "num_pending", 0));
	ck_assert_int_le(s.n, STORES + 2 * (int)c.max_in_flight);
	cluster_end(&fixture);
}

/* ---- requests between nodes ---- */

#define REQUESTS 20000
#define PENDING  64

/* A member of a queue group. */
struct group_member {
	struct bus *bus; /* NULL: freed */
	int served;
};

struct group_client {
	struct cluster_fixture *f;
	struct bus *bus;
	struct group_member member[2];
	int to_send, pending;
	int ended[RC_N];
	bool drained;
};

static void
on_group_request(void *arg, struct bus_msg *m)
{
	((struct group_member *)arg)->served++;
	ck_assert_int_eq(bus_reply(m, STR("done")), RC_OK);
}

static void group_send(struct group_client *g);

static void
on_group_reply(void *arg, enum rc rc, struct str data)
{
	struct group_client *g = arg;

	(void)data;
	g->pending--;
	g->ended[rc]++;
	group_send(g);
}

static void
group_send(struct group_client *g)
{
	struct bus_meta meta = { .deadline = bus_fixture_in_ms(1000) };

	for (; g->to_send > 0 && g->pending < PENDING; g->to_send--) {
		g->pending++;
		ck_assert_int_eq(bus_request(g->bus, "g.work", STR("x"), &meta,
				     (struct bus_reply_handler){
					 .fn = on_group_reply, .arg = g },
				     NULL),
		    RC_OK);
	}
}

static void
group_begin_requests(struct group_client *g)
{
	memset(g->ended, 0, sizeof(g->ended));
	g->member[0].served = g->member[1].served = 0;
	g->to_send = REQUESTS;
	group_send(g);
}

static bool
group_has_ended(void *arg)
{
	const struct group_client *g = arg;

	return g->to_send == 0 && g->pending == 0;
}

static bool
group_both_serve(void *arg)
{
	struct group_client *g = arg;

	if (group_has_ended(g) &&
	    (g->member[0].served == 0 || g->member[1].served == 0))
		group_begin_requests(g);
	return group_has_ended(g);
}

/* Two members and a client, each on a node of its own. */
static void
group_begin(struct group_client *g, struct cluster_fixture *f)
{
	size_t i;

	cluster_begin(f);
	g->f = f;
	for (i = 0; i < 2; i++) {
		g->member[i].bus = cluster_bus(f, f->c.node[i].url, "member");
		ck_assert_int_eq(
		    bus_subscribe(g->member[i].bus, "g.work", "group",
			on_group_request, &g->member[i], NULL),
		    RC_OK);
	}
	g->bus = cluster_bus(f, f->c.node[2].url, "client");
	/* Nodes learn of a subscription a little after its own node has it. */
	group_begin_requests(g);
	BUS_FIXTURE_WAIT(&f->e, group_both_serve, g);
}

static void
group_end(struct group_client *g)
{
	size_t i;

	for (i = 0; i < 2; i++)
		bus_free(g->member[i].bus);
	bus_free(g->bus);
	cluster_end(g->f);
}

static bool
group_is_half_done(void *arg)
{
	return ((struct group_client *)arg)->ended[RC_OK] >= REQUESTS / 2;
}

TEST_T(a_queue_group_goes_on_without_a_node, 60)
{
	static struct group_client g;
	int failed;

	group_begin(&g, &fixture);
	group_begin_requests(&g);
	BUS_FIXTURE_WAIT(&fixture.e, group_is_half_done, &g);
	tk_server_stop(&fixture.c.node[1], SIGKILL);
	BUS_FIXTURE_WAIT(&fixture.e, group_has_ended, &g);
	/* Only what the node had, and the group never is without a member. */
	failed = REQUESTS - g.ended[RC_OK];
	ck_assert_int_eq(failed, g.ended[RC_TIMEOUT]);
	ck_assert_int_le(failed, PENDING);
	ck_assert_int_gt(g.member[0].served, g.member[1].served);
	/* Its member serves again as soon as it has connected. */
	tk_server_restart(&fixture.c.node[1]);
	BUS_FIXTURE_WAIT(&fixture.e, bus_fixture_is_up, g.member[1].bus);
	group_begin_requests(&g);
	BUS_FIXTURE_WAIT(&fixture.e, group_both_serve, &g);
	ck_assert_int_eq(g.ended[RC_OK], REQUESTS);
	group_end(&g);
}

static void
on_group_drained(void *arg)
{
	((struct group_client *)arg)->drained = true;
}

/* The member is drained amid the requests, and freed as soon as it is. */
static bool
group_has_ended_without(void *arg)
{
	struct group_client *g = arg;

	if (g->drained && g->member[0].bus != NULL) {
		bus_free(g->member[0].bus);
		g->member[0].bus = NULL;
	}
	return group_has_ended(g);
}

TEST_T(a_member_drains_on_another_node_and_nothing_is_lost, 60)
{
	static struct group_client g;

	group_begin(&g, &fixture);
	group_begin_requests(&g);
	BUS_FIXTURE_WAIT(&fixture.e, group_is_half_done, &g);
	bus_drain(g.member[0].bus, on_group_drained, &g);
	BUS_FIXTURE_WAIT(&fixture.e, group_has_ended_without, &g);
	ck_assert(g.drained);
	ck_assert_int_eq(g.ended[RC_OK], REQUESTS);
	ck_assert_int_gt(g.member[1].served, REQUESTS / 2);
	group_end(&g);
}
