/*
 * Replicas and brokers that come and go.
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

#include "running.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define REQUESTS 12000
#else
#define REQUESTS 60000
#endif
#define CLIENTS 6

static struct {
	const char *url;
	atomic_int sent, answered, lost;
} load;

static void *
client(void *arg)
{
	natsConnection *nc = nats_client(load.url);
	natsMsg *m = NULL;
	natsStatus s;

	(void)arg;
	ck_assert_ptr_nonnull(nc);
	while (atomic_fetch_add(&load.sent, 1) < REQUESTS) {
		s = natsConnection_RequestString(
		    &m, nc, FILTER_SUBJECT, protocol(), 10000);
		if (s == NATS_OK &&
		    strstr(natsMsg_GetData(m), "execute_intents") != NULL)
			atomic_fetch_add(&load.answered, 1);
		else
			atomic_fetch_add(&load.lost, 1);
		if (s == NATS_OK)
			natsMsg_Destroy(m);
	}
	natsConnection_Destroy(nc);
	return NULL;
}

static bool
answered_at_least(void *arg)
{
	return atomic_load(&load.answered) + atomic_load(&load.lost) >=
	    *(int *)arg;
}

/* Two replicas, each terminated once under load; nobody notices. */
TEST_T(two_replicas_lose_nothing, 240)
{
	struct tk_server nats;
	struct running r[2];
	pthread_t threads[CLIENTS];
	int i, at;

	memset(r, 0, sizeof(r));
	tk_server_start(&nats, TK_NATS);
	running_start(&r[0], "one", nats.url);
	running_start(&r[1], "two", nats.url);
	load.url = nats.url;
	ck_assert_ptr_nonnull(strstr(protocol(), "intent_catalog"));
	for (i = 0; i < CLIENTS; i++)
		ck_assert_int_eq(
		    pthread_create(&threads[i], NULL, client, NULL), 0);
	for (i = 0; i < 2; i++) {
		at = REQUESTS * (i + 1) / 3;
		ck_assert(tk_until(answered_at_least, &at, 100000));
		tk_service_end(&r[i].s);
		running_start(&r[i], i == 0 ? "one" : "two", nats.url);
	}
	for (i = 0; i < CLIENTS; i++)
		pthread_join(threads[i], NULL);
	ck_assert_int_eq(atomic_load(&load.lost), 0);
	ck_assert_int_eq(atomic_load(&load.answered), REQUESTS);
	tk_service_end(&r[0].s);
	tk_service_end(&r[1].s);
	tk_server_stop(&nats, SIGTERM);
	nats_Close();
}

static bool
nats_request_works(void *arg)
{
	natsConnection *nc = arg;
	natsMsg *m = NULL;
	natsStatus s;

	s = natsConnection_RequestString(
	    &m, nc, FILTER_SUBJECT, protocol(), 1000);
	if (s == NATS_OK)
		natsMsg_Destroy(m);
	return s == NATS_OK;
}

static bool
is_unready(void *arg)
{
	struct running *r = arg;

	return status_is(r->s.admin, "/readyz", 503);
}

TEST_T(a_killed_broker_comes_back, 60)
{
	struct tk_server nats;
	struct running r = { 0 };
	natsConnection *nc;
	struct answer a;
	int i;

	tk_server_start(&nats, TK_NATS);
	running_start(&r, "filter", nats.url);
	for (i = 0; i < 2; i++) {
		tk_server_stop(&nats, SIGKILL);
		ck_assert(tk_until(is_unready, &r, 10000));
		ck_assert(status_is(r.s.admin, "/livez", 200));
		/* HTTP does not need NATS. */
		a = http(r.s.http, "/v1/intents/filter", protocol());
		ck_assert_int_eq(a.status, 200);
		answer_free(&a);
		tk_server_restart(&nats);
		tk_service_wait(&r.s);
		nc = nats_client(nats.url);
		ck_assert_ptr_nonnull(nc);
		ck_assert(nats_request_works(nc));
		natsConnection_Destroy(nc);
	}
	tk_service_end(&r.s);
	tk_server_stop(&nats, SIGTERM);
	nats_Close();
}

static bool
http_works(void *arg)
{
	struct running *r = arg;
	struct answer a = http(r->s.http, "/v1/intents/filter", protocol());
	bool works = a.status == 200;

	answer_free(&a);
	return works;
}

TEST(it_starts_before_its_broker)
{
	struct tk_server nats;
	struct running r = { 0 };

	/* The port is known, the server is not up. */
	tk_server_start(&nats, TK_NATS);
	tk_server_stop(&nats, SIGKILL);
	running_spawn(&r, "filter", nats.url);
	ck_assert(tk_until(http_works, &r, 10000));
	ck_assert(status_is(r.s.admin, "/readyz", 503));
	tk_server_restart(&nats);
	tk_service_wait(&r.s);
	tk_service_end(&r.s);
	tk_server_stop(&nats, SIGTERM);
}

/* Stopping without a broker must not hang. */
TEST(it_stops_without_its_broker)
{
	struct tk_server nats;
	struct running r = { 0 };

	tk_server_start(&nats, TK_NATS);
	running_start(&r, "filter", nats.url);
	tk_server_stop(&nats, SIGKILL);
	ck_assert(tk_until(is_unready, &r, 10000));
	tk_service_end(&r.s);
}
