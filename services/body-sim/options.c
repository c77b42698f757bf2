#include "options.h"

#include <arpa/inet.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- flags ---- */

static const struct flag *
flag_find(const struct flag *flags, size_t n, const char *arg)
{
	size_t i;

	for (i = 0; i < n; i++) {
		if (strcmp(flags[i].name, arg) == 0)
			return &flags[i];
	}
	return NULL;
}

static int
flag_arguments(const struct flag *f)
{
	int n = 0;

	while (f->fixed == NULL && n < FLAG_ARGS_MAX && f->env[n] != NULL)
		n++;
	return n;
}

enum rc
flags_apply(const struct flag *flags, size_t n, int *argc, char *argv[])
{
	int from, to = 1, i, takes;

	for (from = 1; from < *argc; from++) {
		const struct flag *f = flag_find(flags, n, argv[from]);

		if (f == NULL) {
			argv[to++] = argv[from];
			continue;
		}
		takes = flag_arguments(f);
		if (from + takes >= *argc) {
			fprintf(stderr, "%s: %s needs %d argument%s\n", argv[0],
			    f->name, takes, takes == 1 ? "" : "s");
			return RC_INVALID;
		}
		if (f->fixed != NULL)
			setenv(f->env[0], f->fixed, 1);
		for (i = 0; i < takes; i++)
			setenv(f->env[i], argv[++from], 1);
	}
	argv[to] = NULL;
	*argc = to;
	return RC_OK;
}

/* ---- configuration ---- */

const struct conf_opt sim_opts[SIM_OPTS_N] = {
	{ "TERMINAL_ID", CONF_STR, CONF_AT(sim_conf, terminal_id),
	    "terminal-001", 0, 0,
	    "id of the first body; the others count up (--terminal)" },
	{ "BODY_COUNT", CONF_INT, CONF_AT(sim_conf, count), "1", 1, 100000,
	    "number of bodies in this process (--count)" },
	{ "TERMINAL_SOUL_HINT", CONF_STR, CONF_AT(sim_conf, soul_hint), "", 0,
	    0, "soul_hint of the skills report; empty for none" },
	{ "TERMINAL_SKILLS", CONF_STR, CONF_AT(sim_conf, skills),
	    "control_light,create_alarm,set_head_motion,speak", 0, 0,
	    "its skills, separated by commas (--skills)" },
	{ "TERMINAL_SKILL_VERSION", CONF_INT, CONF_AT(sim_conf, skill_version),
	    "1", 0, INT64_C(9007199254740991), "skill_version" },
	{ "TERMINAL_CATALOG_VERSION", CONF_INT,
	    CONF_AT(sim_conf, catalog_version), "1", 0,
	    INT64_C(9007199254740991), "catalog_version" },
	{ "TERMINAL_HEARTBEAT_INTERVAL_SECONDS", CONF_F64,
	    CONF_AT(sim_conf, heartbeat_s), "10", 0, 0,
	    "interval of heartbeats, s; clamped to 0.01 to 3600" },
	{ "TERMINAL_ACTION_MAX_AGE_SECONDS", CONF_F64,
	    CONF_AT(sim_conf, action_max_age_s), "10", 0, 86400,
	    "age at which an intent_action is ignored, s; 0: never" },
	{ "MQTT_BROKER_URL", CONF_URL, CONF_AT(sim_conf, broker_url),
	    "mqtt://127.0.0.1:1883", 0, 0,
	    "mqtt:// or mqtts:// URL with any user and password (--broker)" },
	{ "BODY_SOURCES", CONF_STR, CONF_AT(sim_conf, sources), "", 0, 0,
	    "addresses that connections come from, in turn: "
	    "127.0.1.1-127.0.1.99; empty: any" },
	MQTT_CLIENT_OPTS(sim_conf),
	{ "MQTT_TOPIC_PREFIX", CONF_STR, CONF_AT(sim_conf, prefix), "soul", 0,
	    0, "prefix of all topics (--prefix)" },
	{ "BODY_FAULTS", CONF_STR, CONF_AT(sim_conf, failures), "", 0, 0,
	    "silent, error, wrong-request-id, late=<ms>, drop=<s>, flap=<s>, "
	    "separated by commas (--faults)" },
	{ "BODY_FAULT_SHARE", CONF_F64, CONF_AT(sim_conf, failure_share), "1",
	    0, 1,
	    "fraction of the bodies with these failures (--fault-share)" },
};

const struct flag sim_flags[SIM_FLAGS_N] = {
	{ "--terminal", { "TERMINAL_ID", NULL }, NULL },
	{ "--count", { "BODY_COUNT", NULL }, NULL },
	{ "--skills", { "TERMINAL_SKILLS", NULL }, NULL },
	{ "--broker", { "MQTT_BROKER_URL", NULL }, NULL },
	{ "--prefix", { "MQTT_TOPIC_PREFIX", NULL }, NULL },
	{ "--faults", { "BODY_FAULTS", NULL }, NULL },
	{ "--fault-share", { "BODY_FAULT_SHARE", NULL }, NULL },
};

/* ---- failures ---- */

/* A day in ms. */
#define TIME_MAX_MS 86400000.0

static enum rc
failure_parse_time(struct str value, double unit_ms, int64_t *out)
{
	double n;

	if (str_to_f64(value, 1 / unit_ms, TIME_MAX_MS / unit_ms, &n) != RC_OK)
		return RC_INVALID;
	*out = (int64_t)llround(n * unit_ms);
	return RC_OK;
}

static enum rc
failure_parse(struct str word, struct failures *f)
{
	struct str value = word;
	struct str name = str_split(&value, '=');

	if (value.p == NULL) {
		if (str_eq(name, STR("silent")))
			f->silent = true;
		else if (str_eq(name, STR("error")))
			f->error = true;
		else if (str_eq(name, STR("wrong-request-id")))
			f->wrong_request_id = true;
		else
			return RC_INVALID;
		return RC_OK;
	}
	if (str_eq(name, STR("late")))
		return failure_parse_time(value, 1, &f->delay_ms);
	if (str_eq(name, STR("drop")))
		return failure_parse_time(value, 1000, &f->drop_ms);
	if (str_eq(name, STR("flap")))
		return failure_parse_time(value, 1000, &f->flap_ms);
	return RC_INVALID;
}

enum rc
failures_parse(
    struct str text, struct failures *out, char *why, size_t why_size)
{
	struct str rest = text, word;

	*out = (struct failures){ 0 };
	if (text.n == 0)
		return RC_OK;
	while (rest.p != NULL) {
		word = str_trim(str_split(&rest, ','));
		if (failure_parse(word, out) == RC_OK)
			continue;
		snprintf(why, why_size,
		    "\"%.*s\" is not one of silent, error, wrong-request-id, "
		    "late=<ms>, drop=<seconds>, flap=<seconds>",
		    STR_ARG(word));
		return RC_INVALID;
	}
	return RC_OK;
}

bool
failures_selected(double share, size_t i)
{
	/* So that 29 of 100 devices have a share of 0.29. */
	const double eps = 1e-9;

	return floor((double)(i + 1) * share + eps) >
	    floor((double)i * share + eps);
}

/* ---- ids ---- */

/* Digits that fit an int64_t; further ones belong to the name. */
#define DIGITS_MAX 15

enum rc
sim_device_id(struct str first, size_t i, char dst[ID_MAX + 1])
{
	struct str digits;
	int64_t number = 0;
	size_t n = 0;
	int len;

	while (n < first.n && n < DIGITS_MAX &&
	    first.p[first.n - n - 1] >= '0' && first.p[first.n - n - 1] <= '9')
		n++;
	digits = (struct str){ first.p + first.n - n, n };
	if (i == 0) {
		len = snprintf(dst, ID_MAX + 1, "%.*s", STR_ARG(first));
	} else if (str_to_i64(digits, 0, INT64_MAX / 2, &number) != RC_OK) {
		len = snprintf(
		    dst, ID_MAX + 1, "%.*s-%zu", STR_ARG(first), i + 1);
	} else {
		len =
		    snprintf(dst, ID_MAX + 1, "%.*s%0*lld", (int)(first.n - n),
			first.p, (int)n, (long long)number + (long long)i);
	}
	return len >= 0 && len <= ID_MAX ? RC_OK : RC_TOOBIG;
}

/* ---- source addresses ---- */

static enum rc
source_parse(struct str text, uint32_t *out)
{
	char address[SOURCE_MAX];
	struct in_addr in;

	if (text.n >= sizeof(address))
		return RC_INVALID;
	str_copy(text, address, sizeof(address));
	if (inet_pton(AF_INET, address, &in) != 1)
		return RC_INVALID;
	*out = ntohl(in.s_addr);
	return RC_OK;
}

enum rc
sources_parse(struct str text, struct sources *out)
{
	struct str last = text, first = str_split(&last, '-');
	uint32_t end;

	*out = (struct sources){ 0, 0 };
	if (text.n == 0)
		return RC_OK;
	if (source_parse(first, &out->first) != RC_OK ||
	    source_parse(last.p != NULL ? last : first, &end) != RC_OK ||
	    end < out->first || end - out->first == UINT32_MAX)
		return RC_INVALID;
	out->n = end - out->first + 1;
	return RC_OK;
}

void
sources_address(const struct sources *s, size_t i, char dst[SOURCE_MAX])
{
	uint32_t a = s->n > 0 ? s->first + (uint32_t)(i % s->n) : 0;

	dst[0] = '\0';
	if (s->n > 0)
		(void)snprintf(dst, SOURCE_MAX, "%u.%u.%u.%u", a >> 24,
		    a >> 16 & 255, a >> 8 & 255, a & 255);
}
