/*
 * Replicas of streams: raised on existing ones, never lowered, and reported
 * where there can be none.
 */
#include "testkit/bus_fixture.h"
#include "testkit/bus_jobs.h"
#include "testkit/nats_cluster.h"

/* A stream elects its leader first. */
#define CLUSTER_MS 60000

/* Ensure JOBS on a bus with so many replicas; wait until it is confirmed. */
static void
ensure_stream(struct bus_fixture *e, int replicas, int64_t max_bytes)
{
	static struct bus_jobs_ready w;
	struct bus_opts o = { .loop = e->loop,
		.url = e->nats.url,
		.name = "test",
		.replicas = replicas };
	struct bus_stream s = bus_jobs_stream(&w);

	w = (struct bus_jobs_ready){ 0, 0, RC_OK };
	s.max_bytes = max_bytes;
	ck_assert_int_eq(bus_new(&o, &e->bus), RC_OK);
	ck_assert_int_eq(bus_stream_ensure(e->bus, &s), RC_OK);
	ck_assert(bus_fixture_until(e, bus_jobs_is_ready, &w, CLUSTER_MS));
}

static void
check_replicas(struct bus_fixture *e, long long replicas, long long max_bytes)
{
	json_t *o = bus_fixture_request_json(e, "$JS.API.STREAM.INFO.JOBS", "");
	json_t *config = json_object_get(o, "config");

	bus_fixture_check_int(config, "num_replicas", replicas);
	bus_fixture_check_int(config, "max_bytes", max_bytes);
	json_decref(o);
}

TEST_T(replicas_are_raised_and_never_lowered, 120)
{
	struct tk_nats_cluster c;
	struct bus_fixture on = { 0 }, *e = &on;

	tk_nats_cluster_start(&c, false);
	e->nats = c.node[0];
	e->loop = loop_new(4096);
	ensure_stream(e, 0, 64 << 20);
	check_replicas(e, 1, 64 << 20);
	bus_free(e->bus);
	ensure_stream(e, 3, 64 << 20);
	check_replicas(e, 3, 64 << 20);
	bus_free(e->bus);
	/* Its other limits are still changed. */
	ensure_stream(e, 1, 32 << 20);
	check_replicas(e, 3, 32 << 20);
	bus_free(e->bus);
	ensure_stream(e, 0, 32 << 20);
	check_replicas(e, 3, 32 << 20);
	bus_free(e->bus);
	loop_free(e->loop);
}

TEST(a_single_server_reports_no_cluster)
{
	struct bus_fixture e;
	struct bus_jobs_ready w = { 0 };
	struct bus_stream s = bus_jobs_stream(&w);
	struct bus *b;
	bool alone = false;
	struct bus_opts o = {
		.replicas = 3, .on_no_cluster = bus_fixture_set, .arg = &alone
	};

	bus_fixture_start(&e);
	/* The same with an existing stream of one replica. */
	bus_jobs_create(&e);
	o.loop = e.loop;
	o.url = e.nats.url;
	ck_assert_int_eq(bus_new(&o, &b), RC_OK);
	ck_assert_int_eq(bus_stream_ensure(b, &s), RC_OK);
	BUS_FIXTURE_WAIT(&e, bus_fixture_is_set, &alone);
	ck_assert_int_eq(w.ok, 0);
	check_replicas(&e, 1, 64 << 20);
	bus_free(b);
	bus_fixture_stop(&e);
}
