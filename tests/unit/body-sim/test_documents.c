/* What a body reports, read as its server reads it. */
#include "core/mem.h"
#include "documents.h"
#include "rx/rx.h"
#include "testkit/testkit.h"
#include "wire/device.h"
#include "wire/schema.h"
#include "wire/tree.h"

TEST(skills_are_the_protocols_three)
{
	static const char *const names[] = { "control_light", "create_alarm",
		"set_head_motion" };
	struct documents *d = documents_new();
	struct arena *a = arena_new(WIRE_ARENA_MAX);
	struct buf out = BUF_INIT(WIRE_MESSAGE_MAX);
	struct wire_skills_report r;
	struct wire_schema *s;
	struct wire_err note, err;
	size_t i;

	ck_assert_int_eq(
	    documents_skills(d, STR("t1"), STR("friendly"), 7, &out), RC_OK);
	ck_assert_int_eq(
	    wire_device_skills(buf_str(&out), STR("t1"), a, &r, &note, &err),
	    RC_OK);
	ck_assert_str_eq(note.why, "");
	ck_assert_int_eq(r.skill_version, 7);
	ck_assert(str_eq(r.soul_hint, STR("friendly")));
	ck_assert_uint_eq(r.n_skills, NELEM(names));
	for (i = 0; i < NELEM(names); i++) {
		ck_assert(str_eq(r.skills[i].name, str_of(names[i])));
		ck_assert_uint_gt(r.skills[i].description.n, 0);
		ck_assert_int_eq(
		    wire_schema_new(r.skills[i].input_schema, &s, &err), RC_OK);
		wire_schema_free(s);
		ck_assert_ptr_nonnull(documents_skill(d, str_of(names[i])));
	}
	ck_assert_ptr_null(documents_skill(d, STR("fly")));
	buf_reset(&out);
	ck_assert_int_eq(
	    documents_skills(d, STR("t1"), STR(""), 7, &out), RC_OK);
	ck_assert_int_eq(str_find(buf_str(&out), STR("soul_hint")), -1);
	buf_free(&out);
	arena_free(a);
	documents_free(d);
	documents_free(NULL);
}

TEST(intents_are_of_its_own_skills)
{
	struct documents *d = documents_new();
	struct arena *a = arena_new(WIRE_ARENA_MAX);
	struct buf out = BUF_INIT(WIRE_MESSAGE_MAX);
	struct wire_intent_catalog_report r;
	struct wire_err note, err;
	struct str skill;
	struct rx *rx;
	size_t i, k;

	ck_assert_int_eq(documents_intents(d, STR("t1"), 12, &out), RC_OK);
	ck_assert_int_eq(
	    wire_device_intents(buf_str(&out), STR("t1"), a, &r, &note, &err),
	    RC_OK);
	ck_assert_str_eq(note.why, "");
	ck_assert_int_eq(r.catalog_version, 12);
	ck_assert_uint_eq(r.n_intent_catalog, 3);
	for (i = 0; i < r.n_intent_catalog; i++) {
		const struct wire_intent *in = &r.intent_catalog[i];

		ck_assert_uint_gt(in->match.n_keywords_any, 0);
		ck_assert(str_eq(in->slots[0].name, STR("skill")));
		ck_assert_int_eq(
		    wire_tree_string(in->slots[0].default_, a, &skill), RC_OK);
		ck_assert_ptr_nonnull(documents_skill(d, skill));
		for (k = 0; k < in->n_slots; k++) {
			if (in->slots[k].regex.p == NULL)
				continue;
			ck_assert_int_eq(
			    rx_new(in->slots[k].regex, 0, &rx, NULL, 0), RC_OK);
			ck_assert_uint_eq(rx_groups(rx), 1);
			rx_free(rx);
		}
	}
	buf_free(&out);
	arena_free(a);
	documents_free(d);
}

TEST(what_does_not_fit_is_told)
{
	struct documents *d = documents_new();
	struct buf out = BUF_INIT(100);

	ck_assert_int_eq(
	    documents_skills(d, STR("t1"), STR(""), 7, &out), RC_TOOBIG);
	buf_reset(&out);
	ck_assert_int_eq(documents_intents(d, STR("t1"), 7, &out), RC_TOOBIG);
	buf_reset(&out);
	ck_assert_int_eq(
	    documents_skills(d, STR("t1"), STR(""), -1, &out), RC_INVALID);
	buf_free(&out);
	documents_free(d);
}
