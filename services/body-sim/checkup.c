/*
 * The arguments of the check.
 */
#include "checkup.h"

#include <stdio.h>
#include <string.h>

#include "core/buf.h"
#include "core/conf.h"
#include "core/id.h"
#include "core/mem.h"
#include "flags.h"
#include "svc/svc.h"
#include "watch.h"
#include "wire/tree.h"

#define OUT_MAX (64 * 1024)

enum exit_code { EXIT_USAGE = 64, EXIT_CONFIG = 78 };

static const struct conf_opt opts[] = {
	{ "TERMINAL_ID", CONF_STR, CONF_AT(checkup_conf, terminal_id),
	    "terminal-001", 0, 0, "id of the body (--terminal ID)" },
	{ "MQTT_BROKER_URL", CONF_URL, CONF_AT(checkup_conf, broker_url),
	    "mqtt://127.0.0.1:1883", 0, 0,
	    "mqtt:// or mqtts://, with user and password if any (--broker "
	    "URL)" },
	{ "MQTT_USERNAME", CONF_STR, CONF_AT(checkup_conf, user), "", 0, 0,
	    "MQTT user; empty for none" },
	{ "MQTT_PASSWORD", CONF_SECRET, CONF_AT(checkup_conf, password), "", 0,
	    0, "MQTT password" },
	{ "MQTT_CA_FILE", CONF_STR, CONF_AT(checkup_conf, ca_file), "", 0, 0,
	    "PEM, who may sign the broker's certificate; empty: the system's" },
	{ "MQTT_CERT_FILE", CONF_STR, CONF_AT(checkup_conf, cert_file), "", 0,
	    0, "PEM, our certificate; empty for none" },
	{ "MQTT_KEY_FILE", CONF_STR, CONF_AT(checkup_conf, key_file), "", 0, 0,
	    "PEM, its key" },
	{ "MQTT_TOPIC_PREFIX", CONF_STR, CONF_AT(checkup_conf, prefix), "soul",
	    0, 0, "first levels of all topics (--prefix P)" },
	{ "CHECK_SECONDS", CONF_F64, CONF_AT(checkup_conf, seconds), "90", 1,
	    86400, "longest time to watch, s (--seconds N)" },
	{ "SKILL_SNAPSHOT_TTL_SECONDS", CONF_F64, CONF_AT(checkup_conf, ttl_s),
	    "60", 1, 86400,
	    "the server's: silence after which skills are void, s (--ttl N)" },
	{ "CHECK_INVOKE_SKILL", CONF_STR, CONF_AT(checkup_conf, invoke_skill),
	    "", 0, 0, "skill to invoke once; empty for none" },
	{ "CHECK_INVOKE_ARGUMENTS", CONF_STR,
	    CONF_AT(checkup_conf, invoke_arguments), "{}", 0, 0,
	    "its arguments, a JSON object (--invoke SKILL JSON sets both)" },
	{ "CHECK_PROBE", CONF_BOOL, CONF_AT(checkup_conf, probe), "off", 0, 0,
	    "send an emotion_update tick and an intent_action of no skill, to "
	    "see whether somebody is subscribed (--probe)" },
	{ "CHECK_KICK", CONF_STR, CONF_AT(checkup_conf, kick), "", 0, 0,
	    "MQTT client id of the body: break its connection once, by "
	    "connecting with that id (--kick ID)" },
};

static const struct flag flags[] = {
	{ "--terminal", { "TERMINAL_ID", NULL }, NULL },
	{ "--broker", { "MQTT_BROKER_URL", NULL }, NULL },
	{ "--prefix", { "MQTT_TOPIC_PREFIX", NULL }, NULL },
	{ "--seconds", { "CHECK_SECONDS", NULL }, NULL },
	{ "--ttl", { "SKILL_SNAPSHOT_TTL_SECONDS", NULL }, NULL },
	{ "--invoke", { "CHECK_INVOKE_SKILL", "CHECK_INVOKE_ARGUMENTS" },
	    NULL },
	{ "--probe", { "CHECK_PROBE", NULL }, "on" },
	{ "--kick", { "CHECK_KICK", NULL }, NULL },
};

static void
help(void)
{
	struct buf out = BUF_INIT(OUT_MAX);

	buf_puts(&out,
	    "body-sim check - watches a real body through its broker\n\n"
	    "usage: body-sim check --terminal ID [--broker URL] [--prefix P] "
	    "[--seconds N]\n"
	    "           [--ttl N] [--invoke SKILL JSON] [--probe] "
	    "[--kick ID]\n\n"
	    "Prints pass, FAIL or not seen for what the protocol asks of a "
	    "body.  Restart the\nbody while it watches, best by cutting its "
	    "power.  Only --invoke, --probe and\n--kick do anything to the "
	    "body.\n\n"
	    "Exit codes: 0 nothing failed, 1 something did, 64 arguments, 69 "
	    "no broker, 78\nconfiguration.\n\n");
	conf_help(opts, NELEM(opts), &out);
	printf("%.*s", STR_ARG(buf_str(&out)));
	buf_free(&out);
}

static bool
is_object(const char *json)
{
	struct wire_tree *t;
	bool is;

	if (wire_tree_parse(str_of(json), &t) != RC_OK)
		return false;
	is = wire_tree_kind(t) == WIRE_TREE_OBJECT;
	wire_tree_free(t);
	return is;
}

static enum rc
load(struct checkup_conf *conf)
{
	struct buf errors = BUF_INIT(OUT_MAX);
	enum rc rc = conf_load(opts, NELEM(opts), conf, &errors);

	if (!id_terminal_valid(str_of(conf->terminal_id))) {
		buf_puts(&errors, "TERMINAL_ID: is no terminal id\n");
		rc = RC_INVALID;
	}
	if (!is_object(conf->invoke_arguments)) {
		buf_puts(
		    &errors, "CHECK_INVOKE_ARGUMENTS: must be a JSON object\n");
		rc = RC_INVALID;
	}
	if (rc != RC_OK)
		fprintf(stderr, "%.*s", STR_ARG(buf_str(&errors)));
	buf_free(&errors);
	return rc;
}

int
checkup(const struct svc_run *r)
{
	struct checkup_conf conf;
	int argc = r->argc, code = EXIT_CONFIG;

	if (flags_apply(flags, NELEM(flags), &argc, r->argv) != RC_OK)
		return EXIT_USAGE;
	if (argc == 2 && strcmp(r->argv[1], "--help") == 0) {
		help();
		return 0;
	}
	if (argc > 1) {
		fprintf(stderr,
		    "body-sim check: unknown argument %s; see body-sim check "
		    "--help\n",
		    r->argv[1]);
		return EXIT_USAGE;
	}
	if (load(&conf) == RC_OK)
		code = watch_run(&conf);
	conf_free(opts, NELEM(opts), &conf);
	return code;
}
