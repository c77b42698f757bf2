/*
 * doc: JSON answers, read with a library that is not ours.
 */
#ifndef DOC_H
#define DOC_H

#include <jansson.h>

#include "bed.h"

struct doc {
	int calls;
	enum rc rc;
	json_t *json;
};

static inline void
on_doc(void *arg, enum rc rc, struct str data)
{
	struct doc *d = arg;

	d->calls++;
	d->rc = rc;
	if (rc == RC_OK)
		d->json =
		    json_loadb(data.p, data.n, JSON_REJECT_DUPLICATES, NULL);
}

static inline bool
has_doc(void *arg)
{
	return ((struct doc *)arg)->calls > 0;
}

/* The object that answers one request; the caller drops it. */
static inline json_t *
get(struct bed *e, const char *subject, const char *body)
{
	struct doc d = { 0, RC_OK, NULL };
	struct bus_meta meta = { .deadline = in_ms(3000) };

	ck_assert_int_eq(
	    bus_request(e->bus, subject, str_of(body), &meta,
		(struct bus_reply_handler){ .fn = on_doc, .arg = &d }, NULL),
	    RC_OK);
	ck_assert(bed_until(e, has_doc, &d, BED_MS));
	ck_assert_int_eq(d.rc, RC_OK);
	ck_assert(json_is_object(d.json));
	return d.json;
}

static inline void
check_text(const json_t *o, const char *key, const char *want)
{
	ck_assert_msg(json_is_string(json_object_get(o, key)), "no %s", key);
	ck_assert_str_eq(json_string_value(json_object_get(o, key)), want);
}

static inline void
check_number(const json_t *o, const char *key, long long want)
{
	ck_assert_msg(json_is_integer(json_object_get(o, key)), "no %s", key);
	ck_assert_int_eq(json_integer_value(json_object_get(o, key)), want);
}

#endif /* !DOC_H */
