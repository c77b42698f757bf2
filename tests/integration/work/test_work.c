/*
 * Work: SIGKILL of the consumer at every step; failures, dead letters and their
 * replays; what is unavailable; order.
 */
#include <string.h>
#include <unistd.h>

#include "core/mem.h"
#include "testkit/work_fixture.h"

static const struct work_opts quick = {
	.ack_wait_ms = 300,
	.max_deliveries = 5,
};

TEST_T(killed_at_every_step, 60)
{
	static const char *const modes[] = { "read", "handle", "effect" };
	struct work_fixture fx;
	char item[32], name[16];
	size_t i;

	work_fixture_start(&fx, &quick);
	for (i = 0; i < NELEM(modes); i++) {
		snprintf(name, sizeof(name), "a%zu", i);
		snprintf(item, sizeof(item), "%s %s", modes[i], name);
		work_fixture_put(&fx, item);
		work_fixture_wait(&fx, WORK_STREAM);
		ck_assert_int_eq(work_fixture_count("killed", name), 1);
		ck_assert_int_eq(work_fixture_count("effects", name), 1);
	}
	/* Before it was handled, or again after that. */
	ck_assert_int_eq(work_fixture_count("handled", "a0"), 1);
	ck_assert_int_eq(work_fixture_count("handled", "a1"), 2);
	ck_assert_int_eq(work_fixture_count("handled", "a2"), 2);
	ck_assert_int_eq(work_fixture_dead(&fx), 0);
	/* Between the dead letter and the acknowledgement. */
	work_fixture_put(&fx, "dead a3");
	work_fixture_wait(&fx, WORK_STREAM);
	ck_assert_int_eq(work_fixture_count("killed", "a3"), 1);
	ck_assert_int_eq(work_fixture_count("handled", "a3"), 2);
	ck_assert_int_eq(work_fixture_count("effects", "a3"), 0);
	ck_assert_int_eq(work_fixture_dead(&fx), 1);
	work_fixture_stop(&fx);
}

/* An item that kills each process that reads it does not for ever. */
TEST_T(what_kills_its_consumers_is_a_dead_letter, 60)
{
	const struct work_opts o = { .ack_wait_ms = 300, .max_deliveries = 1 };
	struct work_fixture fx;

	work_fixture_start(&fx, &o);
	work_fixture_put(&fx, "read a");
	work_fixture_put(&fx, "ok b");
	work_fixture_wait(&fx, WORK_STREAM);
	ck_assert_int_eq(work_fixture_count("killed", "a"), 1);
	ck_assert_int_eq(work_fixture_count("handled", "a"), 0);
	work_fixture_command(
	    &fx, 0, "it may crash workers", TK_ENV("dead", "list"));
	work_fixture_stop(&fx);
}

static bool
has_dead_letter(void *arg)
{
	return tk_service_metric(&((struct work_fixture *)arg)->toy,
		   "soul_dead_letters{consumer=\"toy\"}") == 1;
}

TEST_T(a_dead_letter_is_replayed, 60)
{
	const struct work_opts o = { .ack_wait_ms = 300, .max_deliveries = 2 };
	struct work_fixture fx;

	work_fixture_start(&fx, &o);
	work_fixture_put(&fx, "fails a");
	work_fixture_wait(&fx, WORK_STREAM);
	ck_assert_int_eq(work_fixture_count("handled", "a"), 2);
	ck_assert(tk_until(has_dead_letter, &fx, WORK_FIXTURE_MS));
	ck_assert_int_eq(tk_service_metric(&fx.toy,
			     "soul_work_retried_total{consumer=\"toy\"}"),
	    1);
	ck_assert_int_eq(tk_service_metric(
			     &fx.toy, "soul_work_dead_total{consumer=\"toy\"}"),
	    1);
	work_fixture_command(&fx, 0,
	    "2 deliveries: not repaired\n    fails a\n",
	    TK_ENV("dead", "list"));
	work_fixture_command(
	    &fx, 0, "item     fails a\n", TK_ENV("dead", "show", "1"));
	work_fixture_repair();
	work_fixture_command(&fx, 0, "1: replayed as SOUL_JOBS 2\n",
	    TK_ENV("dead", "replay", "--all"));
	work_fixture_wait(&fx, WORK_STREAM);
	ck_assert_int_eq(work_fixture_count("effects", "a"), 1);
	ck_assert_int_eq(work_fixture_dead(&fx), 0);
	work_fixture_command(
	    &fx, 0, "no dead letters\n", TK_ENV("dead", "replay", "--all"));
	work_fixture_stop(&fx);
}

/* It is known by its id, in each delivery and when it is replayed. */
TEST_T(a_replayed_item_that_was_done_has_one_effect, 60)
{
	const struct work_opts o = { .ack_wait_ms = 300, .max_deliveries = 2 };
	struct work_fixture fx;

	work_fixture_start(&fx, &o);
	work_fixture_put(&fx, "undone a");
	work_fixture_wait(&fx, WORK_STREAM);
	ck_assert_int_eq(work_fixture_count("handled", "a"), 2);
	work_fixture_repair();
	work_fixture_command(&fx, 0, "1: replayed as SOUL_JOBS 2\n",
	    TK_ENV("dead", "replay", "1"));
	work_fixture_wait(&fx, WORK_STREAM);
	ck_assert_int_eq(work_fixture_count("handled", "a"), 3);
	ck_assert_int_eq(work_fixture_count("effects", "a"), 1);
	ck_assert_int_eq(work_fixture_dead(&fx), 0);
	work_fixture_stop(&fx);
}

TEST_T(dead_letters_of_other_services_are_not_shown, 60)
{
	struct work_fixture fx;

	work_fixture_start(&fx, &quick);
	work_fixture_put_on(&fx, "soul.dead.other", "1", "theirs");
	work_fixture_put(&fx, "own");
	work_fixture_wait(&fx, WORK_STREAM);
	ck_assert_int_eq(work_fixture_dead(&fx), 2);
	ck_assert(tk_until(has_dead_letter, &fx, WORK_FIXTURE_MS));
	work_fixture_command(&fx, 0,
	    "/name: is missing\n    own\n1 dead letter\n",
	    TK_ENV("dead", "list"));
	work_fixture_command(&fx, 1, "1: no such dead letter of this service\n",
	    TK_ENV("dead", "show", "1"));
	work_fixture_command(&fx, 1, "1: no such dead letter of this service\n",
	    TK_ENV("dead", "drop", "1"));
	work_fixture_command(&fx, 0, "2: replayed as SOUL_JOBS 2\n",
	    TK_ENV("dead", "replay", "--all"));
	work_fixture_wait(&fx, WORK_STREAM);
	work_fixture_command(
	    &fx, 0, "3: dropped\n", TK_ENV("dead", "drop", "3"));
	ck_assert_int_eq(work_fixture_dead(&fx), 1);
	work_fixture_stop(&fx);
}

static bool
has_waited(void *arg)
{
	(void)arg;
	/* The pauses double from 200 ms on: far over ack_wait. */
	return work_fixture_count("handled", "a") >= 4;
}

TEST_T(what_is_unavailable_is_no_failure_of_an_item, 60)
{
	const struct work_opts o = { .ack_wait_ms = 300, .max_deliveries = 1 };
	struct work_fixture fx;

	work_fixture_start(&fx, &o);
	work_fixture_put(&fx, "waits a");
	ck_assert(tk_until(has_waited, NULL, WORK_FIXTURE_MS));
	ck_assert_int_eq(
	    tk_service_metric(&fx.toy, "soul_work_waiting{consumer=\"toy\"}"),
	    1);
	/* Held, not delivered again. */
	ck_assert_int_eq(
	    work_fixture_number(&fx, WORK_STREAM, "num_redelivered"), 0);
	ck_assert_int_eq(work_fixture_count("effects", "a"), 0);
	work_fixture_repair();
	work_fixture_wait(&fx, WORK_STREAM);
	ck_assert_int_eq(work_fixture_count("effects", "a"), 1);
	ck_assert_int_eq(work_fixture_dead(&fx), 0);
	ck_assert_int_eq(
	    tk_service_metric(&fx.toy, "soul_work_waiting{consumer=\"toy\"}"),
	    0);
	work_fixture_stop(&fx);
}

/* Where it begins and ends in the log. */
static ptrdiff_t
position_of(const char *log, const char *line)
{
	const char *at = strstr(log, line);

	ck_assert_msg(at != NULL, "no %s in %s", line, log);
	return at - log;
}

TEST_T(items_of_one_key_are_handled_in_order, 60)
{
	struct work_fixture fx;
	char *log;

	work_fixture_start(&fx, &quick);
	work_fixture_put(&fx, "slow a1");
	work_fixture_put(&fx, "slow a2");
	work_fixture_put(&fx, "slow b1");
	work_fixture_put(&fx, "slow a3");
	work_fixture_wait(&fx, WORK_STREAM);
	log = work_fixture_log("handled");
	ck_assert_int_lt(position_of(log, "end a1"), position_of(log, "\na2"));
	ck_assert_int_lt(position_of(log, "end a2"), position_of(log, "\na3"));
	/* Another key does not wait for them. */
	ck_assert_int_lt(position_of(log, "\nb1"), position_of(log, "\na3"));
	free(log);
	ck_assert_int_eq(work_fixture_count("effects", "a3"), 1);
	work_fixture_stop(&fx);
}

TEST_T(events_are_items_of_their_filter, 60)
{
	static const struct work_opts o = { .ack_wait_ms = 300,
		.max_deliveries = 1,
		.events = "soul.event.turn_completed.>" };
	struct work_fixture fx = { 0 };
	natsConnection *nc;

	tk_server_start(&fx.nats, TK_NATS);
	work_fixture_fork(&fx, fx.nats.url, &o);
	tk_service_wait(&fx.toy);
	nc = fx.nc = tk_nats_connect(fx.nats.url);
	tk_nats_events(nc);
	work_fixture_put_on(
	    &fx, "soul.event.turn_completed.t1", "e1", "fails a");
	work_fixture_put_on(&fx, "soul.event.session_idle.t1", "e2", "ok b");
	work_fixture_put_on(&fx, "soul.event.turn_completed.t1", "e3", "ok c");
	ck_assert(tk_until(has_dead_letter, &fx, WORK_FIXTURE_MS));
	work_fixture_wait(&fx, "SOUL_EVENTS");
	ck_assert_int_eq(work_fixture_count("handled", "b"), 0);
	ck_assert_int_eq(work_fixture_count("effects", "c"), 1);
	/* It is replayed as a job, so that no other consumer gets it. */
	work_fixture_repair();
	work_fixture_command(&fx, 0, "1: replayed as SOUL_JOBS 1\n",
	    TK_ENV("dead", "replay", "1"));
	work_fixture_wait(&fx, WORK_STREAM);
	ck_assert_int_eq(work_fixture_count("effects", "a"), 1);
	work_fixture_stop(&fx);
}

/* ---- a server that does not know a filter ---- */

static int
start_plain_server(void *arg)
{
	execlp("nats-server", "nats-server", "-a", "127.0.0.1", "-p",
	    (char *)arg, (char *)NULL);
	return 1;
}

static bool
server_is_open(void *arg)
{
	return tk_port_open(*(int *)arg);
}

/* Confirms whatever is requested, as if it had no filter. */
static void
on_api(natsConnection *nc, natsSubscription *sub, natsMsg *m, void *arg)
{
	(void)sub;
	(void)arg;
	if (natsMsg_GetReply(m) != NULL)
		natsConnection_PublishString(nc, natsMsg_GetReply(m),
		    "{\"config\":{\"durable_name\":\"toy\"}}");
	natsMsg_Destroy(m);
}

TEST_T(a_server_that_ignores_the_filter_ends_the_service, 60)
{
	struct work_fixture fx = { 0 };
	natsSubscription *sub = NULL;
	struct tk_proc p;
	char url[64], port[16];
	int n = tk_port();

	snprintf(port, sizeof(port), "%d", n);
	snprintf(url, sizeof(url), "nats://127.0.0.1:%d", n);
	tk_fork(&p, "plain", start_plain_server, port);
	ck_assert(tk_until(server_is_open, &n, WORK_FIXTURE_MS));
	work_fixture_fork(&fx, url, &quick);
	fx.nc = tk_nats_connect(url);
	ck_assert_int_eq(
	    natsConnection_Subscribe(&sub, fx.nc, "$JS.API.>", on_api, NULL),
	    NATS_OK);
	ck_assert_int_eq(tk_wait(&fx.toy.proc, WORK_FIXTURE_MS), 78);
	ck_assert(tk_log_has(&fx.toy.proc, "work.consumer_unusable"));
	ck_assert(tk_log_has(&fx.toy.proc, "soul.job.memory_store"));
	natsSubscription_Destroy(sub);
	natsConnection_Destroy(fx.nc);
	nats_Close();
}
