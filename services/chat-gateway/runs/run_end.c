#include "runs/run_end.h"

#include "core/mem.h"
#include "wire/slice.h"

struct run_end_member {
	struct str key, value;
};

static void
run_end_on_member(void *arg, const struct wire_slice *s)
{
	struct run_end_member *m = arg;

	if (!s->escaped && str_eq(s->key, m->key))
		m->value = s->value;
}

/* A member of an object, as written; absent: there is none. */
static struct str
run_end_find(struct str json, struct str key)
{
	struct run_end_member m = { .key = key };
	const struct wire_slice_handler h = { .each = run_end_on_member,
		.arg = &m };

	if (json.n == 0 || wire_slice_each(json, &h) != RC_OK)
		return (struct str){ NULL, 0 };
	return m.value;
}

bool
run_end_of_rasp(struct str json)
{
	static const struct str ends[] = { STR_INIT("\"run.completed\""),
		STR_INIT("\"run.failed\""), STR_INIT("\"run.canceled\"") };
	struct str type =
	    run_end_find(run_end_find(json, STR("event")), STR("type"));
	size_t i;

	for (i = 0; i < NELEM(ends); i++)
		if (str_eq(type, ends[i]))
			return true;
	return false;
}
