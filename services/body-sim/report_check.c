#include "checker_internal.h"

#include <stdio.h>

#include "rx/rx.h"
#include "wire/device.h"
#include "wire/schema.h"
#include "wire/tree.h"

/* The value of map keys. */
static const char map_value[] = "";

void
report_check_init(
    struct report_check *r, struct verdicts *v, struct str terminal)
{
	*r = (struct report_check){
		.v = v, .terminal = terminal, .versions = { -1, -1 }
	};
	r->arena = arena_new(WIRE_ARENA_MAX);
}

void
report_check_free(struct report_check *r)
{
	map_free(r->skills);
	map_free(r->wanted);
	arena_free(r->arena);
}

static void
report_check_reset_map(struct map **m)
{
	map_free(*m);
	*m = map_new();
}

static void
report_check_put(struct map *m, struct str key)
{
	/* The map stores the pointer, and never dereferences it. */
	(void)map_put(m, key, (void *)(uintptr_t)map_value);
}

static bool
report_check_is_list(struct str payload)
{
	struct str s = str_trim(payload);

	return s.n > 0 && s.p[0] == '[';
}

static void
report_check_version(struct report_check *r, int which, int64_t now)
{
	static const char *const names[] = { "skill_version",
		"catalog_version" };
	int64_t before = r->versions[which];

	if (now == 0)
		verdict_note(r->v,
		    "%s is missing or 0: with a greater one the server can "
		    "detect a roll-back",
		    names[which]);
	if (before > now)
		verdict_fail(r->v, LINE_VERSION,
		    "%s went from %lld to %lld; the server ignores the report",
		    names[which], (long long)before, (long long)now);
	else if (before >= 0)
		verdict_pass(r->v, LINE_VERSION, "%s: %lld, then %lld",
		    names[which], (long long)before, (long long)now);
	else
		verdict_unseen(r->v, LINE_VERSION, "only one report of each");
	if (now > before)
		r->versions[which] = now;
}

/* Needs a report of each. */
static void
report_check_own_skills(struct report_check *r)
{
	struct str skill;
	size_t pos = 0;

	if (r->skills == NULL || r->wanted == NULL)
		return;
	if (map_len(r->wanted) == 0) {
		verdict_unseen(r->v, LINE_OWN_INTENTS,
		    "no intent names its skill by a slot's default");
		verdict_unseen(r->v, LINE_MAPPING,
		    "no intent names its skill by a slot's default");
		return;
	}
	while (map_next(r->wanted, &pos, &skill) != NULL) {
		if (map_get(r->skills, skill) != NULL)
			continue;
		verdict_fail(r->v, LINE_OWN_INTENTS,
		    "an intent has the skill %.*s, which is not in skills",
		    STR_ARG(skill));
		verdict_fail(r->v, LINE_MAPPING, "%.*s is not a reported skill",
		    STR_ARG(skill));
		return;
	}
	verdict_pass(r->v, LINE_OWN_INTENTS, "skills with intents: %zu",
	    map_len(r->wanted));
	verdict_pass(r->v, LINE_MAPPING,
	    "by name; whether it acts is visible on the body only");
}

/* ---- skills ---- */

static bool
report_check_is_snake(struct str s)
{
	size_t i;

	for (i = 0; i < s.n; i++) {
		if (!(s.p[i] >= 'a' && s.p[i] <= 'z') &&
		    !(s.p[i] >= '0' && s.p[i] <= '9') && s.p[i] != '_')
			return false;
	}
	return true;
}

static bool
report_check_skill(struct report_check *r, const struct wire_skill *s, size_t i)
{
	struct wire_schema *schema = NULL;
	struct wire_err err;
	enum rc rc = RC_OK;

	if (!report_check_is_snake(s->name))
		verdict_note(
		    r->v, "skills: %.*s is not snake_case", STR_ARG(s->name));
	if (s->description.n == 0)
		verdict_note(r->v,
		    "skills: %.*s has no description, by which a language "
		    "model decides when to use it",
		    STR_ARG(s->name));
	if (s->input_schema.p == NULL)
		verdict_note(r->v,
		    "skills: %.*s has no input_schema: give an empty object "
		    "schema if it takes no arguments",
		    STR_ARG(s->name));
	else
		rc = wire_schema_new(s->input_schema, &schema, &err);
	if (rc != RC_OK)
		verdict_fail(r->v, LINE_SKILLS,
		    "/skills/%zu/input_schema is no JSON Schema: %s: %s", i,
		    err.path[0] != '\0' ? err.path : "/", err.why);
	wire_schema_free(schema);
	return rc == RC_OK;
}

/* A report should contain its terminal's id. */
static void
report_check_terminal(struct report_check *r, struct str payload)
{
	struct wire_skills_report raw;

	if (wire_decode(&wire_skills_report_desc, payload, r->arena, &raw,
		NULL) != RC_OK)
		return;
	if (raw.terminal_id.n == 0) {
		verdict_note(r->v, "skills has no terminal_id");
		verdict_unseen(r->v, LINE_TERMINAL_ID, "there is none");
	} else if (str_eq(raw.terminal_id, r->terminal)) {
		verdict_pass(
		    r->v, LINE_TERMINAL_ID, "%.*s", STR_ARG(raw.terminal_id));
	} else {
		verdict_fail(r->v, LINE_TERMINAL_ID,
		    "it is %.*s; the server rejects the report",
		    STR_ARG(raw.terminal_id));
	}
}

void
report_check_skills(struct report_check *r, struct str payload,
    char text[REPORT_CHECK_TEXT_MAX])
{
	struct wire_skills_report rep;
	struct wire_err note, err;
	char why[WIRE_ERR_TEXT_MAX];
	bool ok = true;
	size_t i;

	arena_reset(r->arena);
	report_check_terminal(r, payload);
	if (wire_device_skills(
		payload, r->terminal, r->arena, &rep, &note, &err) != RC_OK) {
		wire_err_text(&err, why, sizeof(why));
		verdict_fail(r->v, LINE_SKILLS, "%s", why);
		(void)snprintf(text, REPORT_CHECK_TEXT_MAX, "rejected");
		return;
	}
	if (report_check_is_list(payload))
		verdict_note(r->v,
		    "skills is a bare list: terminal_id, soul_hint and "
		    "skill_version are lost");
	if (note.why[0] != '\0') {
		wire_err_text(&note, why, sizeof(why));
		verdict_note(r->v, "skills: %s", why);
	}
	report_check_version(r, 0, rep.skill_version);
	report_check_reset_map(&r->skills);
	for (i = 0; i < rep.n_skills; i++) {
		report_check_put(r->skills, rep.skills[i].name);
		ok = report_check_skill(r, &rep.skills[i], i) && ok;
	}
	if (ok)
		verdict_pass(r->v, LINE_SKILLS, "version %lld, skills: %zu",
		    (long long)rep.skill_version, rep.n_skills);
	report_check_own_skills(r);
	(void)snprintf(text, REPORT_CHECK_TEXT_MAX, "version %lld, skills: %zu",
	    (long long)rep.skill_version, rep.n_skills);
}

/* ---- intent_catalog ---- */

static bool
report_check_regex(struct report_check *r, struct str regex, int64_t group,
    const struct wire_intent *in)
{
	struct rx *rx = NULL;
	char why[160];
	bool ok;

	if (regex.p == NULL)
		return true;
	ok = rx_new(regex, RX_NOCASE, &rx, why, sizeof(why)) == RC_OK;
	if (!ok)
		verdict_fail(r->v, LINE_CATALOG, "%.*s: bad regex: %s",
		    STR_ARG(in->id), why);
	else if (group > (int64_t)rx_groups(rx))
		verdict_note(r->v,
		    "intent_catalog: %.*s: a regex has no group %lld; the "
		    "whole match is taken",
		    STR_ARG(in->id), (long long)group);
	rx_free(rx);
	return ok;
}

static bool
intent_can_match(const struct wire_intent *in)
{
	const struct wire_intent_match *m = &in->match;

	return m->n_keywords_any + m->n_keywords_all + m->n_regex_any +
	    m->n_regex_all + m->n_entity_types_any + m->n_entity_types_all +
	    m->n_examples >
	    0;
}

static bool
report_check_slot(struct report_check *r, const struct wire_intent *in,
    const struct wire_intent_slot *s)
{
	struct str skill;

	if (str_eq(s->name, STR("skill")) && s->default_.p != NULL &&
	    wire_tree_string(s->default_, r->arena, &skill) == RC_OK)
		report_check_put(r->wanted, skill);
	return report_check_regex(r, s->regex, s->regex_group, in);
}

static bool
report_check_intent(struct report_check *r, const struct wire_intent *in)
{
	bool ok = true;
	size_t i;

	if (!intent_can_match(in))
		verdict_note(r->v,
		    "intent_catalog: %.*s has no rule and is never matched",
		    STR_ARG(in->id));
	for (i = 0; i < in->match.n_regex_any; i++)
		ok = report_check_regex(r, in->match.regex_any[i], 0, in) && ok;
	for (i = 0; i < in->match.n_regex_all; i++)
		ok = report_check_regex(r, in->match.regex_all[i], 0, in) && ok;
	for (i = 0; i < in->n_slots; i++)
		ok = report_check_slot(r, in, &in->slots[i]) && ok;
	return ok;
}

void
report_check_intents(struct report_check *r, struct str payload,
    char text[REPORT_CHECK_TEXT_MAX])
{
	struct wire_intent_catalog_report rep;
	struct wire_err note, err;
	char why[WIRE_ERR_TEXT_MAX];
	bool ok = true;
	size_t i;

	arena_reset(r->arena);
	if (wire_device_intents(
		payload, r->terminal, r->arena, &rep, &note, &err) != RC_OK) {
		wire_err_text(&err, why, sizeof(why));
		verdict_fail(r->v, LINE_CATALOG, "%s", why);
		(void)snprintf(text, REPORT_CHECK_TEXT_MAX, "rejected");
		return;
	}
	if (report_check_is_list(payload))
		verdict_note(r->v,
		    "intent_catalog is a bare list: terminal_id and "
		    "catalog_version are lost");
	if (note.why[0] != '\0') {
		wire_err_text(&note, why, sizeof(why));
		verdict_note(r->v, "intent_catalog: %s", why);
	}
	report_check_version(r, 1, rep.catalog_version);
	report_check_reset_map(&r->wanted);
	for (i = 0; i < rep.n_intent_catalog; i++)
		ok = report_check_intent(r, &rep.intent_catalog[i]) && ok;
	if (ok)
		verdict_pass(r->v, LINE_CATALOG, "version %lld, intents: %zu",
		    (long long)rep.catalog_version, rep.n_intent_catalog);
	report_check_own_skills(r);
	(void)snprintf(text, REPORT_CHECK_TEXT_MAX,
	    "version %lld, intents: %zu", (long long)rep.catalog_version,
	    rep.n_intent_catalog);
}
