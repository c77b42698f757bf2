/*
 * value: what a body can be called with, made of what was said: "绿色" is
 * green, "10" of "10分钟" is 600 seconds, "二十六" is 26.
 */
#ifndef INTENT_FILTER_VALUE_H
#define INTENT_FILTER_VALUE_H

#include <stdbool.h>
#include <stddef.h>

#include "catalog.h"
#include "reading.h"

struct wire_out;

enum value_kind { VALUE_NONE, VALUE_TEXT, VALUE_NUMBER, VALUE_JSON };

struct value {
	enum value_kind kind;
	struct str s; /* text or JSON */
	double number;
};

/*
 * value_of_said(r, slot, start, end):
 * The value of the bytes [start, end) of the command for a slot: by the slot's
 * own values, as seconds where its name ends in "_seconds", as a number where
 * it is one, by the words of the minimal skill set (mode, color), else the text
 * itself.
 */
struct value value_of_said(const struct reading *r,
    const struct catalog_slot *slot, size_t start, size_t end);

/*
 * value_of_form(slot, folded):
 * The same of a text that is not itself a part of the command.
 */
struct value value_of_form(const struct catalog_slot *slot, struct str folded);

/*
 * value_of_listed(slot, folded, at):
 * The value of the longest of the slot's own words that stands in a text, and
 * where in it.
 */
struct value value_of_listed(const struct catalog_slot *slot, struct str folded,
    struct reading_span *at);

/*
 * value_of_time(r, t, key, a):
 * The member key of a time: duration_seconds, trigger_at, end_at; none if it
 * has no such.  No moment lies before now.
 */
struct value value_of_time(const struct reading *r, const struct datetime *t,
    struct str key, struct arena *a);

/* value_put(v, o): As o's next value. */
void value_put(const struct value *v, struct wire_out *o);

#endif /* !INTENT_FILTER_VALUE_H */
