/*
 * Configuration: sources of values, errors, and output.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/conf.h"
#include "core/mem.h"
#include "testkit/testkit.h"

struct cfg {
	char *url;
	char *key;
	int64_t port;
	double ratio;
	bool on;
	char *note;
};

static const struct conf_opt opts[] = {
	{ .env = "T_URL",
	    .kind = CONF_URL,
	    CONF_AT(cfg, url),
	    .dflt = "nats://127.0.0.1:4222",
	    .help = "the bus" },
	{ .env = "T_KEY",
	    .kind = CONF_SECRET,
	    CONF_AT(cfg, key),
	    .help = "the key" },
	{ .env = "T_PORT",
	    .kind = CONF_INT,
	    CONF_AT(cfg, port),
	    .dflt = "9010",
	    .min = 1,
	    .max = 65535,
	    .help = "TCP port" },
	{ .env = "T_RATIO",
	    .kind = CONF_F64,
	    CONF_AT(cfg, ratio),
	    .dflt = "0.5",
	    .min = 0,
	    .max = 1,
	    .help = "share | part" },
	{ .env = "T_ON",
	    .kind = CONF_BOOL,
	    CONF_AT(cfg, on),
	    .dflt = "on",
	    .help = "whether" },
	{ .env = "T_LONGER_NAME",
	    .kind = CONF_STR,
	    CONF_AT(cfg, note),
	    .help = "a note" },
};

static void
set(const char *name, const char *value)
{
	ck_assert_int_eq(setenv(name, value, 1), 0);
}

/* Load from the environment; errors must be exactly these. */
static void
load(struct cfg *cfg, const char *wanted)
{
	struct buf errors = BUF_INIT(10000);
	enum rc rc;

	/* The previous content must not matter. */
	memset(cfg, 0xa5, sizeof(*cfg));
	rc = conf_load(opts, NELEM(opts), cfg, &errors);
	ck_assert_str_eq(buf_str(&errors).p, wanted);
	ck_assert_int_eq(rc, wanted[0] == '\0' ? RC_OK : RC_INVALID);
	buf_free(&errors);
}

TEST(unset_variables_have_defaults)
{
	struct cfg cfg;

	load(&cfg, "");
	ck_assert_str_eq(cfg.url, "nats://127.0.0.1:4222");
	ck_assert_str_eq(cfg.key, "");
	ck_assert_int_eq(cfg.port, 9010);
	ck_assert_double_eq(cfg.ratio, 0.5);
	ck_assert(cfg.on);
	ck_assert_str_eq(cfg.note, "");
	conf_free(opts, NELEM(opts), &cfg);
	ck_assert_ptr_null(cfg.url);
	conf_free(opts, NELEM(opts), &cfg);
}

TEST(values_are_read_from_the_environment)
{
	struct cfg cfg;

	set("T_URL", "nats://x");
	set("T_KEY", " secret ");
	set("T_PORT", " 65535 ");
	set("T_RATIO", "1");
	set("T_ON", "off");
	/* Empty is unset. */
	set("T_LONGER_NAME", "");
	load(&cfg, "");
	ck_assert_str_eq(cfg.url, "nats://x");
	ck_assert_str_eq(cfg.key, " secret ");
	ck_assert_int_eq(cfg.port, 65535);
	ck_assert_double_eq(cfg.ratio, 1);
	ck_assert(!cfg.on);
	conf_free(opts, NELEM(opts), &cfg);
}

TEST(booleans_have_several_spellings)
{
	static const char *const on[] = { "on", "true", "yes", "1", "ON",
		"True", "Yes" };
	static const char *const off[] = { "off", "false", "no", "0", "OFF",
		"False", "No" };
	struct cfg cfg;

	for (size_t i = 0; i < NELEM(on); i++) {
		set("T_ON", on[i]);
		load(&cfg, "");
		ck_assert(cfg.on);
		conf_free(opts, NELEM(opts), &cfg);
		set("T_ON", off[i]);
		load(&cfg, "");
		ck_assert(!cfg.on);
		conf_free(opts, NELEM(opts), &cfg);
	}
}

TEST(values_are_read_from_files)
{
	static const struct {
		const char *content, *want;
	} rows[] = {
		{ "secret", "secret" },
		{ "secret\n", "secret" },
		{ "secret\r\n", "secret" },
		{ "secret\n\n", "secret\n" },
		{ " secret \n", " secret " },
		{ "", "" },
		{ "\n", "" },
	};
	struct cfg cfg;

	for (size_t i = 0; i < NELEM(rows); i++) {
		tk_write_file(tk_path("key"), rows[i].content);
		set("T_KEY_FILE", tk_path("key"));
		load(&cfg, "");
		ck_assert_str_eq(cfg.key, rows[i].want);
		conf_free(opts, NELEM(opts), &cfg);
	}
	/* The variable has precedence. */
	set("T_KEY", "direct");
	/* Any kind may come from a file. */
	tk_write_file(tk_path("port"), "81\n");
	set("T_PORT_FILE", tk_path("port"));
	/* An empty name is unset. */
	set("T_URL_FILE", "");
	load(&cfg, "");
	ck_assert_str_eq(cfg.key, "direct");
	ck_assert_int_eq(cfg.port, 81);
	conf_free(opts, NELEM(opts), &cfg);
}

TEST(every_error_states_what_is_valid)
{
	struct cfg cfg;

	set("T_PORT", "65536");
	set("T_RATIO", "half");
	set("T_ON", "maybe");
	load(&cfg,
	    "T_PORT: \"65536\" is not right; it must be a whole number "
	    "from 1 to 65535\n"
	    "T_RATIO: \"half\" is not right; it must be a number from 0 "
	    "to 1\n"
	    "T_ON: \"maybe\" is not right; it must be on or off "
	    "(true/false, yes/no, 1/0)\n");
	/* Invalid options have their defaults. */
	ck_assert_int_eq(cfg.port, 9010);
	ck_assert_double_eq(cfg.ratio, 0.5);
	ck_assert(cfg.on);
	conf_free(opts, NELEM(opts), &cfg);
}

TEST(invalid_numbers_are_rejected)
{
	static const char *const rows[] = { "0", "-1", "+5", "1.5", "0x50",
		"80a", "1e3", "9223372036854775808", "80 81" };
	struct cfg cfg;

	for (size_t i = 0; i < NELEM(rows); i++) {
		char want[200];

		set("T_PORT", rows[i]);
		(void)snprintf(want, sizeof(want),
		    "T_PORT: \"%s\" is not right; it must be a whole number "
		    "from 1 to 65535\n",
		    rows[i]);
		load(&cfg, want);
		conf_free(opts, NELEM(opts), &cfg);
	}
}

TEST(errors_are_escaped_and_bounded)
{
	char big[501];
	struct cfg cfg;
	char want[300];

	set("T_PORT", "1\nT_URL: fake\x1b");
	load(&cfg,
	    "T_PORT: \"1?T_URL: fake?\" is not right; it must be a whole "
	    "number from 1 to 65535\n");
	conf_free(opts, NELEM(opts), &cfg);
	memset(big, '7', 500);
	big[500] = '\0';
	set("T_PORT", big);
	(void)snprintf(want, sizeof(want),
	    "T_PORT: \"%.64s\xe2\x80\xa6\" is not right; it must be a whole "
	    "number from 1 to 65535\n",
	    big);
	load(&cfg, want);
	conf_free(opts, NELEM(opts), &cfg);
}

TEST(unusable_files_are_reported)
{
	static const char zeros[] = "a\0b";
	struct cfg cfg;
	char want[600];
	char *big = mem_zalloc(70001);
	FILE *f;

	set("T_KEY_FILE", tk_path("missing"));
	(void)snprintf(want, sizeof(want),
	    "T_KEY_FILE: cannot use \"%s\": No such file or directory; it "
	    "must be a readable file with the value\n",
	    tk_path("missing"));
	load(&cfg, want);
	ck_assert_str_eq(cfg.key, "");
	conf_free(opts, NELEM(opts), &cfg);

	set("T_KEY_FILE", tk_dir());
	(void)snprintf(want, sizeof(want),
	    "T_KEY_FILE: cannot use \"%s\": Is a directory; it must be a "
	    "readable file with the value\n",
	    tk_dir());
	load(&cfg, want);
	conf_free(opts, NELEM(opts), &cfg);

	memset(big, 'x', 70000);
	tk_write_file(tk_path("big"), big);
	free(big);
	set("T_KEY_FILE", tk_path("big"));
	(void)snprintf(want, sizeof(want),
	    "T_KEY_FILE: cannot use \"%s\": longer than 65536 bytes; it must "
	    "be a readable file with the value\n",
	    tk_path("big"));
	load(&cfg, want);
	conf_free(opts, NELEM(opts), &cfg);

	f = fopen(tk_path("nul"), "w");
	ck_assert_ptr_nonnull(f);
	ck_assert_uint_eq(fwrite(zeros, 1, 3, f), 3);
	ck_assert_int_eq(fclose(f), 0);
	set("T_KEY_FILE", tk_path("nul"));
	(void)snprintf(want, sizeof(want),
	    "T_KEY_FILE: cannot use \"%s\": has a NUL byte; it must be a "
	    "readable file with the value\n",
	    tk_path("nul"));
	load(&cfg, want);
	conf_free(opts, NELEM(opts), &cfg);

	/* A wrong value from a file names the file's variable. */
	ck_assert_int_eq(unsetenv("T_KEY_FILE"), 0);
	tk_write_file(tk_path("port"), "many\n");
	set("T_PORT_FILE", tk_path("port"));
	load(&cfg,
	    "T_PORT_FILE: \"many\" is not right; it must be a whole number "
	    "from 1 to 65535\n");
	conf_free(opts, NELEM(opts), &cfg);
}

struct required {
	int64_t n;
	double any;
};

TEST(numbers_without_a_default_must_be_set)
{
	static const struct conf_opt must[] = {
		{ .env = "T_N",
		    .kind = CONF_INT,
		    CONF_AT(required, n),
		    .help = "n" },
		{ .env = "T_ANY",
		    .kind = CONF_F64,
		    CONF_AT(required, any),
		    .help = "any" },
	};
	struct buf errors = BUF_INIT(1000);
	struct required r;

	ck_assert_int_eq(conf_load(must, NELEM(must), &r, &errors), RC_INVALID);
	ck_assert_str_eq(buf_str(&errors).p,
	    "T_N: is not set; it must be a whole number\n"
	    "T_ANY: is not set; it must be a number\n");
	/* Without a range, all integers. */
	set("T_N", "-9223372036854775808");
	set("T_ANY", "-1.5e9");
	buf_reset(&errors);
	ck_assert_int_eq(conf_load(must, NELEM(must), &r, &errors), RC_OK);
	ck_assert_int_eq(r.n, INT64_MIN);
	ck_assert_double_eq(r.any, -1.5e9);
	buf_free(&errors);
}

TEST(errors_beyond_the_buffer_are_errors)
{
	struct buf errors = BUF_INIT(5);
	struct cfg cfg;

	set("T_PORT", "x");
	ck_assert_int_eq(
	    conf_load(opts, NELEM(opts), &cfg, &errors), RC_INVALID);
	conf_free(opts, NELEM(opts), &cfg);
	buf_free(&errors);
}

TEST(printing_redacts_secrets)
{
	struct buf out = BUF_INIT(1000);
	struct cfg cfg;

	set("T_KEY", "hunter2");
	set("T_URL", "nats://me:hunter2@a:1,nats://b");
	set("T_LONGER_NAME", "a\nb");
	load(&cfg, "");
	conf_print(opts, NELEM(opts), &cfg, &out);
	ck_assert_str_eq(buf_str(&out).p,
	    "T_URL=nats://***@a:1,nats://b\n"
	    "T_KEY=***\n"
	    "T_PORT=9010\n"
	    "T_RATIO=0.5\n"
	    "T_ON=on\n"
	    "T_LONGER_NAME=a?b\n");
	conf_free(opts, NELEM(opts), &cfg);
	ck_assert_int_eq(unsetenv("T_KEY"), 0);
	ck_assert_int_eq(unsetenv("T_URL"), 0);
	ck_assert_int_eq(unsetenv("T_LONGER_NAME"), 0);
	load(&cfg, "");
	buf_reset(&out);
	conf_print(opts, NELEM(opts), &cfg, &out);
	ck_assert_ptr_nonnull(strstr(buf_str(&out).p, "\nT_KEY=\n"));
	conf_free(opts, NELEM(opts), &cfg);
	buf_free(&out);
}

TEST(help_and_table_are_formatted)
{
	struct buf out = BUF_INIT(2000);

	conf_help(opts, NELEM(opts), &out);
	ck_assert_str_eq(buf_str(&out).p,
	    "  T_URL          the bus (default nats://127.0.0.1:4222)\n"
	    "  T_KEY          the key\n"
	    "  T_PORT         TCP port (1 to 65535; default 9010)\n"
	    "  T_RATIO        share | part (0 to 1; default 0.5)\n"
	    "  T_ON           whether (default on)\n"
	    "  T_LONGER_NAME  a note\n");
	buf_reset(&out);
	conf_markdown(opts, NELEM(opts), &out);
	ck_assert_str_eq(buf_str(&out).p,
	    "| `T_URL` | `nats://127.0.0.1:4222` | the bus |\n"
	    "| `T_KEY` | | the key |\n"
	    "| `T_PORT` | `9010` | TCP port (1 to 65535) |\n"
	    "| `T_RATIO` | `0.5` | share \\| part (0 to 1) |\n"
	    "| `T_ON` | `on` | whether |\n"
	    "| `T_LONGER_NAME` | | a note |\n");
	buf_free(&out);
}

/* The line of conf_unknown() for a variable; known ones end with NULL. */
static void
unknown(const char *name, const char *const *known, struct buf *out)
{
	struct conf_opt list[8] = { 0 };
	size_t n = 0;

	while (known[n] != NULL) {
		list[n].env = known[n];
		n++;
	}
	ck_assert_int_eq(clearenv(), 0);
	ck_assert_int_eq(setenv(name, "x", 1), 0);
	buf_reset(out);
	conf_unknown(list, n, STR(""), out);
}

TEST(an_unknown_variable_is_reported_with_the_closest)
{
	static const char *const known[] = { "AUTH", "AUTH_TOKENS",
		"LLM_PROVIDERS", "OPENAI_API_KEY", "REDIS_URL",
		"REDIS_TIMEOUT_MS", NULL };
	static const char *const rows[][2] = {
		{ "LLM_PROVIDER", "LLM_PROVIDERS" },
		{ "LLM_PORVIDERS", "LLM_PROVIDERS" },
		{ "AUTH_TOKEN", "AUTH_TOKENS" },
		{ "OPENAI_KEY", "OPENAI_API_KEY" },
		{ "OPENAI_SECRET_API_KEY", "OPENAI_API_KEY" },
		{ "REDIS_TIMEOUT", "REDIS_TIMEOUT_MS" },
		{ "REDSI_URL", "REDIS_URL" },
		{ "PATH", NULL },
		{ "AUTO", NULL },
		{ "REDIS_PORT", NULL },
		{ "NATS_URL", NULL },
	};

	struct buf out = BUF_INIT(4096);
	char want[128];

	for (size_t i = 0; i < NELEM(rows); i++) {
		want[0] = '\0';
		if (rows[i][1] != NULL)
			snprintf(want, sizeof(want),
			    "%s is not known; did you mean %s?\n", rows[i][0],
			    rows[i][1]);
		unknown(rows[i][0], known, &out);
		ck_assert_str_eq(buf_str(&out).p, want);
	}
	buf_free(&out);
}

TEST(names_of_any_length_are_compared)
{
	char name[300];
	const char *const known[] = { name, "A_B", NULL };
	struct buf out = BUF_INIT(4096);

	for (size_t n = 1; n < sizeof(name) - 1; n++) {
		memset(name, 'A', n);
		name[n] = '\0';
		unknown("AAAAAAAAAB", known, &out);
		unknown(
		    name, (const char *const[]){ "AAAAAAAAAB", NULL }, &out);
		memset(name, '_', n);
		unknown("________A", known, &out);
		unknown(name, known, &out);
		ck_assert_uint_eq(out.n, 0);
	}
	buf_free(&out);
}
