/*
 * A bus under a minute of outages: the server is killed, frozen and restarted,
 * members join and leave, while requests and jobs go on.
 */
#include "core/id.h"
#include "core/mem.h"
#include "testkit/bus_fixture.h"
#include "testkit/bus_jobs.h"

#define SOAK_MS  60000
#define WINDOW   200
#define MEMBERS  3
#define JOBS_OUT 50

struct soak {
	struct bus_fixture *e;
	struct bus *member[MEMBERS];
	bool leaving[MEMBERS], left[MEMBERS];
	struct mono until, next;
	bool over;

	long sent, ended[RC_N], pending, served;
	long outages, freezes, leaves;

	int jobs_acked, jobs_out; /* acknowledged; in flight */
	int job_next;
	bool job_acked[BUS_JOBS_MAX], job_done[BUS_JOBS_MAX];
	int jobs_undone;
};

/* ---- requests ---- */

struct soak_request {
	struct soak *s;
	int calls;
};

static void
on_request_end(void *arg, enum rc rc, struct str data)
{
	struct soak_request *o = arg;
	struct soak *s = o->s;

	ck_assert_int_eq(o->calls++, 0);
	if (rc == RC_OK)
		ck_assert(str_eq(data, STR("x")));
	s->ended[rc]++;
	s->pending--;
	free(o);
}

static void
requests_start(struct soak *s)
{
	struct bus_meta meta = { .deadline = bus_fixture_in_ms(3000) };
	struct soak_request *o;

	while (!s->over && s->pending < WINDOW) {
		o = mem_zalloc(sizeof(*o));
		o->s = s;
		if (bus_request(s->e->bus, "soak.work", STR("x"), &meta,
			(struct bus_reply_handler){
			    .fn = on_request_end, .arg = o },
			NULL) != RC_OK) {
			free(o);
			return;
		}
		s->sent++;
		s->pending++;
	}
}

/* ---- jobs ---- */

struct job {
	struct soak *s;
	int number;
};

static void job_publish(struct job *j);

static void
on_job_ack(void *arg, enum rc rc, const struct bus_pub_ack *stored)
{
	struct job *j = arg;
	struct soak *s = j->s;

	(void)stored;
	s->jobs_out--;
	if (rc == RC_OK) {
		s->job_acked[j->number] = true;
		s->jobs_undone += !s->job_done[j->number];
		s->jobs_acked++;
	}
	free(j);
}

static void
job_publish(struct job *j)
{
	struct bus_meta meta = { .deadline = bus_fixture_in_ms(3000) };
	char id[16];

	snprintf(id, sizeof(id), "%d", j->number);
	meta.msg_id = id;
	if (bus_stream_publish(j->s->e->bus, "job.n", str_of(id), &meta,
		(struct bus_pub_ack_handler){ on_job_ack, j }) != RC_OK) {
		free(j);
		return;
	}
	j->s->jobs_out++;
}

static void
jobs_publish(struct soak *s)
{
	struct job *j;

	if (!bus_up(s->e->bus))
		return;
	while (!s->over && s->jobs_out < JOBS_OUT &&
	    s->job_next < BUS_JOBS_MAX &&
	    (int64_t)s->job_next * SOAK_MS / BUS_JOBS_MAX <
		SOAK_MS - mono_diff_ms(s->until, clock_mono())) {
		j = mem_zalloc(sizeof(*j));
		j->s = s;
		j->number = s->job_next++;
		job_publish(j);
	}
}

static void
on_soak_job(void *arg, struct bus_msg *m)
{
	struct soak *s = arg;
	int64_t n;

	ck_assert_int_eq(
	    str_to_i64(bus_msg_data(m), 0, BUS_JOBS_MAX - 1, &n), RC_OK);
	/* Done if acknowledged; otherwise the job is redelivered. */
	if (bus_ack(m) == RC_OK && !s->job_done[n]) {
		s->job_done[n] = true;
		s->jobs_undone -= s->job_acked[n];
	}
}

/* ---- members ---- */

static void
on_work(void *arg, struct bus_msg *m)
{
	struct soak *s = arg;

	/* Fails without a connection. */
	if (bus_reply(m, bus_msg_data(m)) == RC_OK)
		s->served++;
}

static void
member_join(struct soak *s, int i)
{
	struct bus_consumer c = { .stream = "JOBS",
		.name = "soak",
		.ack_wait_ms = 2000,
		.max_in_flight = 100,
		.fn = on_soak_job,
		.arg = s };

	s->member[i] = bus_fixture_bus_new(s->e, "member", NULL);
	s->leaving[i] = s->left[i] = false;
	ck_assert_int_eq(
	    bus_subscribe(s->member[i], "soak.work", "group", on_work, s, NULL),
	    RC_OK);
	ck_assert_int_eq(bus_consume(s->member[i], &c), RC_OK);
}

/* ---- outages ---- */

static bool
is_elapsed(void *arg)
{
	return clock_mono().ns >= ((const struct mono *)arg)->ns;
}

static void
cause_outage(struct soak *s)
{
	int i = (int)id_random_below(MEMBERS);
	struct mono thaw;

	switch (id_random_below(5)) {
	case 0:
		tk_server_stop(&s->e->nats, SIGKILL);
		tk_server_restart(&s->e->nats);
		s->outages++;
		break;
	case 1:
		bus_fixture_freeze(s->e);
		thaw = mono_add_ms(clock_mono(), (int64_t)id_random_below(400));
		tk_until(is_elapsed, &thaw, BUS_FIXTURE_MS);
		tk_signal(&s->e->nats.proc, SIGCONT);
		s->freezes++;
		break;
	default:
		if (!s->leaving[i]) {
			s->leaving[i] = true;
			bus_drain(s->member[i], bus_fixture_set, &s->left[i]);
		}
	}
}

static bool
soak_step(void *arg)
{
	struct soak *s = arg;
	int i;

	requests_start(s);
	jobs_publish(s);
	for (i = 0; i < MEMBERS; i++)
		if (s->left[i]) {
			bus_free(s->member[i]);
			member_join(s, i);
			s->leaves++;
		}
	s->over = clock_mono().ns >= s->until.ns;
	return s->over || clock_mono().ns >= s->next.ns;
}

static bool
nothing_in_flight(void *arg)
{
	const struct soak *s = arg;

	return s->pending == 0 && s->jobs_out == 0;
}

static bool
jobs_all_done(void *arg)
{
	const struct soak *s = arg;

	return s->jobs_undone == 0;
}

TEST_T(requests_and_jobs_survive_a_minute_of_outages, 240)
{
	static struct soak s;
	struct bus_fixture e;
	struct bus_fixture_reply a;
	int i;

	bus_fixture_start(&e);
	bus_jobs_create(&e);
	s.e = &e;
	s.until = mono_add_ms(clock_mono(), SOAK_MS);
	for (i = 0; i < MEMBERS; i++)
		member_join(&s, i);
	while (!s.over) {
		s.next = mono_add_ms(
		    clock_mono(), 50 + (int64_t)id_random_below(800));
		ck_assert(bus_fixture_until(&e, soak_step, &s, SOAK_MS));
		if (!s.over)
			cause_outage(&s);
	}
	/* Every request has ended exactly one time. */
	ck_assert(bus_fixture_until(&e, nothing_in_flight, &s, 20000));
	ck_assert_int_eq(s.sent,
	    s.ended[RC_OK] + s.ended[RC_DOWN] + s.ended[RC_NOENT] +
		s.ended[RC_TIMEOUT]);
	ck_assert_int_gt(s.ended[RC_OK], s.sent / 2);
	/* Every job whose publish was acknowledged gets done. */
	ck_assert(bus_fixture_until(&e, jobs_all_done, &s, 30000));
	ck_assert_int_gt(s.jobs_acked, BUS_JOBS_MAX / 2);
	BUS_FIXTURE_WAIT(&e, bus_fixture_is_up, e.bus);
	ck_assert_int_eq(
	    bus_fixture_call(&e, e.bus, "t.unserved", "", &a), RC_NOENT);
	printf("%ld requests: %ld replied, %ld down, %ld unserved, %ld timed "
	       "out; "
	       "%d jobs; %ld kills, %ld freezes, %ld leaves\n",
	    s.sent, s.ended[RC_OK], s.ended[RC_DOWN], s.ended[RC_NOENT],
	    s.ended[RC_TIMEOUT], s.jobs_acked, s.outages, s.freezes, s.leaves);
	for (i = 0; i < MEMBERS; i++)
		bus_free(s.member[i]);
	bus_fixture_stop(&e);
}
