/* The shipped listeners for certificates, and for passwords over TLS. */
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>

#include "core/mem.h"
#include "testkit/bridge_fixture.h"
#include "testkit/broker_fixture.h"
#include "testkit/certs.h"

static struct broker_fixture certs_broker;
static struct bridge_fixture certs_bridge;
static _Atomic int certs_connack;

static void
certs_start(void)
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
	broker_fixture_make(&certs_broker, BROKER_CERTS);
	broker_fixture_start(&certs_broker);
	broker_fixture_bridge(&certs_broker, &certs_bridge);
	bridge_fixture_start_leader(&certs_bridge, 0);
}

static void
certs_on_connack(struct mosquitto *mosq, void *arg, int rc)
{
	struct mqtt_device *d = arg;

	(void)mosq;
	if (rc == 0)
		atomic_fetch_add(&d->up, 1);
	atomic_store(&certs_connack, 1 + rc);
}

static void
certs_on_disconnect(struct mosquitto *mosq, void *arg, int rc)
{
	(void)mosq;
	(void)arg;
	atomic_store(&certs_connack, 1000 + rc);
}

static bool
certs_has_connack(void *arg)
{
	(void)arg;
	return atomic_load(&certs_connack) != 0;
}

/* Connect over TLS; cert and user may be NULL.  False if it is rejected. */
static bool
certs_connect(
    struct mqtt_device *d, int port, const char *cert, const char *user)
{
	char crt[256], key[256], name[64];

	snprintf(name, sizeof(name), "%s.crt", cert != NULL ? cert : "");
	snprintf(crt, sizeof(crt), "%s", tk_path(name));
	snprintf(name, sizeof(name), "%s.key", cert != NULL ? cert : "");
	snprintf(key, sizeof(key), "%s", tk_path(name));
	mqtt_device_init(d, TOPIC_PREFIX, "t1");
	mosquitto_connect_callback_set(d->mosq, certs_on_connack);
	mosquitto_disconnect_callback_set(d->mosq, certs_on_disconnect);
	ck_assert_int_eq(
	    mosquitto_tls_set(d->mosq, tk_path("tls.crt"), NULL,
		cert != NULL ? crt : NULL, cert != NULL ? key : NULL, NULL),
	    0);
	if (user != NULL)
		mosquitto_username_pw_set(d->mosq, user, BROKER_PASSWORD);
	atomic_store(&certs_connack, 0);
	if (mosquitto_connect(d->mosq, "127.0.0.1", port, 60) != 0)
		return false;
	mqtt_loop_start(&d->loop, d->mosq, MQTT_LOOP_NO_RETRY);
	ck_assert(tk_until(certs_has_connack, NULL, BRIDGE_WAIT_MS));
	return atomic_load(&certs_connack) == 1;
}

static bool
certs_can_connect(int port, const char *cert, const char *user)
{
	struct mqtt_device d;
	bool in = certs_connect(&d, port, cert, user);

	mqtt_device_crash(&d);
	return in;
}

static void
certs_stop(void)
{
	bridge_fixture_stop(&certs_bridge);
	broker_fixture_stop(&certs_broker);
}

TEST_T(a_certificate_identifies_a_terminal, 60)
{
	struct mqtt_device d;

	certs_start();
	ck_assert(certs_connect(&d, certs_broker.fleet, "t1", NULL));
	mqtt_device_subscribe(&d);
	mqtt_device_report(&d, "online", "online");
	bridge_ck_present(&certs_bridge, "t1");
	bridge_ck_delivery(&certs_bridge, "t1.invoke",
	    "{\"request_id\":\"r1\",\"skill\":\"nod\",\"arguments\":{}}",
	    "delivered");
	mqtt_device_expect(&d, "invoke/r1=");
	/* It cannot publish for another terminal. */
	mqtt_device_publish(&d, TOPIC_PREFIX "/terminal/t2/online",
	    STR("online"), MQTT_RETAINED);
	bridge_ck_skills(&certs_bridge, &d, SKILLS_V(1), "skill_1");
	ck_assert(!bridge_fixture_terminal(&certs_bridge, "t2").known);
	mqtt_device_close(&d);
	certs_stop();
}

/* The broker reads the revocation list when it handles the signal. */
static bool
certs_is_revoked(void *arg)
{
	(void)arg;
	return !certs_can_connect(certs_broker.fleet, "t1", NULL);
}

TEST_T(only_valid_certificates_and_passwords_connect, 60)
{
	certs_start();
	broker_fixture_admit(&certs_broker, "t1");
	ck_assert(certs_can_connect(certs_broker.tls, NULL, "t1"));
	ck_assert(!certs_can_connect(certs_broker.tls, NULL, "t2"));
	ck_assert(!certs_can_connect(certs_broker.tls, NULL, NULL));
	/* Certificates and passwords do not replace each other. */
	ck_assert(!certs_can_connect(certs_broker.tls, "t1", NULL));
	ck_assert(!certs_can_connect(certs_broker.fleet, NULL, "t1"));
	ck_assert(!certs_can_connect(certs_broker.fleet, "alien", NULL));
	ck_assert(certs_can_connect(certs_broker.fleet, "t1", NULL));
	tk_certs_revoke("fleet/ca", "t1");
	tk_signal(&certs_broker.proc, SIGHUP);
	ck_assert(tk_until(certs_is_revoked, NULL, BRIDGE_WAIT_MS));
	certs_stop();
}

/* Such a certificate identifies a terminal, if anything. */
TEST_T(service_and_wildcard_names_get_no_rights, 60)
{
	static const char *const certs[] = { "bridge", "level" };
	struct mqtt_device d, last;
	size_t i;

	certs_start();
	for (i = 0; i < NELEM(certs); i++) {
		if (certs_connect(&d, certs_broker.fleet, certs[i], NULL)) {
			mqtt_device_publish(&d,
			    TOPIC_PREFIX "/terminal/t1/online", STR("online"),
			    MQTT_RETAINED);
			mqtt_device_publish(&d,
			    TOPIC_PREFIX "/terminal/t1/intent_catalog",
			    STR(CATALOG_V(9)), MQTT_RETAINED);
		}
		mqtt_device_crash(&d);
	}
	ck_assert(certs_connect(&last, certs_broker.fleet, "t1", NULL));
	bridge_ck_skills(&certs_bridge, &last, SKILLS_V(1), "skill_1");
	ck_assert_ptr_null(
	    bridge_fixture_terminal(&certs_bridge, "t1").catalog.p);
	mqtt_device_close(&last);
	certs_stop();
}
