/*
 * Failures of replicas and of the NATS server.
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

#include "testkit/intent_filter_fixture.h"
#include "testkit/testkit.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define REQUESTS 12000
#else
#define REQUESTS 60000
#endif
#define CLIENTS 6

static struct {
	const char *url;
	atomic_int sent, replied, lost;
} load;

static void *
client_run(void *arg)
{
	natsConnection *nc = filter_fixture_nats(load.url);
	natsMsg *m = NULL;
	natsStatus s;

	(void)arg;
	ck_assert_ptr_nonnull(nc);
	while (atomic_fetch_add(&load.sent, 1) < REQUESTS) {
		s = natsConnection_RequestString(&m, nc, FILTER_FIXTURE_SUBJECT,
		    filter_fixture_protocol(), 10000);
		if (s == NATS_OK &&
		    strstr(natsMsg_GetData(m), "execute_intents") != NULL)
			atomic_fetch_add(&load.replied, 1);
		else
			atomic_fetch_add(&load.lost, 1);
		if (s == NATS_OK)
			natsMsg_Destroy(m);
	}
	natsConnection_Destroy(nc);
	return NULL;
}

static bool
client_has_replies(void *arg)
{
	return atomic_load(&load.replied) + atomic_load(&load.lost) >=
	    *(int *)arg;
}

/* Two replicas, each terminated under load. */
TEST_T(terminated_replicas_lose_no_request, 240)
{
	struct tk_server nats;
	struct filter_fixture r[2];
	pthread_t threads[CLIENTS];
	int i, at;

	memset(r, 0, sizeof(r));
	tk_server_start(&nats, TK_NATS);
	filter_fixture_start(&r[0], "one", nats.url);
	filter_fixture_start(&r[1], "two", nats.url);
	load.url = nats.url;
	ck_assert_ptr_nonnull(
	    strstr(filter_fixture_protocol(), "intent_catalog"));
	for (i = 0; i < CLIENTS; i++)
		ck_assert_int_eq(
		    pthread_create(&threads[i], NULL, client_run, NULL), 0);
	for (i = 0; i < 2; i++) {
		at = REQUESTS * (i + 1) / 3;
		ck_assert(tk_until(client_has_replies, &at, 100000));
		tk_service_end(&r[i].s);
		filter_fixture_start(&r[i], i == 0 ? "one" : "two", nats.url);
	}
	for (i = 0; i < CLIENTS; i++)
		pthread_join(threads[i], NULL);
	ck_assert_int_eq(atomic_load(&load.lost), 0);
	ck_assert_int_eq(atomic_load(&load.replied), REQUESTS);
	tk_service_end(&r[0].s);
	tk_service_end(&r[1].s);
	tk_server_stop(&nats, SIGTERM);
	nats_Close();
}

static bool
filter_nats_works(void *arg)
{
	natsConnection *nc = arg;
	natsMsg *m = NULL;
	natsStatus s;

	s = natsConnection_RequestString(
	    &m, nc, FILTER_FIXTURE_SUBJECT, filter_fixture_protocol(), 1000);
	if (s == NATS_OK)
		natsMsg_Destroy(m);
	return s == NATS_OK;
}

static bool
filter_is_unready(void *arg)
{
	struct filter_fixture *r = arg;

	return filter_fixture_status_is(r->s.admin, "/readyz", 503);
}

TEST_T(a_killed_nats_server_is_reconnected, 60)
{
	struct tk_server nats;
	struct filter_fixture r = { 0 };
	natsConnection *nc;
	struct filter_response a;
	int i;

	tk_server_start(&nats, TK_NATS);
	filter_fixture_start(&r, "filter", nats.url);
	for (i = 0; i < 2; i++) {
		tk_server_stop(&nats, SIGKILL);
		ck_assert(tk_until(filter_is_unready, &r, 10000));
		ck_assert(filter_fixture_status_is(r.s.admin, "/livez", 200));
		/* HTTP does not need NATS. */
		a = filter_fixture_http(
		    r.s.http, "/v1/intents/filter", filter_fixture_protocol());
		ck_assert_int_eq(a.status, 200);
		filter_response_free(&a);
		tk_server_restart(&nats);
		tk_service_wait(&r.s);
		nc = filter_fixture_nats(nats.url);
		ck_assert_ptr_nonnull(nc);
		ck_assert(filter_nats_works(nc));
		natsConnection_Destroy(nc);
	}
	tk_service_end(&r.s);
	tk_server_stop(&nats, SIGTERM);
	nats_Close();
}

static bool
filter_http_works(void *arg)
{
	struct filter_fixture *r = arg;
	struct filter_response a = filter_fixture_http(
	    r->s.http, "/v1/intents/filter", filter_fixture_protocol());
	bool works = a.status == 200;

	filter_response_free(&a);
	return works;
}

TEST(it_starts_before_nats)
{
	struct tk_server nats;
	struct filter_fixture r = { 0 };

	/* Reserve the port; the server is down. */
	tk_server_start(&nats, TK_NATS);
	tk_server_stop(&nats, SIGKILL);
	filter_fixture_spawn(&r, "filter", nats.url);
	ck_assert(tk_until(filter_http_works, &r, 10000));
	ck_assert(filter_fixture_status_is(r.s.admin, "/readyz", 503));
	tk_server_restart(&nats);
	tk_service_wait(&r.s);
	tk_service_end(&r.s);
	tk_server_stop(&nats, SIGTERM);
}

TEST(it_stops_without_nats)
{
	struct tk_server nats;
	struct filter_fixture r = { 0 };

	tk_server_start(&nats, TK_NATS);
	filter_fixture_start(&r, "filter", nats.url);
	tk_server_stop(&nats, SIGKILL);
	ck_assert(tk_until(filter_is_unready, &r, 10000));
	tk_service_end(&r.s);
}
