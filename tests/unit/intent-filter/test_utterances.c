/*
 * Utterances of users, and what the filter must make of them: every line of
 * utterances.tsv.  Its columns are separated by tabs:
 *
 *   catalog     its intents are catalogs/<catalog>.json
 *   utterance   the command, at 2026-02-22T17:40:00+08:00, a Sunday
 *   expected    fallback, no_action, or intents in order, separated by ";"
 *   unmatched   what no intent used, separated by "|"; absent: nothing; "*":
 *               anything.  Leading and trailing punctuation is ignored.  Only
 *               for lines that expect intents, rejected or not.
 *
 * An intent is its id, followed by:
 *
 *   {...}   normalized, equal as JSON; absent: not compared
 *   …       normalized may have more members
 *   ?a,b    it needs clarification: these parameters are missing
 *   !       it is rejected; if all are, the language model is used
 *   ~       it is ready, with any confidence
 *
 * Lines that begin with # are headings.
 */
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "core/str.h"
#include "testkit/intent_filter_fixture.h"
#include "testkit/testkit.h"

#define NOW  "2026-02-22T17:40:00+08:00"
#define ZONE "Asia/Shanghai"
/* The least confidence of an unambiguous intent. */
#define CONFIDENCE_MIN 0.8

/* ---- the table ---- */

#define TABLE_FOLDER "tests/unit/intent-filter/"
#define TABLE_MORE   "…"

enum { COL_CATALOG, COL_UTTERANCE, COL_EXPECTED, COL_UNMATCHED, NCOLS };

struct line {
	int number;
	const char *col[NCOLS]; /* "" for what is absent */
};

/* The table, and the position in it. */
struct table {
	char *text, *rest;
	int number;
};

static struct table
table_open(void)
{
	char *text = tk_read_file(TABLE_FOLDER "utterances.tsv", NULL);

	return (struct table){ text, text, 0 };
}

/* The next utterance; its strings are the table's. */
static bool
table_next(struct table *t, struct line *out)
{
	char *row;
	size_t i;

	while ((row = strsep(&t->rest, "\n")) != NULL) {
		t->number++;
		if (*row == '#' || *row == '\0')
			continue;
		out->number = t->number;
		for (i = 0; i < NCOLS; i++) {
			out->col[i] = strsep(&row, "\t");
			ck_assert_msg(out->col[i] != NULL || i == COL_UNMATCHED,
			    "line %d: column %zu is missing", t->number, i);
			if (out->col[i] == NULL)
				out->col[i] = "";
		}
		ck_assert_msg(
		    row == NULL, "line %d: too many columns", t->number);
		return true;
	}
	return false;
}

static bool
table_is_negative(const struct line *l)
{
	return strcmp(l->col[COL_EXPECTED], "fallback") == 0 ||
	    strcmp(l->col[COL_EXPECTED], "no_action") == 0;
}

/* One expected intent. */
struct want {
	struct str id;
	json_t *normalized; /* NULL: any */
	struct str missing;
	bool more, unsure;
	const char *status;
};

static struct str
table_take_until(const char **p, const char *stop)
{
	struct str s = { *p, strcspn(*p, stop) };

	*p += s.n;
	return s;
}

/* Parse one at *p; false: syntax error.  Always want_free() it. */
static bool
want_parse(const char **p, struct want *w)
{
	json_error_t e;

	*w = (struct want){ .status = "ready" };
	w->id = table_take_until(p, "{?!~;");
	if (**p == '{') {
		w->normalized = json_loads(*p, JSON_DISABLE_EOF_CHECK, &e);
		if (w->normalized == NULL)
			return false;
		*p += e.position;
	}
	if (strncmp(*p, TABLE_MORE, strlen(TABLE_MORE)) == 0) {
		w->more = true;
		*p += strlen(TABLE_MORE);
	}
	if (**p == '?') {
		w->status = "need_clarification";
		*p += 1;
		w->missing = table_take_until(p, ";");
	} else if (**p == '!') {
		w->status = "rejected";
		*p += 1;
	} else if (**p == '~') {
		w->unsure = true;
		*p += 1;
	}
	if (**p == ';')
		*p += 1;
	else if (**p != '\0')
		return false;
	return w->id.n > 0;
}

static void
want_free(struct want *w)
{
	json_decref(w->normalized);
}

/* Whether intents are expected, and all of them rejected. */
static bool
table_is_rejected(const struct line *l)
{
	const char *p = l->col[COL_EXPECTED];
	bool rejected = !table_is_negative(l);
	struct want w;

	while (rejected && *p != '\0') {
		rejected =
		    want_parse(&p, &w) && strcmp(w.status, "rejected") == 0;
		want_free(&w);
	}
	return rejected;
}

/* ---- requests ---- */

/* The intents of a catalog; the caller's own reference. */
static json_t *
utterance_catalog(json_t *all, const char *name)
{
	json_t *intents = json_object_get(all, name);
	char path[128];
	json_error_t e;

	if (intents == NULL) {
		snprintf(
		    path, sizeof(path), TABLE_FOLDER "catalogs/%s.json", name);
		intents = json_load_file(path, JSON_REJECT_DUPLICATES, &e);
		ck_assert_msg(
		    intents != NULL, "%s:%d: %s", path, e.line, e.text);
		json_object_set_new(all, name, intents);
	}
	return json_incref(intents);
}

static json_t *
utterance_request(json_t *intents, const char *command)
{
	json_t *request = json_pack("{s:s, s:o, s:s, s:s}", "command", command,
	    "intent_catalog", intents, "now", NOW, "timezone", ZONE);
	char *text = json_dumps(request, 0);
	json_t *filter_response;

	ck_assert_msg(text != NULL, "not UTF-8: %s", command);
	filter_response = filter_fixture_run(text);
	free(text);
	json_decref(request);
	return filter_response;
}

static json_t *
utterance_intents(const json_t *filter_response)
{
	return json_object_get(filter_response, "intents");
}

static const char *
utterance_text(const json_t *object, const char *key)
{
	const char *s = json_string_value(json_object_get(object, key));

	return s != NULL ? s : "";
}

/* ---- printing a response in the form of the table ---- */

static void
utterance_print_intent(FILE *f, const json_t *intent)
{
	const char *status = utterance_text(intent, "status");
	json_t *missing = json_object_get(intent, "missing_parameters");
	char *normalized =
	    json_dumps(json_object_get(intent, "normalized"), JSON_COMPACT);
	size_t i;

	fprintf(f, "%s%s", utterance_text(intent, "intent_id"), normalized);
	if (strcmp(status, "rejected") == 0)
		fprintf(f, "!");
	if (strcmp(status, "ready") == 0 &&
	    json_number_value(json_object_get(intent, "confidence")) <
		CONFIDENCE_MIN)
		fprintf(f, "~");
	for (i = 0; i < json_array_size(missing); i++)
		fprintf(f, "%s%s", i > 0 ? "," : "?",
		    json_string_value(json_array_get(missing, i)));
	free(normalized);
}

static void
utterance_print_response(FILE *f, const json_t *filter_response)
{
	const char *action = filter_fixture_action(filter_response);
	json_t *unmatched = json_object_get(
	    json_object_get(filter_response, "meta"), "unmatched");
	size_t i;

	if (strcmp(action, "execute_intents") != 0 &&
	    strcmp(utterance_text(
		       json_array_get(utterance_intents(filter_response), 0),
		       "status"),
		"rejected") != 0) {
		fprintf(f, "%s",
		    strcmp(action, "no_action") == 0 ? action : "fallback");
		return;
	}
	for (i = 0; i < json_array_size(utterance_intents(filter_response));
	     i++) {
		fprintf(f, "%s", i > 0 ? ";" : "");
		utterance_print_intent(
		    f, json_array_get(utterance_intents(filter_response), i));
	}
	for (i = 0; i < json_array_size(unmatched); i++)
		fprintf(f, "%s%s", i > 0 ? "|" : "\t",
		    json_string_value(json_array_get(unmatched, i)));
}

/* ---- comparing ---- */

/* All members of want are in got, equal. */
static bool
utterance_has_members(json_t *got, json_t *want)
{
	const char *key;
	json_t *value;

	json_object_foreach (want, key, value)
		if (!json_equal(json_object_get(got, key), value))
			return false;
	return true;
}

/* Whether list is the strings of text, in order, separated by sep. */
static bool
utterance_same_list(const json_t *list, struct str text, char sep)
{
	size_t i, n = json_array_size(list);

	for (i = 0; i < n; i++) {
		struct str got =
		    str_of(json_string_value(json_array_get(list, i)));

		if (text.n == 0 || !str_eq(str_split(&text, sep), got))
			return false;
	}
	return text.n == 0;
}

/* The first difference; NULL: none. */
static const char *
utterance_intent_error(json_t *got, const struct want *w)
{
	json_t *normalized = json_object_get(got, "normalized");
	double confidence =
	    json_number_value(json_object_get(got, "confidence"));

	if (!str_eq(str_of(utterance_text(got, "intent_id")), w->id))
		return "another intent";
	if (strcmp(utterance_text(got, "status"), w->status) != 0)
		return "status";
	if (w->normalized != NULL &&
	    !(w->more ? utterance_has_members(normalized, w->normalized)
		      : json_equal(normalized, w->normalized)))
		return "normalized";
	if (strcmp(w->status, "rejected") != 0 &&
	    !utterance_same_list(
		json_object_get(got, "missing_parameters"), w->missing, ','))
		return "missing parameters";
	if (strcmp(w->status, "ready") == 0 && !w->unsure &&
	    confidence < CONFIDENCE_MIN)
		return "confidence";
	return NULL;
}

static const char *
utterance_intents_error(const json_t *intents, const char *expected)
{
	const char *why = NULL;
	struct want w;
	size_t n = 0;
	bool read;

	while (why == NULL && *expected != '\0') {
		read = want_parse(&expected, &w);
		if (!read)
			why = "syntax error in the table";
		else if (n == json_array_size(intents))
			why = "too few intents";
		else
			why = utterance_intent_error(
			    json_array_get(intents, n++), &w);
		want_free(&w);
	}
	if (why == NULL && n < json_array_size(intents))
		why = "too many intents";
	return why;
}

static struct str
utterance_trim_marks(struct str s)
{
	static const struct str marks[] = {
		STR_INIT("，"),
		STR_INIT("。"),
		STR_INIT("？"),
		STR_INIT("！"),
		STR_INIT(","),
		STR_INIT("."),
		STR_INIT("?"),
		STR_INIT("!"),
		STR_INIT(" "),
	};
	size_t i = 0;

	while (i < NELEM(marks)) {
		struct str m = marks[i++];
		size_t before = s.n;

		if (str_starts(s, m)) {
			s.p += m.n;
			s.n -= m.n;
		}
		if (str_ends(s, m))
			s.n -= m.n;
		if (s.n < before)
			i = 0;
	}
	return s;
}

static const char *
utterance_unmatched_error(const json_t *filter_response, const char *expected)
{
	json_t *unmatched = json_object_get(
	    json_object_get(filter_response, "meta"), "unmatched");
	struct str text = str_of(expected);
	size_t i;

	if (strcmp(expected, "*") == 0)
		return NULL;
	for (i = 0; i < json_array_size(unmatched); i++) {
		const char *s = json_string_value(json_array_get(unmatched, i));

		if (text.n == 0)
			return "too many unmatched texts";
		if (!str_eq(utterance_trim_marks(str_of(s)),
			utterance_trim_marks(str_split(&text, '|'))))
			return "another unmatched text";
	}
	return text.n == 0 ? NULL : "too few unmatched texts";
}

/* ---- invariants of responses ---- */

/* Whether a span, in code points, is a part of text. */
static bool
utterance_is_slice(const json_t *span, const char *text)
{
	json_int_t start = json_integer_value(json_object_get(span, "start"));
	json_int_t end = json_integer_value(json_object_get(span, "end"));
	const char *part = utterance_text(span, "text"), *from = NULL, *p;
	json_int_t n = 0;

	for (p = text;; p++) {
		if (((unsigned char)*p & 0xc0) == 0x80)
			continue;
		if (n == start)
			from = p;
		if (n == end || *p == '\0')
			break;
		n++;
	}
	return from != NULL && n == end && (size_t)(p - from) == strlen(part) &&
	    memcmp(from, part, strlen(part)) == 0;
}

static const char *
utterance_shape_error(
    const json_t *filter_response, const struct line *l, const char *text)
{
	json_t *first = json_array_get(utterance_intents(filter_response), 0),
	       *intent, *span;
	const char *text_sent = l->col[COL_UTTERANCE];
	bool executed = strcmp(filter_fixture_action(filter_response),
			    "execute_intents") == 0;
	bool system = !executed && !table_is_rejected(l);
	json_int_t before = 0, at;
	size_t i;

	if (json_array_size(utterance_intents(filter_response)) == 0)
		return "no intent";
	if (system && json_array_size(utterance_intents(filter_response)) != 1)
		return "a system intent is not alone";
	if (strcmp(utterance_text(json_object_get(filter_response, "decision"),
		       "trigger_intent_id"),
		table_is_rejected(l) ? "sys.fallback_reasoning"
				     : utterance_text(first, "intent_id")) != 0)
		return "the trigger is not the first intent";
	json_array_foreach (utterance_intents(filter_response), i, intent) {
		if (system !=
		    (strcmp(utterance_text(intent, "status"), "system") == 0))
			return "system intent or not";
		if (!utterance_is_slice(json_object_get(intent, "span"), text))
			return "span";
		span = json_object_get(intent, "source_span");
		if (span != NULL && !utterance_is_slice(span, text_sent))
			return "source_span";
		at = json_integer_value(
		    json_object_get(intent, "segment_index"));
		if (at < before)
			return "order of segments";
		before = at;
	}
	return NULL;
}

/* ---- the tests ---- */

static const char *
utterance_response_error(const struct line *l, const json_t *filter_response)
{
	const char *expected = l->col[COL_EXPECTED], *why;
	const char *action = "execute_intents";
	/*
	 * If nothing can match, the span of the system intent is the whole
	 * normalized command; the other spans are slices of it.
	 */
	json_t *whole = utterance_request(
	    filter_fixture_json("[{\"id\":\"never\"}]"), l->col[COL_UTTERANCE]);
	const char *text =
	    utterance_text(filter_fixture_intent(whole, 0, "span"), "text");

	if (strcmp(expected, "fallback") == 0 || table_is_rejected(l))
		action = "fallback_reasoning";
	else if (strcmp(expected, "no_action") == 0)
		action = expected;
	why = utterance_shape_error(filter_response, l, text);
	if (why == NULL &&
	    strcmp(filter_fixture_action(filter_response), action) != 0)
		why = "action";
	if (why == NULL && !table_is_negative(l)) {
		why = utterance_intents_error(
		    utterance_intents(filter_response), expected);
		if (why == NULL)
			why = utterance_unmatched_error(
			    filter_response, l->col[COL_UNMATCHED]);
	}
	json_decref(whole);
	return why;
}

TEST_T(every_utterance_gets_the_expected_response, 300)
{
	struct table t = table_open();
	json_t *catalog_loader = json_object();
	int right = 0, wrong = 0;
	struct line l;

	while (table_next(&t, &l)) {
		json_t *r = utterance_request(
		    utterance_catalog(catalog_loader, l.col[COL_CATALOG]),
		    l.col[COL_UTTERANCE]);
		const char *why = utterance_response_error(&l, r);

		if (why == NULL) {
			right++;
		} else {
			wrong++;
			printf("utterances.tsv:%d: %s: %s: %s\n\twanted %s\t%s"
			       "\n\tgot    ",
			    l.number, l.col[COL_CATALOG], l.col[COL_UTTERANCE],
			    why, l.col[COL_EXPECTED], l.col[COL_UNMATCHED]);
			utterance_print_response(stdout, r);
			printf("\n");
		}
		json_decref(r);
	}
	printf("%d utterances right, %d wrong\n", right, wrong);
	fflush(stdout);
	json_decref(catalog_loader);
	free(t.text);
	ck_assert_msg(wrong == 0, "%d of %d utterances have a wrong response",
	    wrong, right + wrong);
}

TEST(a_third_of_the_table_expects_no_action)
{
	struct table t = table_open();
	int lines = 0, negative = 0;
	struct line l;

	while (table_next(&t, &l)) {
		lines++;
		negative += table_is_negative(&l);
	}
	free(t.text);
	ck_assert_int_ge(lines, 300);
	ck_assert_int_ge(3 * negative, lines);
}

TEST(every_intent_is_expected_somewhere)
{
	struct table t = table_open();
	json_t *catalog_loader = json_object(), *seen = json_object(), *intent;
	const char *name;
	char key[256];
	struct line l;
	struct want w;
	json_t *intents;
	size_t i;

	while (table_next(&t, &l)) {
		const char *p = l.col[COL_EXPECTED];

		json_decref(
		    utterance_catalog(catalog_loader, l.col[COL_CATALOG]));
		while (!table_is_negative(&l) && *p != '\0') {
			ck_assert_msg(
			    want_parse(&p, &w), "line %d: %s", l.number, p);
			snprintf(key, sizeof(key), "%s %.*s",
			    l.col[COL_CATALOG], (int)w.id.n, w.id.p);
			json_object_set_new(seen, key, json_true());
			want_free(&w);
		}
	}
	json_object_foreach (catalog_loader, name, intents)
		json_array_foreach (intents, i, intent) {
			snprintf(key, sizeof(key), "%s %s", name,
			    utterance_text(intent, "id"));
			ck_assert_msg(json_object_get(seen, key) != NULL,
			    "%s: never", key);
		}
	json_decref(seen);
	json_decref(catalog_loader);
	free(t.text);
}
