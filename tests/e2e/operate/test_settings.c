/*
 * Settings: --check-config and the start reject the same values, misspelt names
 * are found, and --help documents every variable.
 */
#include <ctype.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "core/str.h"
#include "testkit/testkit.h"

#define RUN_MS  10000
#define CONFIG  78
#define VARS    512
#define NO_NATS "NATS_URL=nats://127.0.0.1:1"

static const char *const programs[] = { "chat-gateway", "intent-filter",
	"emotion-engine", "llm-orchestrator", "memory-worker", "mqtt-bridge",
	"llm-sim", "body-sim", "star-hub" };

/* The output, freed by the caller, and the exit code. */
static char *
settings_output(
    const char *program, const char *arg, const char *const env[], int *code)
{
	const char *const argv[] = { tk_bin(program), arg, NULL };
	static int nth;
	char name[16];
	struct tk_proc p;
	size_t n;

	(void)snprintf(name, sizeof(name), "run-%d", nth++);
	tk_spawn(&p, name, argv, env);
	*code = tk_wait(&p, RUN_MS);
	return tk_read_file(p.log, &n);
}

/* ---- check-config and the start agree ---- */

/* Settings with which a test may start any program. */
#define PLAIN "HTTP_ADDR=127.0.0.1:0", "ADMIN_ADDR=127.0.0.1:0", NO_NATS

static void
check_agreement(const char *program, const char *wrong, const char *why)
{
	const char *const env[] = { wrong, PLAIN, NULL };
	int checked, started;
	char *check = settings_output(program, "--check-config", env, &checked);
	char *start = settings_output(program, NULL, env, &started);

	ck_assert_msg(checked == CONFIG, "%s %s: --check-config ends with %d",
	    program, wrong, checked);
	ck_assert_msg(started == CONFIG, "%s %s: the start ends with %d: %s",
	    program, wrong, started, start);
	ck_assert_msg(strcmp(check, start) == 0,
	    "%s %s: --check-config prints\n%sand the start\n%s", program, wrong,
	    check, start);
	ck_assert_msg(strstr(check, why) != NULL, "%s %s: no \"%s\" in %s",
	    program, wrong, why, check);
	free(check);
	free(start);
}

/* For every program: each of its variables in this list. */
static const char *const any_wrong[][3] = {
	/* the variable, an invalid value, the expected message */
	{ "REDIS_URL", "rediss://127.0.0.1", "TLS proxy" },
	{ "REDIS_URL", "127.0.0.1:6379", "REDIS_URL: " },
	{ "REDIS_URL", "redis://127.0.0.1/x", "REDIS_URL: the path" },
	{ "REDIS_URL", "redis://u@127.0.0.1", "REDIS_URL: there is a user" },
	{ "REDIS_TIMEOUT_MS", "9", "REDIS_TIMEOUT_MS: \"9\"" },
	{ "NATS_URL", "127.0.0.1:x", "NATS_URL" },
	{ "NATS_CERT_FILE", "/none", "a certificate needs its key" },
	{ "NATS_CA_FILE", "/none", "begins with tls://" },
	{ "ADMIN_ADDR", "localhost:1", "ADMIN_ADDR: " },
	{ "AUTH", "on", "AUTH: use off" },
	{ "AUTH_TOKENS", "/none", "/none" },
	{ "AUTH_AUDIENCE", "me", "set AUTH_JWKS" },
	{ "CORS_ORIGINS", "*", "CORS_ORIGINS=*" },
	{ "TRUSTED_PROXIES", "x", "TRUSTED_PROXIES: use" },
	{ "LOG_LEVEL", "loud", "LOG_LEVEL" },
	{ "HTTP_WORKERS", "16", "from 17 to 4096" },
	{ "OPENAI_BASE_URL", "127.0.0.1:9080/v1", "OPENAI_BASE_URL: " },
	{ "LLM_PROVIDER", "open", "openai or claude" },
	{ "LLM_PROVIDERS", "/none", "LLM_PROVIDERS: cannot use \"/none\"" },
	{ "DEFAULT_TIMEZONE", "Mars/Base", "DEFAULT_TIMEZONE: " },
	{ "INTENT_FILTER_DEFAULT_TIMEZONE", "Mars/Base", "TIMEZONE: it must" },
	{ "OTEL_EXPORTER_OTLP_ENDPOINT", "collector:4318", "ENDPOINT" },
	{ "USER_ID", "a\tb", "USER_ID: " },
	{ "SOUL_DEFAULT_MBTI", "XXXX", "SOUL_DEFAULT_MBTI: " },
	{ "SOUL_MODEL", "persona-pad-v1", "SOUL_MODEL: " },
	{ "EXEC_GATE", "maybe", "EXEC_GATE: " },
	{ "EMOTION_WEIGHTS", "/none", "EMOTION_WEIGHTS: cannot use" },
	{ "MEMORY_BACKEND", "paper", "MEMORY_BACKEND: " },
	{ "EMBEDDINGS_BASE_URL", "127.0.0.1", "EMBEDDINGS_BASE_URL: " },
	{ "MQTT_BROKER_URL", "http://x", "MQTT_BROKER_URL" },
	{ "MQTT_TOPIC_PREFIX", "a/#", "MQTT_TOPIC_PREFIX" },
	{ "BROKER_ID", "a\tb", "BROKER_ID: " },
	{ "TERMINAL_ID", "a/b", "TERMINAL_ID" },
	{ "BODY_FAULTS", "slow", "BODY_FAULTS: \"slow\"" },
	{ "LLM_SIM_FIRST_MS", "soon", "LLM_SIM_FIRST_MS" },
};

static bool
has_variable(const char *all, const char *name)
{
	char line[128];
	bool has;

	(void)snprintf(line, sizeof(line), "%s=", name);
	has = strncmp(all, line, strlen(line)) == 0;
	(void)snprintf(line, sizeof(line), "\n%s=", name);
	return has || strstr(all, line) != NULL;
}

TEST_T(check_config_rejects_what_the_start_rejects, 300)
{
	char wrong[256];
	size_t tried[NELEM(any_wrong)] = { 0 };
	int code;

	for (size_t p = 0; p < NELEM(programs); p++) {
		char *all =
		    settings_output(programs[p], "--print-config", NULL, &code);
		for (size_t i = 0; i < NELEM(any_wrong); i++) {
			if (!has_variable(all, any_wrong[i][0]))
				continue;
			(void)snprintf(wrong, sizeof(wrong), "%s=%s",
			    any_wrong[i][0], any_wrong[i][1]);
			check_agreement(programs[p], wrong, any_wrong[i][2]);
			tried[i]++;
		}
		free(all);
	}
	for (size_t i = 0; i < NELEM(any_wrong); i++)
		ck_assert_msg(
		    tried[i] > 0, "no program has %s", any_wrong[i][0]);
}

/* Files that can be read but not used; files that depend on each other. */
TEST(check_config_reads_the_files)
{
	static const char *const bad[] = { "", "{", "[]", "{\"providers\":[]}",
		"{\"providers\":[{\"name\":\"a\",\"base_url\":\"x\","
		"\"model\":\"m\"}]}",
		"{\"providers\":[{\"name\":\"a\",\"base_url\":\"http://x\","
		"\"model\":\"m\",\"api_key_env\":\"NOT_SET_AT_ALL\"}]}" };
	const char *path = tk_path("providers.json");
	char file[300];

	(void)snprintf(file, sizeof(file), "LLM_PROVIDERS=%s", path);
	for (size_t i = 0; i < NELEM(bad); i++) {
		tk_write_file(path, bad[i]);
		check_agreement(
		    "llm-orchestrator", file, "LLM_PROVIDERS: cannot use");
		check_agreement(
		    "memory-worker", file, "LLM_PROVIDERS: cannot use");
	}
	tk_write_file(path, "none");
	(void)snprintf(file, sizeof(file), "EMOTION_WEIGHTS=%s", path);
	check_agreement("emotion-engine", file, "it is shorter than its head");
}

TEST(tls_files_of_the_broker_are_read)
{
	static const char *const both[] = { "mqtt-bridge", "body-sim" };
	const char *const env[] = { PLAIN, "MQTT_BROKER_URL=mqtts://127.0.0.1",
		"MQTT_CA_FILE=/none", NULL };
	int code;

	for (size_t i = 0; i < NELEM(both); i++)
		for (int start = 0; start < 2; start++) {
			char *output = settings_output(both[i],
			    start != 0 ? NULL : "--check-config", env, &code);
			ck_assert_int_eq(code, CONFIG);
			ck_assert_ptr_nonnull(
			    strstr(output, "the file of authorities"));
			free(output);
		}
}

/* ---- unknown names ---- */

TEST(misspelt_settings_are_found)
{
	static const char *const rows[][3] = {
		{ "llm-orchestrator", "LLM_PROVIDRS=secret",
		    "LLM_PROVIDRS is not known; did you mean LLM_PROVIDER" },
		{ "llm-orchestrator", "OPENAI_KEY=secret",
		    "OPENAI_KEY is not known; did you mean OPENAI_API_KEY?" },
		{ "memory-worker", "OPENAI_URL=secret",
		    "OPENAI_URL is not known; did you mean OPENAI_BASE_URL?" },
		{ "chat-gateway", "AUTH_TOKNES=secret",
		    "AUTH_TOKNES is not known; did you mean AUTH_TOKENS?" },
		{ "mqtt-bridge", "MQTT_BROKER=secret",
		    "MQTT_BROKER is not known; did you mean "
		    "MQTT_BROKER_URL?" },
		{ "body-sim", "BODY_COUNTS=secret",
		    "BODY_COUNTS is not known; did you mean BODY_COUNT?" },
	};

	for (size_t i = 0; i < NELEM(rows); i++) {
		const char *const env[] = { PLAIN, rows[i][1], NULL };
		int code;
		char *output =
		    settings_output(rows[i][0], "--check-config", env, &code);
		ck_assert_msg(
		    code == 0, "%s: %d: %s", rows[i][1], code, output);
		ck_assert_msg(strstr(output, rows[i][2]) != NULL, "%s: %s",
		    rows[i][1], output);
		ck_assert_ptr_null(strstr(output, "secret"));
		free(output);
	}
}

/* Store the first word of each line in names; returns how many. */
static size_t
names_of(char *text, char end, const char *names[VARS], size_t n)
{
	char *next = text;

	for (char *line; (line = strsep(&next, "\n")) != NULL;) {
		char *stop;
		while (*line == ' ')
			line++;
		stop = line +
		    strspn(line, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");
		if (stop - line < 4 || *stop != end || !isupper(*line))
			continue;
		*stop = '\0';
		ck_assert_uint_lt(n, VARS);
		names[n++] = line;
	}
	return n;
}

/* One settings file serves all programs. */
TEST(settings_of_other_programs_are_not_misspelt)
{
	static char lines[VARS][96];
	const char *names[VARS], *env[VARS + 1];
	char *texts[NELEM(programs)]; /* The file contains the names. */
	size_t n = 0;
	int code;

	for (size_t p = 0; p < NELEM(programs); p++) {
		texts[p] =
		    settings_output(programs[p], "--print-config", NULL, &code);
		n = names_of(texts[p], '=', names, n);
	}
	ck_assert_uint_gt(n, 100);
	for (size_t i = 0; i < n; i++) {
		(void)snprintf(lines[i], sizeof(lines[i]), "%s=", names[i]);
		env[i] = lines[i];
	}
	for (size_t p = 0; p < NELEM(programs); p++)
		free(texts[p]);
	env[n] = NULL;
	for (size_t p = 0; p < NELEM(programs); p++) {
		char *output =
		    settings_output(programs[p], "--check-config", env, &code);
		ck_assert_msg(strstr(output, "not known") == NULL, "%s: %s",
		    programs[p], output);
		free(output);
	}
}

TEST(a_key_that_the_file_of_providers_names_is_known)
{
	const char *path = tk_path("providers.json");
	char file[300];
	const char *const env[] = { PLAIN, file, "OPENAI_API_KEY2=k", NULL };
	int code;

	(void)snprintf(file, sizeof(file), "LLM_PROVIDERS=%s", path);
	tk_write_file(path,
	    "{\"providers\":[{\"name\":\"a\",\"kind\":\"openai\","
	    "\"base_url\":\"http://x/v1\",\"model\":\"m\","
	    "\"api_key_env\":\"OPENAI_API_KEY2\"}]}");
	char *output =
	    settings_output("llm-orchestrator", "--check-config", env, &code);
	ck_assert_int_eq(code, 0);
	ck_assert_str_eq(output, "");
	free(output);
}

/* ---- help ---- */

/* The rest of that variable's line, or NULL. */
static const char *
line_of(const char *help, const char *name, char line[512])
{
	size_t n = strlen(name);

	for (const char *p = help; p != NULL; p = strchr(p, '\n')) {
		p += *p == '\n' ? 1 : 0;
		if (strncmp(p, "  ", 2) == 0 && strncmp(p + 2, name, n) == 0 &&
		    p[2 + n] == ' ') {
			(void)snprintf(
			    line, 512, "%.*s", (int)strcspn(p, "\n"), p);
			return line;
		}
	}
	return NULL;
}

static bool
has_suffix(const char *s, const char *end)
{
	size_t n = strlen(s), k = strlen(end);

	return n >= k && strcmp(s + n - k, end) == 0;
}

static bool
settings_match(const char *s, const char *pattern)
{
	regex_t re;
	bool is;

	ck_assert_int_eq(regcomp(&re, pattern, REG_EXTENDED | REG_NOSUB), 0);
	is = regexec(&re, s, 0, NULL, 0) == 0;
	regfree(&re);
	return is;
}

static bool
is_number(const char *s)
{
	return s[0] != '\0' && s[strspn(s, "0123456789.")] == '\0';
}

/* A number has a range, and a unit if its name has one. */
static void
check_number(const char *program, const char *name, const char *line)
{
	ck_assert_msg(settings_match(line, "[0-9] to [0-9]"),
	    "%s: %s has no range", program, name);
	ck_assert_msg(settings_match(line, "default [0-9]"),
	    "%s: %s has no default", program, name);
	if (has_suffix(name, "_MS"))
		ck_assert_msg(strstr(line, ", ms") != NULL, "%s", line);
	if (has_suffix(name, "_SECONDS"))
		ck_assert_msg(strstr(line, ", s") != NULL, "%s", line);
	if (has_suffix(name, "_MIB") || has_suffix(name, "_MB"))
		ck_assert_msg(strstr(line, "MiB") != NULL, "%s", line);
	if (has_suffix(name, "_PER_S"))
		ck_assert_msg(strstr(line, "per second") != NULL, "%s", line);
}

TEST_T(help_lists_settings_with_unit_default_and_range, 120)
{
	const char *printed[VARS], *helped[VARS];
	char line[512];
	int code;

	for (size_t p = 0; p < NELEM(programs); p++) {
		char *help =
		    settings_output(programs[p], "--help", NULL, &code);
		char *all =
		    settings_output(programs[p], "--print-config", NULL, &code);
		size_t n = names_of(all, '=', printed, 0);
		for (size_t i = 0; i < n; i++) {
			const char *l = line_of(help, printed[i], line);
			ck_assert_msg(l != NULL, "%s --help has no %s",
			    programs[p], printed[i]);
			if (is_number(printed[i] + strlen(printed[i]) + 1))
				check_number(programs[p], printed[i], l);
			else if (printed[i][strlen(printed[i]) + 1] != '\0')
				ck_assert_msg(strstr(l, "default ") != NULL,
				    "%s: %s has no default", programs[p],
				    printed[i]);
		}
		/* The options follow the last empty line. */
		char *opts = strstr(help, "\n\nConfiguration comes");
		ck_assert_ptr_nonnull(opts);
		opts = strstr(opts + 2, "\n\n");
		ck_assert_ptr_nonnull(opts);
		ck_assert_uint_eq(names_of(opts, ' ', helped, 0), n);
		free(help);
		free(all);
	}
}
