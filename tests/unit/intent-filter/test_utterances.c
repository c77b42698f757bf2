/*
 * What people say to a body, and what the filter must make of it: every line of
 * utterances.tsv.
 */
#include "core/mem.h"
#include "filter_case.h"
#include "utterance_table.h"

#define NOW  "2026-02-22T17:40:00+08:00"
#define ZONE "Asia/Shanghai"
/* The least confidence of an intent that is meant clearly. */
#define SURE 0.8

/* The intents of a catalog; the caller's own reference. */
static json_t *
catalog(json_t *all, const char *name)
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
ask(json_t *intents, const char *command)
{
	json_t *request = json_pack("{s:s, s:o, s:s, s:s}", "command", command,
	    "intent_catalog", intents, "now", NOW, "timezone", ZONE);
	char *text = json_dumps(request, 0);
	json_t *answer;

	ck_assert_msg(text != NULL, "not UTF-8: %s", command);
	answer = case_run(text);
	free(text);
	json_decref(request);
	return answer;
}

static json_t *
intents_of(const json_t *answer)
{
	return json_object_get(answer, "intents");
}

static const char *
text_of(const json_t *object, const char *key)
{
	const char *s = json_string_value(json_object_get(object, key));

	return s != NULL ? s : "";
}

/* ---- what came, in the table's own form ---------------------------------- */

static void
print_intent(FILE *f, const json_t *intent)
{
	const char *status = text_of(intent, "status");
	json_t *missing = json_object_get(intent, "missing_parameters");
	char *normalized =
	    json_dumps(json_object_get(intent, "normalized"), JSON_COMPACT);
	size_t i;

	fprintf(f, "%s%s", text_of(intent, "intent_id"), normalized);
	if (strcmp(status, "rejected") == 0)
		fprintf(f, "!");
	if (strcmp(status, "ready") == 0 &&
	    json_number_value(json_object_get(intent, "confidence")) < SURE)
		fprintf(f, "~");
	for (i = 0; i < json_array_size(missing); i++)
		fprintf(f, "%s%s", i > 0 ? "," : "?",
		    json_string_value(json_array_get(missing, i)));
	free(normalized);
}

static void
print_answer(FILE *f, const json_t *answer)
{
	const char *action = case_action(answer);
	json_t *left =
	    json_object_get(json_object_get(answer, "meta"), "unmatched");
	size_t i;

	if (strcmp(action, "execute_intents") != 0 &&
	    strcmp(text_of(json_array_get(intents_of(answer), 0), "status"),
		"rejected") != 0) {
		fprintf(f, "%s",
		    strcmp(action, "no_action") == 0 ? action : "fallback");
		return;
	}
	for (i = 0; i < json_array_size(intents_of(answer)); i++) {
		fprintf(f, "%s", i > 0 ? ";" : "");
		print_intent(f, json_array_get(intents_of(answer), i));
	}
	for (i = 0; i < json_array_size(left); i++)
		fprintf(f, "%s%s", i > 0 ? "|" : "\t",
		    json_string_value(json_array_get(left, i)));
}

/* ---- against what was expected ------------------------------------------- */

/* All members of want are in got, equal. */
static bool
has_members(json_t *got, json_t *want)
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
same_list(const json_t *list, struct str text, char sep)
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

/* What is wrong with the intent; NULL: nothing. */
static const char *
wrong_intent(json_t *got, const struct want *w)
{
	json_t *normalized = json_object_get(got, "normalized");
	double sure = json_number_value(json_object_get(got, "confidence"));

	if (!str_eq(str_of(text_of(got, "intent_id")), w->id))
		return "another intent";
	if (strcmp(text_of(got, "status"), w->status) != 0)
		return "status";
	if (w->normalized != NULL &&
	    !(w->more ? has_members(normalized, w->normalized)
		      : json_equal(normalized, w->normalized)))
		return "normalized";
	if (strcmp(w->status, "rejected") != 0 &&
	    !same_list(
		json_object_get(got, "missing_parameters"), w->missing, ','))
		return "missing parameters";
	if (strcmp(w->status, "ready") == 0 && !w->unsure && sure < SURE)
		return "confidence";
	return NULL;
}

static const char *
wrong_intents(const json_t *intents, const char *expected)
{
	const char *why = NULL;
	struct want w;
	size_t n = 0;
	bool read;

	while (why == NULL && *expected != '\0') {
		read = want_read(&expected, &w);
		if (!read)
			why = "the table cannot be read here";
		else if (n == json_array_size(intents))
			why = "too few intents";
		else
			why = wrong_intent(json_array_get(intents, n++), &w);
		want_free(&w);
	}
	if (why == NULL && n < json_array_size(intents))
		why = "too many intents";
	return why;
}

static struct str
trim_marks(struct str s)
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
wrong_left(const json_t *answer, const char *expected)
{
	json_t *left =
	    json_object_get(json_object_get(answer, "meta"), "unmatched");
	struct str text = str_of(expected);
	size_t i;

	if (strcmp(expected, "*") == 0)
		return NULL;
	for (i = 0; i < json_array_size(left); i++) {
		const char *s = json_string_value(json_array_get(left, i));

		if (text.n == 0)
			return "too much is left over";
		if (!str_eq(trim_marks(str_of(s)),
			trim_marks(str_split(&text, '|'))))
			return "another text is left over";
	}
	return text.n == 0 ? NULL : "too little is left over";
}

/* ---- what is true of every answer ---------------------------------------- */

/* Whether a span is a part of text, told in code points. */
static bool
is_slice(const json_t *span, const char *text)
{
	json_int_t start = json_integer_value(json_object_get(span, "start"));
	json_int_t end = json_integer_value(json_object_get(span, "end"));
	const char *part = text_of(span, "text"), *from = NULL, *p;
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
wrong_shape(const json_t *answer, const struct line *l, const char *text)
{
	json_t *first = json_array_get(intents_of(answer), 0), *intent, *span;
	const char *said = l->col[COL_SAID];
	bool executed = strcmp(case_action(answer), "execute_intents") == 0;
	bool system = !executed && !is_refused(l);
	json_int_t before = 0, at;
	size_t i;

	if (json_array_size(intents_of(answer)) == 0)
		return "no intent";
	if (system && json_array_size(intents_of(answer)) != 1)
		return "a system intent is not alone";
	if (strcmp(text_of(json_object_get(answer, "decision"),
		       "trigger_intent_id"),
		is_refused(l) ? "sys.fallback_reasoning"
			      : text_of(first, "intent_id")) != 0)
		return "the trigger is not the first intent";
	json_array_foreach (intents_of(answer), i, intent) {
		if (system !=
		    (strcmp(text_of(intent, "status"), "system") == 0))
			return "system intent or not";
		if (!is_slice(json_object_get(intent, "span"), text))
			return "span";
		span = json_object_get(intent, "source_span");
		if (span != NULL && !is_slice(span, said))
			return "source_span";
		at = json_integer_value(
		    json_object_get(intent, "segment_index"));
		if (at < before)
			return "order of segments";
		before = at;
	}
	return NULL;
}

/* ---- the tests ----------------------------------------------------------- */

static const char *
wrong_answer(const struct line *l, const json_t *answer)
{
	const char *expected = l->col[COL_EXPECTED], *why;
	const char *action = "execute_intents";
	/*
	 * When nothing can match, the system intent's span is the whole command
	 * as the filter normalises it; the other spans are slices of that.
	 */
	json_t *whole =
	    ask(case_json("[{\"id\":\"never\"}]"), l->col[COL_SAID]);
	const char *text = text_of(case_intent(whole, 0, "span"), "text");

	if (strcmp(expected, "fallback") == 0 || is_refused(l))
		action = "fallback_reasoning";
	else if (strcmp(expected, "no_action") == 0)
		action = expected;
	why = wrong_shape(answer, l, text);
	if (why == NULL && strcmp(case_action(answer), action) != 0)
		why = "action";
	if (why == NULL && !is_negative(l)) {
		why = wrong_intents(intents_of(answer), expected);
		if (why == NULL)
			why = wrong_left(answer, l->col[COL_UNMATCHED]);
	}
	json_decref(whole);
	return why;
}

TEST_T(every_utterance_is_understood, 300)
{
	struct table t = table_open();
	json_t *catalogs = json_object();
	int right = 0, wrong = 0;
	struct line l;

	while (table_next(&t, &l)) {
		json_t *r =
		    ask(catalog(catalogs, l.col[COL_CATALOG]), l.col[COL_SAID]);
		const char *why = wrong_answer(&l, r);

		if (why == NULL) {
			right++;
		} else {
			wrong++;
			printf("utterances.tsv:%d: %s: %s: %s\n\twanted %s\t%s"
			       "\n\tgot    ",
			    l.number, l.col[COL_CATALOG], l.col[COL_SAID], why,
			    l.col[COL_EXPECTED], l.col[COL_UNMATCHED]);
			print_answer(stdout, r);
			printf("\n");
		}
		json_decref(r);
	}
	printf("%d utterances right, %d wrong\n", right, wrong);
	fflush(stdout);
	json_decref(catalogs);
	free(t.text);
	ck_assert_msg(wrong == 0, "%d of %d utterances are answered wrongly",
	    wrong, right + wrong);
}

/* A table of easy cases would prove nothing. */
TEST(a_third_of_the_table_must_not_act)
{
	struct table t = table_open();
	int lines = 0, negative = 0;
	struct line l;

	while (table_next(&t, &l)) {
		lines++;
		negative += is_negative(&l);
	}
	free(t.text);
	ck_assert_int_ge(lines, 300);
	ck_assert_int_ge(3 * negative, lines);
}

/* Every intent of every catalog is expected somewhere. */
TEST(every_intent_is_asked_for)
{
	struct table t = table_open();
	json_t *catalogs = json_object(), *seen = json_object(), *intent;
	const char *name;
	char key[256];
	struct line l;
	struct want w;
	json_t *intents;
	size_t i;

	while (table_next(&t, &l)) {
		const char *p = l.col[COL_EXPECTED];

		json_decref(catalog(catalogs, l.col[COL_CATALOG]));
		while (!is_negative(&l) && *p != '\0') {
			ck_assert_msg(
			    want_read(&p, &w), "line %d: %s", l.number, p);
			snprintf(key, sizeof(key), "%s %.*s",
			    l.col[COL_CATALOG], (int)w.id.n, w.id.p);
			json_object_set_new(seen, key, json_true());
			want_free(&w);
		}
	}
	json_object_foreach (catalogs, name, intents)
		json_array_foreach (intents, i, intent) {
			snprintf(key, sizeof(key), "%s %s", name,
			    text_of(intent, "id"));
			ck_assert_msg(json_object_get(seen, key) != NULL,
			    "%s: never", key);
		}
	json_decref(seen);
	json_decref(catalogs);
	free(t.text);
}
