/*
 * broker_fixture: mosquitto with the shipped secured configuration, in which
 * only file locations and ports are replaced; and an attacker on it.  What
 * fails here fails the test.
 */
#ifndef TESTKIT_BROKER_FIXTURE_H
#define TESTKIT_BROKER_FIXTURE_H

#include <stdbool.h>

#include "core/buf.h"
#include "testkit/bridge_fixture.h"

/* Of every device that is admitted, and of the services. */
#define BROKER_PASSWORD "secret"

struct broker_fixture {
	struct tk_proc proc;
	int bodies, services, tls, fleet; /* ports */
	char users[256];                  /* the devices' password file */
	struct buf admitted;
	bool any_rate;
	int reloads; /* before the last one */
};

/*
 * broker_fixture_make(k, flags):
 * Write the configuration.  BROKER_CERTS: with the TLS listeners, whose
 * certificates exist (certs.h).  BROKER_ANY_RATE: the plugin has no rate limit,
 * so that the bridge sees every message.
 */
enum { BROKER_CERTS = 1, BROKER_ANY_RATE = 2 };
void broker_fixture_make(struct broker_fixture *k, unsigned flags);

/* broker_fixture_start(k), broker_fixture_stop(k): Run it; stop and free. */
void broker_fixture_start(struct broker_fixture *k);
void broker_fixture_stop(struct broker_fixture *k);

/* broker_fixture_put_user(b, name): Append a line of a password file. */
void broker_fixture_put_user(struct buf *b, const char *name);

/*
 * broker_fixture_admit(k, id):
 * Add a device to the password file and wait until the broker has reloaded it.
 */
void broker_fixture_admit(struct broker_fixture *k, const char *id);

/* broker_fixture_reload_count(k): How often it has reloaded its files. */
int broker_fixture_reload_count(const struct broker_fixture *k);

/*
 * broker_fixture_bridge(k, b):
 * Make b a fixture with the running broker k in place of its own.
 */
void broker_fixture_bridge(struct broker_fixture *k, struct bridge_fixture *b);

/* ---- attack: the attacker has the credential of the device t1 ---- */

/* The broker, a bridge with the default limits, and others to observe. */
struct attack_fixture {
	struct broker_fixture k;
	struct bridge_fixture b;
	struct mqtt_device t2;      /* another device */
	struct mqtt_device watcher; /* a service that receives all reports */
};

/*
 * attack_start(s): Start all of it.
 * attack_start_with(s, flags): With flags of broker_fixture_make().
 */
void attack_start(struct attack_fixture *s);
void attack_start_with(struct attack_fixture *s, unsigned flags);
void attack_stop(struct attack_fixture *s);

/* attack_connect(d, s, user, port): A client without will or subscriptions. */
void attack_connect(struct mqtt_device *d, struct attack_fixture *s,
    const char *user, int port);

/*
 * attack_subscribe(d, filter): Whether the broker grants it.
 * attack_must_subscribe(d, filter): It must.
 * From then on, d receives "topic=payload", followed by " kept" if retained.
 */
bool attack_subscribe(struct mqtt_device *d, const char *filter);
void attack_must_subscribe(struct mqtt_device *d, const char *filter);

/*
 * attack_barrier(s, d): d publishes a result; wait until the watcher has it,
 * and so everything that d has published before.
 */
void attack_barrier(struct attack_fixture *s, struct mqtt_device *d);

/*
 * attack_ck_other_works(s, request):
 * An invoke of t2 with that request id is delivered, and its result arrives.
 */
void attack_ck_other_works(struct attack_fixture *s, const char *request);

#endif /* !TESTKIT_BROKER_FIXTURE_H */
