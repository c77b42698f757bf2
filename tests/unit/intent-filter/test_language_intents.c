/*
 * The tables of tests/language/intents: commands of a household, and sentences
 * that only look like one.
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "core/str.h"
#include "testkit/intent_filter_fixture.h"
#include "testkit/language_table.h"
#include "testkit/testkit.h"

#define TABLES "tests/language/intents"
/* A Wednesday, as in the other tables. */
#define NOW  "2026-05-13T10:20:00+08:00"
#define ZONE "Asia/Shanghai"
#define NONE "none"

struct intents_run {
	json_t *catalog; /* of the file */
};

static bool
intents_is_default(const json_t *catalog, const char *id, const char *slot,
    const json_t *value)
{
	size_t i, k;
	json_t *intent, *one;

	json_array_foreach (catalog, i, intent) {
		if (strcmp(json_string_value(json_object_get(intent, "id")),
			id) != 0)
			continue;
		json_array_foreach (json_object_get(intent, "slots"), k, one) {
			if (strcmp(
				json_string_value(json_object_get(one, "name")),
				slot) == 0)
				return json_equal(
				    json_object_get(one, "default"), value);
		}
	}
	return false;
}

/* "id slot=value …", in the order of the slots; without defaults. */
static void
intents_show_one(const struct intents_run *r, const json_t *intent, FILE *f)
{
	const char *id =
	    json_string_value(json_object_get(intent, "intent_id"));
	const char *slot;
	json_t *value, *missing;
	char *text;
	size_t i;

	fprintf(f, "%s", id);
	json_object_foreach (
	    json_object_get(intent, "normalized"), slot, value) {
		if (intents_is_default(r->catalog, id, slot, value))
			continue;
		text = json_dumps(value, JSON_ENCODE_ANY);
		if (json_is_string(value))
			fprintf(f, " %s=%s", slot, json_string_value(value));
		else
			fprintf(f, " %s=%s", slot, text);
		free(text);
	}
	json_array_foreach (
	    json_object_get(intent, "missing_parameters"), i, missing)
		fprintf(f, " ?%s", json_string_value(missing));
}

/* "at TIME", of an action that is scheduled for a moment. */
static void
intents_show_time(const json_t *rule, FILE *f)
{
	const char *instant =
	    json_string_value(json_object_get(rule, "instant"));
	const char *date = json_string_value(json_object_get(rule, "date"));
	const char *at = json_string_value(json_object_get(rule, "at"));

	if (instant != NULL)
		fprintf(f, "at %.16s ", instant);
	else if (date != NULL)
		fprintf(f, "at %sT%s ", date, at);
	else if (at != NULL)
		fprintf(f, "%s %s ",
		    json_string_value(json_object_get(rule, "kind")), at);
	else
		fprintf(f, "ask "); /* the user is asked for the time */
}

static void
intents_show_response(
    const struct intents_run *r, const json_t *response, FILE *f)
{
	const json_t *intents = json_object_get(response, "intents");
	json_t *intent, *normalized, *one;
	const char *status, *joint = "";
	size_t i, k;

	if (strcmp(filter_fixture_action(response), "execute_intents") != 0)
		return;
	json_array_foreach (intents, i, intent) {
		status = json_string_value(json_object_get(intent, "status"));
		normalized = json_object_get(intent, "normalized");
		if (strcmp(status, "rejected") == 0)
			continue;
		if (strcmp(status, "system") != 0) {
			fprintf(f, "%s", joint);
			intents_show_one(r, intent, f);
			joint = " + ";
			continue;
		}
		json_array_foreach (
		    json_object_get(
			json_object_get(normalized, "action"), "intents"),
		    k, one) {
			fprintf(f, "%s", joint);
			intents_show_time(
			    json_object_get(normalized, "rule"), f);
			intents_show_one(r, one, f);
			joint = " + ";
		}
	}
}

static void
intents_show(void *ctx, const struct language_line *l, char *dst, size_t n)
{
	struct intents_run *r = ctx;
	json_t *request = json_pack("{s:s, s:O, s:s, s:s, s:{s:b, s:b}}",
	    "command", l->text, "intent_catalog", r->catalog, "now", NOW,
	    "timezone", ZONE, "options", "enable_alarm_intents", true,
	    "allow_multi_intent", true);
	char *text, *shown = NULL;
	size_t shown_n;
	json_t *response;
	FILE *f = open_memstream(&shown, &shown_n);

	ck_assert_msg(request != NULL, "%s: not UTF-8: %s", l->file, l->text);
	text = json_dumps(request, 0);
	response = filter_fixture_run(text);
	intents_show_response(r, response, f);
	fclose(f);
	(void)snprintf(dst, n, "%s", shown_n > 0 ? shown : NONE);
	free(shown);
	free(text);
	json_decref(response);
	json_decref(request);
}

/* The next word of a reading; its slots are skipped. */
static struct str
intents_next_id(struct str *rest)
{
	struct str word = { NULL, 0 };

	while (rest->p != NULL && rest->n > 0) {
		word = str_split(rest, ' ');
		if (memchr(word.p, '=', word.n) == NULL && word.n > 0 &&
		    word.p[0] != '?')
			return word;
		/* The rest of a value with blanks. */
		while (rest->p != NULL && rest->n > 0 && rest->p[0] != '+' &&
		    memchr(rest->p, '=', strcspn(rest->p, " ")) == NULL)
			(void)str_split(rest, ' ');
	}
	return (struct str){ NULL, 0 };
}

static bool
intents_same_ids(const char *want, const char *got)
{
	struct str a = str_of(want), b = str_of(got), x, y;

	do {
		x = intents_next_id(&a);
		y = intents_next_id(&b);
		if (!str_eq(x, y))
			return false;
	} while (x.n > 0);
	return true;
}

static enum language_match
intents_match(
    void *ctx, const struct language_line *l, const char *want, const char *got)
{
	(void)ctx;
	(void)l;
	if (strcmp(want, got) == 0)
		return LANGUAGE_RIGHT;
	return intents_same_ids(want, got) ? LANGUAGE_PARTLY : LANGUAGE_WRONG;
}

static void
intents_directive(void *ctx, const char *line)
{
	struct intents_run *r = ctx;
	char path[256];
	json_error_t e;

	ck_assert_msg(sscanf(line, "@catalog %255s", path) == 1, "%s", line);
	json_decref(r->catalog);
	r->catalog = json_load_file(path, JSON_REJECT_DUPLICATES, &e);
	ck_assert_msg(r->catalog != NULL, "%s:%d: %s", path, e.line, e.text);
}

TEST(intents_of_the_tables)
{
	struct intents_run r = { 0 };
	const struct language_scorer scorer = { .ctx = &r,
		.show = intents_show,
		.match = intents_match,
		.directive = intents_directive };

	language_table_run(TABLES, &scorer);
	json_decref(r.catalog);
}
