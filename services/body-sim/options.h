/*
 * options: configuration of the simulation: command-line flags, environment
 * variables, failures to simulate, ids of the devices.
 */
#ifndef BODY_SIM_OPTIONS_H
#define BODY_SIM_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/conf.h"
#include "core/id.h"
#include "core/rc.h"
#include "core/str.h"

/* ---- flags: arguments that set environment variables ---- */

/* Most arguments of one flag. */
#define FLAG_ARGS_MAX 2

struct flag {
	const char *name;               /* "--count" */
	const char *env[FLAG_ARGS_MAX]; /* one for each argument */
	const char *fixed;              /* value of env[0] without arguments */
};

/*
 * flags_apply(flags, n, argc, argv):
 * Set the variables of the flags in argv and remove these from it; other
 * arguments stay.  Call before any thread is started.  RC_INVALID if an
 * argument is missing, which is reported on stderr.
 */
enum rc flags_apply(
    const struct flag *flags, size_t n, int *argc, char *argv[]) RC_CHECK;

/* ---- configuration ---- */

struct sim_conf {
	const char *terminal_id;
	int64_t count;
	const char *soul_hint;
	const char *skills;
	int64_t skill_version, catalog_version;
	double heartbeat_s;
	double action_max_age_s;
	const char *broker_url;
	const char *sources; /* addresses, for sources_parse() */
	const char *user, *password;
	const char *ca_file, *cert_file, *key_file;
	const char *prefix;
	const char *failures;
	double failure_share;
};

/* The options that fill user to key_file of such a struct. */
#define MQTT_CLIENT_OPTS(conf)                                                 \
	{ "MQTT_USERNAME", CONF_STR, CONF_AT(conf, user), "", 0, 0,            \
		"MQTT user; empty for none" },                                 \
	    { "MQTT_PASSWORD", CONF_SECRET, CONF_AT(conf, password), "", 0, 0, \
		    "MQTT password" },                                         \
	    { "MQTT_CA_FILE", CONF_STR, CONF_AT(conf, ca_file), "", 0, 0,      \
		    "PEM, CA of the broker's certificate; empty: the "         \
		    "system's" },                                              \
	    { "MQTT_CERT_FILE", CONF_STR, CONF_AT(conf, cert_file), "", 0, 0,  \
		    "PEM, client certificate; empty for none" },               \
	{                                                                      \
		"MQTT_KEY_FILE", CONF_STR, CONF_AT(conf, key_file), "", 0, 0,  \
		    "PEM, key of the client certificate"                       \
	}

#define SIM_OPTS_N  18
#define SIM_FLAGS_N 7

/* The options that fill struct sim_conf, and the flags that set some. */
extern const struct conf_opt sim_opts[SIM_OPTS_N];
extern const struct flag sim_flags[SIM_FLAGS_N];

/* ---- failures: BODY_FAULTS ---- */

struct failures {
	bool silent;           /* ignores commands */
	bool error;            /* every skill fails */
	bool wrong_request_id; /* results have an unknown request id */
	int64_t delay_ms;      /* before each result; 0: none */
	int64_t drop_ms;       /* interval of broken connections; 0: none */
	int64_t flap_ms; /* interval of going offline and online; 0: none */
};

/*
 * failures_parse(text, out, error, size):
 * "silent,error,wrong-request-id,late=7000,drop=30,flap=2.5": any of them, late
 * in ms, drop and flap in seconds; "" is none.  RC_INVALID otherwise; error
 * then says what is wrong.
 */
enum rc failures_parse(
    struct str text, struct failures *out, char *error, size_t size) RC_CHECK;

/*
 * failures_selected(share, i):
 * Whether device i (from 0) is in the share, in [0, 1], of devices that have
 * failures.  Deterministic, and evenly spread.
 */
bool failures_selected(double share, size_t i);

/* ---- ids ---- */

/*
 * sim_device_id(first, i, dst):
 * The id of device i (from 0): first with the number at its end incremented, at
 * least as wide as it is: terminal-001, terminal-002, ..., terminal-1000.  If
 * first has no number, "-<i + 1>" is appended except for device 0.  RC_TOOBIG
 * if it is longer than ID_MAX.
 */
enum rc sim_device_id(
    struct str first, size_t i, char dst[ID_MAX + 1]) RC_CHECK;

/* ---- source addresses: BODY_SOURCES ---- */

/* n addresses of IPv4 from first on; n 0: any address. */
struct sources {
	uint32_t first, n;
};

#define SOURCE_MAX 16

/*
 * sources_parse(text, out): "127.0.1.1-127.0.1.99", one address, or "" for any.
 * RC_INVALID otherwise.
 *
 * sources_address(s, i, dst): The address of device i (from 0): the addresses
 * in turn; "": any.
 */
enum rc sources_parse(struct str text, struct sources *out) RC_CHECK;
void sources_address(const struct sources *s, size_t i, char dst[SOURCE_MAX]);

#endif /* !BODY_SIM_OPTIONS_H */
