/*
 * The leak detector finds secrets and user texts in logs, and reports nothing
 * else.
 */
#include "testkit/stack/secrets.h"

#include <stdio.h>
#include <string.h>

#include "core/mem.h"
#include "testkit/testkit.h"

/* A log and the expected finding; NULL: none. */
static const struct {
	const char *log, *finding;
} logs[] = {
	{ "lvl=info ev=a text=hello\n", NULL },
	{ "lvl=info ev=a\nlvl=warn ev=b why=\"no s3cret-of-nats here\"\n",
	    "x.log:2: contains the secret \"s3cret-of-nats\"" },
	/* Not at debug level either. */
	{ "ts=1 lvl=debug ev=b why=s3cret-of-nats\n", "contains the secret" },
	{ "lvl=info url=nats://a:pass-in-url@h:1\n", "\"pass-in-url\"" },
	{ "lvl=info key=planted-openai-5f0e9c41d7\n", "planted-openai" },
	{ "lvl=info text=\"please water my plants today, w\"\n",
	    "contains user text \"please water my plants today\"" },
	{ "lvl=info text=\"please water my plants\"\n", NULL },
	{ "ts=1 lvl=debug text=\"please water my plants today\"\n", NULL },
	{ "lvl=warn why=\"\\\"the longest of all the parts \\\\ short\"\n",
	    "\"the longest of all the parts " },
	{ "lvl=info id=my-session-of-today type=keyboard_text\n", NULL },
	{ "lvl=info where=\"in a list as well\"\n", "in a list as well" },
};

TEST(leaked_secrets_are_found)
{
	const char *env[8 + SECRETS_ENV_MAX] = { "NATS_PASSWORD=s3cret-of-nats",
		"NATS_URL=nats://a:pass-in-url@h:1", "LOG_LEVEL=info-or-not" };
	const char *leaked;
	json_t *body;
	size_t i;

	ck_assert_ptr_null(secrets_leaked());
	secrets_begin();
	ck_assert_uint_gt(secrets_plant(env, 3), 3);
	body = json_pack("{ssss s[{ssss} {ss}] s[s]}", "session_id",
	    "my-session-of-today", "user", "ann", "inputs", "type",
	    "keyboard_text", "text", "please water my plants today", "text",
	    "\"the longest of all the parts \\ short", "tags",
	    "in a list as well");
	secrets_note_texts(body);
	json_decref(body);
	for (i = 0; i < NELEM(logs); i++) {
		tk_write_file(tk_path("x.log"), logs[i].log);
		leaked = secrets_leaked();
		ck_assert_msg((leaked != NULL) == (logs[i].finding != NULL) &&
			(leaked == NULL ||
			    strstr(leaked, logs[i].finding) != NULL),
		    "%s: %s", logs[i].log, leaked != NULL ? leaked : "nothing");
	}
}

TEST(http_responses_are_searched)
{
	json_t *body;

	ck_assert_ptr_null(secrets_in(STR("s3cret-of-all"), true));
	secrets_begin();
	secrets_note("s3cret-of-all");
	body = json_pack("[s]", "some words of mine");
	secrets_note_texts(body);
	json_decref(body);
	ck_assert_str_eq(secrets_in(STR("{\"a\":\"s3cret-of-all\"}"), false),
	    "s3cret-of-all");
	ck_assert_ptr_null(secrets_in(STR("some words of mine"), false));
	ck_assert_str_eq(secrets_in(STR("x some words of mine"), true),
	    "some words of mine");
	ck_assert_ptr_null(secrets_in(STR("s3cret-of-al"), true));
}
