/* Replies of users, and the output of an engine that is probed. */
#include "core/buf.h"
#include "engine_set.h"
#include "must.h"
#include "run_reply_check.h"

static struct wire_question_option options[] = { { .value = STR_INIT("a") },
	{ .value = STR_INIT("\"") } };
static struct wire_question_field fields[] = {
	{ .name = STR_INIT("n"), .required = true },
	{ .name = STR_INIT("s"),
	    .kind = WIRE_QUESTION_KIND_SINGLE_CHOICE,
	    .options = options,
	    .n_options = 2 },
	{ .name = STR_INIT("m"),
	    .kind = WIRE_QUESTION_KIND_MULTI_CHOICE,
	    .options = options,
	    .n_options = 2 },
};

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct str text = { (const char *)data, n };
	struct wire_run_question q = { .options = options,
		.n_options = 2,
		.fields = fields,
		.n_fields = 3 };
	char version[ENGINE_VERSION_MAX + 1];
	const struct engine_entry bounds = { .version_min = text,
		.version_below = text };

	for (int kind = 0; kind <= WIRE_QUESTION_KIND_FORM; kind++) {
		q.kind = (enum wire_question_kind)kind;
		if (run_reply_check(&q, text) == NULL &&
		    q.kind == WIRE_QUESTION_KIND_SINGLE_CHOICE)
			must(n == 1 && (data[0] == 'a' || data[0] == '"'));
	}
	engine_version_of(text, version);
	must(strlen(version) <= ENGINE_VERSION_MAX);
	must(version[0] == '\0' || (version[0] >= '0' && version[0] <= '9'));
	/* None is below a bound and not below it. */
	must(n == 0 || !engine_version_suits(&bounds, str_of(version)));
	return 0;
}
