/*
 * mosquitto-gate: access checks that mosquitto does not do itself, for the
 * terminals of the listener that loads it.  It denies
 *
 * - SUBSCRIBE to any filter that is not the terminal's own (topic_filter.h),
 * which mosquitto grants whatever acl_file says;
 * - QoS 2, also after the broker has lost max_qos (on SIGHUP);
 * - a retained result, and ids that are too long;
 * - messages over the terminal's rate.
 *
 * Anything else is left to acl_file.  The file is read once, at start.  Single
 * thread: the broker's.  It links with no library, and calls only what every
 * libc has, so that it loads into brokers built with another one.
 */
/* The plugin exports nothing else. */
#pragma GCC visibility push(default)
#include <mosquitto.h>
#include <mosquitto_broker.h>
#include <mosquitto_plugin.h>
#pragma GCC visibility pop
#include <stdio.h>
#include <stdlib.h>

#include "broker-plugin/topic_filter.h"
#include "core/clock.h"
#include "core/id.h"
#include "core/mem.h"
#include "core/rate.h"
#include "terminal_limits.h"

/*
 * More than mqtt-bridge accepts from one terminal, for each of three kinds, so
 * that the bridge can report a flood to the terminal.
 */
#define PER_S 100
#define BURST 300
/* Terminals whose rate is kept; least recent ones go. */
#define TERMINALS 262144
#define FILE_MAX  65536
#define LOG_MS    1000

struct gate {
	mosquitto_plugin_id_t *id;
	struct topic_filters *filters;
	struct rate *rate;
	struct mono log_at; /* earliest time of the next log line */
	unsigned long suppressed;
};

struct gate_settings {
	const char *acl_file;
	int64_t per_s, burst;
};

/* At most one line per LOG_MS, for all terminals. */
static void
gate_log(struct gate *g, const char *user, const char *what)
{
	struct mono now = clock_mono();

	if (now.ns < g->log_at.ns) {
		g->suppressed++;
		return;
	}
	mosquitto_log_printf(MOSQ_LOG_WARNING,
	    "mosquitto-gate: body %s: %s denied (%lu more denied since the "
	    "last line)",
	    id_valid(str_of(user)) ? user : "with an invalid id", what,
	    g->suppressed);
	g->suppressed = 0;
	g->log_at = mono_add_ms(now, LOG_MS);
}

static int
gate_deny(struct gate *g, const char *user, const char *what)
{
	gate_log(g, user, what);
	return MOSQ_ERR_ACL_DENIED;
}

static bool
gate_has_rate(struct gate *g, struct str user, uint32_t bytes)
{
	struct mono now = clock_mono();

	for (uint32_t i = 0; i <= bytes / FLOOD_BYTES; i++)
		if (rate_take(g->rate, user, now) > 0)
			return false;
	return true;
}

static int
gate_check_write(
    struct gate *g, const char *user, const struct mosquitto_evt_acl_check *e)
{
	const char *error;

	if (e->qos == 2)
		return gate_deny(g, user, "PUBLISH with QoS 2");
	error = topic_name_error(str_of(user), str_of(e->topic), e->retain);
	if (error != NULL)
		return gate_deny(g, user, error);
	if (!gate_has_rate(g, str_of(user), e->payloadlen))
		return gate_deny(g, user, "PUBLISH over its rate");
	return MOSQ_ERR_PLUGIN_DEFER;
}

static int
gate_check_acl(int event, void *data, void *arg)
{
	const struct mosquitto_evt_acl_check *e = data;
	struct gate *g = arg;
	const char *user = mosquitto_client_username(e->client);

	(void)event;
	if (e->access == MOSQ_ACL_SUBSCRIBE &&
	    !topic_filters_allow(g->filters, str_of(user), str_of(e->topic)))
		return gate_deny(g, user, "SUBSCRIBE to a filter of others");
	return e->access == MOSQ_ACL_WRITE ? gate_check_write(g, user, e)
					   : MOSQ_ERR_PLUGIN_DEFER;
}

static bool
gate_read_number(const struct mosquitto_opt *o, int64_t *out)
{
	if (str_to_i64(str_of(o->value), 1, RATE_MAX, out) == RC_OK)
		return true;
	mosquitto_log_printf(MOSQ_LOG_ERR,
	    "mosquitto-gate: plugin_opt_%s: use a number from 1 to %d", o->key,
	    RATE_MAX);
	return false;
}

static bool
gate_read_settings(
    struct gate_settings *s, const struct mosquitto_opt *opts, int n)
{
	for (int i = 0; i < n; i++) {
		struct str key = str_of(opts[i].key);
		if (str_eq(key, STR("acl_file"))) {
			s->acl_file = opts[i].value;
		} else if (str_eq(key, STR("per_s"))) {
			if (!gate_read_number(&opts[i], &s->per_s))
				return false;
		} else if (str_eq(key, STR("burst"))) {
			if (!gate_read_number(&opts[i], &s->burst))
				return false;
		} else {
			mosquitto_log_printf(MOSQ_LOG_ERR,
			    "mosquitto-gate: no such setting: plugin_opt_%s; "
			    "use acl_file, per_s, burst",
			    opts[i].key);
			return false;
		}
	}
	if (s->acl_file != NULL)
		return true;
	mosquitto_log_printf(MOSQ_LOG_ERR,
	    "mosquitto-gate: set plugin_opt_acl_file, the same file as "
	    "acl_file");
	return false;
}

static bool
gate_read_rules(const char *path, struct topic_filters **f)
{
	char *text = mem_alloc(FILE_MAX);
	FILE *in = fopen(path, "re");
	size_t n = in != NULL ? fread(text, 1, FILE_MAX, in) : 0;
	enum rc rc = RC_DOWN;

	if (in != NULL && ferror(in) == 0)
		rc = n == FILE_MAX
		    ? RC_TOOBIG
		    : topic_filters_new((struct str){ text, n }, f);
	if (in != NULL)
		fclose(in);
	free(text);
	if (rc != RC_OK)
		mosquitto_log_printf(MOSQ_LOG_ERR, "mosquitto-gate: %s: %s",
		    path,
		    rc == RC_DOWN         ? "cannot be read"
			: rc == RC_NOENT  ? "has no \"pattern read\""
			: rc == RC_TOOBIG ? "is too large"
					  : "has a \"pattern read\" without "
					    "the level %u, or with #");
	return rc == RC_OK;
}

static void
gate_free(struct gate *g)
{
	topic_filters_free(g->filters);
	rate_free(g->rate);
	free(g);
}

int
mosquitto_plugin_version(int n, const int *versions)
{
	for (int i = 0; i < n; i++)
		if (versions[i] == MOSQ_PLUGIN_VERSION)
			return MOSQ_PLUGIN_VERSION;
	return -1;
}

int
mosquitto_plugin_init(
    mosquitto_plugin_id_t *id, void **arg, struct mosquitto_opt *opts, int n)
{
	struct gate_settings s = { .per_s = PER_S, .burst = BURST };
	struct gate *g = mem_zalloc(sizeof(*g));

	g->id = id;
	if (!gate_read_settings(&s, opts, n) ||
	    !gate_read_rules(s.acl_file, &g->filters)) {
		gate_free(g);
		return MOSQ_ERR_INVAL;
	}
	g->rate = rate_new(s.per_s, s.burst, TERMINALS);
	int rc = mosquitto_callback_register(
	    id, MOSQ_EVT_ACL_CHECK, gate_check_acl, NULL, g);
	if (rc != MOSQ_ERR_SUCCESS) {
		gate_free(g);
		return rc;
	}
	*arg = g;
	return MOSQ_ERR_SUCCESS;
}

int
mosquitto_plugin_cleanup(void *arg, struct mosquitto_opt *opts, int n)
{
	struct gate *g = arg;

	(void)opts;
	(void)n;
	if (g == NULL)
		return MOSQ_ERR_SUCCESS;
	int rc = mosquitto_callback_unregister(
	    g->id, MOSQ_EVT_ACL_CHECK, gate_check_acl, NULL);
	gate_free(g);
	return rc;
}
