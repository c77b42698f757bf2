/*
 * Bodies' reports: duplicates, defaults, and what the topic says.
 */
#include "wire/device.h"

#include <string.h>

#include "core/map.h"
#include "wire/check.h"

/* A report's list of things with names, whatever they are. */
struct list {
	char *items;
	size_t *n;
	size_t size;       /* of one */
	size_t name;       /* offset of its struct str */
	struct str member; /* in the report; absent: the report is the list */
	struct str key;    /* of the name in JSON */
};

/* Note the double at index; again is where the first one stands, from 1. */
static void
device_note_double(
    const struct list *l, size_t index, size_t duplicate, struct wire_err *note)
{
	struct wire_at top = { .err = note };
	struct wire_at list = { .up = &top, .key = l->member, .err = note };
	struct wire_at item = { .up = l->member.p != NULL ? &list : &top,
		.index = index,
		.err = note };
	struct wire_at name = { .up = &item, .key = l->key, .err = note };
	(void)wire_fail(&name, RC_OK,
	    "is the same as in item %zu; the first counts", duplicate - 1);
}

/* Keep the first of each name, in order. */
static void
device_drop_doubles(const struct list *l, struct wire_err *note)
{
	struct map *seen = map_new();
	size_t n_valid = 0;
	bool noted = false;
	for (size_t i = 0; i < *l->n; i++) {
		char *item = l->items + i * l->size;
		struct str name;
		memcpy(&name, item + l->name, sizeof(name));
		const void *before = map_get(seen, name);
		if (before == NULL) {
			/* Its index from 1 on, because NULL is no value. */
			(void)map_put(seen, name, (void *)(uintptr_t)(i + 1));
			memmove(l->items + n_valid++ * l->size, item, l->size);
		} else if (!noted) {
			device_note_double(
			    l, i, (size_t)(uintptr_t)before, note);
			noted = true;
		}
	}
	*l->n = n_valid;
	map_free(seen);
}

/* An id in the payload must be the topic's; an empty one is it. */
static enum rc
device_check_id(struct str *have, struct str topic, struct str key,
    struct arena *a, struct wire_err *err)
{
	struct wire_at top = { .err = err };
	struct wire_at at = { .up = &top, .key = key, .err = err };
	if (have->n > 0)
		return str_eq(*have, topic)
		    ? RC_OK
		    : wire_fail(&at, RC_INVALID, "is not the topic's");
	*have = arena_str(a, topic);
	return have->p != NULL
	    ? RC_OK
	    : wire_fail(&top, RC_TOOBIG, "takes too much memory");
}

/* The member that the list is; absent if the report is the list alone. */
static struct str
device_member_of(struct str in, struct str member)
{
	struct str s = str_trim(in);
	if (s.n > 0 && s.p[0] == '[')
		return (struct str){ 0 };
	return member;
}

enum rc
wire_device_skills(struct str in, struct str terminal, struct arena *a,
    struct wire_skills_report *out, struct wire_err *note, struct wire_err *err)
{
	if (note != NULL)
		*note = (struct wire_err){ .path = "" };
	enum rc rc = wire_decode(&wire_skills_report_desc, in, a, out, err);
	if (rc == RC_OK)
		rc = device_check_id(
		    &out->terminal_id, terminal, STR("terminal_id"), a, err);
	if (rc != RC_OK)
		return rc;
	const struct list list = { .items = (char *)out->skills,
		.n = &out->n_skills,
		.size = sizeof(*out->skills),
		.name = offsetof(struct wire_skill, name),
		.member = device_member_of(in, STR("skills")),
		.key = STR("name") };
	device_drop_doubles(&list, note);
	return RC_OK;
}

enum rc
wire_device_intents(struct str in, struct str terminal, struct arena *a,
    struct wire_intent_catalog_report *out, struct wire_err *note,
    struct wire_err *err)
{
	if (note != NULL)
		*note = (struct wire_err){ .path = "" };
	enum rc rc =
	    wire_decode(&wire_intent_catalog_report_desc, in, a, out, err);
	if (rc == RC_OK)
		rc = device_check_id(
		    &out->terminal_id, terminal, STR("terminal_id"), a, err);
	if (rc != RC_OK)
		return rc;
	const struct list list = { .items = (char *)out->intent_catalog,
		.n = &out->n_intent_catalog,
		.size = sizeof(*out->intent_catalog),
		.name = offsetof(struct wire_intent, id),
		.member = device_member_of(in, STR("intent_catalog")),
		.key = STR("id") };
	device_drop_doubles(&list, note);
	return RC_OK;
}

enum rc
wire_device_result(struct str in, struct str request_id, struct arena *a,
    struct wire_result *out, struct wire_err *err)
{
	enum rc rc = wire_decode(&wire_result_desc, in, a, out, err);
	if (rc == RC_OK)
		rc = device_check_id(
		    &out->request_id, request_id, STR("request_id"), a, err);
	if (rc == RC_OK && !out->ok && out->error.n == 0)
		out->error = STR("tool invocation failed");
	return rc;
}
