/*
 * mosquitto-gate: what a broker does not refuse by itself, of the bodies of the
 * listener it is configured for:
 *
 * - SUBSCRIBE to anything but their own (topic_filter.h), which mosquitto
 * grants whatever acl_file says;
 * - QoS 2, also after the broker has forgotten max_qos (on SIGHUP);
 * - a result that is to be retained, and ids that are too long (topic_name.h);
 * - more messages than a body has reason to send.
 *
 * What it does not refuse is for acl_file to decide.  It reads its file once,
 * at the start; one thread, the broker's.  It links with no library: what it
 * calls is in every libc, so that it runs in brokers built with another one.
 */
/* All else is hidden. */
#pragma GCC visibility push(default)
#include <mosquitto.h>
#include <mosquitto_broker.h>
#include <mosquitto_plugin.h>
#pragma GCC visibility pop
#include <stdio.h>
#include <stdlib.h>

#include "broker-plugin/topic_filter.h"
#include "broker-plugin/topic_name.h"
#include "core/clock.h"
#include "core/id.h"
#include "core/mem.h"
#include "core/rate.h"
#include "flood.h"

/* More than mqtt-bridge takes of one body, of each of three kinds: so that it
 * sees floods, and says so to the body. */
#define PER_S 100
#define BURST 300
/* Bodies whose rate is known, those heard last. */
#define BODIES   262144
#define FILE_MAX 65536
#define TELL_MS  1000

struct gate {
	mosquitto_plugin_id_t *id;
	struct topic_filters *filters;
	struct rate *rate;
	struct mono tell_at; /* not before */
	unsigned long untold;
};

struct settings {
	const char *acl_file;
	int64_t per_s, burst;
};

/* Once in TELL_MS, of whomsoever. */
static void
tell(struct gate *g, const char *user, const char *what)
{
	struct mono now = clock_mono();

	if (now.ns < g->tell_at.ns) {
		g->untold++;
		return;
	}
	mosquitto_log_printf(MOSQ_LOG_WARNING,
	    "mosquitto-gate: body %s: %s is refused (%lu refusals before "
	    "it were not told)",
	    id_valid(str_of(user)) ? user : "of another name", what, g->untold);
	g->untold = 0;
	g->tell_at = mono_add_ms(now, TELL_MS);
}

static int
refuse(struct gate *g, const char *user, const char *what)
{
	tell(g, user, what);
	return MOSQ_ERR_ACL_DENIED;
}

static bool
has_rate(struct gate *g, struct str user, uint32_t bytes)
{
	struct mono now = clock_mono();

	for (uint32_t i = 0; i <= bytes / FLOOD_BYTES; i++)
		if (rate_take(g->rate, user, now) > 0)
			return false;
	return true;
}

static int
on_write(
    struct gate *g, const char *user, const struct mosquitto_evt_acl_check *e)
{
	const char *wrong;

	if (e->qos == 2)
		return refuse(g, user, "PUBLISH with QoS 2");
	wrong = topic_name_refused(str_of(user), str_of(e->topic), e->retain);
	if (wrong != NULL)
		return refuse(g, user, wrong);
	if (!has_rate(g, str_of(user), e->payloadlen))
		return refuse(g, user, "PUBLISH over its rate");
	return MOSQ_ERR_PLUGIN_DEFER;
}

static int
on_acl(int event, void *data, void *arg)
{
	const struct mosquitto_evt_acl_check *e = data;
	struct gate *g = arg;
	const char *user = mosquitto_client_username(e->client);

	(void)event;
	if (e->access == MOSQ_ACL_SUBSCRIBE &&
	    !topic_filters_allow(g->filters, str_of(user), str_of(e->topic)))
		return refuse(
		    g, user, "SUBSCRIBE to a filter that is not its own");
	return e->access == MOSQ_ACL_WRITE ? on_write(g, user, e)
					   : MOSQ_ERR_PLUGIN_DEFER;
}

static bool
read_number(const struct mosquitto_opt *o, int64_t *out)
{
	if (str_to_i64(str_of(o->value), 1, RATE_MAX, out) == RC_OK)
		return true;
	mosquitto_log_printf(MOSQ_LOG_ERR,
	    "mosquitto-gate: plugin_opt_%s: use a number from 1 to %d", o->key,
	    RATE_MAX);
	return false;
}

static bool
read_settings(struct settings *s, const struct mosquitto_opt *opts, int n)
{
	for (int i = 0; i < n; i++) {
		struct str key = str_of(opts[i].key);
		if (str_eq(key, STR("acl_file"))) {
			s->acl_file = opts[i].value;
		} else if (str_eq(key, STR("per_s"))) {
			if (!read_number(&opts[i], &s->per_s))
				return false;
		} else if (str_eq(key, STR("burst"))) {
			if (!read_number(&opts[i], &s->burst))
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
read_file(const char *path, struct topic_filters **f)
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
	struct settings s = { .per_s = PER_S, .burst = BURST };
	struct gate *g = mem_zalloc(sizeof(*g));

	g->id = id;
	if (!read_settings(&s, opts, n) ||
	    !read_file(s.acl_file, &g->filters)) {
		gate_free(g);
		return MOSQ_ERR_INVAL;
	}
	g->rate = rate_new(s.per_s, s.burst, BODIES);
	int rc = mosquitto_callback_register(
	    id, MOSQ_EVT_ACL_CHECK, on_acl, NULL, g);
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
	    g->id, MOSQ_EVT_ACL_CHECK, on_acl, NULL);
	gate_free(g);
	return rc;
}
