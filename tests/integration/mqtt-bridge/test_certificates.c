/* Fleets with certificates, and passwords over TLS, as they are shipped. */
#include "body.h"
#include "broker.h"
#include "testkit/certs.h"

static struct broker k;
static struct bed b;
static _Atomic int answer;

static void
make(void)
{
	const struct tk_cert server = { "tls", "tls/tls", "broker",
		"DNS:localhost,IP:127.0.0.1", 2 };
	const struct tk_cert t1 = { "fleet/ca", "t1", "t1", "DNS:t1", 2 };
	const struct tk_cert bridge = { "fleet/ca", "bridge", "mqtt-bridge",
		"DNS:b", 2 };
	const struct tk_cert level = { "fleet/ca", "level", "+", "DNS:b", 2 };
	const struct tk_cert alien = { "tls", "alien", "t1", "DNS:t1", 2 };

	ck_assert_int_eq(mkdir(tk_path("tls"), 0700), 0);
	ck_assert_int_eq(mkdir(tk_path("fleet"), 0700), 0);
	tk_certs_ca("tls");
	tk_certs_ca("fleet/ca");
	tk_certs_make(&server);
	tk_certs_make(&t1);
	tk_certs_make(&bridge);
	tk_certs_make(&level);
	tk_certs_make(&alien);
	broker_make(&k, BROKER_CERTS);
	broker_start(&k);
	broker_bed(&k, &b);
	bridge_start_one(&b, 0);
	ck_assert(tk_until(bridge_leads, &b.bridge[0], BED_MS));
}

static void
on_answer(struct mosquitto *mosq, void *arg, int rc)
{
	struct body *d = arg;

	(void)mosq;
	if (rc == 0)
		atomic_fetch_add(&d->up, 1);
	atomic_store(&answer, 1 + rc);
}

static void
on_gone(struct mosquitto *mosq, void *arg, int rc)
{
	(void)mosq;
	(void)arg;
	atomic_store(&answer, 1000 + rc);
}

static bool
is_answered(void *arg)
{
	(void)arg;
	return atomic_load(&answer) != 0;
}

/* Connect over TLS; cert and user may be NULL.  False if it is refused. */
static bool
get_in(struct body *d, int port, const char *cert, const char *user)
{
	char crt[256], key[256], name[64];

	snprintf(name, sizeof(name), "%s.crt", cert != NULL ? cert : "");
	snprintf(crt, sizeof(crt), "%s", tk_path(name));
	snprintf(name, sizeof(name), "%s.key", cert != NULL ? cert : "");
	snprintf(key, sizeof(key), "%s", tk_path(name));
	body_init(d, PREFIX, "t1");
	mosquitto_connect_callback_set(d->mosq, on_answer);
	mosquitto_disconnect_callback_set(d->mosq, on_gone);
	mosquitto_reconnect_delay_set(d->mosq, 60, 60, false);
	ck_assert_int_eq(
	    mosquitto_tls_set(d->mosq, tk_path("tls.crt"), NULL,
		cert != NULL ? crt : NULL, cert != NULL ? key : NULL, NULL),
	    0);
	if (user != NULL)
		mosquitto_username_pw_set(d->mosq, user, BROKER_PW);
	atomic_store(&answer, 0);
	if (mosquitto_connect(d->mosq, "127.0.0.1", port, 60) != 0)
		return false;
	ck_assert_int_eq(mosquitto_loop_start(d->mosq), 0);
	ck_assert(tk_until(is_answered, NULL, BED_MS));
	return atomic_load(&answer) == 1;
}

static bool
tries(int port, const char *cert, const char *user)
{
	struct body d;
	bool in = get_in(&d, port, cert, user);

	body_free(&d);
	return in;
}

static void
the_end(void)
{
	bed_stop(&b);
	broker_end(&k);
}

TEST_T(a_body_of_a_fleet, 60)
{
	struct body d;

	make();
	ck_assert(get_in(&d, k.fleet, "t1", NULL));
	body_subscribe(&d);
	body_report(&d, "online", "online");
	bed_wait(&b, "t1", is_present, "present");
	ck_assert_str_eq(
	    bed_deliver(&b, "soul.body.main.t1.invoke",
		"{\"request_id\":\"r1\",\"skill\":\"nod\",\"arguments\":{}}"),
	    "delivered");
	body_expect(&d, "invoke/r1=");
	/* It is nobody else, whatever it says. */
	body_publish(&d, PREFIX "/terminal/t2/online", STR("online"),
	    (struct say){ 1, true });
	body_report(&d, "skills", SKILLS_V(1));
	bed_wait(&b, "t1", has_skills, "skill_1");
	ck_assert(!bed_terminal(&b, "t2").known);
	body_leave(&d);
	the_end();
}

/* The broker reads the list when it comes to the signal. */
static bool
is_shut_out(void *arg)
{
	(void)arg;
	return !tries(k.fleet, "t1", NULL);
}

TEST_T(who_gets_in, 60)
{
	make();
	broker_admit(&k, "t1");
	ck_assert(tries(k.tls, NULL, "t1"));
	ck_assert(!tries(k.tls, NULL, "t2"));
	ck_assert(!tries(k.tls, NULL, NULL));
	/* A certificate is no password, and a password no certificate. */
	ck_assert(!tries(k.tls, "t1", NULL));
	ck_assert(!tries(k.fleet, NULL, "t1"));
	ck_assert(!tries(k.fleet, "alien", NULL));
	ck_assert(tries(k.fleet, "t1", NULL));
	tk_certs_revoke("fleet/ca", "t1");
	tk_signal(&k.proc, SIGHUP);
	ck_assert(tk_until(is_shut_out, NULL, BED_MS));
	the_end();
}

/* A certificate with the name of a service, or of a wildcard, is a body's. */
TEST_T(names_that_mean_more, 60)
{
	static const char *const certs[] = { "bridge", "level" };
	struct body d, last;
	size_t i;

	make();
	for (i = 0; i < NELEM(certs); i++) {
		if (get_in(&d, k.fleet, certs[i], NULL)) {
			body_publish(&d, PREFIX "/terminal/t1/online",
			    STR("online"), (struct say){ 1, true });
			body_publish(&d, PREFIX "/terminal/t1/intent_catalog",
			    STR(CATALOG_V(9)), (struct say){ 1, true });
		}
		body_free(&d);
	}
	ck_assert(get_in(&last, k.fleet, "t1", NULL));
	body_report(&last, "skills", SKILLS_V(1));
	bed_wait(&b, "t1", has_skills, "skill_1");
	ck_assert_ptr_null(bed_terminal(&b, "t1").catalog.p);
	body_leave(&last);
	the_end();
}
