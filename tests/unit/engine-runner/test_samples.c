/*
 * Captures of real engines, which are not part of the sources: ENGINE_SAMPLES
 * names their folder, with _expected-from-seed-harness.json.  Where this runner
 * decides otherwise the table below has the reason.
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "spool/replay.h"
#include "testkit/attempt_fixture.h"
#include "testkit/testkit.h"

#define PATH_SIZE 4096

/* The ends that differ: in what the harness's id begins with. */
static const struct {
	const char *id, *end, *why;
} deviations[] = {
	{ "codex-autherr", "conversation.failed:AUTH_REQUIRED",
	    "the class of the failure, not PROCESS_EXIT_NON_ZERO" },
	{ "gemini-autherr", "conversation.failed:AUTH_REQUIRED",
	    "the class of the failure, not PROCESS_EXIT_NON_ZERO" },
	{ "iflow-autherr", "conversation.failed:AUTH_REQUIRED",
	    "the class of the failure; a stack trace is no message" },
	{ "opencode-autherr", "conversation.failed:AUTH_REQUIRED",
	    "an error of the provider is an end, also with exit code 0" },
};

static struct str
sample_read(const char *folder, const json_t *files, const char *stream)
{
	const char *name = json_string_value(json_object_get(files, stream));
	char path[PATH_SIZE];
	struct str text = { NULL, 0 };
	size_t n;
	FILE *f;

	if (name == NULL)
		return text;
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	f = fopen(path, "rb");
	ck_assert_msg(f != NULL, "%s cannot be read", path);
	char *all = mem_alloc(1024UL * 1024);
	n = fread(all, 1, 1024UL * 1024, f);
	fclose(f);
	return (struct str){ all, n };
}

static size_t
sample_count(struct str types, const char *type)
{
	size_t n = 0;

	while (types.n > 0)
		n += str_eq(str_split(&types, '\n'), str_of(type));
	return n;
}

static const char *
sample_state_end(const char *state)
{
	if (strcmp(state, "completed") == 0)
		return "conversation.completed:DONE_MARKER_FOUND";
	if (strcmp(state, "awaiting_user_input") == 0)
		return "user.input.required";
	return "(another)";
}

/* Whether the attempt ends as the harness's; else as a deviation says. */
static bool
sample_check_end(const char *id, const char *state, const struct tk_events *ev)
{
	struct str end = str_trim(buf_str(&ev->types));

	while (memchr(end.p, '\n', end.n) != NULL)
		str_split(&end, '\n');
	if (str_eq(end, str_of(sample_state_end(state))))
		return true;
	for (size_t i = 0; i < NELEM(deviations); i++) {
		if (strncmp(id, deviations[i].id, strlen(deviations[i].id)) !=
			0 ||
		    !str_eq(end, str_of(deviations[i].end)))
			continue;
		printf("%s: %.*s: %s\n", id, STR_ARG(end), deviations[i].why);
		return false;
	}
	ck_abort_msg("%s ends with %.*s", id, STR_ARG(end));
}

static void
sample_check_facts(
    const char *id, const json_t *want, const struct tk_events *ev)
{
	const char *session = json_string_value(
	    json_object_get(json_object_get(want, "session"), "value"));
	size_t messages = (size_t)json_integer_value(
	    json_object_get(want, "assistant_messages"));
	char text[256];

	if (strcmp(id, "iflow-autherr") == 0)
		messages = 0;
	ck_assert_uint_eq(
	    sample_count(buf_str(&ev->types), "assistant.message.final"),
	    messages);
	if (session == NULL)
		return;
	snprintf(text, sizeof(text), "\"session_id\":\"%s\"", session);
	tk_event_has(ev, (size_t)ev->n_fcmp - 1, text);
}

/* Whether the harness ends it same. */
static bool
sample_run(const char *folder, const json_t *want)
{
	const char *id = json_string_value(json_object_get(want, "id"));
	const char *engine = json_string_value(json_object_get(want, "engine"));
	const char *state = json_string_value(json_object_get(want, "state"));
	const json_t *files = json_object_get(want, "files");
	struct replay r = { .out = sample_read(folder, files, "stdout"),
		.err = sample_read(folder, files, "stderr"),
		.exit = { .code = (int)json_integer_value(
			      json_object_get(want, "exit_code")) } };
	struct str pty = sample_read(folder, files, "pty");
	struct tk_events ev;
	bool same;

	if (r.out.n == 0 && pty.n > 0) {
		r.out = pty;
		r.pty = true;
	}
	tk_attempt(engine, NULL, &r, &ev);
	same = sample_check_end(id, state, &ev);
	sample_check_facts(id, want, &ev);
	tk_events_free(&ev);
	return same;
}

TEST(samples_end_as_in_the_seed_harness)
{
	const char *folder = getenv("ENGINE_SAMPLES");
	char path[PATH_SIZE];
	size_t i, same = 0;
	json_t *all, *one;

	if (folder == NULL) {
		printf("SKIPPED: ENGINE_SAMPLES names no folder\n");
		return;
	}
	snprintf(
	    path, sizeof(path), "%s/_expected-from-seed-harness.json", folder);
	all = json_load_file(path, 0, NULL);
	ck_assert_msg(json_is_array(all), "%s cannot be read", path);
	json_array_foreach (all, i, one)
		same += sample_run(folder, one);
	printf("%zu attempts, %zu end as in the harness, %zu do not, with a "
	       "reason\n",
	    json_array_size(all), same, json_array_size(all) - same);
	ck_assert_uint_ge(same, 1);
	json_decref(all);
}
